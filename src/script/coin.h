// Coin: an unspent output with the height and kind of the transaction that made it, and its coding
// in the chainstate. Value type; pure functions.
#pragma once

#include "script/compress.h"
#include "script/script.h"
#include "util/result.h"

namespace ibd {

struct Coin {
    Amount value = 0;
    ScriptBytes script;
    uint32_t height = 0; //!< of the block that made it; below 2^31
    bool coinbase = false;

    bool operator==(const Coin&) const = default;
};

/** Appends the chainstate value: VARINT(height * 2 + coinbase), compressed amount and script. */
void AppendCoin(Bytes& out, Amount value, ByteSpan script, uint32_t height, bool coinbase);
void AppendCoin(Bytes& out, const Coin& coin);

/** Reads VARINT(height * 2 + coinbase), the start of coins and undo data. Fails the reader on a
 *  height of 2^31 or more. */
void ReadCoinOrigin(Reader& in, Coin& coin);

/** Reads a coin. False, with the reader failed: truncation, a height of 2^31 or more, or a bad
 *  script. The amount is not range-checked, as the meaning of a bad one depends on the caller. */
bool ReadCoin(Reader& in, Coin& coin);

/** Decodes a whole chainstate value; surplus bytes and an impossible amount are errors. */
Result<Coin> DecodeCoin(ByteSpan value);

/** The chainstate key of an outpoint: 'C', txid, VARINT(vout); 34 to 38 bytes. The order of the
 *  database is their order, which is not numeric by vout above 127. */
struct CoinKey {
    static constexpr uint8_t kPrefix = 'C';
    static constexpr size_t kMaxSize = 38; //!< bytes

    explicit CoinKey(const OutPoint& outpoint);
    ByteSpan Span() const { return {bytes, size}; }

    uint8_t bytes[33 + kVarIntRoom];
    uint8_t size;
};

/** Inverse of CoinKey. False: the bytes are not exactly such a key, or the outpoint is null. */
bool ParseCoinKey(ByteSpan key, OutPoint& outpoint);

} // namespace ibd
