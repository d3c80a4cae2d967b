// A spent coin as it is spilled: 8 bytes, then the coin as in undo data. The low bits of the 8
// bytes are the place in the chain of the spending input (JoinRecord::Place), the high bits the
// length of the coin that follows. The outline of a block has the same form, at the place of its
// coinbase's input, which spends no coin. Pure functions.
#pragma once

#include "join/join_record.h"
#include "storage/undo.h"

namespace ibd {

inline constexpr size_t kCoinHeadBytes = 8;
static_assert(kMaxSpentCoinSize >> (64 - JoinRecord::kPlaceBits) == 0);

/** Writes a record to memory with enough space; returns its end. */
inline uint8_t* PutCoinRecord(uint8_t* to, uint64_t spent_at, const OutputView& output,
                              uint32_t height, bool coinbase)
{
    uint8_t* const coin = to + kCoinHeadBytes;
    uint8_t* const end = PutSpentCoin(coin, output.value, output.script_pubkey, height, coinbase);
    WriteLE64(to, spent_at | static_cast<uint64_t>(end - coin) << JoinRecord::kPlaceBits);
    return end;
}

/** The input number under which the outline is stored: the coinbase's. */
inline constexpr uint32_t kOutlineIndex = 0;

/** Writes a record to memory with enough space; returns its end. `outline`: encoded. */
inline uint8_t* PutOutlineRecord(uint8_t* to, uint32_t height, ByteSpan outline)
{
    WriteLE64(to, JoinRecord::PlaceOf(height, kOutlineIndex) | uint64_t{outline.size()}
                                                                   << JoinRecord::kPlaceBits);
    return std::copy(outline.begin(), outline.end(), to + kCoinHeadBytes);
}

/** See RecordSize. */
inline size_t CoinRecordSize(ByteSpan bytes)
{
    if (bytes.size() < kCoinHeadBytes) return 0;
    const size_t size = kCoinHeadBytes + (ReadLE64(bytes.data()) >> JoinRecord::kPlaceBits);
    return size <= bytes.size() ? size : 0;
}

/** The coin in undo form. */
inline ByteSpan UndoOf(ByteSpan record) { return record.subspan(kCoinHeadBytes); }

} // namespace ibd
