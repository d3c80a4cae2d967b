// Hints: which outputs of each block are still unspent after the terminal block. Untrusted: a wrong
// file costs time, never correctness, so readers only promise not to read out of bounds and to
// refuse what is malformed. Formats: doc/formats/hints.md.
// A Hints object is immutable and shared by all workers; the file stays mapped while it lives and
// is read block by block. Memory: 10 bytes a block, or kDecodedGroupBytes. What Read() fills is
// the caller's.
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

/** More outputs than a block of 4,000,000 weight units can hold; bounds what a file may claim. */
inline constexpr uint32_t kMaxHintedOutputs = 500'000;
/** Three hundred years of blocks; bounds the memory that a file may ask for. */
inline constexpr uint32_t kMaxHintedHeight = 1 << 24;

/** Which outputs of a block a hints file numbers. */
enum class HintsCounting {
    kSpendable, //!< leaves out unspendable ones and coinbases that BIP30 history overwrote
    kAll,       //!< every output of the block
};

struct HintsInfo {
    Path path;
    HintsFormat format = HintsFormat::kContainer;
    HintsCounting counting = HintsCounting::kSpendable;
    uint32_t terminal_height = 0;
    // Of our own formats; the others do not say.
    std::optional<BlockHash> terminal_hash;
    std::optional<std::array<uint8_t, 4>> network_magic;
    std::optional<uint64_t> outputs; //!< counted outputs of blocks 1..N, where the format says
    uint64_t unspent = 0;            //!< of these, unspent after N
    uint64_t file_size = 0;          //!< bytes
    Uint256 id;                      //!< the hints id: a digest that covers the whole file
};

/** The hints of one block. Reusable: keeps its capacity from block to block. */
struct BlockHints {
    /** Counted outputs the block must have; nothing where the format does not say. */
    std::optional<uint32_t> outputs;
    std::vector<uint32_t> unspent; //!< indices among them, ascending, each below `outputs`
    Bytes raw = {};                //!< the reader's buffers
    Bytes scratch = {};
};

class Hints {
public:
    virtual ~Hints() = default;
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;

    const HintsInfo& Info() const { return m_info; }

    /** The hints of the block at `height`, 1..terminal_height. Any thread. Bad data: the file is
     *  damaged there; a system error: it is shorter than it was, or cannot be read. */
    virtual Result<> Read(uint32_t height, BlockHints& out) const = 0;

protected:
    Hints() = default;

    HintsInfo m_info;
};

/** Opens a hints file. Reads it once from end to end to check structure, checksums and counts.
 *  Without a format the first bytes tell what it may be; a file that fits several formats, or one
 *  that cannot be told, is refused with the names to choose from. */
Result<std::unique_ptr<Hints>> OpenHints(Env& env, const Path& path,
                                         std::optional<HintsFormat> format = {});

/** Reads the file again: an error, if it no longer is what was opened. A verdict on hints is one on
 *  the file's contents only if those stayed the same. */
Result<> CheckHintsUnchanged(Env& env, const HintsInfo& opened);

} // namespace ibd
