// Blocks as fields, serialised again after a test has changed one field.
#pragma once

#include "consensus/block_check.h"
#include "script/script.h"
#include "sim/block_draft.h"
#include "vector_ancestry.h"

#include <string>
#include <vector>

namespace ibd::test {

/** A branch with only a height and a median time. */
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

struct MutableBlock : sim::BlockDraft {
    using BlockDraft::BlockDraft;

    /** The wire form; `fix_root` makes the header match the transactions. */
    Bytes Serialize(bool fix_root = true)
    {
        if (fix_root) FixRoot();
        return ToBytes();
    }
};

/** The verdict on the parsed block, which is that on its separate transactions. */
inline bool LooksMutated(const BlockView& block, bool check_witness_root)
{
    std::vector<TransactionRef> txs;
    for (const TxView& tx : block.Txs()) txs.push_back(Transaction::Parse(tx.raw).Value());
    const bool mutated = IsBlockMutated(block, check_witness_root);
    REQUIRE(IsBlockMutated(block.Header(), txs, check_witness_root) == mutated);
    return mutated;
}

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
    for (const bool check_witness_root : {false, true}) LooksMutated(view, check_witness_root);
    return bad ? bad->reason : "";
}

} // namespace ibd::test
