// Indexes: the indexes requested by the user, and their followers. Owned by the node: created
// before the first event, opened when the chainstate is loaded, started when the stored blocks are
// connected, stopped after the last write of the coins. Indexes are accessed by type; null if not
// requested. Any thread after Open(). Empty indexes that can take blocks in any order are first
// built from all stored blocks (IndexBuild), on a thread of their own; if that fails, their
// followers begin with the first block.
#pragma once

#include "chain/prune_locks.h"
#include "events/events.h"
#include "index/coin_stats_index.h"
#include "index/filter_index.h"
#include "index/index_build.h"
#include "index/index_follower.h"
#include "index/index_options.h"
#include "index/spender_index.h"
#include "index/tx_index.h"

namespace ibd {

struct IndexesParts {
    Env& env;
    Logger& log;
    const ConsensusParams& consensus;
    Path folder; //!< <network's data directory>/indexes
    IndexOptions options;
    /** Ends the node; any thread. */
    std::function<void(const Error&)> failed;
    IndexBuildOptions build = {};
};

class Indexes final : public EventConsumer, public PruneLocks {
public:
    explicit Indexes(IndexesParts parts) : m_parts(std::move(parts)) {}

    /** Removes the databases of the requested indexes. Call it before Open(), and before the block
     *  index is rebuilt, which may move blocks (-reindex): a start that continues an interrupted
     *  rebuild then finds them empty. */
    Result<> Destroy();
    /** Errors are one line for the user. */
    Result<> Open(const IndexChain& chain);
    /** Checks that pruning has not deleted blocks that an index needs. Call it before Start(). The
     *  error text is Core's. */
    Result<> CheckBlocks() const;
    /** A warning for each index that does not fit on the disk after the indexes before it. Call it
     *  before Start(). */
    std::vector<std::string> LackOfSpace() const;
    void Start();
    void Stop();

    std::vector<PruneLock> Current() const override;
    std::vector<PruneLock> Save() override;

    void Take(const Event&) override;

    const TxIndex* Tx() const { return m_tx.get(); }
    const SpenderIndex* Spenders() const { return m_spenders.get(); }
    const FilterIndex* Filters() const { return m_filters.get(); }
    const CoinStatsIndex* CoinStats() const { return m_coin_stats.get(); }
    /** The follower of an index. */
    const IndexFollower& FollowerOf(const Index& index) const;
    /** The summaries of all indexes, in Core's order. */
    std::vector<IndexSummary> Summaries() const;
    /** Waits until each index that had reached the tip is at the current one, or the node stops. */
    void WaitForTip() const;

private:
    struct Entry {
        Index* index;
        size_t cache; //!< cache of its database, bytes
        std::unique_ptr<IndexFollower> follower;
    };

    Result<> OpenAll();
    Result<> Recover(const std::string& option, const Path& folder);
    bool CanBuild(const Entry& entry, const HeaderNode* tip) const;
    void Build();
    Result<bool> RunBuild();
    Result<> GoOn(Entry& entry, bool built);
    /** A lock that keeps all blocks; nothing: the indexes are open, or none is requested. */
    std::optional<PruneLock> NotOpen() const;
    Result<std::unique_ptr<KvStore>> OpenDb(const std::string& option, const Path& folder,
                                            size_t cache);

    const IndexesParts m_parts;
    std::unique_ptr<TxIndex> m_tx;
    std::unique_ptr<SpenderIndex> m_spenders;
    std::unique_ptr<FilterIndex> m_filters;
    std::unique_ptr<CoinStatsIndex> m_coin_stats;
    std::vector<Entry> m_entries;
    std::atomic<bool> m_open{false};
    const IndexChain* m_chain = nullptr;
    std::vector<Entry*> m_to_build;
    std::unique_ptr<IndexBuild> m_build; //!< null: none
    std::atomic<const IndexBuild*> m_building{nullptr};
    NamedThread m_builder;
};

} // namespace ibd
