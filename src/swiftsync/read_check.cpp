// See read_check.h.
#include "swiftsync/read_check.h"

#include "consensus/block_check.h"

namespace ibd {

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

} // namespace ibd
