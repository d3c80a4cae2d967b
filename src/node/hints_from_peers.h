// HintsFromPeers: a hints file that is put together in the hints folder of what peers bring. A file
// that was begun (<id>.part) is gone on with: what of it has the right checksum is not fetched
// again. Owned by Node. What peers bring comes on their thread, Wait() is another's.
#pragma once

#include "hints/container2.h"
#include "net/hints_goal.h"
#include "node/file_hash.h"
#include "node/headers_watch.h"
#include "node/known_hints.h"
#include "util/log.h"
#include "util/progress_targets.h"
#include "validation/chain_manager.h"

#include <atomic>

namespace ibd {

struct HintsFetchOptions {
    Path folder;
    std::optional<Uint256> pin; //!< SHA-256 of the file: of no other (-ibdboosterhash)
    std::vector<KnownHints> known;
    bool full_validation = false; //!< nothing is assumed valid
    ProgressTargets progress = {};
    /** Asks peers for the last headers that they have; null: nobody to ask. */
    std::function<HeadersTold()> last_headers = {};
    /** What else the line of progress is to say; null: nothing. */
    std::function<std::string()> detail = {};
};

class HintsFromPeers final : public HintsGoal {
public:
    /** The chain's index is loaded; it outlives this. */
    HintsFromPeers(Env& env, Logger& log, const ChainManager& chain, HintsFetchOptions options);

    /** Nothing is fetched before it is called. The file once it is complete; nothing if there will
     * be none, which the log tells, or after Interrupt(). Errors are the machine's. */
    Result<std::optional<Path>> Wait();
    /** Before Wait() is called again, for the next file, unless there is none. */
    void Again();
    /** Any thread. */
    void Interrupt();
    /** Of the file that was fetched. */
    const Uint256& Id() const { return m_offer.id; }
    /** After Wait(): the whole was not what was offered, though each part of it was. */
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
    Path PartPath() const;
    Result<std::optional<Path>> Finish(std::optional<FileHash>& hash);
    uint64_t EndOfPrefix();

    Env& m_env;
    Logger& m_log;
    const ChainManager& m_chain;
    const HintsFetchOptions m_options;

    // The peers' thread; Wait()'s when that is done, but for what it syncs and names meanwhile.
    HintsOffer m_offer;
    std::unique_ptr<Container2Hints> m_head;
    std::shared_ptr<WritableFile> m_part;
    std::vector<bool> m_there; //!< of the groups
    size_t m_first_missing = 0;
    bool m_was_false = false;                  //!< Wait()'s
    int64_t m_looked_at = 0;                   //!< Wait()'s: when at the headers, microseconds
    std::atomic<bool> m_headers_ended = false; //!< no peer has more of them

    enum class State { kAsking, kFetching, kComplete, kFailed };
    /** What Wait() sees at one moment. */
    struct Look {
        State state = State::kAsking;
        size_t file = 0;
        uint64_t bytes = 0;
        uint64_t total = 0;
        uint64_t prefix = 0;
        std::shared_ptr<WritableFile> part = {};
    };
    mutable Mutex m_mutex;
    std::condition_variable_any m_changed;
    State m_state IBD_GUARDED_BY(m_mutex) = State::kAsking;
    std::shared_ptr<WritableFile> m_writing IBD_GUARDED_BY(m_mutex); //!< as m_part, for Wait()
    size_t m_file IBD_GUARDED_BY(m_mutex) = 0;                       //!< how many were begun
    std::string m_failure IBD_GUARDED_BY(m_mutex);
    uint64_t m_bytes IBD_GUARDED_BY(m_mutex) = 0; //!< of groups that are there
    uint64_t m_total IBD_GUARDED_BY(m_mutex) = 0;
    uint64_t m_prefix IBD_GUARDED_BY(m_mutex) = 0; //!< bytes from the start that are there
    std::atomic<bool> m_wanted = false;            //!< from Wait() on
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
