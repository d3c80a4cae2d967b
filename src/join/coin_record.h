// A spent coin as it is spilled: the place in the chain of the input that spends it (8 bytes, see
// JoinRecord::Place), the length of the rest (2), and the rest as undo data has it. Pure functions.
#pragma once

#include "storage/undo.h"
#include "util/endian.h"

namespace ibd {

inline constexpr size_t kCoinHeadBytes = 10;
static_assert(kMaxSpentCoinSize <= 0xffff);

/** Appends one. */
inline void AppendCoinRecord(Bytes& out, uint64_t spent_at, const OutputView& output,
                             uint32_t height, bool coinbase)
{
    const size_t at = out.size();
    out.resize(at + kCoinHeadBytes + kSpentCoinRoom + output.script_pubkey.size());
    uint8_t* const head = &out[at];
    uint8_t* const coin = head + kCoinHeadBytes;
    uint8_t* const end = PutSpentCoin(coin, output.value, output.script_pubkey, height, coinbase);
    WriteLE64(head, spent_at);
    WriteLE16(head + 8, static_cast<uint16_t>(end - coin));
    out.resize(static_cast<size_t>(end - out.data()));
}

/** As RecordSize. */
inline size_t CoinRecordSize(ByteSpan bytes)
{
    if (bytes.size() < kCoinHeadBytes) return 0;
    const size_t size = kCoinHeadBytes + ReadLE16(bytes.data() + 8);
    return size <= bytes.size() ? size : 0;
}

/** The coin in undo form. */
inline ByteSpan UndoOf(ByteSpan record) { return record.subspan(kCoinHeadBytes); }

} // namespace ibd
