// DurableUndo: an UndoConsumer that makes records in a sink durable on a thread of its own, while
// the next records are added. Owned by the code that rebuilds undo data; for Take() and End() see
// UndoConsumer.
#pragma once

#include "join/undo_options.h"
#include "util/env.h"
#include "util/threads.h"

#include <atomic>

namespace ibd {

/** The storage of undo records. */
class UndoSink {
public:
    virtual ~UndoSink() = default;
    /** As UndoConsumer::Take(). */
    virtual Result<> Put(const HeaderNode& node, const UndoRecord& undo) = 0;
    /** Makes durable the records up to `height`; records put meanwhile may or may not be included.
     *  One call at a time, on any thread. */
    virtual Result<> MakeDurable(int32_t height) = 0;
};

class DurableUndo final : public UndoConsumer {
public:
    /** When to start the next MakeDurable(): after a time, or after this many bytes of records. A
     *  crash costs at most four times `bytes` and two records. */
    struct Limits {
        int64_t micros;
        uint64_t bytes = uint64_t{128} << 20;
    };

    /** Both outlive it. */
    DurableUndo(Env& env, UndoSink& sink, const Limits& limits)
        : m_env(env), m_sink(sink), m_limits(limits), m_since(env.MonotonicMicros())
    {
    }

    /** An error may belong to an earlier record. */
    Result<> Take(const HeaderNode& node, const UndoRecord& undo) override;
    /** Call it also after a failed rebuild, for the records taken until then. */
    Result<> End() override;

private:
    bool IsDue() const;
    Result<> Begin();
    Result<> Wait();

    Env& m_env;
    UndoSink& m_sink;
    const Limits m_limits;
    int32_t m_height = 0; //!< of the last record
    uint64_t m_bytes = 0; //!< put since the last MakeDurable() started
    int64_t m_since;      //!< time of that start, MonotonicMicros
    std::atomic<bool> m_busy = false;
    Result<> m_made; //!< the thread's result, which it owns while it runs
    NamedThread m_thread;
};

} // namespace ibd
