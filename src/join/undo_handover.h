// UndoHandover: passes the undo records that several threads make to their consumer in the order of
// the chain. A thread whose span is not due yet queues its records and continues; the thread with
// the due span also passes on the queued spans that follow it. Owned by UndoPhase; any thread.
// Memory: waiting spans and spare buffers, together at most `most_bytes`, or one larger span that
// waits alone. Scattered records do not wait.
#pragma once

#include "join/height_ranges.h"
#include "join/undo_options.h"
#include "util/threads.h"

#include <condition_variable>
#include <map>
#include <memory>

namespace ibd {

/** A block that breaks a rule. */
struct BrokenRule {
    int32_t height = -1;
    std::string reason;
};

/** A record too large to be copied, as views of its coins in the spilled records. */
struct ScatteredUndo {
    Bytes counts; //!< numbers of transactions and coins, which stand between the coins
    std::vector<ByteSpan> pieces;
};

/** The records of a span of heights. */
struct UndoSpan {
    struct Record {
        const HeaderNode* node = nullptr;
        size_t begin = 0; //!< in `bytes`
        size_t size = 0;
        Hash32 checksum{};
        std::unique_ptr<ScatteredUndo> scattered{}; //!< used instead of `bytes`, if set
    };

    HeightSpan span;                  //!< also covers blocks that want no records
    Bytes bytes;                      //!< blocks in file order
    std::vector<Record> records;      //!< by height, for the last blocks of the span
    std::optional<BrokenRule> broken; //!< the lowest invalid block; records above it are not passed
                                      //!< on

    /** Whether it refers to memory of its maker. */
    bool IsScattered() const;
};

class UndoHandover {
public:
    /** `handed_on`: counts the records passed on. */
    UndoHandover(UndoConsumer& consumer, std::atomic<uint32_t>& handed_on, uint64_t most_bytes)
        : m_consumer(consumer), m_handed_on(handed_on), m_most_bytes(most_bytes)
    {
    }

    /** Starts at `height`, as if all records below had been passed on; no span may wait. */
    void Begin(uint32_t height);

    /** Waits until all records below `height` are passed on. False: it was ended by End() or an
     *  error. */
    bool AwaitTurn(uint32_t height);

    /** Adds a span with blocks. If it is due, passes it on with the waiting spans that follow it.
     *  Waits while too many bytes are queued; a scattered span always waits until it is due. False:
     *  it was ended. An error is the consumer's. */
    Result<bool> Give(UndoSpan span);

    /** An empty span, possibly with the buffers of an earlier one. */
    UndoSpan Spare();

    /** Nothing is passed on any more. */
    void End();

    /** The lowest block that breaks a rule; all records below it are passed on. */
    std::optional<BrokenRule> Broken() const;

private:
    Result<> HandOn(const UndoSpan& span);
    bool Keep(UndoSpan& span) IBD_REQUIRES(m_mutex);
    bool EndTurn(UndoSpan& span) IBD_REQUIRES(m_mutex);
    void KeepBuffers(UndoSpan& span) IBD_REQUIRES(m_mutex);

    UndoConsumer& m_consumer;
    std::atomic<uint32_t>& m_handed_on;
    const uint64_t m_most_bytes;

    mutable Mutex m_mutex;
    std::condition_variable_any m_turned;
    uint32_t m_turn IBD_GUARDED_BY(m_mutex) = 0;  //!< all records below this height are passed on
    bool m_ended IBD_GUARDED_BY(m_mutex) = false; //!< nothing is passed on any more
    std::map<uint32_t, UndoSpan> m_waiting IBD_GUARDED_BY(m_mutex); //!< by first height
    uint64_t m_waiting_bytes IBD_GUARDED_BY(m_mutex) = 0;
    std::vector<UndoSpan> m_spare IBD_GUARDED_BY(m_mutex);
    uint64_t m_spare_bytes IBD_GUARDED_BY(m_mutex) = 0;
    std::optional<BrokenRule> m_broken IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
