// JoinRecord: the creation or the spend of an output, under the name of its outpoint, which is a
// keyed hash. A value of 16 bytes, spilled in the byte order of this machine, since no other
// machine reads it.
#pragma once

#include "join/outpoint_namer.h"
#include "util/endian.h"

#include <type_traits>

namespace ibd {

enum class JoinKind : uint8_t {
    kNone = 0,
    kCreated = 1,    //!< index: number of the output within the block, as hints count
    kSpent = 2,      //!< index: number of the input within the block, coinbase included
    kCoinbaseId = 3, //!< a coinbase whose id must not be repeated
};

struct JoinRecord {
    /** The first 64 bits of the name. */
    uint64_t name = 0;
    /** Then 21 more bits of the name, height (24 bits), kind (2), index (17). Records of one name
     *  sort in the order of the events in the chain; within a block an output is made before it is
     *  spent. Zero: no record. */
    uint64_t rest = 0;

    static constexpr int kIndexBits = 17; // a block has at most 111,111 outputs, and 24,390 inputs
    static constexpr uint32_t kMaxIndex = (1 << kIndexBits) - 1;
    static constexpr int kKindBits = 2;
    static constexpr int kHeightBits = 24;
    static constexpr uint32_t kMaxHeight = (1 << kHeightBits) - 1;
    static constexpr int kEventBits = kHeightBits + kKindBits + kIndexBits;

    /** The arguments must keep the limits above. */
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
    /** Place in the chain: height, then index. */
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

    /** Reads the place from the low bits of a spilled record's first 8 bytes. */
    static uint64_t PlaceIn(const uint8_t* record) { return ReadLE64(record) & kPlaceMask; }

    bool operator==(const JoinRecord&) const = default;
};
static_assert(sizeof(JoinRecord) == 16 && std::is_trivially_copyable_v<JoinRecord>);

/** A record that also has the data of an output that the rules need when it is spent: 24 bytes. */
struct ValuedRecord : JoinRecord {
    uint64_t coin = 0; //!< MadeCoin::Number() of an output; 0 for other events
};
static_assert(sizeof(ValuedRecord) == 24 && std::is_trivially_copyable_v<ValuedRecord>);

/** Receives the two events of each matched output. */
template <typename Record>
class MetSink {
public:
    virtual ~MetSink() = default;
    /** False: it has failed; finishing it reports why. */
    virtual bool Met(const Record& made, const JoinRecord& spent) = 0;
};

/** Whether the two records of one outpoint are its creation and a spend in the same or a higher
 *  block. The order within a block was checked when it was read. */
inline bool Meet(const JoinRecord& created, const JoinRecord& spent)
{
    return created.HasNameOf(spent) && created.Height() <= spent.Height();
}

} // namespace ibd
