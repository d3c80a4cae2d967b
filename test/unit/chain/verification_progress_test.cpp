// The estimate of how much of the chain is verified.
#include "chain/verification_progress.h"
#include "chain_data.h"

#include <cmath>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int64_t kNow = 1'800'000'000;
constexpr int64_t kTwoHours = 2 * 60 * 60;

double Progress(int64_t age, int64_t blocks_above, uint64_t tx_count = 1000)
{
    ChainParams params = ParamsOf(Network::kMain);
    params.chain_tx_data = {kNow - 1'000'000, 500, 0.25};
    return VerificationProgress(params, {tx_count, kNow - age, kNow, blocks_above});
}

} // namespace

TEST_CASE("a tip within two hours of now is all there is")
{
    for (const int64_t age : {-kTwoHours, int64_t{-1}, int64_t{0}, int64_t{1}, kTwoHours}) {
        CHECK(Progress(age, 0) == 1);
    }
    CHECK(Progress(kTwoHours + 1, 0) == 1000 / (1000 + 7201 * 0.25));
    CHECK(Progress(-kTwoHours - 1, 0) == 1000 / (1000 - 7201 * 0.25)); // no valid block; as Core
}

TEST_CASE("a recent block below the best header is a target spacing old for each block above")
{
    CHECK(Progress(5, 1) == 1000 / (1000 + 600 * 0.25));
    CHECK(Progress(-5, 3) == 1000 / (1000 + 1800 * 0.25));
    CHECK(Progress(kTwoHours, 12) == 1000 / (1000 + 7200 * 0.25));
    CHECK(Progress(100, -1) == 1000 / (1000 + 100 * 0.25)); // above every header: its time counts
}

TEST_CASE("below the known total of transactions the total counts, whatever the block's time")
{
    for (const int64_t age : {int64_t{0}, int64_t{1'000'000}}) {
        CHECK(Progress(age, 0, 500) == 500 / (500 + 1'000'000 * 0.25));
        CHECK(Progress(age, 9, 100) == 100 / (500 + 1'000'000 * 0.25));
    }
    CHECK(Progress(0, 0, 501) == 1);
    CHECK(Progress(0, 0, 0) == 0);
}

TEST_CASE("the_number_of_transactions_follows_from_the_time")
{
    const ChainParams params = ParamsOf(Network::kMain);
    const ChainTxData& data = params.chain_tx_data;
    const auto all = static_cast<double>(data.tx_count);
    CHECK(EstimatedTxs(params, params.genesis.header.time) == 0);
    CHECK(EstimatedTxs(params, 0) == 0);
    CHECK(EstimatedTxs(params, data.time) == all);
    CHECK(EstimatedTxs(params, data.time + 1000) == all + 1000 * data.tx_rate);
    // The rate at the end is the known one.
    const double day = EstimatedTxs(params, data.time) - EstimatedTxs(params, data.time - 86'400);
    CHECK(std::abs(day / (86'400 * data.tx_rate) - 1) < 0.001);
    const double in_2020 = EstimatedTxs(params, 1'577'836'800); // true: 491 million
    CHECK(in_2020 > 400e6);
    CHECK(in_2020 < 600e6);
    CHECK(EstimatedTxs(ParamsOf(Network::kRegtest), data.time) == 0);
    for (const Network network : {Network::kTestnet3, Network::kTestnet4, Network::kSignet}) {
        const ChainParams test = ParamsOf(network);
        const int64_t half = (test.genesis.header.time + test.chain_tx_data.time) / 2;
        const double share =
            EstimatedTxs(test, half) / static_cast<double>(test.chain_tx_data.tx_count);
        CHECK(std::abs(share - 0.5) < 1e-6);
    }
}
