// UndoHandover: brings the undo records that several threads make at once to their consumer in the
// order of the chain. A thread that is early leaves its records and goes on; whoever brings what is
// due hands on all that has waited for it. Owned by UndoPhase; any thread. Memory: what waits and
// spare buffers, at most `most_bytes`, or one span that waits alone. What is scattered does not
// wait.
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

/** A record too large to be held twice: views of its coins, wherever they lie. */
struct ScatteredUndo {
    Bytes counts; //!< of transactions and coins, which stand between the coins
    std::vector<ByteSpan> pieces;
};

/** The records of a span of heights. */
struct UndoSpan {
    struct Record {
        const HeaderNode* node = nullptr;
        size_t begin = 0; //!< in `bytes`
        size_t size = 0;
        Hash32 checksum{};
        std::unique_ptr<ScatteredUndo> scattered{}; //!< null, or in place of `bytes`
    };

    HeightSpan span;                  //!< whose turn it is, with blocks that want no records
    Bytes bytes;                      //!< in the order of the files
    std::vector<Record> records;      //!< by height, of the last blocks of the span
    std::optional<BrokenRule> broken; //!< the lowest; what is above is not handed on

    /** Whether it refers to what its maker holds. */
    bool IsScattered() const;
};

class UndoHandover {
public:
    /** `handed_on` counts records. */
    UndoHandover(UndoConsumer& consumer, std::atomic<uint32_t>& handed_on, uint64_t most_bytes)
        : m_consumer(consumer), m_handed_on(handed_on), m_most_bytes(most_bytes)
    {
    }

    /** All below `height` is handed on, now that nothing waits. */
    void Begin(uint32_t height);

    /** Waits until all below `height` is handed on. False: nothing more is. */
    bool AwaitTurn(uint32_t height);

    /** Takes a span, not an empty one; hands it on if it is due, and what waited for it. Waits
     *  while too much is waiting, and with a scattered one until it is due. False: nothing more is
     *  handed on. An error is the consumer's. */
    Result<bool> Give(UndoSpan span);

    /** An empty one; its buffers may be those of a span that was handed on. */
    UndoSpan Spare();

    /** Nothing more is handed on. */
    void End();

    /** The lowest block that breaks a rule. All below it are handed on. */
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
    uint32_t m_turn IBD_GUARDED_BY(m_mutex) = 0;  //!< all below this height is handed on
    bool m_ended IBD_GUARDED_BY(m_mutex) = false; //!< nothing more is
    std::map<uint32_t, UndoSpan> m_waiting IBD_GUARDED_BY(m_mutex); //!< by first height
    uint64_t m_waiting_bytes IBD_GUARDED_BY(m_mutex) = 0;
    std::vector<UndoSpan> m_spare IBD_GUARDED_BY(m_mutex);
    uint64_t m_spare_bytes IBD_GUARDED_BY(m_mutex) = 0;
    std::optional<BrokenRule> m_broken IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
