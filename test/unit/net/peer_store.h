// Shared code of tests of blocks from peers: a sink that stores them for a TestNode, and the node's
// requests.
#pragma once

#include "net/peer_support.h"

#include "consensus/block_check.h"

namespace ibd::test {

/** Stores what peers send for a node, and follows the best header's chain as far as it has it. */
class Store final : public DownloadGoal, public BlockSink {
public:
    explicit Store(TestNode& node) : m_node(node) { node.manager.DownloadInto(*this, *this); }

    const HeaderNode* NextMissing(int32_t after) const override
    {
        const HeaderNode& best = m_node.chain.BestHeader();
        const int32_t from = std::max(after, m_node.chain.Tip().height) + 1;
        for (int32_t height = from; height <= best.height; ++height) {
            const HeaderNode* const node = best.Ancestor(height);
            if (!Have(*node)) return node;
        }
        return nullptr;
    }
    bool Have(const HeaderNode& node) const override
    {
        const auto is_at_work = [&](const RefusedBlock& block) { return block.node == &node; };
        return !node.prev || node.HasData() || std::ranges::any_of(m_refused, is_at_work);
    }
    int32_t WindowEnd() const override { return m_node.chain.Tip().height + kDownloadWindow; }
    bool WantsSpentCoins() const override { return with_coins; }

    bool HasRoom(size_t bytes) const override { return bytes <= room; }
    bool Put(PeerBlock&& block) override
    {
        ++puts;
        BlockView view;
        if (!view.Parse(block.raw)) {
            Refuse(block, RuleViolation::Kind::kUndecodable, view.Fault());
            return true;
        }
        if (CheckMerkleRoot(view)) {
            Refuse(block, RuleViolation::Kind::kMutated, "bad-txnmrklroot");
            return true;
        }
        if (refuse_all) {
            Refuse(block, RuleViolation::Kind::kConsensus, "bad-cb-amount");
            return true;
        }
        if (bad_coins.contains(block.peer)) {
            Refuse(block, RuleViolation::Kind::kSpentCoins, "bad-spent-coins");
            return true;
        }
        m_node.chain.Keep(*block.node, block.raw);
        coins[block.node] = block.spent_coins;
        m_taken.push_back({block.node, block.peer, false});
        if (!connect) return true;
        const HeaderNode& best = m_node.chain.BestHeader();
        while (const HeaderNode* next = best.Ancestor(m_node.chain.Tip().height + 1)) {
            if (!Have(*next)) break;
            m_node.chain.Connect(*next);
        }
        const HeaderNode& tip = m_node.chain.Tip();
        if (tip.Ancestor(block.node->height) == block.node) {
            m_taken.push_back({block.node, block.peer, true});
        }
        return true;
    }
    bool IsBusyWith(PeerId peer) const override { return peer == busy; }
    std::vector<RefusedBlock> TakeRefused() override
    {
        if (judges_later) return {};
        return std::exchange(m_refused, {});
    }
    std::vector<TakenBlock> TakeTaken() override { return std::exchange(m_taken, {}); }

    PeerId busy = -1;
    size_t room = 64 << 20;
    int puts = 0;
    bool refuse_all = false; //!< as against a rule
    bool connect = true;
    bool judges_later = false; //!< refused blocks are not reported for now
    bool with_coins = false;
    std::set<PeerId> bad_coins;               //!< peers whose coins are refused
    std::map<const HeaderNode*, Bytes> coins; //!< that came with the blocks

private:
    void Refuse(const PeerBlock& block, RuleViolation::Kind kind, const char* reason)
    {
        m_refused.push_back(
            {block.node, block.peer, Violation(kind, reason), block.via_compact, block.raw.size()});
    }

    TestNode& m_node;
    std::vector<RefusedBlock> m_refused;
    std::vector<TakenBlock> m_taken;
};

inline HeadersMessage HeadersOf(std::vector<BlockHeader> headers)
{
    HeadersMessage out;
    out.list.items = std::move(headers);
    return out;
}

inline std::vector<InventoryItem> Asked(TestNode& node, PeerId id)
{
    std::vector<InventoryItem> out;
    for (const GetDataMessage& message : node.Take<GetDataMessage>(id)) {
        out.insert(out.end(), message.list.items.begin(), message.list.items.end());
    }
    return out;
}

} // namespace ibd::test
