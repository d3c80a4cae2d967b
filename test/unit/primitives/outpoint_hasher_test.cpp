// OutPointHasher.
#include "primitives/outpoint_hasher.h"

#include "support/testdata.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("OutPointHasher: depends on the key and on every part of the outpoint")
{
    const OutPointHasher hasher(SipKey{1, 2});
    const OutPoint a{Uint256::FromBytes(RandomBytes(32).data()), 5};
    CHECK(hasher(a) == hasher(OutPoint(a)));
    CHECK(hasher(a) != hasher(OutPoint{a.txid, 6}));
    CHECK(hasher(a) != OutPointHasher(SipKey{1, 3})(a));
    Uint256 other = a.txid;
    other.data()[31] ^= 0x80;
    CHECK(hasher(a) != hasher(OutPoint{other, 5}));
}
