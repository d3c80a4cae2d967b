// BlockUndo: the coins that a block spent, as stored in rev files. Value types, pure functions.
// Format: doc/formats/rev.md.
#pragma once

#include "crypto/sha256.h"
#include "script/coin.h"
#include "script/script.h"

#include <optional>
#include <span>
#include <vector>

namespace ibd {

class BlockView; // primitives/block.h

/** Most inputs of a block: 4,000,000 units of weight, and 41 bytes of 4 units each. */
inline constexpr uint32_t kMaxBlockInputs = 4'000'000 / (4 * 41);
/** Most bytes of a spent coin: the longest script and at most 32 more bytes (height, version,
 *  amount, length, counts of transactions and coins). */
inline constexpr uint32_t kMaxSpentCoinSize = uint32_t{kMaxScriptSize} + 32;
/** Most bytes of a record of undo data. */
inline constexpr uint32_t kMaxUndoSize = kMaxBlockInputs * kMaxSpentCoinSize;

/** Checksum of a record in a rev file: SHA-256d over the previous block's hash and the data, which
 *  may be in pieces. */
Hash32 UndoChecksum(const BlockHash& prev_hash, std::span<const ByteSpan> pieces);

/** A record to be written to a file. The caller owns its bytes, which need not be contiguous: those
 *  of an oversized record are never copied. */
struct UndoRecord {
    std::span<const ByteSpan> pieces;
    Hash32 checksum; //!< UndoChecksum() of them

    /** At most kMaxUndoSize. */
    uint64_t Size() const;
};

/** The coins spent by one transaction, in input order. */
struct TxUndo {
    std::vector<Coin> spent;

    bool operator==(const TxUndo&) const = default;
};

/** A record of undo data that is read from front to back, because it may be too large to hold
 *  twice. */
class UndoSource {
public:
    virtual ~UndoSource() = default;
    /** The next bytes: at least kMaxSpentCoinSize, or all that are left. Valid until the next call.
     */
    virtual Result<ByteSpan> Ahead() = 0;
    /** Consumes `count` bytes. */
    virtual void Pass(size_t count) = 0;
    /** Number of unconsumed bytes. */
    virtual uint64_t Left() const = 0;
};

/** One TxUndo for each transaction of the block except the coinbase. */
struct BlockUndo {
    std::vector<TxUndo> txs;

    bool operator==(const BlockUndo&) const = default;

    /** Moves out all coins, in the order of the block's inputs. */
    std::vector<Coin> TakeCoins();
    Bytes Encode() const;
    /** Whether it has a coin for each input of the block. */
    bool Fits(const BlockView& block) const;
    /** Decodes a whole record. Trailing bytes, impossible amounts, and more coins than a block can
     *  spend are errors, which state the remaining bytes. */
    static Result<BlockUndo> Decode(UndoSource& source);
    static Result<BlockUndo> Decode(ByteSpan bytes);
};

/** Room that PutSpentCoin() needs besides the script's own size. */
inline constexpr size_t kSpentCoinRoom = kVarIntRoom + 1 + kCompressedOutputRoom;
/** Writes one spent coin in undo form to memory with enough space; returns the end. */
uint8_t* PutSpentCoin(uint8_t* to, Amount value, ByteSpan script, uint32_t height, bool coinbase);
/** Appends a spent coin. */
void AppendSpentCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase);
/** Reads a spent coin; false, with the reader failed: malformed. */
bool ReadSpentCoin(Reader& in, Coin& coin);
/** The same, but skips the script. */
bool ReadSpentCoinHead(Reader& in, Coin& coin);
/** The same; returns the script, either where it is stored or, if it had to be decompressed, in
 *  `coin`. Nothing: malformed. */
std::optional<ByteSpan> ViewSpentCoin(Reader& in, Coin& coin);

} // namespace ibd
