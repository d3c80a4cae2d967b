// JoinRecord: one event in the life of an output - it was made, or it was spent - under the name of
// its outpoint, a keyed hash. A value of 16 bytes; spills hold it as it lies in memory, since no
// other machine reads them.
#pragma once

#include "join/outpoint_namer.h"
#include "util/endian.h"

#include <type_traits>

namespace ibd {

enum class JoinKind : uint8_t {
    kNone = 0,
    kCreated = 1,    //!< index: number of the output as hints count, within the block
    kSpent = 2,      //!< index: number of the input within the block, coinbase included
    kCoinbaseId = 3, //!< a coinbase whose id must not come twice
};

struct JoinRecord {
    /** The first 64 bits of the name. */
    uint64_t name = 0;
    /** 21 more bits of it, then height (24 bits), kind (2), index (17), so that numbers of one name
     *  ascend as events of an output follow each other in the chain: in a block, what is spent
     *  there was made there before. Zero: no record. */
    uint64_t rest = 0;

    static constexpr int kIndexBits = 17; // a block has at most 111,111 outputs, and 24,390 inputs
    static constexpr uint32_t kMaxIndex = (1 << kIndexBits) - 1;
    static constexpr int kKindBits = 2;
    static constexpr int kHeightBits = 24;
    static constexpr uint32_t kMaxHeight = (1 << kHeightBits) - 1;
    static constexpr int kEventBits = kHeightBits + kKindBits + kIndexBits;

    /** Within the limits above. */
    static JoinRecord Of(const OutpointName& name, JoinKind kind, uint32_t height, uint32_t index)
    {
        return {name.first, name.second << kEventBits | Event(kind, height, index)};
    }
    static constexpr uint64_t Event(JoinKind kind, uint32_t height, uint32_t index)
    {
        return (uint64_t{height} << kKindBits | static_cast<uint64_t>(kind)) << kIndexBits | index;
    }
    bool IsNone() const { return rest == 0; }
    uint64_t NameRest() const { return rest >> kEventBits; }
    bool HasNameOf(const JoinRecord& other) const
    {
        return name == other.name && NameRest() == other.NameRest();
    }
    uint64_t Event() const { return rest & ((uint64_t{1} << kEventBits) - 1); }
    JoinKind Kind() const { return static_cast<JoinKind>(rest >> kIndexBits & 3); }
    uint32_t Height() const
    {
        return static_cast<uint32_t>(rest >> (kIndexBits + kKindBits)) & kMaxHeight;
    }
    uint32_t Index() const { return static_cast<uint32_t>(rest) & kMaxIndex; }

    static constexpr int kPlaceBits = kHeightBits + kIndexBits;
    static constexpr uint64_t kPlaceMask = (uint64_t{1} << kPlaceBits) - 1;
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

    /** That in the low bits of the first 8 bytes of a spilled record which begins with one. */
    static uint64_t PlaceIn(const uint8_t* record) { return ReadLE64(record) & kPlaceMask; }

    bool operator==(const JoinRecord&) const = default;
};
static_assert(sizeof(JoinRecord) == 16 && std::is_trivially_copyable_v<JoinRecord>);

/** One that says besides what an output that was made is worth to who spends it: 24 bytes. */
struct ValuedRecord : JoinRecord {
    uint64_t coin = 0; //!< MadeCoin::Number(); of what is no output 0
};
static_assert(sizeof(ValuedRecord) == 24 && std::is_trivially_copyable_v<ValuedRecord>);

/** Who is told of the two events of an output that meet. */
template <typename Record>
class MetSink {
public:
    virtual ~MetSink() = default;
    /** False: it has failed, and says why when it is finished. */
    virtual bool Met(const Record& made, const JoinRecord& spent) = 0;
};

/** Whether the two, of one outpoint, are its making and a spend that does not come before it; the
 *  order within a block was checked when it was read. */
inline bool Meet(const JoinRecord& created, const JoinRecord& spent)
{
    return created.HasNameOf(spent) && created.Height() <= spent.Height();
}

} // namespace ibd
