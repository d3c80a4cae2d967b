// See read_check.h.
#include "swiftsync/read_check.h"

#include "consensus/block_check.h"

namespace ibd {

namespace {

/** `parsed`: the result of parsing the bytes into `block`. A violation concerns only the bytes. */
RuleResult CheckRead(const BlockView& block, const Result<>& parsed, const HeaderNode& node,
                     bool careful)
{
    if (!parsed) {
        return Violation(RuleViolation::Kind::kUndecodable, block.Fault(), parsed.Message());
    }
    if (block.Hash() != node.hash) {
        return Violation(RuleViolation::Kind::kMutated,
                         "another block lies in its place: " + block.Hash().ToHex());
    }
    return careful ? CheckMerkleRoot(block) : std::nullopt;
}

} // namespace

Result<bool> NextSound(BlockSource& source, SuppliedBlock& block, BlockView& view, bool careful)
{
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(block));
        if (!more) return false;
        const Result<> parsed = view.Parse(block.bytes);
        const auto broken = CheckRead(view, parsed, *block.node, careful);
        if (!broken) return true;
        IBD_RETURN_IF_ERROR(source.Reject(block, *broken));
    }
}

} // namespace ibd
