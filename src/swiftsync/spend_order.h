// SpendOrder: whether every input of a block that spends an output of the same block comes after
// it. The aggregate cannot tell, as it does not depend on order. Owned by a worker; one thread.
// Memory: at most 18 bytes a transaction of the largest block so far.
#pragma once

#include "primitives/tx_view.h"
#include "util/bytes.h"

#include <optional>
#include <vector>

namespace ibd {

class SpendOrder {
public:
    /** `secret`: a number that whoever makes blocks cannot know, so that no ids can be made that
     *  meet in one slot. */
    explicit SpendOrder(uint64_t secret) : m_factor(secret | 1) {}

    /** Places in the block. */
    struct Violation {
        size_t spender = 0;
        size_t maker = 0; //!< `spender` itself or a later one
    };

    /** A transaction that spends an output of itself or of a later one; nothing if there is none,
     *  as consensus demands. At most kMaxTxs transactions, the first a coinbase. */
    std::optional<Violation> Check(std::span<const TxView> txs);

    /** More than the smallest transactions (60 bytes) fill a block. */
    static constexpr size_t kMaxTxs = 0xffff;

private:
    /** Which bit stands for an id. */
    size_t BitOf(const uint8_t* txid) const { return ReadLE64(txid) * m_factor >> m_shift; }
    void Insert(std::span<const TxView> txs, size_t tx);
    std::optional<size_t> Find(std::span<const TxView> txs, const uint8_t* txid, size_t bit) const;

    const uint64_t m_factor;
    int m_shift = 0;
    std::vector<uint64_t> m_bits;  //!< set for each id that was added: few others hit one
    std::vector<uint16_t> m_heads; //!< by bit / kBitsPerChain: the last one added, 0: none
    std::vector<uint16_t> m_next;  //!< by place in the block: the one added before in its chain
};

} // namespace ibd
