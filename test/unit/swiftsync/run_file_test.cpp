// Runs and their merge: against std::sort and a map, worked example, damage, ranges.
#include "swiftsync/coin_merge.h"
#include "swiftsync/run_merge.h"

#include "primitives/transaction.h"
#include "script/coin.h"
#include "support/testdata.h"
#include "test_chain.h"
#include "util/hex.h"

#include <algorithm>
#include <fstream>
#include <limits>

using namespace ibd;
using namespace ibd::test;

namespace {

/** Coins of one made-up block: a delta over bytes that live as long as the object. */
class SomeCoins {
public:
    struct Item {
        Txid txid;
        uint32_t vout;
        Amount value;
        Bytes script;
    };

    explicit SomeCoins(std::vector<Item> items) : m_items(std::move(items))
    {
        m_txs.resize(m_items.size());
        m_outputs.resize(m_items.size());
        for (size_t i = 0; i < m_items.size(); ++i) {
            const Item& item = m_items[i];
            m_outputs[i].assign(item.vout + 1, OutputView{item.value, item.script});
            m_txs[i].txid = item.txid;
            m_txs[i].outputs = m_outputs[i];
            m_delta.coins.push_back({&m_txs[i], item.vout, false});
        }
    }
    const BlockDelta& Delta() const { return m_delta; }

private:
    std::vector<Item> m_items;
    std::vector<std::vector<OutputView>> m_outputs;
    std::vector<TxView> m_txs;
    BlockDelta m_delta;
};

/** Random coins; some transactions with several outputs, some ids with the same first bytes. */
std::vector<SomeCoins::Item> RandomItems(size_t count, CoinMap& expected, uint32_t height)
{
    auto& rng = TestRng();
    std::vector<SomeCoins::Item> items;
    Txid txid;
    while (items.size() < count) {
        if (items.empty() || rng() % 3) {
            const Bytes bytes = RandomBytes(32);
            txid = Txid::FromBytes(bytes.data());
            if (rng() % 4 == 0) std::fill_n(txid.data(), 9, uint8_t{0x77}); // ground ids
        }
        const auto vout = static_cast<uint32_t>(rng() % 300);
        const auto value = static_cast<Amount>(rng() % 1'000'000'000);
        Bytes script = RandomBytes(rng() % 60);
        const CoinKey key({txid, vout});
        Bytes coin;
        AppendCoin(coin, value, script, height, false);
        const Bytes tail(key.bytes + 1, key.bytes + key.size);
        if (!expected.emplace(tail, coin).second) continue;
        items.push_back({txid, vout, value, std::move(script)});
    }
    return items;
}

constexpr const char* kHintsId = "0102030405060708091011121314151617181920212223242526272829303132";

RunInfo WriteItems(Env& env, const Path& directory, uint32_t number,
                   const std::vector<SomeCoins::Item>& items, uint32_t height,
                   std::span<const CoinbaseId> coinbases = {})
{
    CoinBuffer buffer(64 << 20);
    const SomeCoins coins(items);
    REQUIRE(buffer.Add(coins.Delta(), height));
    auto run =
        Must(WriteRun(env, directory, number, *Uint256::FromHex(kHintsId), buffer, coinbases));
    Must(run.file->Sync());
    return run.info;
}

RunReader OpenRun(Env& env, const Path& directory, const RunInfo& info)
{
    return Must(RunReader::Open(env, directory, info, *Uint256::FromHex(kHintsId)));
}

std::vector<std::pair<Bytes, Bytes>> Drain(CoinMerger& merger)
{
    std::vector<std::pair<Bytes, Bytes>> out;
    while (Must(merger.Next())) {
        const CoinRecord r = merger.Record();
        out.push_back({{r.Key().begin(), r.Key().end()}, {r.Value().begin(), r.Value().end()}});
    }
    return out;
}

} // namespace

TEST_CASE("Coin buffer: sorts as the chainstate does, and is full when it says so")
{
    for (const size_t count : {1u, 2u, 30u, 3000u}) {
        CoinMap expected;
        const SomeCoins coins(RandomItems(count, expected, 9));
        CoinBuffer buffer(1 << 20);
        REQUIRE(buffer.Add(coins.Delta(), 9));
        REQUIRE(buffer.Count() == count);
        auto it = expected.begin();
        for (const CoinBuffer::Entry& entry : buffer.Sort()) {
            const CoinRecord record = buffer.RecordAt(entry);
            REQUIRE(Bytes(record.Key().begin(), record.Key().end()) == it->first);
            REQUIRE(Bytes(record.Value().begin(), record.Value().end()) == it->second);
            ++it;
        }
        REQUIRE(it == expected.end());
        buffer.Clear();
        REQUIRE(buffer.Empty());
    }
    CoinMap unused;
    const SomeCoins coins(RandomItems(100, unused, 1));
    CoinBuffer small(4096);
    REQUIRE(small.Add(coins.Delta(), 1));       // anything fits when it is empty
    REQUIRE_FALSE(small.Add(coins.Delta(), 1)); // and nothing on top of that
    REQUIRE(small.Count() == 100);
}

TEST_CASE("Runs: any number of them merge into one ascending sequence, also range by range")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    for (const size_t run_count : {0u, 1u, 2u, 3u, 5u, 8u, 17u}) {
        CoinMap expected;
        std::vector<RunReader> runs;
        for (uint32_t i = 0; i < run_count; ++i) {
            const size_t count = i % 4 == 3 ? 0 : 1 + TestRng()() % 4000;
            const auto items = RandomItems(count, expected, i);
            runs.push_back(OpenRun(*env, dir.Get(), WriteItems(*env, dir.Get(), i, items, i)));
        }
        CoinMerger all(runs, 0, std::numeric_limits<uint64_t>::max());
        REQUIRE(Drain(all) ==
                std::vector<std::pair<Bytes, Bytes>>(expected.begin(), expected.end()));
        std::vector<std::pair<Bytes, Bytes>> pieces;
        std::vector<uint64_t> borders = {0x7777777777777777, 0x7777777777777778};
        for (int i = 0; i < 6; ++i) borders.push_back(TestRng()());
        std::sort(borders.begin(), borders.end());
        uint64_t first = 0;
        borders.push_back(0); // stands for the end
        for (const uint64_t border : borders) {
            CoinMerger piece(runs, first, border - 1);
            for (auto& record : Drain(piece)) pieces.push_back(std::move(record));
            first = border;
        }
        REQUIRE(pieces == std::vector<std::pair<Bytes, Bytes>>(expected.begin(), expected.end()));
    }
}

TEST_CASE("Runs: merged down to any number, they hold the same coins and coinbase ids")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const std::atomic<bool> stop = false;
    for (const size_t most : {2u, 3u, 7u, 40u}) {
        CoinMap expected;
        std::vector<CoinbaseId> ids;
        Checkpoint state;
        state.hints_id = *Uint256::FromHex(kHintsId);
        state.folded = HeightSet(0);
        for (uint32_t i = 0; i < 30; ++i) {
            const auto items = RandomItems(1 + TestRng()() % 300, expected, i);
            ids.push_back({i, Txid::FromBytes(RandomBytes(32).data())});
            state.runs.push_back(WriteItems(*env, dir.Get(), i, items, i, std::span(ids).last(1)));
        }
        Must(MergeRunsDownTo(most, *env, dir.Get(), state, stop));
        REQUIRE(state.runs.size() == std::min<size_t>(most, 30));
        if (most < 30) {
            REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->runs == state.runs);
        }
        auto runs = Must(OpenRuns(*env, dir.Get(), state.runs, state.hints_id));
        std::vector<CoinbaseId> found;
        for (RunReader& run : runs) {
            run.CloseFile();
            for (const CoinbaseId& id : Must(run.ReadCoinbases())) found.push_back(id);
        }
        std::sort(found.begin(), found.end(),
                  [](const CoinbaseId& a, const CoinbaseId& b) { return a.height < b.height; });
        REQUIRE(found == ids);
        CoinMerger merger(runs, 0, std::numeric_limits<uint64_t>::max());
        REQUIRE(Drain(merger) ==
                std::vector<std::pair<Bytes, Bytes>>(expected.begin(), expected.end()));
        REQUIRE(Must(env->List(dir.Get())).size() == state.runs.size() + (most < 30));
        Must(RemoveCheckpoint(*env, dir.Get()));
    }
}

TEST_CASE("Runs: a merge that is stopped leaves all as it was")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const std::atomic<bool> stop = true;
    CoinMap expected;
    Checkpoint state;
    state.hints_id = *Uint256::FromHex(kHintsId);
    for (uint32_t i = 0; i < 5; ++i) {
        state.runs.push_back(WriteItems(*env, dir.Get(), i, RandomItems(9, expected, i), i));
    }
    const auto before = state.runs;
    Must(MergeRunsDownTo(2, *env, dir.Get(), state, stop));
    REQUIRE(state.runs == before);
    REQUIRE(Must(env->List(dir.Get())).size() == 5);
}

TEST_CASE("Runs: the worked example of the format page")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    std::vector<SomeCoins::Item> items;
    Txid txid;
    txid.data()[0] = 0xbb;
    items.push_back({txid, 128, 50 * kCoin, {0x51}});
    items.push_back({txid, 1, 1, {0x52, 0x53}});
    txid.data()[0] = 0xaa;
    items.push_back({txid, 0, 21, {}});
    const CoinbaseId id{7, txid};
    const RunInfo info = WriteItems(*env, dir.Get(), 3, items, 1000, {&id, 1});
    REQUIRE(info.records == 3);
    const Bytes file = Must(ReadWholeFile(*env, RunPath(dir.Get(), 3)));
    REQUIRE(RunPath({}, 3) == "run000003.dat");
    const std::string id_hex = ToHex(Uint256::FromHex(kHintsId)->Span());
    const std::string zeros(62, '0');
    REQUIRE(ToHex(file) == "69626472756e0002"
                           "03000000"
                           "00000000" +
                               id_hex +
                               "7d000000"
                               "03000000"
                               "61604047"
                               "0500"
                               "01"
                               "aa" +
                               zeros +
                               "00"
                               "8e50"
                               "8035"
                               "06"
                               "0600"
                               "01"
                               "bb" +
                               zeros +
                               "01"
                               "8e50"
                               "01"
                               "085253"
                               "0500"
                               "02"
                               "bb" +
                               zeros +
                               "8000"
                               "8e50"
                               "32"
                               "0751"
                               "07000000"
                               "aa" +
                               zeros +
                               "00000000000000aa"
                               "3000000000000000"
                               "89000000"
                               "03000000"
                               "0300000000000000"
                               "b900000000000000"
                               "0100000000000000"
                               "316f3dfabc11f75a"
                               "dd00000000000000"
                               "0100000000000000"
                               "3501000000000000" +
                               ToHex(info.checksum));
    const RunReader run = OpenRun(*env, dir.Get(), info);
    REQUIRE(Must(run.ReadCoinbases()) == std::vector<CoinbaseId>{id});
}

TEST_CASE("Runs: a change of any byte is noticed before its record is used")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    CoinMap expected;
    const std::vector<CoinbaseId> ids = {{1, Txid()}, {2, Txid()}};
    const RunInfo info = WriteItems(*env, dir.Get(), 0, RandomItems(40, expected, 1), 1, ids);
    const Path path = RunPath(dir.Get(), 0);
    const Bytes good = Must(ReadWholeFile(*env, path));
    const auto id = *Uint256::FromHex(kHintsId);
    for (size_t at = 0; at < good.size(); ++at) {
        Bytes changed = good;
        changed[at] ^= static_cast<uint8_t>(1 + TestRng()() % 255);
        std::ofstream(path, std::ios::binary)
            .write(AsChars(changed).data(), static_cast<std::streamsize>(changed.size()));
        CAPTURE(at);
        const auto run = RunReader::Open(*env, dir.Get(), info, id);
        bool noticed = !run.Ok() || !run->ReadCoinbases().Ok();
        Bytes buffer;
        for (size_t i = 0; run && i < run->Pages().size(); ++i) {
            noticed |= !run->ReadPage(i, buffer).Ok();
        }
        REQUIRE(noticed);
    }
}

TEST_CASE("Runs: pages that change places, or come from another run, are noticed")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const auto write = [&](uint32_t number) { // two pages of equal length at least
        std::vector<SomeCoins::Item> items;
        for (int i = 0; i < 3000; ++i) {
            items.push_back({Txid::FromBytes(RandomBytes(32).data()), 0, 1000, {0x51}});
        }
        return WriteItems(*env, dir.Get(), number, items, 1);
    };
    const RunInfo infos[] = {write(0), write(1)};
    const RunReader run = OpenRun(*env, dir.Get(), infos[0]);
    const auto pages = run.Pages();
    REQUIRE(pages.size() > 2);
    REQUIRE(pages[0].length == pages[1].length);
    const auto page = [&](Bytes& file, size_t i) {
        return std::span(file).subspan(pages[i].offset, pages[i].length);
    };
    Bytes buffer;
    Bytes file = Must(ReadWholeFile(*env, RunPath(dir.Get(), 0)));
    const auto read = [&](const Bytes& changed) {
        REQUIRE(WriteFileAtomically(*env, RunPath(dir.Get(), 0), changed).Ok());
        return OpenRun(*env, dir.Get(), infos[0]).ReadPage(0, buffer).Ok();
    };
    REQUIRE(read(file));
    Bytes swapped = file;
    std::swap_ranges(page(swapped, 0).begin(), page(swapped, 0).end(), page(swapped, 1).begin());
    REQUIRE_FALSE(read(swapped));
    Bytes other = Must(ReadWholeFile(*env, RunPath(dir.Get(), 1)));
    std::copy_n(page(other, 0).begin(), pages[0].length, page(file, 0).begin());
    REQUIRE_FALSE(read(file));
}

TEST_CASE("Runs: a run of other hints, another number, size or version is refused")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    CoinMap expected;
    RunInfo info = WriteItems(*env, dir.Get(), 0, RandomItems(40, expected, 1), 1);
    REQUIRE_FALSE(RunReader::Open(*env, dir.Get(), info, Uint256()).Ok());
    RunInfo other = info;
    ++other.size;
    REQUIRE_FALSE(RunReader::Open(*env, dir.Get(), other, *Uint256::FromHex(kHintsId)).Ok());
    other = info;
    ++other.records;
    REQUIRE_FALSE(RunReader::Open(*env, dir.Get(), other, *Uint256::FromHex(kHintsId)).Ok());
    const Bytes good = Must(ReadWholeFile(*env, RunPath(dir.Get(), 0)));
    Bytes old = good;
    old[7] = 1;
    REQUIRE(WriteFileAtomically(*env, RunPath(dir.Get(), 0), old).Ok());
    const auto opened = RunReader::Open(*env, dir.Get(), info, *Uint256::FromHex(kHintsId));
    REQUIRE(opened.Message().find("not a run of this version") != std::string::npos);
    REQUIRE(WriteFileAtomically(*env, RunPath(dir.Get(), 0), good).Ok());
    std::filesystem::rename(RunPath(dir.Get(), 0), RunPath(dir.Get(), 1));
    other = info;
    other.number = 1;
    REQUIRE_FALSE(RunReader::Open(*env, dir.Get(), other, *Uint256::FromHex(kHintsId)).Ok());
    REQUIRE_FALSE(RunReader::Open(*env, dir.Get(), info, *Uint256::FromHex(kHintsId)).Ok());
}
