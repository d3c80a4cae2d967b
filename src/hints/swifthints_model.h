// The model of swifthints files: the context of each output (the shape of its transaction, and
// whether earlier outputs are unspent) and the probability that an output of a context is unspent.
// Shared by reader and writer. Pure; format and the writer's choices: doc/formats/hints.md, section
// 8.
#pragma once

#include "util/bytes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace ibd {

/** The number of outputs of each transaction of a block, in order: the data needed to read these
 *  files. */
using BlockShape = std::span<const uint32_t>;

inline constexpr size_t kSwifthintsContexts = 105;
/** With this probability byte no output of the context is unspent, and none is coded. */
inline constexpr uint32_t kSwifthintsScale = 256;
/** A group's first and last state; between outputs states are below kSwifthintsScale times it. */
inline constexpr uint32_t kSwifthintsState = 0x10000;

/** A group: the two numbers of its head, one or all probabilities, a state, and coded bytes. */
struct SwifthintsHead {
    static constexpr size_t kSize = 4;
    static constexpr size_t kStateSize = 3;
    static constexpr uint32_t kMaxBlocks = 32'768;
    static constexpr uint32_t kMaxBytes = 0xffff + 2;

    uint32_t bytes = 0;  //!< of the whole group, including the head
    uint32_t blocks = 0; //!< 1..kMaxBlocks
    bool compact = false;

    static SwifthintsHead From(const std::array<uint8_t, kSize>& in);
    void Put(Bytes& out) const;
    /** Bytes of a group besides the coded ones. */
    size_t Fixed() const { return kSize + (compact ? 1 : kSwifthintsContexts) + kStateSize; }
};

/** Visits a block's outputs: calls unspent(context), which returns whether the output is unspent.
 */
template <typename Visitor>
void ForEachSwifthint(BlockShape shape, Visitor unspent)
{
    for (const uint32_t outputs : shape) {
        const uint32_t s = std::min<uint32_t>(outputs, 7) - 1;
        const uint32_t first = s * (s + 1) * (s + 2) / 6;
        uint32_t spent = 0;
        for (uint32_t i = 0; i < outputs; ++i) {
            const uint32_t context =
                i < 6
                    ? first + i * (i + 1) / 2 + spent
                    : 77 + static_cast<uint32_t>(std::min<uint64_t>(uint64_t{spent} * 28 / i, 27));
            if (!unspent(context)) ++spent;
        }
    }
}

/** The number of outputs in each context, and the unspent ones among them. */
struct SwifthintsCounts {
    struct OfContext {
        uint32_t outputs = 0;
        uint32_t unspent = 0;
    };
    std::array<OfContext, kSwifthintsContexts> contexts{};

    void Add(const SwifthintsCounts& other);
    OfContext Sum() const;
};

/** The best coding of a group with such outputs. */
struct SwifthintsPlan {
    bool compact = false;
    uint64_t cost = 0; //!< bits / kLog2Unit, an estimate

    /** Nothing: the group may take more bytes, or has more blocks, than allowed. */
    static std::optional<SwifthintsPlan> For(const SwifthintsCounts& counts, uint32_t blocks);
    /** The probabilities of the group. */
    std::array<uint8_t, kSwifthintsContexts> Probabilities(const SwifthintsCounts& counts) const;
};

/** Blocks that stay together. */
struct SwifthintsPiece {
    SwifthintsCounts counts;
    uint32_t blocks = 0;
};

/** The best division into groups: the number of pieces of each, with least total cost. Each piece
 *  must fit into a group. Takes time in proportion to pieces times pieces in a group. */
std::vector<size_t> GroupSwifthints(const std::vector<SwifthintsPiece>& pieces);

} // namespace ibd
