// HintsFromPeers: assembles a hints file in the hints folder from data of peers. An unfinished file
// (<id>.part) is resumed: groups with the right checksum are not fetched again. Owned by Node. Data
// arrives on the thread of the peers; Wait() is called on another thread.
#pragma once

#include "booster/file_hash.h"
#include "booster/headers_watch.h"
#include "booster/known_hints.h"
#include "hints/container2.h"
#include "net/peer/hints_goal.h"
#include "util/found.h"
#include "util/log.h"
#include "util/progress_targets.h"
#include "validation/chain_manager.h"

#include <atomic>

namespace ibd {

struct HintsFetchOptions {
    Path folder;
    std::optional<Uint256> pin; //!< SHA-256 of the only acceptable file (-ibdboosterhash)
    std::vector<KnownHints> known;
    bool full_validation = false; //!< no block is assumed valid
    ProgressTargets progress = {};
    /** Asks peers for their last headers; null: no network. */
    std::function<HeaderAnswers()> last_headers = {};
    /** Further text for the progress line; may be null. */
    std::function<std::string()> detail = {};
};

class HintsFromPeers final : public HintsGoal {
public:
    /** The chain's index must be loaded; it must outlive this. */
    HintsFromPeers(Env& env, Logger& log, const ChainManager& chain, HintsFetchOptions options);

    /** Starts fetching and waits. Returns the file once it is complete; nothing: no file will come
     *  (the reason is logged), or Interrupt() was called. Errors are the machine's. */
    Found<Path> Wait();
    /** Call it before Wait() is called for the next file. */
    void Again();
    /** Any thread. */
    void Interrupt();
    /** The id of the fetched hints. */
    const Uint256& Id() const { return m_offer.id; }
    /** After Wait(): whether the whole file did not match its offer, although each part did. */
    bool WasFalse() const { return m_was_false; }

    /** Any thread. */
    bool HasHeaders() override;
    Fit Judge(const HintsOffer& offer) override;
    bool IsPinned(const HintsOffer& offer) override;
    Result<std::vector<HintsPiece>> TakeHead(const HintsOffer& offer, Bytes head) override;
    Result<> TakeGroups(size_t first, ByteSpan bytes) override;
    void Complete(const HintsOffer& offer) override;
    void Failed(const std::string& why) override;

private:
    void StartFile(const HintsOffer& offer);
    void LookAtHeaders(HeadersWatch& watch);
    Result<> RemoveOtherParts() const;
    Result<std::vector<HintsPiece>> LookAtPart(bool begun) const;
    Result<> CheckHead(const HintsOffer& offer, size_t head_size) const;
    Result<std::vector<HintsPiece>> OpenPart(const HintsOffer& offer);
    Path PartPath() const;
    Found<Path> Finish(std::optional<FileHash>& hash);
    uint64_t EndOfPrefix();

    Env& m_env;
    Logger& m_log;
    const ChainManager& m_chain;
    const HintsFetchOptions m_options;

    // The thread of the peers uses these until the file is complete; then Wait() does.
    HintsOffer m_offer;
    std::unique_ptr<Container2Hints> m_head;
    std::shared_ptr<WritableFile> m_part;
    std::vector<bool> m_there; //!< present groups
    size_t m_first_missing = 0;
    std::atomic<bool> m_headers_ended = false; //!< no peer has more headers

    // Used by the waiting thread alone.
    bool m_was_false = false; //!< the last file had another hash than its offer
    int64_t m_looked_at = 0;  //!< time of the last check for headers, microseconds

    enum class State { kAsking, kFetching, kComplete, kFailed };
    /** A snapshot of the state for Wait(). */
    struct Look {
        State state = State::kAsking;
        size_t file = 0;
        uint64_t bytes = 0;
        uint64_t total = 0;
        uint64_t prefix = 0;
        std::shared_ptr<WritableFile> part = {};
        Path path = {}; //!< of part
    };
    mutable Mutex m_mutex;
    std::condition_variable_any m_changed;
    State m_state IBD_GUARDED_BY(m_mutex) = State::kAsking;
    std::shared_ptr<WritableFile> m_writing IBD_GUARDED_BY(m_mutex); //!< the file of m_part, for
                                                                     //!< Wait()
    size_t m_file IBD_GUARDED_BY(m_mutex) = 0;                       //!< number of started files
    std::string m_failure IBD_GUARDED_BY(m_mutex);
    uint64_t m_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< bytes of the groups received
    uint64_t m_total IBD_GUARDED_BY(m_mutex) = 0;
    uint64_t m_prefix IBD_GUARDED_BY(m_mutex) = 0; //!< bytes received without a gap from the start
    std::atomic<bool> m_wanted = false;            //!< set by Wait()
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
