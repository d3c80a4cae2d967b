// StepSpill: of a join that is reading, spills of one kind beside those of events, one after the
// other with its steps. Each worker gathers records of its own. Owned by JoinLog, which sees to it
// that nobody gathers while one is opened or closed. Memory: a collector for each worker, and a
// SpillWriter's.
#pragma once

#include "join/spill_file.h"

#include <memory>
#include <vector>

namespace ibd {

template <typename Collector>
class StepSpill {
public:
    /** `make`: gives a collector. */
    template <typename Make>
    StepSpill(size_t workers, Make make)
    {
        for (size_t i = 0; i < workers; ++i) {
            m_collectors.emplace_back(new Collector(make())); // which does not move
        }
    }

    Result<> Open(Env& env, const Path& directory, uint32_t number, const SpillOwner& owner)
    {
        IBD_ASSIGN_OR_RETURN(m_writer, SpillWriter::Create(env, directory, number, owner));
        for (const auto& collector : m_collectors) collector->SetSink(m_writer.get());
        return {};
    }
    /** With all that was gathered; complete but not synced. */
    Result<WrittenSpill> Close()
    {
        for (const auto& collector : m_collectors)
            (void)collector->Flush(); // Finish() says why not
        IBD_ASSIGN_OR_RETURN(WrittenSpill written, m_writer->Finish());
        m_writer.reset();
        return written;
    }

    Collector& Of(size_t worker) { return *m_collectors[worker]; }
    /** Null: none is open. */
    SpillWriter* Writer() const { return m_writer.get(); }

private:
    std::vector<std::unique_ptr<Collector>> m_collectors;
    std::unique_ptr<SpillWriter> m_writer;
};

} // namespace ibd
