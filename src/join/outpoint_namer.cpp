// See outpoint_namer.h.
#include "join/outpoint_namer.h"

#include "util/endian.h"

namespace ibd {

OutpointNamer::OutpointNamer(const AggregateSalt& salt)
{
    // Words of 32 bits give strongly universal names of 85 bits if sums have at least 32 + 85 - 1
    // bits.
    static_assert(kNameBits + 31 <= 128);
    for (size_t i = 0; i < m_factors.size(); ++i) {
        const uint8_t number[] = {static_cast<uint8_t>(i)};
        const Hash32 digest =
            Sha256().Write(AsBytes("names of outpoints")).Write(salt).Write(number).Finalize();
        m_factors[i] = Number{ReadLE64(digest.data())} << 64 | ReadLE64(digest.data() + 8);
    }
}

OutpointName OutpointNamer::NameOf(const uint8_t* outpoint) const
{
    Number sum = m_factors[kWords];
    for (size_t i = 0; i < kWords; ++i) sum += m_factors[i] * ReadLE32(outpoint + 4 * i);
    constexpr int kRest = 128 - kNameBits;
    return {static_cast<uint64_t>(sum >> 64), static_cast<uint64_t>(sum) >> kRest};
}

} // namespace ibd
