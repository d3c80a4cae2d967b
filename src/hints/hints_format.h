// HintsFormat: the readable kinds of hints files; users name them in options. Layouts:
// doc/formats/hints.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ibd {

enum class HintsFormat : uint8_t {
    kContainer,      //!< ours, version 2
    kContainer1,     //!< ours, version 1
    kBitmap,         //!< the original one, a bit for each output
    kIndexed,        //!< of Bitcoin Core's pull request: index, then bits
    kIndexedCompact, //!< a revision of it: counts as CompactSize
    kIndexedDeltas,  //!< a revision of it: differences of indices
    kIndexedRuns,    //!< a revision of it: bits or runs of zeros, whichever is shorter
    kBip456,         //!< BIP 456's text: most significant bit first, from the genesis block on
    kBip456Core,     //!< most significant bit first, from block 1 on
    kBip456Crate,    //!< least significant bit first, from block 1 on
    kBtcd,           //!< runs of zeros as CompactSize, packed by gzip
    kSwifthints,     //!< entropy coded by the shapes of transactions; readable only with the blocks
    kGaps,           //!< text: a line of runs of zeros for each block
};

struct HintsFormatName {
    HintsFormat format;
    std::string_view name;
};

inline constexpr std::array<HintsFormatName, 13> kHintsFormats = {{
    {HintsFormat::kContainer, "container"},
    {HintsFormat::kContainer1, "container1"},
    {HintsFormat::kBitmap, "bitmap"},
    {HintsFormat::kIndexed, "indexed"},
    {HintsFormat::kIndexedCompact, "indexed-compact"},
    {HintsFormat::kIndexedDeltas, "indexed-deltas"},
    {HintsFormat::kIndexedRuns, "indexed-runs"},
    {HintsFormat::kBip456, "bip456"},
    {HintsFormat::kBip456Core, "bip456-core"},
    {HintsFormat::kBip456Crate, "bip456-crate"},
    {HintsFormat::kBtcd, "btcd"},
    {HintsFormat::kSwifthints, "swifthints"},
    {HintsFormat::kGaps, "gaps"},
}};

constexpr std::string_view NameOf(HintsFormat format)
{
    return kHintsFormats[static_cast<size_t>(format)].name;
}

constexpr std::optional<HintsFormat> HintsFormatFrom(std::string_view name)
{
    for (const HintsFormatName& known : kHintsFormats) {
        if (known.name == name) return known.format;
    }
    return std::nullopt;
}

} // namespace ibd
