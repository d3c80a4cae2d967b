// See spend_order.h.
#include "swiftsync/spend_order.h"

#include "util/check.h"

#include <bit>
#include <cstring>
#include <utility>

namespace ibd {

namespace {

constexpr size_t kBitsPerTx = 32; // rounded up to a power of two
constexpr size_t kBitsPerChain = 16;

} // namespace

// Walks from the last transaction to the first and adds each before it looks up its inputs, so that
// a match is never an earlier transaction. In a valid block there is no match, and 99 of 100
// lookups end at a clear bit. Multiplying by a secret odd number and keeping the upper bits spreads
// any ids evenly (Dietzfelbinger et al., 1997).
std::optional<SpendOrder::Violation> SpendOrder::Check(std::span<const TxView> txs)
{
    CHECK(txs.size() <= kMaxTxs);
    if (txs.size() < 2) return std::nullopt;
    const size_t bits = std::bit_ceil(kBitsPerTx * txs.size());
    m_shift = std::countl_zero(bits) + 1;
    m_bits.assign(bits / 64, 0);
    m_heads.assign(bits / kBitsPerChain, 0);
    m_next.resize(txs.size());
    for (size_t t = txs.size() - 1; t > 0; --t) {
        Insert(txs, t);
        for (const InputView& input : txs[t].inputs) {
            const size_t bit = BitOf(input.prevout_bytes);
            if (!(m_bits[bit / 64] >> bit % 64 & 1)) continue;
            const auto maker = Find(txs, input.prevout_bytes, bit);
            if (maker) return Violation{t, *maker};
        }
    }
    return std::nullopt;
}

void SpendOrder::Insert(std::span<const TxView> txs, size_t tx)
{
    const size_t bit = BitOf(txs[tx].txid.data());
    m_bits[bit / 64] |= uint64_t{1} << bit % 64;
    m_next[tx] = std::exchange(m_heads[bit / kBitsPerChain], static_cast<uint16_t>(tx));
}

std::optional<size_t> SpendOrder::Find(std::span<const TxView> txs, const uint8_t* txid,
                                       size_t bit) const
{
    for (size_t tx = m_heads[bit / kBitsPerChain]; tx != 0; tx = m_next[tx]) {
        if (std::memcmp(txs[tx].txid.data(), txid, 32) == 0) return tx;
    }
    return std::nullopt;
}

} // namespace ibd
