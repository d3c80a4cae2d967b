// Snapshots, undo data and the data directory on made-up input.
#include "sim/fault_env.h"
#include "storage/data_dir.h"
#include "storage/snapshot.h"
#include "storage/undo.h"
#include "support.h"
#include "support/aborts.h"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace ibd;
using namespace ibd::test;

namespace {

using CoinList = std::vector<std::pair<OutPoint, Coin>>;

CoinList RandomCoins(size_t txs)
{
    CoinList coins;
    for (size_t i = 0; i < txs; ++i) {
        OutPoint outpoint = RandomOutPoint();
        for (uint64_t n = RandomBelow(4) == 0 ? RandomBelow(300) : 1; n > 0; --n) {
            outpoint.vout = static_cast<uint32_t>(RandomBelow(0xffffffff));
            coins.emplace_back(outpoint, RandomCoin());
        }
    }
    return coins;
}

SnapshotHeader WriteSnapshot(const Path& path, const CoinList& coins, const BlockHash& base)
{
    auto writer = Must(SnapshotWriter::Create(TestEnv(), path, kMainMagic, base));
    for (const auto& [outpoint, coin] : coins) Must(writer->Add(outpoint, coin));
    return Must(writer->Finish());
}

/** All coins, or the error that ended the reading. */
Result<CoinList> ReadSnapshot(const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const auto reader, SnapshotReader::Open(TestEnv(), path));
    CoinList coins;
    while (true) {
        coins.emplace_back();
        IBD_ASSIGN_OR_RETURN(const bool more,
                             reader->Next(coins.back().first, coins.back().second));
        if (!more) break;
    }
    coins.pop_back();
    return coins;
}

void Put(const Path& path, ByteSpan bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

} // namespace

TEST_CASE("snapshots of every size are read back")
{
    const TempDir dir;
    for (size_t txs : {0u, 1u, 2u, 50u, 3000u}) {
        const CoinList coins = RandomCoins(txs);
        const BlockHash base = BlockHash::FromBytes(RandomBytes(32).data());
        const SnapshotHeader written = WriteSnapshot(dir / "utxo.dat", coins, base);
        CHECK(written.coins == coins.size());
        const auto reader = Must(SnapshotReader::Open(TestEnv(), dir / "utxo.dat"));
        CHECK(reader->Header().base == base);
        CHECK(reader->Header().coins == coins.size());
        CHECK(reader->Header().magic == kMainMagic);
        CHECK((Must(ReadSnapshot(dir / "utxo.dat")) == coins));
    }
}

TEST_CASE("damaged snapshots are refused with file and offset")
{
    const TempDir dir;
    const Path path = dir / "utxo.dat";
    WriteSnapshot(path, RandomCoins(30), BlockHash());
    const Bytes good = Must(ReadWholeFile(TestEnv(), path));
    const auto refused = [&](const Bytes& bytes) {
        Put(path, bytes);
        const auto result = ReadSnapshot(path);
        CHECK((result.Ok() || result.Message().find("utxo.dat") != std::string::npos));
        return !result.Ok();
    };
    CHECK_FALSE(refused(good));
    for (int i = 0; i < 60; ++i) {
        CHECK(refused(Bytes(good.begin(), good.begin() + long(RandomBelow(good.size())))));
    }
    Bytes bad = good;
    bad.push_back(0);
    CHECK(refused(bad));
    for (size_t at : {0u, 4u, 5u, 43u, 44u}) { // magic, version, number of coins
        bad = good;
        bad[at] ^= 1;
        CHECK(refused(bad));
    }
    bad = good;
    bad[51 + 32] = 0; // a transaction without coins
    CHECK(refused(bad));
    bad[51 + 32] = 0xff; // or with more than there can be
    CHECK(refused(bad));
    for (int i = 0; i < 2000; ++i) { // whatever it is, it ends without a crash
        bad = good;
        bad[RandomBelow(bad.size())] ^= static_cast<uint8_t>(1 + RandomBelow(255));
        refused(bad);
    }
    CHECK_FALSE(ReadSnapshot(dir / "absent").Ok());
}

TEST_CASE("a coin that could not be read back is not written to a snapshot")
{
    const TempDir dir;
    const auto add = [&](uint32_t vout, Amount value) {
        auto writer =
            Must(SnapshotWriter::Create(TestEnv(), dir / "utxo.dat", kMainMagic, BlockHash()));
        Coin coin = RandomCoin();
        coin.value = value;
        Must(writer->Add({RandomOutPoint().txid, vout}, coin));
    };
    CHECK_FALSE(Aborts([&] { add(0xfffffffe, kMaxMoney); }));
    CHECK(Aborts([&] { add(0xffffffff, 1); }));
    CHECK(Aborts([&] { add(0, kMaxMoney + 1); }));
    CHECK(Aborts([&] { add(0, -1); }));
}

TEST_CASE("undo data survives the round trip, and nothing else passes for it")
{
    for (int round = 0; round < 30; ++round) {
        BlockUndo undo;
        undo.txs.resize(RandomBelow(20));
        for (TxUndo& tx : undo.txs) {
            for (uint64_t n = RandomBelow(5); n > 0; --n) tx.spent.push_back(RandomCoin());
        }
        Bytes bytes = undo.Encode();
        CHECK(Must(BlockUndo::Decode(bytes)) == undo);
        const auto cut = long(RandomBelow(bytes.size()));
        CHECK_FALSE(BlockUndo::Decode(Bytes(bytes.begin(), bytes.begin() + cut)).Ok());
        bytes.push_back(0);
        CHECK_FALSE(BlockUndo::Decode(bytes).Ok());
        for (int i = 0; i < 100; ++i) {
            Bytes bad = bytes;
            bad[RandomBelow(bad.size())] ^= static_cast<uint8_t>(1 + RandomBelow(255));
            (void)BlockUndo::Decode(bad);
        }
    }
    // Counts that no input could fill must not take memory for them.
    CHECK_FALSE(BlockUndo::Decode(Bytes{0xfe, 0, 0, 0, 1}).Ok());
    CHECK_FALSE(BlockUndo::Decode(Bytes{1, 0xfe, 0, 0, 0, 1}).Ok());
    // Nor may more coins than a block can spend.
    BlockUndo undo;
    undo.txs.resize(2);
    undo.txs[0].spent.resize(kMaxBlockInputs / 2);
    undo.txs[1].spent.resize(kMaxBlockInputs - undo.txs[0].spent.size());
    CHECK(Must(BlockUndo::Decode(undo.Encode())) == undo);
    Bytes more = {0xfd, 1, 0, 0xfe}; // one transaction that spends too many
    Writer(more).U32(kMaxBlockInputs + 1);
    more.resize(more.size() + 3 * (kMaxBlockInputs + 1));
    CHECK_FALSE(BlockUndo::Decode(more).Ok());
    undo.txs[1].spent.emplace_back();
    CHECK(Aborts([&] { (void)undo.Encode(); }));
}

TEST_CASE("undo data with an impossible amount is neither read nor written")
{
    for (const Amount amount : {kMaxMoney, kMaxMoney + 1}) {
        Bytes bytes = {1, 1}; // one transaction that spends one coin
        AppendSpentCoin(bytes, amount, {}, 7, false);
        const auto read = BlockUndo::Decode(bytes);
        CHECK(read.Ok() == (amount == kMaxMoney));
        if (!read) CHECK(read.Message().find("impossible amount") != std::string::npos);
        BlockUndo undo;
        undo.txs.resize(1);
        undo.txs[0].spent.resize(1);
        undo.txs[0].spent[0].value = amount;
        CHECK(Aborts([&] { (void)undo.Encode(); }) == (amount != kMaxMoney));
    }
}

TEST_CASE("a spent coin of height 0 has no dummy byte, all others one")
{
    Bytes at_zero, above;
    AppendSpentCoin(at_zero, 0, {}, 0, false);
    AppendSpentCoin(above, 0, {}, 1, true);
    CHECK(at_zero == Bytes{0, 0, 6});
    CHECK(above == Bytes{3, 0, 0, 6});
}

TEST_CASE("chainstate and indexes in other directories, each folder locked once")
{
    const TempDir dir;
    for (const char* name : {"data", "fast", "large"}) {
        std::filesystem::create_directory(dir / name);
    }
    const auto open = [&](Path chainstate, Path indexes) {
        return DataDir::Open(TestEnv(), {.base = dir / "data",
                                         .blocks_base = {},
                                         .folder = "regtest",
                                         .chainstate_base = std::move(chainstate),
                                         .index_base = std::move(indexes)});
    };
    {
        const auto both = Must(open(dir / "fast", dir / "large"));
        CHECK(both->Net() == dir / "data/regtest");
        CHECK(both->BlockIndex() == dir / "data/regtest/blocks/index");
        CHECK(both->Chainstate() == dir / "fast/regtest/chainstate");
        CHECK(both->ChainstateParent() == dir / "fast/regtest");
        CHECK_FALSE(both->ChainstateIsLink());
        CHECK(both->Indexes() == dir / "large/regtest/indexes");
        for (const char* name : {"fast", "large"}) {
            CHECK(TestEnv().Exists(dir / name / "regtest/.lock"));
            // A lock excludes a second one of the same process, too.
            std::filesystem::create_directories(dir / "other");
            const auto second = DataDir::Open(TestEnv(), {.base = dir / "other",
                                                          .blocks_base = {},
                                                          .folder = "regtest",
                                                          .chainstate_base = dir / name});
            REQUIRE_FALSE(second.Ok());
            CHECK_THAT(second.Message(),
                       Catch::Contains("Cannot obtain a lock on directory " +
                                       (dir / name / "regtest").string()));
        }
    }
    std::filesystem::create_directory_symlink(dir / "data", dir / "link");
    CHECK(Must(open(dir / "link", dir / "link/."))->ChainstateParent() == dir / "data/regtest");
    const auto one = Must(open(dir / "fast", dir / "fast/"));
    CHECK(one->Chainstate().parent_path() == one->Indexes().parent_path());
    std::filesystem::create_directory_symlink(dir / "large", dir / "fast/regtest/chainstate");
    CHECK(one->Chainstate() == dir / "large");
    CHECK(one->ChainstateIsLink());
    CHECK(open(dir / "none", {}).Message() == "Specified chainstate directory \"" +
                                                  (dir / "none").string() + "\" does not exist.");
    CHECK(open({}, dir / "none").Message() == "Specified index directory \"" +
                                                  (dir / "none").string() + "\" does not exist.");
}

TEST_CASE("the space of each folder's disk is checked")
{
    const TempDir dir;
    for (const char* name : {"data", "blocks", "fast", "large"}) {
        std::filesystem::create_directory(dir / name);
    }
    for (const char* name : {"data", "blocks", "fast", "large"}) {
        FaultEnv env;
        env.SetSpace(kMinDiskSpace - 1, dir / name);
        const auto refused = DataDir::Open(env, {.base = dir / "data",
                                                 .blocks_base = dir / "blocks",
                                                 .folder = "",
                                                 .chainstate_base = dir / "fast",
                                                 .index_base = dir / "large"});
        REQUIRE_FALSE(refused.Ok());
        CHECK_THAT(refused.Message(), Catch::StartsWith("Error: Disk space is low for \"" +
                                                        (dir / name).string()));
    }
}

TEST_CASE("data directories per network, locked against a second node")
{
    const TempDir dir;
    const auto main = Must(DataDir::Open(TestEnv(), {dir.Get(), {}, ""}));
    CHECK(main->Blocks() == dir / "blocks");
    CHECK(main->Chainstate() == dir / "chainstate");
    CHECK(TestEnv().Exists(dir / ".lock"));
    CHECK(TestEnv().Exists(dir / "blocks/.lock"));
    std::filesystem::create_directory(dir / "elsewhere");
    const auto regtest = Must(DataDir::Open(TestEnv(), {dir.Get(), dir / "elsewhere", "regtest"}));
    CHECK(regtest->Net() == dir / "regtest");
    CHECK(regtest->Blocks() == dir / "elsewhere/regtest/blocks");
    CHECK(regtest->BlockIndex() == dir / "regtest/blocks/index");
    CHECK(regtest->Chainstate() == dir / "regtest/chainstate");
    CHECK(regtest->Indexes() == dir / "regtest/indexes");

    // Another process: file locks do not exclude within one.
    const pid_t child = fork();
    if (child == 0) {
        const auto env = MakePosixEnv();
        const auto second = DataDir::Open(*env, {dir.Get(), {}, ""});
        const bool refused =
            !second.Ok() && second.Message().find("Cannot obtain a lock") != std::string::npos;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);

    const auto absent = DataDir::Open(TestEnv(), {dir / "absent", {}, ""});
    REQUIRE_FALSE(absent.Ok());
    CHECK(absent.Message().find("does not exist") != std::string::npos);
    CHECK_FALSE(DataDir::Open(TestEnv(), {dir.Get(), dir / "absent", ""}).Ok());
    std::ofstream(dir / "signet") << "a file in the way";
    const auto blocked = DataDir::Open(TestEnv(), {dir.Get(), {}, "signet"});
    REQUIRE_FALSE(blocked.Ok());
    CHECK(blocked.Message().find("Cannot write to directory") != std::string::npos);
    Must(main->CheckSpace());
    const auto full = main->CheckSpace(uint64_t{1} << 60);
    REQUIRE_FALSE(full.Ok());
    CHECK(full.GetError().kind == Error::Kind::kSystem);
}
