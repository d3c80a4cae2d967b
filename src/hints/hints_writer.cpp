// See hints_writer.h.
#include "hints/hints_writer.h"

#include "util/check.h"

#include <algorithm>
#include <functional>

namespace ibd {

Result<> HintsWriter::CheckWritable(uint32_t height, std::optional<uint32_t> outputs,
                                    std::span<const uint32_t> unspent)
{
    const uint32_t needed = unspent.empty() ? 0 : unspent.back() + 1;
    if (std::max(needed, outputs.value_or(0)) > kMaxHintedOutputs) {
        return BadData("block {} has {} outputs, more than hints can hold", height,
                       outputs.value_or(needed));
    }
    CHECK(needed <= outputs.value_or(needed));
    CHECK(std::adjacent_find(unspent.begin(), unspent.end(), std::greater_equal<>()) ==
          unspent.end());
    return {};
}

Error HintsWriter::OutputsNeeded(uint32_t height)
{
    return BadData("how many outputs block {} has is not known, but this format holds that",
                   height);
}

} // namespace ibd
