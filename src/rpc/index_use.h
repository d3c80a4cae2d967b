// Functions of calls that use an index. See index/indexes.h.
#pragma once

#include "index/indexes.h"
#include "rpc/chain_context.h"

namespace ibd {

/** An index of one type, such as TxIndex; null: it was not requested, or is not open yet. */
template <typename T>
const T* FindIndex(const ChainContext& context, const T* (Indexes::*index)() const)
{
    const Indexes* const indexes = context.indexes;
    return indexes ? (indexes->*index)() : nullptr;
}

/** See IndexFollower::WaitForTip(). */
inline bool WaitForTip(const ChainContext& context, const Index& index)
{
    return context.indexes.load()->FollowerOf(index).WaitForTip();
}

} // namespace ibd
