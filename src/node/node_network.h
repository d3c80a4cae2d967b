// NodeNetwork: the network's place in the node - the peers, what they see of the chain, and how
// what they bring gets there. Owned by Node. Load() to Stop() on one thread, in that order; the
// rest from any.
#pragma once

#include "net/network.h"
#include "node/block_fetcher.h"
#include "node/chain_for_peers.h"
#include "node/events.h"
#include "node/tip_download.h"

namespace ibd {

/** All that it works with; they outlive it. */
struct NodeNetworkParts {
    Env& env;
    Logger& log;
    const ChainParams& params;
    /** Block-only connections to be made beyond the usual ones while the booster's blocks come. */
    int extra_booster_peers = 0;
    /** What setmocktime sets; null where there is no such call. */
    const std::atomic<int64_t>* mock_time = nullptr;
    std::function<void(const std::string& status)> set_status;
    NodeWarnings* warnings = nullptr;
    /** Told of failures of the machine; the node stops. */
    std::function<void(const Error&)> fatal;
    HintsProvider* hints = nullptr; //!< that peers may have; null: none
};

class NodeNetwork final : public EventConsumer, public BlockFetcher {
public:
    NodeNetwork(NodeNetworkParts parts, PeerNetworkOptions options);
    ~NodeNetwork() override { Stop(); }

    /** Reads peers.dat and banlist.json, before there is a chain. The error is for the user. */
    Result<> Load();
    /** Listens and connects; peers see this chain, whose index is loaded. Nothing is downloaded but
     *  headers until somebody says what. The error is for the user. Does nothing the second time.
     */
    Result<> Start(ChainManager& chain);
    /** The same for the booster, which has something to fetch into: null if nobody may be connected
     *  to, or the start fails, which the next tells. */
    BlockFetcher* StartFetcher(ChainManager& chain);
    /** From now on blocks above the tip are fetched and connected by that thread. */
    void Follow(ChainThread& thread);
    /** Returns at once. */
    void Interrupt();
    /** Nobody is spoken to any more, and nothing given to the chain. Before the chain's thread
     *  ends. */
    void Stop();

    bool IsStarted() const { return m_chain != nullptr; }
    /** Null before Load(). */
    PeerNetwork* Peers() { return m_peers.get(); }
    /** Something that peers wait for may have come. */
    void Wake() override;
    void Fetch(DownloadGoal& goal, BlockSink& sink) override;
    void StopFetching() override;
    size_t PeerCount() const override;
    HeadersTold AskForLastHeaders() override;
    /** The chain's verdict on a block; on any of its threads. */
    void Checked(const BlockHash& hash, const RuleResult& verdict);
    /** Tells peers of a new tip; on the events' thread. */
    void Take(const Event& event) override;

private:
    int64_t Now() const;
    void SaveBans(const std::map<Subnet, BanEntry>& bans);

    const NodeNetworkParts m_parts;
    PeerNetworkOptions m_options;
    ChainForPeers m_view;
    /** From the end of Start() on. The events' thread looks here whether it has begun. */
    std::atomic<ChainManager*> m_chain = nullptr;
    const HeaderNode* m_last_tip = nullptr; //!< that peers were told of; Start()'s, then Take()'s
    std::unique_ptr<PeerNetwork> m_peers;   //!< from Load() on
    std::atomic<PeerNetwork*> m_open_peers = nullptr; //!< for other threads
    std::unique_ptr<BlockIntake> m_intake;  //!< from Follow() on
    std::unique_ptr<TipDownload> m_download;
    std::atomic<BlockIntake*> m_open_intake = nullptr; //!< for other threads
};

} // namespace ibd
