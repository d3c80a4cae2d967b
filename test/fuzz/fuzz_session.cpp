// Whole sessions: strangers connect to a node that has a short chain and a pool, and act as the
// input tells them. They send any bytes as any message, and well-formed messages about transactions
// and about blocks that they mine. A disconnected peer gets no more messages, only requested blocks
// are stored, orphans and announcements keep their bounds, and in the end one honest peer suffices
// for the best chain, even if the others withhold blocks.
#include "net/packing_support.h"
#include "net/peer_store.h"
#include "net/wire/message_table.h"
#include "packing/tx_batch.h"
#include "sim/model_pool.h"
#include "util/check.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int kBase = 8;        //!< blocks that everybody has
constexpr int kHonestLead = 40; //!< blocks that the honest peer has besides
constexpr uint32_t kHonestSalt = 99;
constexpr size_t kMaxMined = 24; //!< by strangers: less work than the honest peer's
constexpr uint32_t kMaxOurs = 12; //!< blocks that come from elsewhere, likewise
constexpr size_t kMaxStrangers = 12;
constexpr size_t kMaxTxs = 200;   //!< that strangers and users make
constexpr uint32_t kCoins = 40;   //!< that these spend
constexpr int kMaxPatience = 240; //!< half minutes until the honest peer has been heard

constexpr ConnectionKind kKinds[] = {
    ConnectionKind::kInbound,          ConnectionKind::kOutboundFullRelay,
    ConnectionKind::kManual,           ConnectionKind::kFeeler,
    ConnectionKind::kBlockRelay,       ConnectionKind::kAddrFetch,
    ConnectionKind::kPrivateBroadcast,
};

/** The rest of the input; zeros after its end. */
class Choices {
public:
    explicit Choices(ByteSpan bytes) : m_bytes(bytes) {}
    bool Done() const { return m_bytes.empty(); }
    uint8_t Byte() { return Done() ? uint8_t{0} : Take(1)[0]; }
    size_t Below(size_t end) { return Byte() % end; }
    ByteSpan Take(size_t most)
    {
        const ByteSpan out = m_bytes.first(std::min(most, m_bytes.size()));
        m_bytes = m_bytes.subspan(out.size());
        return out;
    }

private:
    ByteSpan m_bytes;
};

class Session {
public:
    explicit Session(ByteSpan input)
        : m_input(input), m_params(RegtestParams()),
          m_node(m_params, Options(), 1, nullptr, &m_pool, nullptr, &m_pool), m_theirs(m_params)
    {
        m_node.chain.Extend(kBase);
        m_theirs.Extend(kBase);
        m_theirs.Extend(kHonestLead, nullptr, kHonestSalt);
        m_store.emplace(m_node);
    }

    void Run()
    {
        while (!m_input.Done()) {
            Act();
            CheckSilence();
            CheckBounds();
        }
        m_pool.held = false;
        BecomeHonest();
    }

private:
    PeerOptions Options()
    {
        PeerOptions out;
        const uint8_t choice = m_input.Byte();
        out.blocks_only = (choice & 1) != 0;
        out.serve_spent_coins = (choice & 2) != 0;
        out.pack_level = (choice & 4) == 0 ? 1 : 0;
        return out;
    }
    void Act()
    {
        const size_t what = m_input.Below(18);
        if (what == 0) return Meet();
        if (what == 1) return m_node.MoveTime(int64_t{1} << m_input.Below(12));
        if (what == 2) return Mine();
        if (what == 3) return ExtendOurs();
        if (what == 4) return MakeTx();
        if (what == 5) return UseOurs();
        if (m_strangers.empty()) return Meet();
        const PeerId peer = m_strangers[m_input.Below(m_strangers.size())];
        switch (what) {
        case 6: return SayAnything(peer);
        case 7: return SayHeaders(peer);
        case 8: return SayBlock(peer);
        case 9: return SayCompact(peer);
        case 10: return Obey(peer);
        case 11: return ShakeHands(peer);
        case 12: return SayTx(peer);
        case 13: return SayInventory<InvMessage>(peer);
        case 14: return SayInventory<GetDataMessage>(peer);
        case 15: return SayInventory<NotFoundMessage>(peer);
        case 16: (void)m_node.manager.FetchBlock(peer, AnyNode()); return m_node.Run();
        default: return Leave(peer);
        }
    }

    void Meet()
    {
        if (m_strangers.size() == kMaxStrangers) return;
        const ConnectionKind kind = kKinds[m_input.Below(std::size(kKinds))];
        const std::string address = fmt::format("8.8.{}.8:8333", ++m_met);
        m_strangers.push_back(m_node.Connect(kind, address.c_str()));
    }
    void ShakeHands(PeerId peer)
    {
        VersionMessage version = TestNode::Version();
        version.nonce = static_cast<uint64_t>(peer) + 1;
        if (m_input.Below(4) == 0) version.services = m_input.Byte();
        m_node.Say(peer, version);
        const size_t features = m_input.Below(4);
        if (features % 2 == 0) m_node.Say(peer, WtxidRelayMessage{});
        if (features > 1) m_node.Say(peer, PackingFeatureMessage());
        m_node.Say(peer, VerackMessage{});
        if (m_input.Below(2) == 0) m_node.Say(peer, SendCompactMessage{});
    }
    void Leave(PeerId peer)
    {
        m_node.manager.Disconnected(peer);
        std::erase(m_strangers, peer);
        m_node.link.sent.erase(peer);
        m_node.Run();
    }

    void Mine()
    {
        if (m_mined.size() == kMaxMined) return;
        const size_t at = m_input.Below(m_mined.size() + 3);
        const HeaderNode& parent =
            at < m_mined.size() ? *m_mined[at] : Honest(kBase - int(at - m_mined.size()));
        const HeaderNode& made =
            m_theirs.Extend(1, &parent, static_cast<uint32_t>(m_mined.size()) + 1, false,
                            static_cast<uint32_t>(m_input.Below(3)));
        m_mined.push_back(&made);
    }
    void ExtendOurs()
    {
        if (m_ours == kMaxOurs) return;
        ++m_ours;
        const HeaderNode& fork = m_node.chain.Tip();
        const HeaderNode& tip = m_node.chain.Extend(1, nullptr, 1'000 + m_ours);
        m_node.manager.TipChanged(tip, fork);
        m_node.Run();
    }
    const HeaderNode& Honest(int height) const { return *m_theirs.Tip().Ancestor(height); }
    /** A block that strangers have mined, or one of the best chain, which they have too. */
    const HeaderNode& AnyNode()
    {
        const size_t at = m_input.Below(m_mined.size() + kHonestLead + 3);
        if (at < m_mined.size()) return *m_mined[at];
        return Honest(kBase + kHonestLead - static_cast<int>(at - m_mined.size()));
    }
    /** Changes a byte now and then. */
    Bytes Spoilt(Bytes bytes)
    {
        if (m_input.Below(4) != 0 || bytes.empty()) return bytes;
        const size_t at = (size_t{m_input.Byte()} << 8 | m_input.Byte()) % bytes.size();
        bytes[at] ^= static_cast<uint8_t>(m_input.Byte() | 1);
        return bytes;
    }

    void SayAnything(PeerId peer)
    {
        const size_t row = m_input.Below(kMessageRows.size() + 1);
        const std::string_view type =
            row < kMessageRows.size() ? kMessageRows[row].type : "nonsense";
        const ByteSpan payload = m_input.Take(m_input.Byte());
        m_node.SayRaw(peer, std::string(type), Bytes(payload.begin(), payload.end()));
    }
    void SayHeaders(PeerId peer)
    {
        std::vector<BlockHeader> headers;
        const HeaderNode* node = &AnyNode();
        for (size_t n = 1 + m_input.Below(kHonestLead); n > 0 && node->prev;
             --n, node = node->prev) {
            headers.insert(headers.begin(), node->Header());
        }
        m_node.SayRaw(peer, "headers", Spoilt(Encode(HeadersOf(std::move(headers)))));
    }
    void SayBlock(PeerId peer)
    {
        const HeaderNode& node = AnyNode();
        if (!node.prev) return;
        if (node.height % 3 != 0) {
            return m_node.SayRaw(peer, "block", Spoilt(m_theirs.Block(node).raw));
        }
        const std::vector<ByteSpan> batch{m_theirs.Block(node).raw,
                                          m_theirs.Block(*node.prev).raw};
        m_node.SayRaw(peer, "packed", Spoilt(*PackBlocks(batch, 1)));
    }
    void SayCompact(PeerId peer)
    {
        const HeaderNode& node = AnyNode();
        BlockView view;
        if (!node.prev || !view.Parse(m_theirs.Block(node).raw)) return;
        m_node.SayRaw(peer, "cmpctblock", Spoilt(Encode(MakeCompactBlock(view, m_input.Byte()))));
    }
    /** Spends coins or outputs of earlier transactions, also missing ones. */
    void MakeTx()
    {
        if (m_txs.size() == kMaxTxs) return;
        std::vector<OutPoint> spent;
        for (size_t inputs = 1 + m_input.Below(3); inputs > 0; --inputs) {
            const size_t n = m_input.Below(kCoins + m_txs.size());
            spent.push_back(n < kCoins ? sim::ModelCoin(static_cast<uint32_t>(n))
                                       : OutPoint{m_txs[n - kCoins]->Id(), m_input.Byte() % 3u});
        }
        const uint32_t versions[] = {2, sim::ModelPool::kBadVersion, sim::ModelPool::kNeedsWitness};
        const uint8_t witness = m_input.Byte();
        m_txs.push_back(sim::MakeModelTx(spent, m_input.Byte() * 4,
                                         witness == 0 ? Bytes{} : Bytes{witness},
                                         versions[m_input.Below(3)], m_input.Byte() * 400u));
    }
    /** Our pool: transactions of a user and of a block, delayed verdicts, little memory. */
    void UseOurs()
    {
        const size_t what = m_input.Below(4);
        if (what == 0) m_pool.held = m_input.Below(2) == 0;
        if (what == 1) m_pool.room = size_t{m_input.Byte()} << 8;
        if (what == 2 && !m_txs.empty()) {
            const TransactionRef& tx = m_txs[m_input.Below(m_txs.size())];
            m_pool.Add(tx);
            m_node.manager.Announce(*tx);
        }
        if (what == 3) AddTxsOf(AnyNode());
        m_node.Run();
    }
    /** Adds some of the block's transactions, so that the pool can complete its compact block. */
    void AddTxsOf(const HeaderNode& node)
    {
        BlockView view;
        if (!node.prev || !view.Parse(m_theirs.Block(node).raw)) return;
        for (const TxView& tx : view.Txs().subspan(1)) {
            if (m_input.Below(3) != 0) m_pool.Add(*Transaction::Parse(tx.raw));
        }
    }
    void SayTx(PeerId peer)
    {
        if (m_txs.empty()) return;
        const TransactionRef& tx = m_txs[m_input.Below(m_txs.size())];
        if (m_input.Below(2) == 0) return SayTxs(peer);
        m_node.SayRaw(peer, "tx", Spoilt(Encode(TxMessage{tx})));
    }
    /** A batch of transactions. */
    void SayTxs(PeerId peer)
    {
        std::vector<Bytes> txs;
        for (size_t count = 1 + m_input.Below(4); count > 0; --count) {
            const ByteSpan raw = (*m_txs[m_input.Below(m_txs.size())])->raw;
            if (raw.size() < kMaxTxBatchBytes / 4) txs.emplace_back(raw.begin(), raw.end());
        }
        if (!txs.empty()) m_node.SayRaw(peer, "packedtxs", Spoilt(*PackTxs(txs, 1)));
    }
    template <typename Message>
    void SayInventory(PeerId peer)
    {
        Message message;
        for (size_t count = 1 + m_input.Below(40); count > 0; --count) {
            const size_t n = m_input.Below(m_txs.size() + 20);
            if (n >= m_txs.size()) {
                message.list.items.push_back({kInvBlock, AnyNode().hash});
            } else if (m_input.Below(2) == 0) {
                message.list.items.push_back({kInvWtx, m_txs[n]->WitnessId()});
            } else {
                message.list.items.push_back({kInvTx, m_txs[n]->Id()});
            }
        }
        m_node.Say(peer, message);
    }

    /** Sends the requested data that it has. */
    void Obey(PeerId peer)
    {
        std::vector<BlockHash> plain;
        std::vector<BlockHash> packed;
        for (const OutgoingMessage& message : std::exchange(m_node.link.sent[peer], {})) {
            if (message.type == GetPackedMessage::kType) {
                packed = Decode<GetPackedMessage>(message.payload)->blocks.items;
            } else if (message.type == GetDataMessage::kType) {
                const auto request = *Decode<GetDataMessage>(message.payload);
                for (const InventoryItem& item : request.list.items) plain.emplace_back(item.hash);
            }
        }
        for (const BlockHash& hash : plain) {
            const HeaderNode* const node = m_theirs.Find(hash);
            if (node && node->prev) m_node.SayRaw(peer, "block", Spoilt(m_theirs.Block(*node).raw));
        }
        for (const BlockHash& hash : packed) {
            const HeaderNode* const node = m_theirs.Find(hash);
            if (!node || !node->prev) continue;
            const std::vector<ByteSpan> batch{m_theirs.Block(*node).raw};
            m_node.SayRaw(peer, "packed", Spoilt(*PackBlocks(batch, 1)));
        }
    }

    /** A disconnected peer gets no more messages. */
    void CheckSilence()
    {
        for (const PeerId peer : m_strangers) {
            if (!m_node.IsClosed(peer)) continue;
            if (m_silent.insert(peer).second) m_node.link.sent[peer].clear();
            CHECK(m_node.link.sent[peer].empty());
        }
    }

    void CheckBounds()
    {
        const TxFetcher& fetcher = m_node.manager.TxsToCome();
        const auto peers = static_cast<int64_t>(m_strangers.size());
        CHECK(fetcher.Orphans().Latency() <= OrphanPool::kMaxLatency);
        CHECK(fetcher.Orphans().Weight() <= OrphanPool::kWeightOfPeer * peers);
        for (const PeerId peer : m_strangers) {
            CHECK(fetcher.Requests().CountOf(peer) <= TxFetcher::kMaxAnnouncements);
        }
    }

    /** Strangers stay, and say nothing more. */
    void BecomeHonest()
    {
        TestNode honest(m_params, {}, 2);
        honest.chain.Extend(kBase);
        honest.chain.Extend(kHonestLead, nullptr, kHonestSalt);
        honest.now = m_node.now;
        const PeerId here = m_node.Connect(ConnectionKind::kManual, "9.9.9.9:8333");
        const PeerId there = honest.Connect(ConnectionKind::kInbound, "7.7.7.7:8333");
        const BlockHash wanted = honest.chain.Tip().hash;
        for (int i = 0; i < kMaxPatience && m_node.chain.Tip().hash != wanted; ++i) {
            Exchange(m_node, here, honest, there);
            m_node.MoveTime(30);
            honest.MoveTime(30);
        }
        CHECK(!m_node.IsClosed(here));
        CHECK(m_node.chain.Tip().hash == wanted);
    }

    Choices m_input;
    const ChainParams m_params;
    sim::ModelPool m_pool;
    TestNode m_node;
    std::optional<Store> m_store;
    TestChain m_theirs; //!< what strangers have mined
    std::vector<const HeaderNode*> m_mined;
    std::vector<TransactionRef> m_txs;
    std::vector<PeerId> m_strangers;
    std::set<PeerId> m_silent;
    int m_met = 0;
    uint32_t m_ours = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Session(ByteSpan(data, size)).Run();
    return 0;
}
