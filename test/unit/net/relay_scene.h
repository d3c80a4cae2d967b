// A node whose peers relay transactions, for tests of that; the transactions are those of
// ModelPool.
#pragma once

#include "net/packing_support.h"
#include "net/peer_support.h"
#include "sim/model_pool.h"

namespace ibd::test {

using sim::MakeModelTx;
using sim::ModelCoin;

inline const char* const kAddresses[] = {"1.1.1.1:1", "2.2.2.2:2", "3.3.3.3:3", "4.4.4.4:4"};

/** A node at the tip with a ModelPool, and peers that relay transactions. */
class Scene {
public:
    explicit Scene(PeerOptions options = {})
        : node(RegtestParams(), std::move(options), 1, nullptr, nullptr, nullptr, &pool)
    {
        node.chain.first_time = kStart - 100;
        node.chain.Extend(3);
    }

    PeerId Befriend(ConnectionKind kind, bool by_wtxid = true, uint32_t permissions = kPermitNone,
                    bool relay = true, bool packs = false)
    {
        const PeerId id = node.Connect(kind, kAddresses[m_peers++ % 4], permissions);
        VersionMessage version = TestNode::Version();
        version.relay = relay;
        node.Say(id, version);
        if (by_wtxid) node.Say(id, WtxidRelayMessage{});
        if (packs) node.Say(id, PackingFeatureMessage());
        node.Say(id, VerackMessage{});
        for (const PingMessage& ping : node.Take<PingMessage>(id)) {
            node.Say(id, PongMessage{ping.nonce});
        }
        node.link.sent[id].clear();
        return id;
    }
    void SayInv(PeerId peer, const TransactionRef& tx, bool by_wtxid = true)
    {
        InvMessage message;
        if (by_wtxid) {
            message.list.items = {{kInvWtx, tx->WitnessId()}};
        } else {
            message.list.items = {{kInvTx, tx->Id()}};
        }
        node.Say(peer, message);
    }
    void SayTx(PeerId peer, const TransactionRef& tx)
    {
        node.Say(peer, TxMessage{tx});
        Settle();
    }
    /** Verdicts wake the peers. */
    void Settle()
    {
        while (pool.HasNews()) node.Run();
    }
    /** The transactions requested from the peer since the last call. */
    std::vector<InventoryItem> Asked(PeerId peer)
    {
        std::vector<InventoryItem> out;
        for (const GetDataMessage& message : node.Take<GetDataMessage>(peer)) {
            out.insert(out.end(), message.list.items.begin(), message.list.items.end());
        }
        return out;
    }
    std::vector<InventoryItem> Told(PeerId peer)
    {
        std::vector<InventoryItem> out;
        for (const InvMessage& message : node.Take<InvMessage>(peer)) {
            out.insert(out.end(), message.list.items.begin(), message.list.items.end());
        }
        return out;
    }
    /** Until every peer had its announcements. */
    void Wait()
    {
        for (int i = 0; i < 60; ++i) node.MoveTime(1);
    }
    std::vector<PeerId> AnnouncersOf(const TransactionRef& tx) const
    {
        for (const auto& orphan : node.manager.Orphans()) {
            if (orphan.tx->WitnessId() == tx->WitnessId()) {
                return {orphan.peers.begin(), orphan.peers.end()};
            }
        }
        return {};
    }

    sim::ModelPool pool;
    TestNode node;

private:
    size_t m_peers = 0;
};

inline std::vector<InventoryItem> Items(uint32_t type, const Uint256& hash)
{
    return {{type, hash}};
}

inline TransactionRef Simple(uint32_t n, Bytes witness = {})
{
    return MakeModelTx({ModelCoin(n)}, 1'000, std::move(witness));
}

inline TransactionRef ChildOf(const TransactionRef& parent, Amount fee = 1'000, Bytes witness = {})
{
    return MakeModelTx({{parent->Id(), 0}}, fee, std::move(witness));
}

} // namespace ibd::test
