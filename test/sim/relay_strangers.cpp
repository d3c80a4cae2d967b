// The strangers of a RelayNet; see relay_net.h.
#include "net/wire/messages.h"
#include "sim/relay_net.h"

namespace ibd::sim {

namespace {

constexpr uint32_t kFirstCoin = 1'000'000; //!< of strangers
constexpr uint32_t kCoinsOfStranger = 100'000;
constexpr size_t kKeptToRepeat = 50;
constexpr int kComebacks = 2; //!< each delays others by a request's timeout
// Floods are short, because they take most of a run's time.
constexpr int64_t kFloodTime = 90 * kSecond;
constexpr size_t kMostAtOnce = 10; //!< transactions
constexpr size_t kMostIds = 500;

} // namespace

Stranger::Stranger(RelayNet& net, uint64_t seed, const Habits& habits)
    : m_net(net), m_rng(seed), m_habits(habits),
      m_host(net.network, net.WorldWith(nullptr), {}, seed),
      m_next_coin(kFirstCoin + kCoinsOfStranger * uint32_t(net.strangers.size())),
      m_floods_end(net.network.Now() + kFloodTime)
{
    m_host.tamper = [this](OutgoingMessage& message) {
        return message.type != WtxidRelayMessage::kType || !m_habits.by_txid;
    };
    m_host.hear = [this](PeerId link, const OutgoingMessage& message) {
        return Hear(link, message);
    };
    net.network.Tick(m_host, 5 * kSecond);
}

void Stranger::Meet(HonestNode& node)
{
    const bool calls = m_rng.Chance(1, 2);
    const Network::Link link = m_net.Connect(
        calls ? m_host : node.host, calls ? node.host : m_host,
        m_rng.Chance(1, 4) ? ConnectionKind::kManual : ConnectionKind::kOutboundFullRelay);
    m_contacts[calls ? link.from : link.to].node = &node;
    node.strangers.insert(calls ? link.to : link.from);
}

InventoryItem Stranger::ItemOf(const TransactionRef& tx) const
{
    if (m_habits.by_txid) return {kInvTx, tx->Id()};
    return {kInvWtx, tx->WitnessId()};
}

/** To some peers; also by txid, which is a second hash to request. */
void Stranger::Announce(const UserTx& tx)
{
    if (!m_habits.races || m_net.silent) return;
    std::vector<InventoryItem> items{ItemOf(tx.tx)};
    if (m_rng.Chance(1, 4)) items.push_back({kInvTx, tx.tx->Id()});
    for (auto& [link, contact] : m_contacts) {
        if (m_rng.Chance(1, 4)) continue;
        AllowParents(contact, tx.tx);
        SendInv(link, items);
    }
}

void Stranger::SendInv(PeerId link, const std::vector<InventoryItem>& items)
{
    InvMessage message;
    message.list.items = items;
    for (const InventoryItem& item : items) ++m_contacts.at(link).may_ask[item.hash];
    m_host.Send(link, MakeOutgoing(message));
}

/** A node that lacks parents may request them, and their parents in turn. */
void Stranger::AllowParents(Contact& contact, const TransactionRef& tx)
{
    std::set<Txid> parents;
    for (const InputView& input : (*tx)->inputs) parents.insert(input.Prevout().txid);
    for (const Txid& id : parents) {
        ++contact.may_ask[id];
        if (const UserTx* const parent = m_net.FindTx(id)) AllowParents(contact, parent->tx);
    }
}

void Stranger::SendTx(PeerId link, const TransactionRef& tx)
{
    AllowParents(m_contacts.at(link), tx);
    m_host.Send(link, MakeOutgoing(TxMessage{tx}));
    if (m_sent.size() < kKeptToRepeat) m_sent.push_back(tx);
}

bool Stranger::Hear(PeerId link, const OutgoingMessage& message)
{
    if (message.type == InvMessage::kType) return true;
    const auto contact = m_contacts.find(link);
    if (message.type != GetDataMessage::kType || contact == m_contacts.end()) return false;
    const GetDataMessage wanted = *Decode<GetDataMessage>(message.payload);
    for (const InventoryItem& item : wanted.list.items) {
        ++requests;
        const uint64_t asked = ++contact->second.asked[item.hash];
        if (asked > contact->second.may_ask[item.hash] && m_net.fault.empty()) {
            m_net.fault = "a stranger was asked again for " + item.ToString();
        }
        if (!m_net.silent) Answer(link, item);
    }
    return true;
}

void Stranger::Answer(PeerId link, const InventoryItem& item)
{
    using What = Habits::Answer;
    What what = m_habits.answer;
    if (what == What::kAny) what = What(m_rng.Below(uint64_t(What::kAny)));
    const UserTx* const known = m_net.FindTx(item.hash);
    if (what == What::kNotFound) {
        NotFoundMessage message;
        message.list.items = {item};
        m_host.Send(link, MakeOutgoing(message));
    }
    if (what == What::kNone || what == What::kNotFound || !known) return;
    if (what == What::kTruth) return SendTx(link, known->tx);
    MutableTransaction changed = MutableTransaction::FromView(known->tx->View());
    for (MutableInput& input : changed.inputs) {
        input.witness.clear();
        if (what == What::kSpoilt) input.witness = {Bytes{ModelPool::kBadWitness}};
    }
    SendTx(link, changed.Freeze());
}

void Stranger::ActNow()
{
    const auto until_next = int64_t(m_rng.Below(4 * kSecond));
    m_net.network.At(m_net.network.Now() + until_next, [this] { ActNow(); });
    if (m_net.silent) return;
    if (m_habits.comes_and_goes && m_comebacks < kComebacks && m_rng.Chance(1, 20)) {
        return Reconnect();
    }
    if (m_net.network.Now() > m_floods_end) return;
    for (const auto& [link, contact] : m_contacts) {
        if (m_habits.floods_ids && m_rng.Chance(1, 4)) FloodIds(link);
        if (m_habits.floods_orphans) FloodOrphans(link);
        if (m_habits.sends_junk) SendJunk(link);
    }
}

/** One of the transactions that all strangers announce. */
void Stranger::FloodIds(PeerId link)
{
    std::vector<InventoryItem> items(1 + m_rng.Below(kMostIds));
    const uint64_t first = m_rng.Below(10 * kMostIds);
    for (size_t i = 0; i < items.size(); ++i) {
        items[i] = {m_habits.by_txid ? kInvTx : kInvWtx, m_net.FloodId(first + i)};
    }
    SendInv(link, items);
}

/** A transaction whose parents are never sent, or have no such output. */
void Stranger::FloodOrphans(PeerId link)
{
    for (size_t count = m_rng.Below(kMostAtOnce); count > 0; --count) {
        std::vector<OutPoint> spent;
        for (size_t inputs = 1 + m_rng.Below(m_rng.Chance(1, 10) ? 60 : 3); inputs > 0; --inputs) {
            spent.push_back({m_net.FloodId(m_rng()), uint32_t(m_rng.Below(2))});
        }
        if (m_rng.Chance(1, 2) && !m_net.txs.empty()) {
            const UserTx& real = m_net.txs[m_rng.Below(m_net.txs.size())];
            spent.push_back({real.tx->Id(), uint32_t(2 + m_rng.Below(5))});
        }
        const size_t padding = m_rng.Chance(1, 30) ? m_rng.Below(90'000) : m_rng.Below(500);
        SendTx(link, MakeModelTx(spent, 5'000, {}, 2, padding));
    }
}

void Stranger::SendJunk(PeerId link)
{
    for (size_t count = m_rng.Below(kMostAtOnce); count > 0; --count) {
        // Now and then the same coin for two nodes, in two transactions.
        const uint32_t coin = m_rng.Chance(1, 2) ? m_next_coin : m_next_coin++;
        const bool cheap = m_rng.Chance(1, 3);
        const uint32_t version = m_rng.Chance(1, 3) ? ModelPool::kBadVersion : 2;
        const bool again = m_rng.Chance(1, 4) && !m_sent.empty();
        SendTx(link, again ? m_sent[m_rng.Below(m_sent.size())]
                           : MakeModelTx({ModelCoin(coin)}, cheap ? 1 : 1'000, {}, version,
                                         m_rng.Below(200)));
    }
}

void Stranger::Reconnect()
{
    ++m_comebacks;
    const std::map<PeerId, Contact> before = std::exchange(m_contacts, {});
    m_host.Die();
    for (const auto& [link, contact] : before) Meet(*contact.node);
}

} // namespace ibd::sim
