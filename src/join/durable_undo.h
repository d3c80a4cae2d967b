// DurableUndo: an UndoConsumer that keeps making durable what it has put into a sink, on a thread
// of its own, while the next records come. Owned by who rebuilds undo data; Take() and End() as
// UndoConsumer has them.
#pragma once

#include "join/undo_options.h"
#include "util/env.h"
#include "util/threads.h"

#include <atomic>

namespace ibd {

/** Where undo records are put. */
class UndoSink {
public:
    virtual ~UndoSink() = default;
    /** As UndoConsumer::Take(). */
    virtual Result<> Put(const HeaderNode& node, const UndoRecord& undo) = 0;
    /** Makes durable what was put up to a height, with or without what is put meanwhile: one call
     *  at a time, on any thread. */
    virtual Result<> MakeDurable(int32_t height) = 0;
};

class DurableUndo final : public UndoConsumer {
public:
    /** When it is time to begin anew, by the clock or by the size of the records. A crash costs at
     *  most four times `bytes` and two records. */
    struct Limits {
        int64_t micros;
        uint64_t bytes = uint64_t{128} << 20;
    };

    /** Both outlive it. */
    DurableUndo(Env& env, UndoSink& sink, const Limits& limits)
        : m_env(env), m_sink(sink), m_limits(limits), m_since(env.MonotonicMicros())
    {
    }

    /** An error may be of what was taken before. */
    Result<> Take(const HeaderNode& node, const UndoRecord& undo) override;
    /** Also for what is there when a rebuild has failed. */
    Result<> End() override;

private:
    bool IsDue() const;
    Result<> Begin();
    Result<> Wait();

    Env& m_env;
    UndoSink& m_sink;
    const Limits m_limits;
    int32_t m_height = 0; //!< of the last record
    uint64_t m_bytes = 0; //!< put since it was last begun
    int64_t m_since;      //!< when that was, MonotonicMicros
    std::atomic<bool> m_busy = false;
    Result<> m_made; //!< the thread's, while it runs
    NamedThread m_thread;
};

} // namespace ibd
