// BloomFilter: which transactions a peer wants to see, as far as it lets us know (BIP37). Values;
// one thread. Memory: at most kMaxBloomFilter bytes.
#pragma once

#include "net/messages.h"
#include "primitives/tx_view.h"

namespace ibd {

class BloomFilter {
public:
    /** Within FilterLoadMessage::WithinLimits(). Without data it matches everything. */
    explicit BloomFilter(FilterLoadMessage message) : m_filter(std::move(message)) {}

    void Insert(ByteSpan element);
    bool Contains(ByteSpan element) const;

    /** Whether the peer wants it: by its id, what its outputs push, what it spends or what its
     *  inputs push. Outputs that match are inserted as the peer's flags say, so that what spends
     *  them will match. */
    bool Match(const TxView& tx);

private:
    uint32_t BitOf(uint32_t function, ByteSpan element) const;
    bool MatchOutput(const TxView& tx, uint32_t index);

    FilterLoadMessage m_filter;
};

/** MurmurHash3, 32 bits, for x86. */
uint32_t MurmurHash3(uint32_t seed, ByteSpan data);

} // namespace ibd
