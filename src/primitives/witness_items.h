// The items of an input's witness as a list.
#pragma once

#include "primitives/tx_view.h"

namespace ibd {

/** They lie in the bytes of the transaction. */
inline std::vector<ByteSpan> WitnessItems(const InputView& input)
{
    std::vector<ByteSpan> items;
    items.reserve(input.witness_items);
    ForEachWitnessItem(input, [&](ByteSpan item) { items.push_back(item); });
    return items;
}

} // namespace ibd
