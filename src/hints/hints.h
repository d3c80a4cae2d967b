// Hints: the outputs of each block that are still unspent after the terminal block. Untrusted: a
// wrong file costs time but never correctness, so readers must only keep bounds and refuse
// malformed files. Formats: doc/formats/hints.md. A Hints object is immutable and shared by all
// workers; the file stays mapped while it lives and is read block by block. Memory: 10 bytes a
// block, or kDecodedGroupBytes. The caller owns the result of Read().
#pragma once

#include "hints/hints_format.h"
#include "primitives/uint256.h"
#include "util/env.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ibd {

/** Above the number of outputs that fit into a block; bounds the memory that a file can request. */
inline constexpr uint32_t kMaxHintedOutputs = 500'000;
/** Three hundred years of blocks; bounds the memory that a file can request. */
inline constexpr uint32_t kMaxHintedHeight = 1 << 24;

/** The outputs that a hints file numbers. */
enum class HintsCounting {
    kSpendable, //!< without unspendable ones, and without coinbases overwritten before BIP30
    kAll,       //!< every output of the block
};

struct HintsInfo {
    Path path;
    HintsFormat format = HintsFormat::kContainer;
    HintsCounting counting = HintsCounting::kSpendable;
    uint32_t terminal_height = 0;
    // Only in our own formats.
    std::optional<BlockHash> terminal_hash;
    std::optional<std::array<uint8_t, 4>> network_magic;
    std::optional<uint64_t> outputs; //!< counted outputs of blocks 1..N, if the format states it
    uint64_t unspent = 0;            //!< those of them unspent after N
    uint64_t file_size = 0;          //!< bytes
    Uint256 id;                      //!< the hints id: a digest that covers the whole file
};

/** The hints of one block. Reusable: keeps its capacity from block to block. */
struct BlockHints {
    /** Number of counted outputs that the block must have; nothing: not stated by the format. */
    std::optional<uint32_t> outputs;
    std::vector<uint32_t> unspent; //!< indices among them, ascending, each below `outputs`
    Bytes raw = {};                //!< buffers of the reader
    Bytes scratch = {};
};

class Hints {
public:
    virtual ~Hints() = default;
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;

    const HintsInfo& Info() const { return m_info; }

    /** The hints of the block at `height`, 1..terminal_height. Any thread. Bad data: the file is
     *  damaged there; a system error: it was truncated, or cannot be read. */
    virtual Result<> Read(uint32_t height, BlockHints& out) const = 0;

protected:
    Hints() = default;

    HintsInfo m_info;
};

/** Opens a hints file. Reads it once completely to check structure, checksums and counts. Without
 *  `format` the first bytes determine it; a file that fits several formats, or none, is refused
 *  with the names to choose from. */
Result<std::unique_ptr<Hints>> OpenHints(Env& env, const Path& path,
                                         std::optional<HintsFormat> format = {});

/** Reads the file again; an error if it has changed since it was opened. Only then does a verdict
 *  on the hints apply to the file. */
Result<> CheckHintsUnchanged(Env& env, const HintsInfo& opened);

} // namespace ibd
