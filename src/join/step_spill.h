// StepSpill: the spills of one kind of record other than events, while a join reads blocks; one
// spill for each step. Each worker gathers records of its own. Owned by JoinLog, which makes sure
// that no worker gathers while a spill is opened or closed. Memory: a collector for each worker,
// and a SpillWriter's.
#pragma once

#include "join/spill_file.h"

#include <memory>
#include <vector>

namespace ibd {

template <typename Collector>
class StepSpill {
public:
    /** `make`: returns a collector. */
    template <typename Make>
    StepSpill(size_t workers, Make make)
    {
        for (size_t i = 0; i < workers; ++i) {
            m_collectors.emplace_back(new Collector(make())); // on the heap, as a collector cannot
                                                              // be moved
        }
    }

    Result<> Open(Env& env, const Path& directory, uint32_t number, const SpillOwner& owner)
    {
        IBD_ASSIGN_OR_RETURN(m_writer, SpillWriter::Create(env, directory, number, owner));
        for (const auto& collector : m_collectors) collector->SetSink(m_writer.get());
        return {};
    }
    /** Closes the spill with all gathered records; complete but not synced. */
    Result<WrittenSpill> Close()
    {
        for (const auto& collector : m_collectors)
            (void)collector->Flush(); // Finish() reports the error of a write
        IBD_ASSIGN_OR_RETURN(WrittenSpill written, m_writer->Finish());
        m_writer.reset();
        return written;
    }

    Collector& Of(size_t worker) { return *m_collectors[worker]; }
    /** Null: no spill is open. */
    SpillWriter* Writer() const { return m_writer.get(); }

private:
    std::vector<std::unique_ptr<Collector>> m_collectors;
    std::unique_ptr<SpillWriter> m_writer;
};

} // namespace ibd
