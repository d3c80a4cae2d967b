// NodeNetwork: the node's network: the peers, their view of the chain, and the path of their blocks
// into it. Owned by Node. Load() to Stop() on one thread, in that order; the rest from any.
#pragma once

#include "booster/block_fetcher.h"
#include "booster/tip_download.h"
#include "events/events.h"
#include "net/network.h"
#include "node/chain_for_peers.h"

namespace ibd {

/** The objects that it uses; they outlive it. */
struct NodeNetworkParts {
    Env& env;
    Logger& log;
    const ChainParams& params;
    /** Additional block-only connections while the booster's blocks are downloaded. */
    int extra_booster_peers = 0;
    /** The value of setmocktime; null without that call. */
    const std::atomic<int64_t>* mock_time = nullptr;
    std::function<void(const std::string& status)> set_status;
    NodeWarnings* warnings = nullptr;
    /** Receives failures of the machine; the node stops. */
    std::function<void(const Error&)> fatal;
    HintsProvider* hints = nullptr; //!< hints offered to peers; null: none
    PeerPool& pool;
    FilterProvider& filters;
};

class NodeNetwork final : public EventConsumer, public BlockFetcher {
public:
    NodeNetwork(NodeNetworkParts parts, PeerNetworkOptions options);
    ~NodeNetwork() override { Stop(); }

    /** Reads peers.dat and banlist.json, before there is a chain. The error is for the user. */
    Result<> Load();
    /** Listens and connects; peers see this chain, whose index must be loaded. Downloads only
     *  headers until Follow() or Fetch(). The error is for the user. The second call does nothing.
     */
    Result<> Start(ChainManager& chain);
    /** The same for the booster. Null: connections are disabled, or the start failed; the next
     *  Start() returns the error. */
    BlockFetcher* StartFetcher(ChainManager& chain);
    /** From now on blocks above the tip are fetched and connected by that thread. */
    void Follow(ChainThread& thread);
    /** Returns at once. */
    void Interrupt();
    /** Ends all communication with peers, and so all input to the chain. Call it before the chain's
     *  thread ends. */
    void Stop();

    bool IsStarted() const { return m_chain != nullptr; }
    /** Null before Load(). */
    PeerNetwork* Peers() { return m_peers.get(); }
    /** A condition that peers wait for may have changed. */
    void Wake() override;
    void Fetch(DownloadGoal& goal, BlockSink& sink) override;
    void StopFetching() override;
    size_t PeerCount() const override;
    HeaderAnswers AskForLastHeaders() override { return m_peers->Blocks().AskForLastHeaders(); }
    size_t CountSpentCoinsPeers() override { return m_peers->Blocks().CountSpentCoinsPeers(); }
    /** The chain's verdict on a block; on any of its threads. */
    void Checked(const BlockHash& hash, const RuleResult& verdict);
    /** Inform peers of a new tip, or of the last one that was missed; on the events' thread. */
    void Take(const Event& event) override;
    void Missed(const MissedEvents& missed) override;

private:
    int64_t Now() const;
    void TellPeers(const TipChanged& change);
    void SaveBans(const std::map<Subnet, BanEntry>& bans);

    const NodeNetworkParts m_parts;
    PeerNetworkOptions m_options;
    ChainForPeers m_view;
    /** Set at the end of Start(). The events' thread checks it. */
    std::atomic<ChainManager*> m_chain = nullptr;
    const HeaderNode* m_last_tip = nullptr; //!< last tip sent to peers; used by Start(), then by
                                            //!< Take()
    std::unique_ptr<PeerNetwork> m_peers;   //!< set by Load()
    std::atomic<PeerNetwork*> m_open_peers = nullptr; //!< for other threads
    std::unique_ptr<BlockIntake> m_intake;            //!< set by Follow()
    std::unique_ptr<TipDownload> m_download;
    std::atomic<BlockIntake*> m_open_intake = nullptr; //!< for other threads
};

} // namespace ibd
