// See merkle_proof.h.
#include "consensus/merkle_proof.h"

#include "consensus/limits.h"
#include "consensus/merkle.h"
#include "crypto/sha256.h"
#include "util/check.h"

#include <cstring>

namespace ibd {

namespace {

/** The smallest transaction has 60 bytes without witness and weighs four times as much. */
constexpr uint32_t kMaxTxs = kMaxBlockWeight / (4 * 60);

Uint256 Parent(const Uint256& left, const Uint256& right)
{
    uint8_t both[64];
    std::memcpy(both, left.data(), 32);
    std::memcpy(both + 32, right.data(), 32);
    return Uint256(Sha256d(both));
}

/** Number of nodes of a level of the tree; level 0 has the transactions. */
size_t Width(uint32_t tx_count, int level)
{
    return (size_t{tx_count} + (size_t{1} << level) - 1) >> level;
}

int TopLevel(uint32_t tx_count)
{
    int level = 0;
    while (Width(tx_count, level) > 1) ++level;
    return level;
}

class ProofMaker {
public:
    ProofMaker(const std::vector<Uint256>& txids, const std::vector<bool>& shown)
    {
        m_proof.tx_count = static_cast<uint32_t>(txids.size());
        m_levels.push_back({txids, shown});
        while (m_levels.back().hashes.size() > 1) m_levels.push_back(Above(m_levels.back()));
    }
    MerkleProof Make()
    {
        Visit(m_levels.size() - 1, 0);
        return std::move(m_proof);
    }

private:
    struct Level {
        std::vector<Uint256> hashes;
        std::vector<bool> shown; //!< the node has a proven leaf
    };
    static Level Above(const Level& level)
    {
        Level out;
        for (size_t i = 0; i < level.hashes.size(); i += 2) {
            const size_t right = std::min(i + 1, level.hashes.size() - 1);
            out.hashes.push_back(Parent(level.hashes[i], level.hashes[right]));
            out.shown.push_back(level.shown[i] || level.shown[right]);
        }
        return out;
    }
    /** The recursion is at most as deep as the tree: 15 levels in a block. */
    void Visit(size_t level, size_t at)
    {
        const bool shown = m_levels[level].shown[at];
        if (m_bits % 8 == 0) m_proof.flags.push_back(0);
        m_proof.flags.back() |= static_cast<uint8_t>(shown << m_bits++ % 8);
        if (level == 0 || !shown) return m_proof.hashes.push_back(m_levels[level].hashes[at]);
        Visit(level - 1, 2 * at);
        if (2 * at + 1 < m_levels[level - 1].hashes.size()) Visit(level - 1, 2 * at + 1);
    }

    std::vector<Level> m_levels;
    MerkleProof m_proof;
    size_t m_bits = 0;
};

class ProofReader {
public:
    explicit ProofReader(const MerkleProof& proof) : m_proof(proof) {}

    std::optional<ProvenTxs> Read()
    {
        // Each node has a bit, and at most as many nodes as there are transactions have a hash.
        const bool possible = m_proof.tx_count > 0 && m_proof.tx_count <= kMaxTxs &&
                              m_proof.hashes.size() <= m_proof.tx_count &&
                              m_proof.hashes.size() <= m_proof.flags.size() * 8;
        if (!possible) return std::nullopt;
        m_out.root = Visit(TopLevel(m_proof.tx_count), 0);
        const bool all_used =
            m_hashes == m_proof.hashes.size() && (m_bits + 7) / 8 == m_proof.flags.size();
        if (m_bad || !all_used) return std::nullopt;
        return std::move(m_out);
    }

private:
    Uint256 Visit(int level, size_t at)
    {
        if (m_bits >= m_proof.flags.size() * 8) return Fail();
        const bool shown = m_proof.flags[m_bits / 8] >> m_bits % 8 & 1;
        ++m_bits;
        if (level == 0 || !shown) {
            if (m_hashes >= m_proof.hashes.size()) return Fail();
            const Uint256& hash = m_proof.hashes[m_hashes++];
            if (level == 0 && shown) m_out.txs.push_back({static_cast<uint32_t>(at), hash});
            return hash;
        }
        const Uint256 left = Visit(level - 1, 2 * at);
        if (m_bad || 2 * at + 1 >= Width(m_proof.tx_count, level - 1)) return Parent(left, left);
        const Uint256 right = Visit(level - 1, 2 * at + 1);
        // Transaction ids are unique: two equal subtrees would show one twice (CVE-2012-2459).
        return left == right ? Fail() : Parent(left, right);
    }
    Uint256 Fail()
    {
        m_bad = true;
        return {};
    }

    const MerkleProof& m_proof;
    ProvenTxs m_out;
    size_t m_bits = 0;
    size_t m_hashes = 0;
    bool m_bad = false;
};

} // namespace

MerkleProof MakeMerkleProof(const std::vector<Uint256>& txids, const std::vector<bool>& shown)
{
    CHECK(!txids.empty() && txids.size() == shown.size());
    return ProofMaker(txids, shown).Make();
}

std::optional<ProvenTxs> ReadMerkleProof(const MerkleProof& proof)
{
    return ProofReader(proof).Read();
}

} // namespace ibd
