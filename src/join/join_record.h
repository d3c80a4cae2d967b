// JoinRecord: one event in the life of an output - it was made, or it was spent - under the name of
// its outpoint, a keyed hash. A value of 24 bytes; spills hold it as it lies in memory, since no
// other machine reads them.
#pragma once

#include "swiftsync/aggregate.h"

#include <type_traits>

namespace ibd {

enum class JoinKind : uint8_t {
    kNone = 0,
    kCreated = 1,    //!< index: number of the output as hints count, within the block
    kSpent = 2,      //!< index: number of the input within the block, coinbase included
    kCoinbaseId = 3, //!< a coinbase whose id must not come twice
};

struct JoinRecord {
    OutpointName key;
    /** Height (40 bits), kind (2), index (22), so that numbers ascend as events of an output follow
     *  each other in the chain: in a block, what is spent there was made there before. */
    uint64_t event = 0;

    static constexpr int kIndexBits = 22;
    static constexpr uint32_t kMaxIndex = (1 << kIndexBits) - 1;
    static constexpr int kKindBits = 2;

    static constexpr uint64_t Event(JoinKind kind, uint32_t height, uint32_t index)
    {
        return (uint64_t{height} << kKindBits | static_cast<uint64_t>(kind)) << kIndexBits | index;
    }
    JoinKind Kind() const { return static_cast<JoinKind>(event >> kIndexBits & 3); }
    uint32_t Height() const { return static_cast<uint32_t>(event >> (kIndexBits + kKindBits)); }
    uint32_t Index() const { return static_cast<uint32_t>(event) & kMaxIndex; }
    /** Where in the chain: height, then index. */
    uint64_t Place() const { return PlaceOf(Height(), Index()); }
    static constexpr uint64_t PlaceOf(uint32_t height, uint32_t index)
    {
        return uint64_t{height} << kIndexBits | index;
    }
    static constexpr uint32_t HeightOf(uint64_t place)
    {
        return static_cast<uint32_t>(place >> kIndexBits);
    }
    static constexpr uint32_t IndexOf(uint64_t place)
    {
        return static_cast<uint32_t>(place) & kMaxIndex;
    }

    bool operator==(const JoinRecord&) const = default;
};
static_assert(sizeof(JoinRecord) == 24 && std::is_trivially_copyable_v<JoinRecord>);

/** Whether the two, of one outpoint, are its making and a spend that does not come before it; the
 *  order within a block was checked when it was read. */
inline bool Meet(const JoinRecord& created, const JoinRecord& spent)
{
    return created.key == spent.key && created.Height() <= spent.Height();
}

} // namespace ibd
