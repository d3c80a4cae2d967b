// Bodies of the inline parts of tx_view.h.
#pragma once

#include "primitives/serialize.h"

namespace ibd {

inline OutPoint InputView::Prevout() const
{
    return {Txid::FromBytes(prevout_bytes), ReadLE32(prevout_bytes + 32)};
}

inline bool InputView::HasNullIndex() const
{
    return ReadLE32(prevout_bytes + 32) == OutPoint::kNullIndex;
}

template <typename Visitor>
void ForEachWitnessItem(const InputView& input, Visitor visit)
{
    Reader reader(input.witness);
    for (uint32_t i = 0; i < input.witness_items; ++i) visit(reader.VarBytes());
}

} // namespace ibd
