// Shared code of tests of peers: a chain in memory, a link that records sent messages, and a node
// of both whose peers are scripts or other nodes. All is deterministic: time stands until it is
// moved.
#pragma once

#include "net/peer/peer_manager.h"

#include "chain/chain.h"
#include "consensus/merkle.h"
#include "consensus/pow.h"
#include "crypto/sha256.h"
#include "net/seeded_env.h"

#include <map>
#include <set>
#include <stdexcept>

namespace ibd::test {

inline constexpr int64_t kStart = 1'700'000'000; //!< seconds since 1970

struct MadeBlock {
    BlockHeader header;
    Bytes raw;
    Bytes stripped;
};

/** The `index`-th of a block: the coinbase, or one that spends what never was. With `commits` it
 *  says that the block has no further transaction and no witness but its own (BIP141). */
inline Bytes MakeTransaction(uint32_t height, uint32_t salt, uint32_t index, bool witness,
                             bool commits = false)
{
    Bytes out;
    Writer writer(out);
    writer.U32(1);
    if (witness) writer.U16(0x0100);
    writer.CompactSize(1);
    Uint256 prevout;
    prevout.data()[0] = static_cast<uint8_t>(index);
    writer.Hash(prevout);
    writer.U32(index == 0 ? 0xffffffff : 0);
    writer.CompactSize(8);
    writer.U32(height);
    writer.U32(salt);
    writer.U32(0xffffffff);
    writer.CompactSize(commits ? 2 : 1);
    writer.U64(5'000'000'000);
    writer.VarBytes(Bytes{0x51});
    if (commits) {
        Bytes script{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed};
        Writer(script).Raw(Sha256d(Bytes(64))); // of no id and a reserved value of zeros
        writer.U64(0);
        writer.VarBytes(script);
    }
    if (witness) {
        writer.CompactSize(1);
        writer.VarBytes(Bytes(32));
    }
    writer.U32(0);
    return out;
}

/** A block whose coinbase says `salt`, with `spends` further transactions. When there are none the
 *  coinbase has a witness, so that stripping shows. */
inline MadeBlock MakeBlock(const HeaderNode& parent, uint32_t time, uint32_t salt,
                           const ConsensusParams& params, uint32_t spends = 0)
{
    const auto transaction = [&](uint32_t index, bool witness) {
        const bool alone = spends == 0;
        return MakeTransaction(uint32_t(parent.height + 1), salt, index, witness && alone, alone);
    };
    std::vector<Uint256> ids;
    for (uint32_t i = 0; i <= spends; ++i) ids.emplace_back(Sha256d(transaction(i, false)));
    MadeBlock block;
    block.header.version = 0x20000000;
    block.header.prev_hash = parent.hash;
    block.header.merkle_root = MerkleRoot(ids).root;
    block.header.time = time;
    block.header.bits = parent.bits;
    while (!CheckProofOfWork(block.header.Hash(), block.header.bits, params)) ++block.header.nonce;
    for (const bool witness : {false, true}) {
        Bytes& out = witness ? block.raw : block.stripped;
        Writer writer(out);
        writer.Raw(block.header.ToBytes());
        writer.CompactSize(1 + spends);
        for (uint32_t i = 0; i <= spends; ++i) writer.Raw(transaction(i, witness));
    }
    return block;
}

class TestChain final : public PeerChain, public HeaderSink, public BlockProvider {
public:
    explicit TestChain(const ChainParams& params) : m_params(params), m_tree(params)
    {
        m_active.SetTip(m_tree.Genesis());
    }

    /** Mines `count` blocks on `parent` (null: the tip) and, if `activate`, goes there. */
    const HeaderNode& Extend(int count, const HeaderNode* parent = nullptr, uint32_t salt = 0,
                             bool activate = true, uint32_t spends = 0)
    {
        const HeaderNode* node = parent ? parent : &Tip();
        for (int i = 0; i < count; ++i) {
            const uint32_t time =
                std::max<uint32_t>(node->time + 1, uint32_t(first_time) + uint32_t(node->height));
            MadeBlock block = MakeBlock(*node, time, salt, m_params.consensus, spends);
            HeaderNode* const added = m_tree.Insert(block.header, block.header.Hash());
            added->status = kValidScripts | kHaveData;
            m_blocks[added->hash] = std::move(block);
            node = added;
        }
        if (activate) m_active.SetTip(m_tree.Find(node->hash));
        return *node;
    }
    void SetTip(const HeaderNode& node) { m_active.SetTip(m_tree.Find(node.hash)); }
    /** Stores a block that a peer sent. */
    void Keep(const HeaderNode& node, Bytes raw)
    {
        m_tree.Find(node.hash)->status |= kHaveData;
        m_blocks[node.hash] = {node.Header(), std::move(raw), {}};
    }
    void Connect(const HeaderNode& node)
    {
        SetTip(node);
        m_active.Tip()->RaiseValidity(kValidScripts);
    }
    const MadeBlock& Block(const HeaderNode& node) const { return m_blocks.at(node.hash); }
    HeaderTree& Tree() { return m_tree; }
    std::vector<BlockHeader> Headers(int from, int count) const
    {
        std::vector<BlockHeader> out;
        for (int height = from; height < from + count; ++height) {
            out.push_back(m_active[height]->Header());
        }
        return out;
    }

    const HeaderNode& Tip() const override { return *m_active.Tip(); }
    const HeaderNode& BestHeader() const override { return *m_tree.BestHeader(); }
    const HeaderNode* Find(const BlockHash& hash) const override { return m_tree.Find(hash); }
    BlockFacts Facts(const HeaderNode& node) const override
    {
        const bool valid = node.IsValid(kValidScripts);
        const bool undo = spent && node.height != lacks_undo;
        return {node.HasData(), node.HasData(), node.Failed(), valid, undo};
    }
    bool IsInitialBlockDownload() const override { return downloading; }
    bool IsImporting() const override { return importing; }
    RuleResult AcceptHeaders(std::span<const BlockHeader> headers, const HeaderNode** last) override
    {
        for (const BlockHeader& header : headers) {
            HeaderNode* node = nullptr;
            if (auto violation = m_tree.Accept(header, kStart, &node)) return violation;
            *last = node;
        }
        return {};
    }
    Result<Bytes> ReadBlock(const HeaderNode& node) override
    {
        const auto found = m_blocks.find(node.hash);
        if (found == m_blocks.end()) return SystemError("no such block");
        return found->second.raw;
    }

    Found<std::vector<Coin>> SpentCoins(const HeaderNode& node) override
    {
        return spent ? spent(node) : Found<std::vector<Coin>>(std::nullopt);
    }

    std::function<Found<std::vector<Coin>>(const HeaderNode&)> spent; //!< empty: no undo data
    int lacks_undo = -1; //!< height of a block without it
    bool downloading = false;
    bool importing = false;
    int64_t first_time = kStart - 20'000; //!< of the blocks that are mined

private:
    const ChainParams& m_params;
    HeaderTree m_tree;
    Chain m_active;
    std::map<BlockHash, MadeBlock> m_blocks;
};

class TestLink final : public PeerLink {
public:
    void Send(PeerId peer, OutgoingMessage message) override
    {
        sent[peer].push_back(std::move(message));
    }
    bool SendPaused(PeerId peer) const override { return paused.contains(peer); }
    void Consumed(PeerId, size_t bytes) override { consumed += bytes; }
    void Disconnect(PeerId peer) override { closed.insert(peer); }
    void Discourage(const NetAddress& address) override
    {
        discouraged.push_back(address.ToString());
    }
    PeerTraffic Traffic(PeerId) const override { return traffic; }
    bool MayUploadHistory() const override { return may_upload_history; }
    bool MayUpload() const override { return may_upload; }

    std::map<PeerId, std::deque<OutgoingMessage>> sent;
    std::set<PeerId> paused, closed;
    std::vector<std::string> discouraged;
    size_t consumed = 0;
    bool may_upload_history = true;
    bool may_upload = true;
    PeerTraffic traffic;
};

inline PeerOptions WithServices(uint64_t services)
{
    PeerOptions out;
    out.services = services;
    return out;
}
inline PeerOptions WithMinimumWork(const Arith256& work)
{
    PeerOptions out;
    out.minimum_work = work;
    return out;
}
inline PeerOptions BlocksOnly()
{
    PeerOptions out;
    out.blocks_only = true;
    return out;
}

/** A peer's `getdata` for blocks, in one of the forms that InventoryType has for them. */
inline GetDataMessage RequestFor(uint32_t type, const std::vector<BlockHash>& blocks)
{
    GetDataMessage out;
    for (const BlockHash& block : blocks) out.list.items.push_back({type, block});
    return out;
}

inline ChainParams RegtestParams() { return MakeChainParams(Network::kRegtest); }

class TestNode {
public:
    explicit TestNode(const ChainParams& node_params, PeerOptions options = {}, uint64_t seed = 1,
                      AddressBook* book = nullptr, const TransactionSource* pool = nullptr,
                      HintsProvider* hints = nullptr, PeerPool* tx_pool = nullptr,
                      FilterProvider* filters = nullptr)
        : params(node_params), chain(params), env(seed), logger(MakeNullLogger()),
          manager({env, *logger, params, chain, chain, chain, link, [this] { return now; }, book,
                   pool, nullptr, &warnings, hints, tx_pool, filters},
                  std::move(options))
    {
        MoveTime(0);
    }

    PeerId Connect(ConnectionKind kind, const char* address = "8.8.8.8:8333",
                   uint32_t permissions = kPermitNone)
    {
        NewPeer peer;
        peer.id = m_next_id++;
        peer.kind = kind;
        peer.address = *Endpoint::Parse(address, 8333);
        peer.name = address;
        peer.permissions = permissions;
        manager.Connected(peer);
        Run();
        return peer.id;
    }
    static VersionMessage Version()
    {
        VersionMessage out;
        out.services = kNodeNetwork | kNodeWitness;
        out.time = kStart;
        out.nonce = 12345;
        out.user_agent = "/test:1.0/";
        out.start_height = 7;
        return out;
    }
    /** Connects and completes the handshake; messages sent until then are dropped. */
    PeerId Befriend(ConnectionKind kind, const char* address = "8.8.8.8:8333",
                    uint32_t permissions = kPermitNone, VersionMessage version = Version())
    {
        const PeerId id = Connect(kind, address, permissions);
        Say(id, version);
        Say(id, VerackMessage{});
        for (const PingMessage& ping : Take<PingMessage>(id)) Say(id, PongMessage{ping.nonce});
        link.sent[id].clear();
        return id;
    }
    template <typename Message>
    void Say(PeerId id, const Message& message)
    {
        SayRaw(id, std::string(Message::kType), Encode(message));
    }
    void SayRaw(PeerId id, std::string type, Bytes payload = {})
    {
        manager.Received(id, {std::move(type), std::move(payload), 0, ""});
        Run();
    }
    void Run()
    {
        while (manager.Work()) {
        }
    }
    /** Moves the clock, as if everybody had sent something until then. */
    void MoveTime(int64_t seconds)
    {
        now += seconds * kSecond;
        link.traffic.last_send = link.traffic.last_receive = now / kSecond;
        Run();
    }

    /** Types of the messages sent to a peer since the last call. */
    std::vector<std::string> Types(PeerId id)
    {
        std::vector<std::string> out;
        for (const OutgoingMessage& message : link.sent[id]) out.emplace_back(message.type);
        link.sent[id].clear();
        return out;
    }
    /** The messages of a type that were sent since the last call; others are dropped. */
    template <typename Message>
    std::vector<Message> Take(PeerId id)
    {
        std::vector<Message> out;
        for (const OutgoingMessage& message : link.sent[id]) {
            if (message.type == Message::kType) out.push_back(*Decode<Message>(message.payload));
        }
        link.sent[id].clear();
        return out;
    }
    bool IsClosed(PeerId id) const { return link.closed.contains(id); }
    PeerInfo Info(PeerId id) const
    {
        for (PeerInfo& info : manager.Info()) {
            if (info.connection.id == id) return std::move(info);
        }
        throw std::logic_error("no such peer");
    }

    const ChainParams params;
    TestChain chain;
    TestLink link;
    SeededEnv env;
    std::unique_ptr<Logger> logger;
    NodeWarnings warnings;
    int64_t now = kStart * kSecond;
    PeerManager manager;

private:
    PeerId m_next_id = 0;
};

/** Carries what each node sent to the other until both are silent. */
inline void Exchange(TestNode& a, PeerId b_in_a, TestNode& b, PeerId a_in_b)
{
    for (bool moved = true; moved;) {
        moved = false;
        const auto carry = [&](TestNode& from, PeerId to_id, TestNode& to, PeerId from_id) {
            auto messages = std::exchange(from.link.sent[to_id], {});
            for (OutgoingMessage& message : messages) {
                to.SayRaw(from_id, std::string(message.type), std::move(message.payload));
                moved = true;
            }
        };
        carry(a, b_in_a, b, a_in_b);
        carry(b, a_in_b, a, b_in_a);
    }
}

} // namespace ibd::test
