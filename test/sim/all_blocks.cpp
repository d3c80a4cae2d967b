// See all_blocks.h.
#include "sim/all_blocks.h"

#include "chain/header_tree.h"
#include "consensus/pow.h"

namespace ibd::sim {

std::vector<Bytes> ChainOfBodies(const ChainParams& params, std::span<const Bytes> bodies,
                                 size_t count)
{
    HeaderTree tree(params);
    const HeaderNode* last = tree.Genesis();
    std::vector<Bytes> out{params.genesis.raw};
    for (size_t i = 0; i < count; ++i) {
        Bytes raw = bodies[i % bodies.size()];
        BlockHeader header = BlockHeader::FromBytes(raw.data());
        header.version = std::max(header.version, 4); // allowed at any height
        header.prev_hash = last->hash;
        header.time = last->time + 1;
        header.bits = last->bits;
        while (!CheckProofOfWork(header.Hash(), header.bits, params.consensus)) ++header.nonce;
        const auto bytes = header.ToBytes();
        std::copy(bytes.begin(), bytes.end(), raw.begin());
        last = tree.Insert(header, header.Hash());
        out.push_back(std::move(raw));
    }
    return out;
}

void AcceptHeadersOf(std::span<const Bytes> blocks, HeaderSink& chain)
{
    const HeaderNode* last = nullptr;
    for (const Bytes& raw : blocks.subspan(1)) {
        const BlockHeader header = BlockHeader::FromBytes(raw.data());
        CHECK(!chain.AcceptHeaders({&header, 1}, &last));
    }
}

AllBlocks::AllBlocks(const PeerChain& chain, std::span<const Bytes> blocks, int32_t window)
    : m_chain(chain), m_blocks(blocks), m_window(window), m_have(blocks.size(), false)
{
    m_have[0] = true;
}

const HeaderNode* AllBlocks::NextMissing(int32_t after) const
{
    const size_t first = std::min(size_t(std::max(after, m_complete)) + 1, m_have.size());
    const auto found = std::find(m_have.begin() + std::ptrdiff_t(first), m_have.end(), false);
    if (found == m_have.end()) return nullptr;
    return m_chain.BestHeader().Ancestor(int32_t(found - m_have.begin()));
}

bool AllBlocks::Put(PeerBlock&& block)
{
    const auto height = size_t(block.node->height);
    if (m_have[height]) {
        ++m_duplicates;
    } else if (block.raw != m_blocks[height]) {
        m_refused.push_back(
            {block.node, block.peer, Violation(RuleViolation::Kind::kMutated, "bad-txnmrklroot")});
    } else {
        m_have[height] = true;
        ++m_count;
        while (size_t(m_complete) + 1 < m_have.size() && m_have[size_t(m_complete) + 1]) {
            ++m_complete;
        }
    }
    return true;
}

} // namespace ibd::sim
