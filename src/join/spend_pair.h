// A pair of an output and the input that spends it, as spilled: 12 bytes. The low bits of the first
// 8 are the output's place in the chain (JoinRecord::Place); the other bits are the input's place.
// A value.
#pragma once

#include "join/join_record.h"
#include "util/endian.h"

namespace ibd {

struct SpendPair {
    uint64_t made = 0;
    uint64_t spent = 0;

    static constexpr size_t kBytes = 12;

    static SpendPair At(const uint8_t* record)
    {
        const uint64_t low = ReadLE64(record);
        return {low & JoinRecord::kPlaceMask,
                low >> JoinRecord::kPlaceBits | uint64_t{ReadLE32(record + 8)} << kSpentLowBits};
    }
    void Write(uint8_t* record) const
    {
        WriteLE64(record, made | spent << JoinRecord::kPlaceBits);
        WriteLE32(record + 8, static_cast<uint32_t>(spent >> kSpentLowBits));
    }
    /** See RecordSize. */
    static size_t SizeOf(ByteSpan bytes) { return bytes.size() < kBytes ? 0 : kBytes; }

private:
    static constexpr int kSpentLowBits = 64 - JoinRecord::kPlaceBits;
    static_assert(2 * JoinRecord::kPlaceBits <= 8 * int{kBytes});
};

} // namespace ibd
