// See relay_net.h.
#include "sim/relay_net.h"

#include "net/wire/messages.h"

namespace ibd::sim {

namespace {

constexpr int64_t kTick = kSecond / 2;
constexpr int64_t kHandshakes = 5 * kSecond; //!< until then no transaction is announced
constexpr int64_t kUsersAreDone = 60 * kSecond;
/** Delays of requests without timeouts: the round trip and the check. */
constexpr int64_t kWithoutTimeouts = 30 * kSecond;

/** Two of three nodes send each other packed transactions. */
PeerOptions OptionsOf(uint64_t seed)
{
    PeerOptions out;
    out.pack_level = seed % 3 == 0 ? 0 : 1;
    return out;
}

} // namespace

// SlowPool.

void SlowPool::Offer(TxOffer offer)
{
    ModelPool::Offer(std::move(offer));
    if (m_due != 0) return;
    m_due = m_network.Now() + m_delay;
    m_network.At(m_due, [this] { wake(); });
}

std::vector<TxAnswer> SlowPool::TakeAnswers()
{
    if (m_due == 0 || m_network.Now() < m_due) return {};
    m_due = 0;
    std::vector<TxAnswer> answers = ModelPool::TakeAnswers();
    for (const TxAnswer& answer : answers) {
        for (size_t i = 0; i < answer.txs.size(); ++i) {
            if (answer.txs[i]->violation) continue;
            came.emplace(answer.offer.txs[i]->WitnessId(), m_network.Now());
        }
    }
    return answers;
}

// HonestNode.

HonestNode::HonestNode(RelayNet& net, uint64_t seed, int64_t delay)
    : pool(net.network, delay), host(net.network, net.WorldWith(&pool), OptionsOf(seed), seed)
{
    pool.wake = [this] { host.WorkSoon(); };
    host.hear = [this, &net](PeerId peer, const OutgoingMessage& message) {
        if (message.type != InvMessage::kType || !friends.contains(peer)) return false;
        const InvMessage inv = *Decode<InvMessage>(message.payload);
        for (const InventoryItem& item : inv.list.items) {
            told.emplace(item.hash, net.network.Now());
        }
        return false;
    };
    net.network.Tick(host, kTick);
}

std::optional<int64_t> HonestNode::Came(const UserTx& tx) const
{
    const auto found = pool.came.find(tx.tx->WitnessId());
    return found == pool.came.end() ? std::nullopt : std::optional(found->second);
}

// RelayNet.

RelayNet::RelayNet(uint64_t seed)
    : m_rng(seed), m_params(MakeChainParams(ibd::Network::kRegtest)), m_blocks(1),
      m_chain(m_params, m_blocks)
{
    MakeNodes();
    MakeStrangers();
    PlanUsers(30);
    network.At(network.Now() + kSecond, [this] { Watch(); });
}

Host::World RelayNet::WorldWith(PeerPool* pool)
{
    return {m_params, m_chain, m_chain, m_chain, pool};
}

Network::Link RelayNet::Connect(Host& from, Host& to, ConnectionKind kind)
{
    const int number = ++m_addresses;
    const LinkQuality quality{m_rng.Between(1'000, 300'000), m_rng.Between(100'000, 5'000'000)};
    return network.Connect(from, to, kind,
                           fmt::format("8.{}.{}.1:8333", number / 250, number % 250), quality);
}

/** A tree, so that all reach each other, and some connections more. */
void RelayNet::MakeNodes()
{
    const int count = m_rng.Between(2, 6);
    while (int(nodes.size()) < count) {
        nodes.push_back(std::make_unique<HonestNode>(*this, m_rng(), m_rng.Between(0, 40'000)));
        const size_t last = nodes.size() - 1;
        for (size_t links = last == 0 ? 0 : 1 + m_rng.Below(2); links > 0; --links) {
            HonestNode& a = *nodes[last];
            HonestNode& b = *nodes[m_rng.Below(last)];
            const bool calls = m_rng.Chance(1, 2);
            const auto kind =
                m_rng.Chance(1, 4) ? ConnectionKind::kManual : ConnectionKind::kOutboundFullRelay;
            const Network::Link link =
                Connect(calls ? a.host : b.host, calls ? b.host : a.host, kind);
            a.friends[calls ? link.from : link.to] = &b;
            b.friends[calls ? link.to : link.from] = &a;
        }
    }
}

void RelayNet::MakeStrangers()
{
    for (int count = m_rng.Between(1, 4); count > 0; --count) {
        const Habits habits{.answer = Habits::Answer(m_rng.Below(6)),
                            .races = m_rng.Chance(3, 4),
                            .by_txid = m_rng.Chance(1, 4),
                            .floods_ids = m_rng.Chance(1, 3),
                            .floods_orphans = m_rng.Chance(1, 2),
                            .sends_junk = m_rng.Chance(1, 2),
                            .comes_and_goes = m_rng.Chance(1, 4)};
        strangers.push_back(std::make_unique<Stranger>(*this, m_rng(), habits));
        for (const auto& node : nodes) {
            if (m_rng.Chance(2, 3)) strangers.back()->Meet(*node);
        }
        strangers.back()->ActNow();
    }
}

Uint256 RelayNet::FloodId(uint64_t number) const
{
    return Uint256::FromBytes(Rng(number).RandomBytes(32).data());
}

const UserTx* RelayNet::FindTx(const Uint256& id) const
{
    const auto found = m_by_id.find(id);
    return found == m_by_id.end() ? nullptr : &txs[found->second];
}

// Users.

void RelayNet::PlanUsers(size_t count)
{
    m_to_come += count;
    for (; count > 0; --count) {
        const int64_t when =
            network.Now() + kHandshakes + int64_t(m_rng.Below(kUsersAreDone - kHandshakes));
        network.At(when, [this, owner = m_rng.Below(nodes.size())] {
            MakeTxs(*nodes[owner], owner);
            --m_to_come;
        });
    }
}

/** One, a chain of some, or a child that pays for its parent. */
void RelayNet::MakeTxs(HonestNode&, size_t owner)
{
    const bool witness = m_rng.Chance(1, 2);
    const auto make = [&](const OutPoint& spent, Amount fee, bool with_witness) {
        return MakeModelTx({spent}, fee, with_witness ? Bytes{1} : Bytes{},
                           with_witness ? ModelPool::kNeedsWitness : 2, m_rng.Below(300));
    };
    const bool pays_for_parent = m_rng.Chance(1, 4);
    // A stranger that sends such a parent without a witness ends its requests, as in Core.
    TransactionRef tx =
        make(ModelCoin(m_next_coin++), pays_for_parent ? 0 : 1'000, witness || pays_for_parent);
    Submit(owner, tx, {}, pays_for_parent);
    const size_t children = pays_for_parent ? 1 : m_rng.Below(3);
    for (size_t i = 0; i < children; ++i) {
        tx = make({tx->Id(), 0}, 3'000, witness);
        Submit(owner, tx, {txs.size() - 1});
    }
}

void RelayNet::Submit(size_t owner, TransactionRef tx, std::vector<size_t> parents, bool cheap)
{
    for (const Uint256* const id : {&tx->Id(), &tx->WitnessId()}) m_by_id[*id] = txs.size();
    txs.push_back({tx, network.Now(), owner, std::move(parents), cheap});
    HonestNode& node = *nodes[owner];
    node.pool.Add(tx);
    node.pool.came.emplace(tx->WitnessId(), network.Now());
    node.host.Peers().Announce(*tx);
    for (const auto& stranger : strangers) stranger->Announce(txs.back());
}

// Runs.

int64_t RelayNet::LongestDelay(const HonestNode& node) const
{
    const auto connections = int64_t(node.strangers.size());
    return kWithoutTimeouts + TxFetcher::kRequestTime * connections;
}

bool RelayNet::HaveAll() const
{
    if (m_to_come > 0) return false;
    return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
        return std::all_of(txs.begin(), txs.end(),
                           [&](const UserTx& tx) { return node->Came(tx).has_value(); });
    });
}

std::string RelayNet::Describe(const HonestNode& node, const UserTx& tx) const
{
    const auto seconds = [](std::optional<int64_t> time) {
        return time ? fmt::format("{:.1f}", double(*time - kStart * kSecond) / kSecond) : "never";
    };
    const auto told = node.told.find(tx.tx->WitnessId());
    std::string out = fmt::format(
        "{}: made {} by node {}, told {}, came {}", tx.tx->WitnessId().ToHex(), seconds(tx.made),
        tx.owner, seconds(told == node.told.end() ? std::nullopt : std::optional(told->second)),
        seconds(node.Came(tx)));
    for (const size_t parent : tx.parents) out += "; parent " + Describe(node, txs[parent]);
    return out;
}

void RelayNet::Run()
{
    int64_t longest = 0;
    for (const auto& node : nodes) longest = std::max(longest, LongestDelay(*node));
    // A package takes two requests.
    const int64_t hops = int64_t(nodes.size()) - 1;
    const int64_t end = network.Now() + kUsersAreDone + hops * (2 * longest + kLongestTrickle);
    RunUntilAllHaveAll(end);
}

void RelayNet::RunUntil(int64_t end)
{
    while (network.Now() < end) network.Step();
}

void RelayNet::RunUntilAllHaveAll(int64_t end)
{
    while (!HaveAll() && network.Now() < end) RunUntil(network.Now() + kSecond);
}

void RelayNet::RunSilently()
{
    silent = true;
    int64_t longest = 0;
    for (const auto& node : nodes) longest = std::max(longest, LongestDelay(*node));
    RunUntil(network.Now() + longest);
}

void RelayNet::SendMore()
{
    for (size_t owner = 0; owner < nodes.size(); ++owner) {
        Submit(owner, MakeModelTx({ModelCoin(m_next_coin++)}, 1'000), {});
    }
    const int64_t hops = int64_t(nodes.size()) - 1;
    const int64_t end = network.Now() + hops * (kWithoutTimeouts + kLongestTrickle);
    RunUntilAllHaveAll(end);
}

void RelayNet::Require(bool holds, const char* what)
{
    if (!holds && fault.empty()) {
        fault = fmt::format("after {} s: {}", network.Now() / kSecond - kStart, what);
    }
}

void RelayNet::Watch()
{
    for (const auto& node : nodes) WatchNode(*node);
    network.At(network.Now() + kSecond, [this] { Watch(); });
}

void RelayNet::WatchNode(const HonestNode& node)
{
    HonestNode& changed = const_cast<HonestNode&>(node);
    const TxFetcher& fetcher = changed.host.Peers().TxsToCome();
    const size_t peers = changed.host.Peers().Count();
    for (const PeerInfo& info : changed.host.Peers().Info()) {
        Require(fetcher.Requests().CountOf(info.connection.id) <= TxFetcher::kMaxAnnouncements,
                "a peer has too many announcements");
    }
    const OrphanPool& orphans = fetcher.Orphans();
    Require(orphans.Latency() <= OrphanPool::kMaxLatency, "too many orphans");
    Require(orphans.Weight() <= OrphanPool::kWeightOfPeer * int64_t(peers), "orphans too large");
    Require(node.host.discouraged.empty(), "a peer was punished");
}

} // namespace ibd::sim
