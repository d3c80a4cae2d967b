// mempool.dat: both versions, and files that are torn, cut, changed or of another kind.
#include "kit.h"
#include "mempool/pool_file.h"
#include "mempool/upkeep.h"
#include "support/kept_log.h"
#include "support/temp_dir.h"
#include "util/hex.h"

#include <thread>

namespace ibd::test {

namespace {

Env& Machine()
{
    static const std::unique_ptr<Env> env = MakePosixEnv();
    return *env;
}

PoolRecord SomeRecord()
{
    PoolRecord record;
    for (uint32_t i = 0; i < 5; ++i) {
        record.txs.push_back({Spending({Name(i)}, {static_cast<Amount>(i), 7}).Freeze(),
                              1'700'000'000 + i, i == 2 ? -1'000 : 0});
    }
    MutableTransaction with_witness = Spending({Name(9)}, {1});
    with_witness.inputs[0].witness = {{1, 2, 3}};
    record.txs.push_back({with_witness.Freeze(), 5, 0});
    record.deltas[Name(77).txid] = 123;
    record.unbroadcast = {record.txs[0].tx->Id(), record.txs[3].tx->Id()};
    return record;
}

bool IsPrefix(const PoolRecord& part, const PoolRecord& whole)
{
    if (part.txs.size() > whole.txs.size()) return false;
    for (size_t i = 0; i < part.txs.size(); ++i) {
        if (part.txs[i].tx->WitnessId() != whole.txs[i].tx->WitnessId()) return false;
    }
    return true;
}

/** A chain that has the coins Name(0) to Name(9). */
class Coins final : public TipCoins {
public:
    Coins()
    {
        m_tip.height = 200;
        m_tip.time = 1'600'000'000;
        for (uint32_t i = 0; i < 10; ++i) {
            Coin coin;
            coin.value = 1'000'000;
            coin.script = ScriptBytes(kTrueHash);
            coin.height = 1;
            m_coins.coins[Name(i)] = coin;
        }
    }
    Result<> With(const Use& use) const override { return use({m_tip, m_coins}); }

private:
    HeaderNode m_tip;
    MapCoins m_coins;
};

} // namespace

TEST_CASE("the file of the pool keeps all that it is given", "[mempool]")
{
    const PoolRecord record = SomeRecord();
    for (const PoolFileVersion version : {PoolFileVersion::kPlain, PoolFileVersion::kObfuscated}) {
        const Bytes data = EncodePool(record, version, Machine());
        const DecodedPool decoded = DecodePool(data);
        CHECK(decoded.complete.Ok());
        CHECK(decoded.record == record);
        CHECK(data[0] == static_cast<uint8_t>(version));
    }
}

TEST_CASE("Core's empty file is read", "[mempool]")
{
    // Written by Core 31.99 with nothing in its pool.
    const auto data = FromHex("0200000000000000089d7277061925fd92727706"
                              "1925fd929d7277");
    const DecodedPool decoded = DecodePool(*data);
    CHECK(decoded.complete.Ok());
    CHECK(decoded.record == PoolRecord());
}

TEST_CASE("a file of the pool that is cut or changed ends in one line", "[mempool]")
{
    const PoolRecord record = SomeRecord();
    const Bytes whole = EncodePool(record, PoolFileVersion::kPlain, Machine());
    for (size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        const DecodedPool decoded = DecodePool(Bytes(whole.begin(), whole.begin() + size));
        REQUIRE_FALSE(decoded.complete.Ok());
        CHECK(decoded.complete.Message().find("at byte ") != std::string::npos);
        CHECK(decoded.complete.Message().find('\n') == std::string::npos);
        CHECK(IsPrefix(decoded.record, record));
    }
    for (size_t at = 0; at < whole.size(); ++at) {
        Bytes changed = whole;
        changed[at] ^= 0xff;
        (void)DecodePool(changed); // whatever it is, no byte beyond the end is read
    }
    Bytes many = whole;
    std::fill(many.begin() + 8, many.begin() + 16, uint8_t{0xff});
    CHECK(DecodePool(many).complete.Message().find("do not fit") != std::string::npos);
    CHECK(DecodePool(Bytes(100, 0x42)).complete.Message().find("is unknown") != std::string::npos);
}

TEST_CASE("a pool comes back from its file", "[mempool]")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const TxAcceptance rules(params.consensus, PolicyOptions(), nullptr);
    const Coins coins;
    KeptLog log;
    const TempDir dir;
    Env& env = Machine();
    PoolFile file{dir / "mempool.dat"};
    std::atomic<bool> interrupt = false;
    const int64_t now = env.UnixTime();
    const TransactionRef parent = Spending({Name(0)}, {500'000, 400'000}).Freeze();
    const TransactionRef child = Spending({{parent->Id(), 0}}, {100'000}).Freeze();
    const TransactionRef old = Spending({Name(1)}, {900'000}).Freeze();
    const TransactionRef cheap = Spending({Name(2)}, {1'000'000}).Freeze();
    {
        TxPool pool{PoolLimits()};
        const TxSubmission door(rules, pool, coins);
        const auto submit = [&](const TransactionRef& tx, int64_t time) {
            const Arrival arrival{.now = now, .time = time, .own = true};
            CHECK_FALSE(Must(door.Submit(tx, {.arrival = arrival})).verdict.violation);
        };
        submit(parent, now - 50);
        submit(child, now - 40);
        {
            const Lock lock(pool.mutex);
            Prioritise(pool, child->Id(), 777);
            Prioritise(pool, cheap->Id(), 50'000);
            Prioritise(pool, Name(5).txid, 5);
        }
        submit(cheap, now - 30);
        {
            const Lock lock(pool.mutex); // a transaction added after it would make it expire
            AddTx(pool, {.tx = old, .fee = 1, .vsize = 100, .weight = 400, .time = 1});
        }
        Must(DumpPool(pool, file, env, log));
    }
    TxPool pool{PoolLimits()};
    const TxSubmission door(rules, pool, coins);
    Must(ImportPool(file.path, {}, door, pool, env, log, interrupt));
    Must(ImportPool(file.path, {.current_time = true, .deltas = false, .unbroadcast = false}, door,
                    pool, env, log, interrupt));
    const Lock lock(pool.mutex);
    CHECK(pool.Size() == 4); // the second time the old one has the current time
    CHECK(pool.Find(parent->Id())->time == now - 50);
    CHECK(pool.Find(child->Id())->delta == 777);
    CHECK(pool.Find(child->Id())->own);
    CHECK(pool.DeltaOf(Name(5).txid) == 5);
    CHECK(log.Text().find("3 succeeded, 0 failed, 1 expired, 0 already there, 3 waiting") !=
          std::string::npos);
    CHECK(log.Text().find("1 succeeded, 0 failed, 0 expired, 3 already there, 0 waiting") !=
          std::string::npos);
}

TEST_CASE("several threads may write the file of the pool at once", "[mempool]")
{
    const TempDir dir;
    PoolFile file{dir / "mempool.dat"};
    KeptLog log;
    TxPool pool{PoolLimits()};
    {
        const Lock lock(pool.mutex);
        for (uint32_t i = 0; i < 500; ++i) {
            const TransactionRef tx = Spending({Name(i)}, {1'000}).Freeze();
            AddTx(pool, {.tx = tx, .fee = 1, .vsize = 100, .weight = 400, .time = 1});
        }
    }
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 20; ++n) {
                failures += !DumpPool(pool, file, Machine(), log);
                const Result<Bytes> written = ReadWholeFile(Machine(), file.path);
                failures += !written || !DecodePool(*written).complete;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(DecodePool(Must(ReadWholeFile(Machine(), file.path))).record == RecordOf(pool));
}

} // namespace ibd::test
