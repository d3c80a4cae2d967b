// The estimated bytes of missing blocks, while blocks are received.
#include "booster/size_estimate.h"

#include "support/catch.h"

#include <algorithm>
#include <cmath>

namespace ibd::test {

namespace {

constexpr size_t kBlocks = 100'000;

/** Blocks that grow with the power `growth` of their height; each transaction has 500 bytes, in old
 *  blocks fewer by `thin`. */
struct Chain {
    double growth = 0;
    double thin = 0;

    double BytesOf(size_t height) const
    {
        return 200 + 1e6 * std::pow(static_cast<double>(height) / kBlocks, growth);
    }
    double TxsOf(size_t height) const
    {
        const double share = static_cast<double>(height) / kBlocks;
        return BytesOf(height) / (500 * (1 - thin * (1 - share)));
    }
    double All(double (Chain::*of)(size_t) const) const
    {
        double sum = 0;
        for (size_t height = 1; height <= kBlocks; ++height) sum += (this->*of)(height);
        return sum;
    }
};

/** Largest error of the bytes left, as a share of all, from `from` of the bytes on. */
double WorstError(const Chain& chain, const ExpectedBlocks& expected, double from)
{
    const double all = chain.All(&Chain::BytesOf);
    double worst = 0;
    double bytes = 0;
    SeenBlocks seen;
    for (size_t height = 1; height <= kBlocks; ++height) {
        bytes += chain.BytesOf(height);
        ++seen.blocks;
        seen.bytes = static_cast<uint64_t>(bytes);
        seen.txs += chain.TxsOf(height);
        if (bytes < from * all || height % 100 != 0) continue;
        const auto left = static_cast<double>(EstimateMissing(kBlocks - height, expected, seen));
        worst = std::max(worst, std::abs(left - (all - bytes)) / all);
    }
    return worst;
}

} // namespace

// Mainnet: blocks grow, transactions hardly. The assumed size is wrong, because it includes undo
// data, or because the chain has grown since.
TEST_CASE("size: blocks that grow are estimated by their transactions")
{
    const Chain chain{.growth = 1.5, .thin = 0.15};
    const double all = chain.All(&Chain::BytesOf);
    const double txs = chain.All(&Chain::TxsOf);
    for (const double wrong : {0.6, 1.0, 1.5}) {
        for (const double count : {0.95, 1.0, 1.05}) { // the number of transactions is estimated
            INFO(wrong << ", " << count);
            const ExpectedBlocks expected{static_cast<uint64_t>(wrong * all / kBlocks),
                                          count * txs};
            CHECK(WorstError(chain, expected, 0.1) < 0.15);
            CHECK(WorstError(chain, expected, 0.99) < 0.06);
        }
    }
}

TEST_CASE("size: without figures of the network the average block counts")
{
    CHECK(WorstError({}, {}, 0) < 0.01);
    const SeenBlocks few{.blocks = 2, .bytes = 600, .txs = 2};
    CHECK(EstimateMissing(10, {}, few) == 3000);
    CHECK(EstimateMissing(10, {}, {}) == 10 * kGuessedBlockBytes);
    CHECK(EstimateMissing(0, {}, few) == 0);
}

TEST_CASE("size: an assumed size without transactions is disproved by a tenth of the blocks")
{
    CHECK(EstimateMissing(10, {.usual_bytes = 5000}, {}) == 50'000);
    const SeenBlocks tenth{.blocks = 10, .bytes = 1000, .txs = 10};
    CHECK(EstimateMissing(90, {.usual_bytes = 5000}, tenth) == 9000);
    const SeenBlocks few{.blocks = 5, .bytes = 500, .txs = 5};
    CHECK(EstimateMissing(95, {.usual_bytes = 5000}, few) == (95 * 100 + 95 * 5000) / 2);
}

TEST_CASE("size: few missing blocks are no more than blocks can hold")
{
    // The expected number of transactions is 3 percent too high.
    const SeenBlocks most{.blocks = 900'000, .bytes = 700'000'000'000, .txs = 1.3e9};
    const ExpectedBlocks expected{.usual_bytes = 800'000, .txs = 1.34e9};
    CHECK(EstimateMissing(10, expected, most) == 40'000'000);
    const ExpectedBlocks too_few{.usual_bytes = 800'000, .txs = 1.2e9};
    CHECK(EstimateMissing(10, too_few, most) == 7'777'777);
    // Those folded by an earlier start are there.
    const SeenBlocks later{.blocks = 1, .bytes = 700, .txs = 1, .txs_elsewhere = 1.2e9 - 101};
    CHECK(EstimateMissing(1, {.usual_bytes = 100, .txs = 1.2e9}, later) == 7'020);
}

} // namespace ibd::test
