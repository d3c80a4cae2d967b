// BloomFilter: the filter for the transactions that a peer wants (BIP37). Values; one thread.
// Memory: at most kMaxBloomFilter bytes.
#pragma once

#include "net/wire/messages.h"
#include "primitives/tx_view.h"

namespace ibd {

class BloomFilter {
public:
    /** The message must be WithinLimits(). Without data it matches everything. */
    explicit BloomFilter(FilterLoadMessage message) : m_filter(std::move(message)) {}

    void Insert(ByteSpan element);
    bool Contains(ByteSpan element) const;

    /** Whether the peer wants the transaction: by its id, data pushed by outputs, spent outpoints
     *  or data pushed by inputs. Inserts matching outputs as the peer's flags say, so that their
     *  spends will match. */
    bool Match(const TxView& tx);

private:
    uint32_t BitOf(uint32_t function, ByteSpan element) const;
    bool MatchOutput(const TxView& tx, uint32_t index);

    FilterLoadMessage m_filter;
};

/** MurmurHash3, 32 bits, for x86. */
uint32_t MurmurHash3(uint32_t seed, ByteSpan data);

} // namespace ibd
