// The padding of hashes derived from MD4: 0x80, zeros, length in bits in the last 8 bytes of a
// 64-byte block. For one-shot hashes; stateless.
#pragma once

#include "util/bytes.h"
#include "util/endian.h"

namespace ibd {

enum class LengthOrder { kBigEndian, kLittleEndian };

/** Calls `transform(block)` for each 64-byte block of the padded message. */
template <typename F>
void ForEachPaddedBlock(ByteSpan data, LengthOrder order, F transform)
{
    const size_t whole = data.size() / 64;
    for (size_t i = 0; i < whole; ++i) transform(data.data() + 64 * i);
    const ByteSpan rest = data.subspan(64 * whole);
    uint8_t tail[128] = {};
    if (!rest.empty()) std::memcpy(tail, rest.data(), rest.size());
    tail[rest.size()] = 0x80;
    const size_t size = rest.size() + 9 <= 64 ? 64 : 128;
    const uint64_t bits = uint64_t{data.size()} * 8;
    if (order == LengthOrder::kBigEndian) WriteBE64(tail + size - 8, bits);
    if (order == LengthOrder::kLittleEndian) WriteLE64(tail + size - 8, bits);
    for (size_t at = 0; at < size; at += 64) transform(tail + at);
}

} // namespace ibd
