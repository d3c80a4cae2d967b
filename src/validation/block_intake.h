// BlockIntake: takes blocks from peers into the chain without blocking the caller. A thread of its
// own checks and stores them, while the chain's thread connects them. The source of a block is
// remembered until the verdict on it. Owned by the node; any thread may call it, and no call waits
// for a disk or a check. Memory: kMaxBytes and kMaxBlocks of blocks, kMaxNotes notes.
#pragma once

#include "validation/chain_thread.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace ibd {

class BlockIntake {
public:
    static constexpr size_t kMaxBytes = 64 << 20; //!< of waiting blocks
    static constexpr size_t kMaxBlocks = 4096;    //!< waiting
    static constexpr size_t kMaxNotes = 8192;     //!< on stored blocks without a verdict

    struct Block {
        const HeaderNode* node = nullptr; //!< the node of the block's header
        int64_t source = -1;              //!< identifies the sender
        Bytes raw;
        bool via_compact = false; //!< see PeerBlock (net); returned with a refused block
    };
    struct Refused {
        const HeaderNode* node = nullptr;
        int64_t source = -1;
        RuleViolation why;
        bool via_compact = false;
        size_t bytes = 0; //!< received for it
    };
    struct Taken {
        const HeaderNode* node = nullptr;
        int64_t source = -1;
        bool connected = false; //!< false: only stored
    };

    /** `fatal` receives failures of the machine. `news` is called, on threads of the chain, when
     *  there is space again, when a block was refused, and when a source may have no block in
     *  process any more. */
    BlockIntake(ChainManager& chain, ChainThread& thread, std::function<void(const Error&)> fatal,
                std::function<void()> news);
    ~BlockIntake() { Stop(); }
    BlockIntake(const BlockIntake&) = delete;
    BlockIntake& operator=(const BlockIntake&) = delete;

    bool HasRoom(size_t bytes) const;
    /** False: there is no space. A block that waits already is dropped. */
    bool Put(Block&& block);
    /** Whether the block was passed to Put(), and is not yet stored or returned by TakeRefused().
     */
    bool Holds(const HeaderNode& node) const;
    /** Whether a block of this source is still being processed: not refused, and not yet stored and
     *  connected. */
    bool IsBusyWith(int64_t source) const;
    /** The blocks refused since the last call, including those that failed when they were
     *  connected. */
    std::vector<Refused> TakeRefused();
    /** Blocks stored, and blocks connected, since the last call. */
    std::vector<Taken> TakeTaken();

    /** Receives the chain's verdict on a block. */
    void Checked(const BlockHash& hash, const RuleResult& verdict);
    /** Drops the waiting blocks and ends the thread. */
    void Stop();

private:
    struct Note {
        const HeaderNode* node;
        int64_t source;
        bool via_compact;
        size_t bytes;
    };
    struct Stored {
        uint64_t ticket; //!< of ChainThread::ActivateSoon
        int64_t source;
    };

    void Work();
    bool Fits(size_t bytes) const IBD_REQUIRES(m_mutex);
    bool WaitForBlock(Block& out) IBD_EXCLUDES(m_mutex);
    void Take(Block block) IBD_EXCLUDES(m_mutex);
    bool Remember(const Note& note) IBD_EXCLUDES(m_mutex);
    void Report(const Note& note, const RuleResult& verdict) IBD_REQUIRES(m_mutex);
    void Tell(const Taken& taken) IBD_REQUIRES(m_mutex);
    void Settle() const IBD_REQUIRES(m_mutex);
    void Release(int64_t source) const IBD_REQUIRES(m_mutex);

    ChainManager& m_chain;
    ChainThread& m_thread;
    const std::function<void(const Error&)> m_fatal;
    const std::function<void()> m_news;

    mutable Mutex m_mutex;
    std::condition_variable_any m_filled;
    std::deque<Block> m_waiting IBD_GUARDED_BY(m_mutex);
    /** Waiting blocks and the one being stored, with their bytes. */
    std::unordered_map<const HeaderNode*, size_t> m_held IBD_GUARDED_BY(m_mutex);
    size_t m_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< sum of m_held
    mutable std::deque<Stored> m_stored IBD_GUARDED_BY(m_mutex);
    mutable std::unordered_map<int64_t, size_t> m_busy IBD_GUARDED_BY(m_mutex); //!< by source
    std::map<BlockHash, Note> m_notes IBD_GUARDED_BY(m_mutex);
    std::deque<BlockHash> m_note_order IBD_GUARDED_BY(m_mutex); //!< may include blocks with a
                                                                //!< verdict
    std::vector<Refused> m_refused IBD_GUARDED_BY(m_mutex);
    std::vector<Taken> m_taken IBD_GUARDED_BY(m_mutex); //!< at most kMaxNotes
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_storing;
};

} // namespace ibd
