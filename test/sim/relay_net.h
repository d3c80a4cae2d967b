// RelayNet: honest nodes that relay transactions of their users, and colluding peers that try to
// delay these: on a simulated network, from a seed. It records for each node when each transaction
// was announced to it, and when it accepted the transaction. Bounds are looked at once in a second
// of simulated time; the first one that is exceeded is kept in `fault`.
#pragma once

#include "sim/model_pool.h"
#include "sim/network.h"
#include "sim/rng.h"

namespace ibd::sim {

/** Verdicts take time, as on a thread of their own. */
class SlowPool final : public ModelPool {
public:
    SlowPool(Network& network, int64_t delay) : m_network(network), m_delay(delay) {}

    void Offer(TxOffer offer) override;
    std::vector<TxAnswer> TakeAnswers() override;

    std::function<void()> wake;
    std::map<Wtxid, int64_t> came; //!< when peers' transactions were received, microseconds

private:
    Network& m_network;
    const int64_t m_delay;
    int64_t m_due = 0; //!< of what waits; 0: nothing does
};

/** A transaction of a user of an honest node. */
struct UserTx {
    TransactionRef tx;
    int64_t made = 0;
    size_t owner = 0;
    std::vector<size_t> parents;  //!< numbers of such transactions
    bool pays_too_little = false; //!< alone; its child pays for it
};

class RelayNet;

class HonestNode {
public:
    HonestNode(RelayNet& net, uint64_t seed, int64_t delay);

    /** The time at which it accepted it; nothing: not yet. */
    std::optional<int64_t> Came(const UserTx& tx) const;

    SlowPool pool;
    Host host;
    std::map<PeerId, HonestNode*> friends; //!< honest peers
    std::set<PeerId> strangers;            //!< the other ones, also past ones
    std::map<Wtxid, int64_t> told;         //!< by a friend
};

/** The behaviour of a stranger. */
struct Habits {
    enum class Answer { kNone, kNotFound, kSpoilt, kStripped, kTruth, kAny };
    Answer answer = Answer::kNone; //!< to a request for a user's transaction
    bool races = false;            //!< announces it at once
    bool by_txid = false;
    bool floods_ids = false;
    bool floods_orphans = false;
    bool sends_junk = false; //!< invalid, cheap, repeated, in conflict with each other
    bool comes_and_goes = false;
};

class Stranger {
public:
    Stranger(RelayNet& net, uint64_t seed, const Habits& habits);

    void Meet(HonestNode& node);
    void Announce(const UserTx& tx);
    /** Does something, and again later. */
    void ActNow();

    uint64_t requests = 0; //!< to it

private:
    /** With one honest node. */
    struct Contact {
        HonestNode* node = nullptr;
        std::map<Uint256, uint64_t> may_ask; //!< so often it may be asked for this hash
        std::map<Uint256, uint64_t> asked;
    };
    void AllowParents(Contact& contact, const TransactionRef& tx);
    bool Hear(PeerId link, const OutgoingMessage& message);
    void Answer(PeerId link, const InventoryItem& item);
    void SendTx(PeerId link, const TransactionRef& tx);
    void SendInv(PeerId link, const std::vector<InventoryItem>& items);
    void FloodIds(PeerId link);
    void FloodOrphans(PeerId link);
    void SendJunk(PeerId link);
    void Reconnect();
    InventoryItem ItemOf(const TransactionRef& tx) const;

    RelayNet& m_net;
    Rng m_rng;
    const Habits m_habits;
    Host m_host;
    std::map<PeerId, Contact> m_contacts;
    uint32_t m_next_coin;
    const int64_t m_floods_end;
    int m_comebacks = 0;
    std::vector<TransactionRef> m_sent; //!< some, to be sent again
};

class RelayNet {
public:
    static constexpr int64_t kStart = 1'300'000'000; //!< seconds since 1970
    static constexpr int64_t kLongestTrickle = 120 * kSecond;

    explicit RelayNet(uint64_t seed);

    /** Until all nodes have all transactions, or the time for that is over. */
    void Run();
    /** Strangers fall silent, until every request to them is over. */
    void RunSilently();
    /** Another transaction of each node, and the time until all have them. */
    void SendMore();

    /** The longest delay of an honest peer's transaction at the node. */
    int64_t LongestDelay(const HonestNode& node) const;
    bool HaveAll() const;
    /** For the message of a failure. */
    std::string Describe(const HonestNode& node, const UserTx& tx) const;
    /** The first bound that was exceeded, or broken promise. */
    std::string fault;

    Network network{kStart};
    std::vector<UserTx> txs;
    std::vector<std::unique_ptr<HonestNode>> nodes;
    std::vector<std::unique_ptr<Stranger>> strangers;
    bool silent = false;

    // For its parts.

    Host::World WorldWith(PeerPool* pool);
    const UserTx* FindTx(const Uint256& id) const;
    /** The same ids for all strangers. */
    Uint256 FloodId(uint64_t number) const;
    Network::Link Connect(Host& from, Host& to, ConnectionKind kind);

private:
    void MakeNodes();
    void MakeStrangers();
    void PlanUsers(size_t count);
    void MakeTxs(HonestNode& node, size_t owner);
    void Submit(size_t owner, TransactionRef tx, std::vector<size_t> parents, bool cheap = false);
    void RunUntil(int64_t end);
    void RunUntilAllHaveAll(int64_t end);
    void Watch();
    void WatchNode(const HonestNode& node);
    void Require(bool holds, const char* what);

    Rng m_rng;
    const ChainParams m_params;
    const std::vector<Bytes> m_blocks;
    ServedChain m_chain;
    std::map<Uint256, size_t> m_by_id;
    uint32_t m_next_coin = 0;
    size_t m_to_come = 0; //!< transactions that users will still make
    int m_addresses = 0;
};

} // namespace ibd::sim
