// FeeEstimator without and with data, and its file: whole, cut, changed, old, of later programs.
// test/interop/test_core_fees.py compares the estimates with Core's.
#include "kit.h"
#include "mempool/fee_file.h"
#include "support/kept_log.h"
#include "support/temp_dir.h"
#include "support/testdata.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace ibd::test {

namespace {

constexpr int64_t kVsize = 100;

/** Pool transactions that wait for blocks. */
class Traffic {
public:
    explicit Traffic(FeeEstimator& fees) : m_fees(fees) {}

    /** `rate`: satoshi per 1,000 virtual bytes. */
    PoolTx& Send(Amount rate, bool estimates = true)
    {
        auto tx = std::make_unique<PoolTx>();
        tx->tx = Spending({Name(m_next++)}, {1}).Freeze();
        tx->fee = rate * kVsize / 1'000;
        tx->vsize = kVsize;
        tx->height = m_height;
        tx->estimates = estimates;
        m_fees.TxAdded(*tx, 0);
        m_txs.push_back(std::move(tx));
        return *m_txs.back();
    }
    void Remove(const PoolTx& tx, RemovalReason reason) { m_fees.TxRemoved(tx, reason, 0); }
    void Mine(const std::vector<PoolTx*>& txs)
    {
        for (const PoolTx* tx : txs) Remove(*tx, RemovalReason::kBlock);
        m_fees.BlockConfirmed(++m_height);
    }
    /** Blocks that confirm ten transactions of `fast` at once, and ten of `slow` after `wait`. */
    void Run(int blocks, Amount fast, Amount slow, size_t wait)
    {
        std::deque<std::vector<PoolTx*>> waiting;
        for (int i = 0; i < blocks; ++i) {
            std::vector<PoolTx*> mined;
            auto& next = waiting.emplace_back();
            for (int n = 0; n < 10; ++n) {
                mined.push_back(&Send(fast));
                next.push_back(&Send(slow));
            }
            if (waiting.size() > wait) {
                mined.insert(mined.end(), waiting.front().begin(), waiting.front().end());
                waiting.pop_front();
            }
            Mine(mined);
        }
    }

private:
    FeeEstimator& m_fees;
    int32_t m_height = 5; // of an earlier start
    uint32_t m_next = 0;
    std::vector<std::unique_ptr<PoolTx>> m_txs;
};

Env& Machine()
{
    static const std::unique_ptr<Env> env = MakePosixEnv();
    return *env;
}

bool Says(const KeptLog& log, const char* text)
{
    return log.Text().find(text) != std::string::npos;
}

/** Within a bucket. */
bool IsNear(Amount rate, Amount wanted)
{
    return rate * 100 > wanted * 94 && rate * 100 <= wanted * 106;
}

} // namespace

TEST_CASE("without data there is no estimate", "[mempool]")
{
    FeeEstimator fees;
    for (const bool conservative : {false, true}) {
        const SmartFee fee = fees.Estimate(6, conservative);
        CHECK(fee.rate == 0);
        CHECK(fee.target == 0);
    }
    const FeeEstimate raw = fees.EstimateRaw(6, .95, FeeHorizon::kShort);
    CHECK(raw.rate < 0);
    CHECK(raw.fail.start == 0);
    CHECK(raw.fail.end == 1e99);
    CHECK_FALSE(raw.pass.Exists());
    CHECK(fees.MostBlocks(FeeHorizon::kShort) == 12);
    CHECK(fees.MostBlocks(FeeHorizon::kMedium) == 48);
    CHECK(fees.MostBlocks(FeeHorizon::kLong) == kMostFeeTarget);
}

TEST_CASE("a short target costs what was confirmed at once, a longer one what waited", "[mempool]")
{
    FeeEstimator fees;
    Traffic(fees).Run(200, 50'000, 2'000, 8);
    CHECK(IsNear(fees.Estimate(2, true).rate, 50'000));
    CHECK(IsNear(fees.Estimate(30, false).rate, 2'000));
    CHECK(fees.Estimate(1, false).target == 2);
    CHECK(fees.Estimate(1008, false).target == 99); // half of the blocks that were seen
    const FeeEstimate raw = fees.EstimateRaw(2, .9, FeeHorizon::kShort);
    CHECK(IsNear(std::llround(raw.rate), 50'000));
    CHECK(raw.pass.start < 50'000);
    CHECK(raw.fail.end >= 2'000);
    CHECK(raw.fail.Exists());
}

TEST_CASE("transactions count only if their fee alone decides", "[mempool]")
{
    FeeEstimator fees;
    Traffic traffic(fees);
    traffic.Mine({&traffic.Send(7'000)}); // before the first block of this start
    for (int i = 0; i < 100; ++i) traffic.Mine({&traffic.Send(7'000, /*estimates=*/false)});
    CHECK(fees.Estimate(6, true).target == 0);
    // A reorganisation ends at a lower block first.
    fees.BlockConfirmed(50);
    CHECK(fees.EstimateRaw(2, .5, FeeHorizon::kShort).rate < 0);
}

TEST_CASE("transactions that leave unconfirmed make an estimate fail", "[mempool]")
{
    const auto estimate = [](RemovalReason reason) {
        FeeEstimator fees;
        Traffic traffic(fees);
        traffic.Mine({});
        for (int i = 0; i < 100; ++i) {
            PoolTx& good = traffic.Send(9'000);
            PoolTx& bad = traffic.Send(9'000);
            traffic.Mine({&good});
            traffic.Mine({});
            traffic.Mine({});
            traffic.Remove(bad, reason);
        }
        return fees.EstimateRaw(2, .95, FeeHorizon::kShort).rate;
    };
    CHECK(estimate(RemovalReason::kReplaced) < 0);
    CHECK(estimate(RemovalReason::kExpiry) < 0);
    CHECK(estimate(RemovalReason::kBlock) < 0); // too late
}

TEST_CASE("the file keeps all data but what waits", "[mempool]")
{
    FeeEstimator fees;
    Traffic(fees).Run(150, 30'000, 3'000, 5);
    fees.ForgetWaiting();
    const Bytes file = fees.Encode();
    FeeEstimator again;
    REQUIRE(again.Decode(file).Ok());
    CHECK(again.Encode() == file);
    for (const int32_t target : {1, 2, 5, 12, 20, 50, 500}) {
        for (const bool conservative : {false, true}) {
            const SmartFee a = fees.Estimate(target, conservative);
            const SmartFee b = again.Estimate(target, conservative);
            CHECK(a.rate == b.rate);
            CHECK(a.target == b.target);
        }
    }
}

TEST_CASE("a bad file of estimates changes nothing", "[mempool]")
{
    FeeEstimator fees;
    Traffic(fees).Run(100, 30'000, 3'000, 5);
    const Bytes file = fees.Encode();
    FeeEstimator other;
    Traffic(other).Run(60, 10'000, 1'000, 3);
    const Bytes before = other.Encode();
    for (int i = 0; i < 200; ++i) {
        const size_t length = i < 40 ? static_cast<size_t>(i) : TestRng()() % file.size();
        CHECK_FALSE(other.Decode(ByteSpan(file).first(length)).Ok());
    }
    CHECK(other.Encode() == before);
    for (int i = 0; i < 300; ++i) {
        Bytes bad = file;
        const size_t at = i < 60 ? static_cast<size_t>(i) : TestRng()() % bad.size();
        bad[at] ^= static_cast<uint8_t>(1 + TestRng()() % 255);
        FeeEstimator victim;
        if (!victim.Decode(bad).Ok()) continue; // a count may have any value
        for (const int32_t target : {1, 6, 144, 1008}) (void)victim.Estimate(target, true);
        Traffic(victim).Run(3, 30'000, 3'000, 1);
    }
    const auto with_version = [&](uint32_t version) {
        Bytes bad = file;
        for (size_t i = 0; i < 4; ++i) bad[i] = static_cast<uint8_t>(version >> 8 * i);
        return other.Decode(bad).Message();
    };
    CHECK(with_version(309901) == "up-version (309901) fee estimate file");
    CHECK(with_version(149900) ==
          "Incompatible old fee estimation data (non-fatal). Version: 149900");
    CHECK(other.Encode() == before);
}

TEST_CASE("a file of estimates whose horizons do not grow is refused", "[mempool]")
{
    FeeEstimator fees;
    Traffic(fees).Run(100, 30'000, 3'000, 5);
    const Bytes file = fees.Encode();
    const auto with_scale = [&](double decay, uint8_t scale) {
        Bytes key; // the scale of a horizon follows its decay
        Writer(key).U64(std::bit_cast<uint64_t>(decay));
        Bytes out = file;
        const auto found = std::search(out.begin(), out.end(), key.begin(), key.end());
        REQUIRE(found != out.end());
        *(found + static_cast<std::ptrdiff_t>(key.size())) = scale;
        return out;
    };
    for (const Bytes& bad : {with_scale(.962, 5), with_scale(.99931, 1)}) {
        FeeEstimator victim;
        CHECK(victim.Decode(bad).Message() ==
              "Corrupt estimates file. A longer horizon has fewer blocks than a shorter");
        for (int32_t target = 1; target <= 1008; ++target) (void)victim.Estimate(target, true);
    }
    FeeEstimator other;
    CHECK(other.Decode(with_scale(.962, 4)).Ok());
    for (int32_t target = 1; target <= 1008; ++target) (void)other.Estimate(target, true);
}

TEST_CASE("an old file of estimates is used only on request", "[mempool]")
{
    const TempDir dir;
    const Path path = dir.Get() / "fee_estimates.dat";
    FeeEstimator fees;
    Traffic(fees).Run(100, 30'000, 3'000, 5);
    KeptLog log;
    SaveFees(fees, path, Machine(), log);
    CHECK(Says(log, "Flushed fee estimates to fee_estimates.dat."));
    const auto load = [&](bool accept_old) {
        FeeEstimator out;
        LoadFees(out, path, accept_old, Machine(), log);
        return out.Encode() == fees.Encode();
    };
    CHECK(load(false));
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::hours(62));
    CHECK_FALSE(load(false));
    CHECK(Says(log, "too old (age=62 > 60 hours)"));
    CHECK(load(true));
    std::filesystem::remove(path);
    CHECK_FALSE(load(false));
    CHECK(Says(log, "is not found. Continue anyway."));
    Must(WriteFileAtomically(Machine(), path, Bytes{1, 2, 3}));
    CHECK_FALSE(load(false));
    CHECK(Says(log, "Unable to read policy estimator data (non-fatal)"));
}

} // namespace ibd::test
