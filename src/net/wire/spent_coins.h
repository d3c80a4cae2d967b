// Spent coins from peers (BIP455): the messages that request and carry the coins that a block
// spends, with codecs. Values; bytes and rules: doc/formats/p2p.md.
#pragma once

#include "net/wire/messages.h"
#include "script/coin.h"

namespace ibd {

/** `feature` (BIP434) of a node that sends spent coins. */
inline constexpr std::string_view kSpentCoinsFeature = "blockspentcoinsv1";
inline constexpr uint8_t kSpentCoinsFeatureData = 0;

/** Most coins that a block can spend: its smallest input has 41 bytes of four weight units. */
inline constexpr size_t kMaxSpentCoins = 4'000'000 / (4 * 41);

struct GetSpentCoinsMessage {
    static constexpr std::string_view kType = "getbspent";

    BlockHash block;
    uint32_t before = 0; //!< above 0: only coins that were created below this height

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const GetSpentCoinsMessage&) const = default;
};

struct CoinOfInput {
    uint32_t input = 0; //!< its index among the inputs of the block, without the coinbase's
    Coin coin;

    bool operator==(const CoinOfInput&) const = default;
};

struct SpentCoinsMessage {
    static constexpr std::string_view kType = "bspent";

    BlockHash block;
    std::vector<CoinOfInput> coins; //!< at most kMaxSpentCoins; inputs ascend

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const SpentCoinsMessage&) const = default;
};

} // namespace ibd
