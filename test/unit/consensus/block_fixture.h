// Blocks taken apart and put together again, so that a test can change one thing.
#pragma once

#include "consensus/block_check.h"
#include "consensus/merkle.h"
#include "crypto/sha256.h"
#include "script/script.h"
#include "vector_ancestry.h"

#include <string>
#include <vector>

namespace ibd::test {

/** A branch of which only the height and the median time matter. */
class FlatAncestry final : public Ancestry {
public:
    FlatAncestry(int height, uint32_t time) : m_height(height), m_time(time) {}
    int Height() const override { return m_height; }
    HeaderFacts At(int) const override { return {4, m_time, 0x1d00ffff}; }
    BlockHash HashAt(int) const override { return {}; }

private:
    int m_height;
    uint32_t m_time;
};

/** A block as fields. */
struct MutableBlock {
    BlockHeader header;
    std::vector<MutableTransaction> txs;

    explicit MutableBlock(const BlockView& view) : header(view.Header())
    {
        for (const TxView& tx : view.Txs()) txs.push_back(MutableTransaction::FromView(tx));
    }

    /** The wire form; `fix_root` makes the header match the transactions. */
    Bytes Serialize(bool fix_root = true)
    {
        if (fix_root) {
            std::vector<Uint256> leaves;
            for (const MutableTransaction& tx : txs) leaves.push_back(tx.Id());
            header.merkle_root = MerkleRoot(std::move(leaves)).root;
        }
        Bytes raw;
        Append(raw, header.ToBytes());
        Writer writer(raw);
        writer.CompactSize(txs.size());
        for (const MutableTransaction& tx : txs) Append(raw, tx.Serialize());
        return raw;
    }

    /** Makes the coinbase commit to the witnesses (BIP141), adding the output if needed. */
    void Commit()
    {
        txs[0].inputs[0].witness = {Bytes(32, 0)};
        const Bytes empty = *FromCommitment(Uint256{});
        if (Find() < 0) txs[0].outputs.push_back({0, empty});
        const Bytes raw = Serialize();
        BlockView view;
        REQUIRE(view.Parse(raw));
        Bytes preimage;
        Append(preimage, BlockWitnessMerkleRoot(view).Span());
        Append(preimage, Bytes(32, 0));
        txs[0].outputs[size_t(Find())].script_pubkey = *FromCommitment(Uint256(Sha256d(preimage)));
    }

    /** Index of the commitment output; -1 if none. */
    int Find() const
    {
        const auto coinbase = MakeTx(txs[0]);
        return WitnessCommitmentIndex(coinbase->View());
    }

private:
    static std::optional<Bytes> FromCommitment(const Uint256& hash)
    {
        Bytes script{OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed};
        Append(script, hash.Span());
        return script;
    }
};

/** Reason of the context-free check with header work taken for granted; "" if valid, "parse" if
 *  the bytes are no block. */
inline std::string CheckReason(const Bytes& raw, const ConsensusParams& params,
                               bool check_pow = false)
{
    BlockView view;
    if (!view.Parse(raw)) return "parse";
    BlockCheckOptions options;
    options.check_pow = check_pow;
    const RuleResult bad = CheckBlock(view, params, options);
    return bad ? bad->reason : "";
}

/** Reason of the check in place, on a branch of that height. */
inline std::string ContextReason(const Bytes& raw, const ConsensusParams& params, int height,
                                 uint32_t median_time)
{
    BlockView view;
    REQUIRE(view.Parse(raw));
    const FlatAncestry prev(height - 1, median_time);
    const RuleResult bad = ContextualCheckBlock(view, prev, params);
    return bad ? bad->reason : "";
}

} // namespace ibd::test
