// SpendOrder: checks that every input which spends an output of its own block comes after it. The
// aggregate cannot show this, as it does not depend on order. Owned by a worker; one thread.
// Memory: at most 18 bytes for each transaction of the largest block so far.
#pragma once

#include "primitives/tx_view.h"
#include "util/bytes.h"

#include <optional>
#include <vector>

namespace ibd {

class SpendOrder {
public:
    /** `secret`: a number unknown to miners, so that they cannot choose txids that collide. */
    explicit SpendOrder(uint64_t secret) : m_factor(secret | 1) {}

    /** Positions in the block. */
    struct Violation {
        size_t spender = 0;
        size_t maker = 0; //!< `spender` itself or a later one
    };

    /** A transaction that spends an output of itself or of a later one; nothing: there is none, as
     *  consensus requires. At most kMaxTxs transactions, the first a coinbase. */
    std::optional<Violation> Check(std::span<const TxView> txs);

    /** Above the number of smallest transactions (60 bytes) in a block. */
    static constexpr size_t kMaxTxs = 0xffff;

private:
    /** The number of an id's bit. */
    size_t BitOf(const uint8_t* txid) const { return ReadLE64(txid) * m_factor >> m_shift; }
    void Insert(std::span<const TxView> txs, size_t tx);
    std::optional<size_t> Find(std::span<const TxView> txs, const uint8_t* txid, size_t bit) const;

    const uint64_t m_factor;
    int m_shift = 0;
    std::vector<uint64_t> m_bits;  //!< set for each added id; few other ids share a bit
    std::vector<uint16_t> m_heads; //!< by bit / kBitsPerChain: the last added transaction; 0: none
    std::vector<uint16_t> m_next;  //!< by position in the block: the previous transaction of its
                                   //!< chain
};

} // namespace ibd
