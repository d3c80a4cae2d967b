// Coins that were read at a tip, and are not read again.
#include "storage/map_coins.h"
#include "storage/recent_coins.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** Coins that no cache has. */
MapCoins OnDisk()
{
    MapCoins coins;
    coins.on_disk = true;
    return coins;
}

OutPoint Name(uint32_t n)
{
    Txid id;
    id.data()[0] = 1;
    return {id, n};
}

BlockHash Tip(uint8_t n)
{
    BlockHash hash;
    hash.data()[0] = n;
    return hash;
}

} // namespace

TEST_CASE("a coin is read once at each tip", "[recent_coins]")
{
    MapCoins chain = OnDisk();
    chain.coins[Name(1)].value = 5;
    RecentCoins recent({1, 2});
    for (int i = 0; i < 3; ++i) CHECK((*recent.Read(Name(1), Tip(1), chain))->value == 5);
    CHECK(chain.reads == 1);
    // A block spends it, and makes another.
    chain.coins.erase(Name(1));
    chain.coins[Name(2)].value = 6;
    CHECK_FALSE(*recent.Read(Name(1), Tip(2), chain));
    CHECK((*recent.Read(Name(2), Tip(2), chain))->value == 6);
    CHECK_FALSE(*recent.Read(Name(1), Tip(2), chain));
    CHECK(chain.reads == 4); // one that is missing is looked for again
    // The block is taken back.
    chain.coins[Name(1)].value = 5;
    chain.coins.erase(Name(2));
    CHECK((*recent.Read(Name(1), Tip(1), chain))->value == 5);
    CHECK_FALSE(*recent.Read(Name(2), Tip(1), chain));
}

TEST_CASE("the coins that were read take bounded memory", "[recent_coins]")
{
    MapCoins chain = OnDisk();
    RecentCoins recent({1, 2});
    constexpr uint32_t kCoins = 2'000;
    for (uint32_t i = 0; i < kCoins; ++i) {
        chain.coins[Name(i)].script = ScriptBytes(Bytes(9'000, 0x51));
        REQUIRE(*recent.Read(Name(i), Tip(1), chain));
        REQUIRE(recent.Bytes() <= RecentCoins::kMaxBytes);
    }
    CHECK(recent.Bytes() > RecentCoins::kMaxBytes / 2);
    (void)recent.Read(Name(kCoins - 1), Tip(1), chain);
    CHECK(chain.reads == kCoins); // the newest are there
    (void)recent.Read(Name(0), Tip(1), chain);
    CHECK(chain.reads == kCoins + 1);
}

} // namespace ibd::test
