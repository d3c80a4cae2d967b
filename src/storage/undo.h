// BlockUndo: the coins that a block spent, as rev files keep them. Value types, pure functions.
// Format: doc/formats/rev.md.
#pragma once

#include "crypto/sha256.h"
#include "script/coin.h"
#include "script/script.h"

#include <optional>
#include <span>
#include <vector>

namespace ibd {

/** Most inputs that fit into a block: 4,000,000 units of weight, and 41 bytes of 4 units each. */
inline constexpr uint32_t kMaxBlockInputs = 4'000'000 / (4 * 41);
/** Most bytes of a spent coin: a script of the greatest size, with at most 32 bytes around it
 *  (height, version, amount, length, counts of transactions and coins). */
inline constexpr uint32_t kMaxSpentCoinSize = uint32_t{kMaxScriptSize} + 32;
/** Most bytes of a record of undo data. */
inline constexpr uint32_t kMaxUndoSize = kMaxBlockInputs * kMaxSpentCoinSize;

/** Checksum of a record in a rev file: SHA-256d over the previous block's hash and the data, which
 *  may be in pieces. */
Hash32 UndoChecksum(const BlockHash& prev_hash, std::span<const ByteSpan> pieces);

/** A record on its way to its file. Its bytes belong to others and need not lie together: those of
 *  a giant one are never held twice. */
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

/** A record of undo data that is read from front to back, for want of memory to hold it twice. */
class UndoSource {
public:
    virtual ~UndoSource() = default;
    /** What lies ahead: kMaxSpentCoinSize bytes at least, or all that is left. Valid until the next
     *  call. */
    virtual Result<ByteSpan> Ahead() = 0;
    /** Leaves `count` of the bytes ahead behind. */
    virtual void Pass(size_t count) = 0;
    /** Bytes of the record not left behind. */
    virtual uint64_t Left() const = 0;
};

/** One TxUndo for each transaction of the block except the coinbase. */
struct BlockUndo {
    std::vector<TxUndo> txs;

    bool operator==(const BlockUndo&) const = default;

    Bytes Encode() const;
    /** Decodes a whole record; trailing bytes and more coins than a block can spend are errors,
     *  which say how much was left. */
    static Result<BlockUndo> Decode(UndoSource& source);
    static Result<BlockUndo> Decode(ByteSpan bytes);
};

/** Room that PutSpentCoin() takes besides the script's own size. */
inline constexpr size_t kSpentCoinRoom = kVarIntRoom + 1 + kCompressedOutputRoom;
/** Writes one spent coin in undo form to memory with room; behind it. */
uint8_t* PutSpentCoin(uint8_t* to, Amount value, ByteSpan script, uint32_t height, bool coinbase);
/** Appends one. */
void AppendSpentCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase);
/** Reads one; false with the reader failed when malformed. */
bool ReadSpentCoin(Reader& in, Coin& coin);
/** The same but for the script, which is not looked at. */
bool ReadSpentCoinHead(Reader& in, Coin& coin);
/** The same but for the script, which is returned: where it lies, or in `coin` if it had to be made
 *  of what lies there. Nothing: malformed. */
std::optional<ByteSpan> ViewSpentCoin(Reader& in, Coin& coin);

} // namespace ibd
