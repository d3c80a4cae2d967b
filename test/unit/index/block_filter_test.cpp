// Basic filters: BIP 158's vectors, and sets of any size read back.
#include "fake_chain.h"
#include "index/filter_index.h"
#include "support/testdata.h"
#include "util/hex.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("filters and headers are those of BIP 158's vectors", "[filterindex]")
{
    const auto file = TestData("core/blockfilters.json");
    if (!file) return;
    const UniValue vectors = ReadTestJson(*file);
    size_t count = 0;
    for (const UniValue& vector : vectors.getValues()) {
        if (vector.size() < 7) continue; // the head line
        const Bytes raw = *FromHex(vector[2].get_str());
        BlockView block;
        Must(block.Parse(raw));
        BlockUndo undo;
        TxUndo& spent = undo.txs.emplace_back();
        for (const UniValue& script : vector[3].getValues()) {
            Coin coin;
            coin.script = *FromHex(script.get_str());
            spent.spent.push_back(std::move(coin));
        }
        INFO(vector[7].get_str());
        const Bytes filter = BasicFilter(block, &undo);
        CHECK(ToHex(filter) == vector[5].get_str());
        const auto previous = FilterHeader::FromHex(vector[4].get_str());
        CHECK(NextFilterHeader(FilterHash(filter), *previous).ToHex() == vector[6].get_str());
        ++count;
    }
    CHECK(count >= 8);
}

TEST_CASE("a filter has all of its elements and few others", "[filterindex]")
{
    const BlockHash block(Sha256d(Bytes{1}));
    for (const uint32_t count : {0U, 1U, 2U, 100U, 3000U}) {
        std::vector<Hash32> elements;
        for (uint32_t i = 0; i < count; ++i) {
            elements.push_back(
                Sha256d(Bytes{static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8)}));
        }
        const Bytes filter = EncodeFilter(block, {elements.begin(), elements.end()});
        for (const Hash32& element : elements) {
            REQUIRE(Must(FilterQuery({element}).MayMatch(block, filter)));
        }
        const Hash32 other = Sha256d(Bytes{1, 2, 3});
        CHECK_FALSE(Must(FilterQuery({other}).MayMatch(block, filter)));
        CHECK_FALSE(Must(FilterQuery({}).MayMatch(block, filter)));
        if (count == 0) continue;
        CHECK(Must(FilterQuery({other, elements.back()}).MayMatch(block, filter)));
        const ByteSpan cut = ByteSpan(filter).first(filter.size() / 2);
        CHECK_FALSE(FilterQuery({other}).MayMatch(block, cut).Ok());
    }
}
