// BlockIntake: takes blocks of strangers into the chain behind the back of whoever brings them. A
// thread of its own checks and stores them, the chain's thread connects them meanwhile; who brought
// a block is remembered until the verdict on it. Owned by the node; any thread may call it, and no
// call waits for a disk or a check. Memory: kMaxBytes and kMaxBlocks of blocks, kMaxNotes notes.
#pragma once

#include "validation/chain_thread.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace ibd {

class BlockIntake {
public:
    static constexpr size_t kMaxBytes = 64 << 20; //!< of blocks that wait
    static constexpr size_t kMaxBlocks = 4096;    //!< likewise
    static constexpr size_t kMaxNotes = 8192;     //!< on blocks that are stored and not judged

    struct Block {
        const HeaderNode* node = nullptr; //!< what the bytes say they are
        int64_t source = -1;              //!< who brought it
        Bytes raw;
        bool via_compact = false; //!< as net's PeerBlock says; given back with a refusal
    };
    struct Refused {
        const HeaderNode* node = nullptr;
        int64_t source = -1;
        RuleViolation why;
        bool via_compact = false;
        size_t bytes = 0; //!< that came for it
    };
    struct Taken {
        const HeaderNode* node = nullptr;
        int64_t source = -1;
        bool connected = false; //!< else it is stored
    };

    /** `fatal` is told of a failure of the machine; `news` is called, on threads of the chain, when
     *  there is room again, something was refused, or a source may be no longer busy. */
    BlockIntake(ChainManager& chain, ChainThread& thread, std::function<void(const Error&)> fatal,
                std::function<void()> news);
    ~BlockIntake() { Stop(); }
    BlockIntake(const BlockIntake&) = delete;
    BlockIntake& operator=(const BlockIntake&) = delete;

    bool HasRoom(size_t bytes) const;
    /** False: there is no room. A block that waits here already is dropped. */
    bool Put(Block&& block);
    /** Whether it was put, and is neither stored nor handed out by TakeRefused() yet. */
    bool Holds(const HeaderNode& node) const;
    /** Whether a block of this source is not yet refused, or stored and connected as far as that
     *  goes. */
    bool IsBusyWith(int64_t source) const;
    /** Those since the last call, also blocks whose fault showed when they were connected. */
    std::vector<Refused> TakeRefused();
    /** Blocks stored, and blocks connected, since the last call. */
    std::vector<Taken> TakeTaken();

    /** The chain's verdict on some block. */
    void Checked(const BlockHash& hash, const RuleResult& verdict);
    /** Drops what waits, and ends the thread. */
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
    void Take(const Block& block) IBD_EXCLUDES(m_mutex);
    void Remember(const Block& block) IBD_EXCLUDES(m_mutex);
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
    /** Waiting, and the one that is being stored, with their bytes. */
    std::unordered_map<const HeaderNode*, size_t> m_held IBD_GUARDED_BY(m_mutex);
    size_t m_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< of these
    mutable std::deque<Stored> m_stored IBD_GUARDED_BY(m_mutex);
    mutable std::unordered_map<int64_t, size_t> m_busy IBD_GUARDED_BY(m_mutex); //!< by source
    std::map<BlockHash, Note> m_notes IBD_GUARDED_BY(m_mutex);
    std::deque<BlockHash> m_note_order IBD_GUARDED_BY(m_mutex); //!< some are judged meanwhile
    std::vector<Refused> m_refused IBD_GUARDED_BY(m_mutex);
    std::vector<Taken> m_taken IBD_GUARDED_BY(m_mutex); //!< at most kMaxNotes
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_storing;
};

} // namespace ibd
