// -blockfilterindex, -txospenderindex and -coinstatsindex over a chain with branches: records of
// blocks of both, undo data that is made late, a restart at any moment, and a disk that fails at
// any step.
#include "failing_disk.h"
#include "fake_chain.h"
#include "index/coin_stats_index.h"
#include "index/filter_index.h"
#include "index/index_follower.h"
#include "index/spender_index.h"
#include "sim/fault_env.h"
#include "support/testdata.h"
#include "util/found.h"

#include <set>

using namespace ibd;
using namespace ibd::test;

namespace {

/** The chain with its undo data, which may be left out above a height. */
class Machine {
public:
    explicit Machine(int32_t with_undo = INT32_MAX)
        : params(MakeChainParams(Network::kRegtest)), branches(params),
          chain(params, folder / "blocks")
    {
        const auto add = [&](const Bytes& raw) {
            const HeaderNode* const node = chain.Add(raw);
            undo[node->hash] = maker.Add(raw, node->height);
            bytes[node->hash] = raw;
            if (node->height <= with_undo) chain.AddUndo(*node, undo[node->hash]);
            return node;
        };
        for (const Bytes& raw : branches.common) fork = add(raw);
        for (const Bytes& raw : branches.a) tip_a = add(raw);
        for (const Bytes& raw : branches.b) tip_b = add(raw);
        bytes[params.consensus.genesis_hash] = params.genesis.raw;
    }

    /** The index has the filter of each block up to `tip`, and the chain of headers. */
    void CheckFilters(const FilterIndex& index, const HeaderNode* tip) const
    {
        FilterHeader header;
        for (int32_t height = 0; height <= tip->height; ++height) {
            const HeaderNode& node = *tip->Ancestor(height);
            BlockView block;
            Must(block.Parse(bytes.at(node.hash)));
            const Bytes expected = BasicFilter(block, height > 0 ? &undo.at(node.hash) : nullptr);
            header = NextFilterHeader(FilterHash(expected), header);
            REQUIRE(Must(index.Filter(node)) == expected);
            REQUIRE(Must(index.Find(node))->header == header);
        }
    }

    /** The index has the spender of each output that a block up to `tip` spends, and no other. */
    void CheckSpenders(const SpenderIndex& index, const HeaderNode* tip) const
    {
        std::map<OutPoint, std::pair<BlockHash, Txid>> expected;
        std::set<OutPoint> all;
        for (const auto& [hash, raw] : bytes) {
            BlockView block;
            Must(block.Parse(raw));
            const HeaderNode* const node = chain.Read().Find(hash);
            for (const TxView& tx : block.Txs().subspan(1)) {
                for (const InputView& input : tx.inputs) {
                    all.insert(input.Prevout());
                    if (tip->Ancestor(node->height) != node) continue;
                    expected[input.Prevout()] = {hash, tx.txid};
                }
            }
        }
        const auto is_place = [&](const BlockHash& block, const FilePos& place) {
            return StoredBlock(*chain.Read().Find(block)).data == place;
        };
        for (const OutPoint& output : all) {
            const auto found = Must(index.Find(chain.Blocks(), output, is_place));
            REQUIRE(found.has_value() == expected.contains(output));
            if (!found) continue;
            REQUIRE(found->block == expected[output].first);
            REQUIRE(found->tx->Id() == expected[output].second);
        }
        REQUIRE(all.size() > expected.size());
    }

    const TempDir folder{MemoryFolder()};
    const ChainParams params;
    const Branches branches;
    FakeChain chain;
    UndoMaker maker;
    std::map<BlockHash, BlockUndo> undo;
    std::map<BlockHash, Bytes> bytes;
    const HeaderNode *fork = nullptr, *tip_a = nullptr, *tip_b = nullptr;
};

/** An index and its follower in `folder`. */
template <typename Kind>
struct Followed {
    Followed(const Machine& machine, Kind& kind)
        : follower(kind, machine.chain, TestEnv(), TestLog(), [](const Error&) {})
    {
    }
    IndexFollower follower;
};

/** A new filter index at the tip of branch a, as far as there is undo data. */
struct FollowedFilters {
    explicit FollowedFilters(Machine& machine)
        : folder(machine.folder / "basic"), index(TestEnv(), folder, Must(OpenKv(folder / "db"))),
          followed(machine, index)
    {
        machine.chain.SetDurableTip(machine.tip_a);
        Must(followed.follower.Open());
        Must(followed.follower.CatchUp());
    }
    const Path folder;
    FilterIndex index;
    Followed<FilterIndex> followed;
};

FilterIndex MakeFilters(Env& env, const Path& folder, const KvIoCheck& check = nullptr)
{
    return FilterIndex(env, folder, Must(OpenKv(folder / "db", check)));
}

} // namespace

TEST_CASE("filters of all branches stay", "[filterindex]")
{
    Machine machine;
    const Path folder = machine.folder / "basic";
    for (const bool restart : {false, true}) {
        std::filesystem::remove_all(folder);
        auto index = std::make_unique<FilterIndex>(TestEnv(), folder, Must(OpenKv(folder / "db")));
        auto followed = std::make_unique<Followed<FilterIndex>>(machine, *index);
        Must(followed->follower.Open());
        for (const HeaderNode* tip : {machine.fork, machine.tip_a, machine.tip_b}) {
            machine.chain.SetDurableTip(tip);
            if (restart) {
                followed.reset();
                index.reset();
                index =
                    std::make_unique<FilterIndex>(TestEnv(), folder, Must(OpenKv(folder / "db")));
                followed = std::make_unique<Followed<FilterIndex>>(machine, *index);
                Must(followed->follower.Open());
            }
            Must(followed->follower.CatchUp());
            machine.CheckFilters(*index, tip);
        }
        machine.CheckFilters(*index, machine.tip_a);
    }
}

TEST_CASE("the filter index waits for undo data", "[filterindex]")
{
    Machine machine(60);
    FollowedFilters filters(machine);
    IndexFollower& follower = filters.followed.follower;
    CHECK(follower.Best()->height == 60);
    CHECK_FALSE(follower.Summary().synced);
    for (int32_t height = 61; height <= machine.tip_a->height; ++height) {
        const HeaderNode& node = *machine.tip_a->Ancestor(height);
        machine.chain.AddUndo(node, machine.undo[node.hash]);
    }
    Must(follower.CatchUp());
    CHECK(follower.Summary().synced);
    machine.CheckFilters(filters.index, machine.tip_a);
}

TEST_CASE("pruning learns what the index needs, now and after a crash", "[filterindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    FilterIndex index = MakeFilters(TestEnv(), machine.folder / "basic");
    Followed<FilterIndex> followed(machine, index);
    IndexFollower& follower = followed.follower;
    Must(follower.Open());
    CHECK(follower.Height() == 0);
    Must(follower.CatchUp());
    CHECK(follower.SavedHeight() == machine.fork->height);
    machine.chain.SetTip(machine.tip_a); // its coins are not written
    Must(follower.CatchUp());
    CHECK(follower.Height() == machine.tip_a->height);
    CHECK(follower.SavedHeight() == machine.fork->height);
    machine.chain.SetTip(machine.tip_b); // the blocks of the other branch are to be taken back
    CHECK(follower.Height() == machine.fork->height);
    machine.chain.SetTip(machine.tip_a);

    follower.Settle(); // no thread, no wait
    CHECK(follower.SavedHeight() == machine.fork->height);
    follower.Start();
    machine.chain.SetFlushed(machine.tip_a);
    follower.Settle();
    CHECK(follower.SavedHeight() == machine.tip_a->height);
    follower.Stop();
    follower.Settle();
    CHECK(follower.SavedHeight() == machine.tip_a->height);
}

TEST_CASE("an index is left behind if the block that it is at was pruned", "[filterindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    FilterIndex index = MakeFilters(TestEnv(), machine.folder / "basic");
    Followed<FilterIndex> followed(machine, index);
    IndexFollower& follower = followed.follower;
    Must(follower.Open());
    CHECK(follower.LeftBehind() == nullptr);
    Must(follower.CatchUp());
    machine.chain.Prune(*machine.fork->prev);
    CHECK(follower.LeftBehind() == nullptr);
    machine.chain.SetDurableTip(machine.tip_a);
    CHECK(follower.LeftBehind() == nullptr);
    const HeaderNode* const above = machine.tip_a->Ancestor(machine.fork->height + 2);
    machine.chain.Prune(*above);
    CHECK(follower.LeftBehind() == machine.fork);
    machine.chain.SetDurableTip(machine.fork);
    CHECK(follower.LeftBehind() == nullptr); // at the tip, nothing is missing
    machine.chain.Prune(*machine.fork);
    machine.chain.SetDurableTip(machine.tip_b);
    CHECK(follower.LeftBehind() == machine.fork);
}

TEST_CASE("a damaged filter is named", "[filterindex]")
{
    Machine machine;
    FollowedFilters filters(machine);
    const FilterIndex& index = filters.index;
    const FilterIndex::Entry entry = *Must(index.Find(*machine.tip_a));
    const Path file = filters.folder / "fltr00000.dat";
    CHECK(std::filesystem::file_size(file) == FilterFiles::kChunkBytes);
    const auto out = Must(TestEnv().OpenWrite(file, false));
    Must(out->WriteAt(entry.at.offset + 34, Bytes{0xff, 0xff}));
    const auto read = index.Filter(*machine.tip_a);
    REQUIRE(IsBadData(read));
    CHECK(read.Message().find(file.string()) != std::string::npos);
}

TEST_CASE("filters fill files one after the other", "[filterindex]")
{
    const TempDir folder(MemoryFolder());
    FilterFiles files(TestEnv(), folder.Get());
    const Bytes filter = RandomBytes(6 << 20);
    std::vector<FilePos> places;
    for (uint8_t i = 0; i < 5; ++i) {
        places.push_back(Must(files.Append(BlockHash(Sha256d(Bytes{i})), filter)));
    }
    Must(files.Sync());
    CHECK(places[1] == FilePos{0, static_cast<uint32_t>(filter.size()) + 37});
    CHECK(places[2] == FilePos{1, 0});
    CHECK(places[4] == FilePos{2, 0});
    CHECK(std::filesystem::file_size(folder / "fltr00000.dat") == 2 * (filter.size() + 37));
    for (uint8_t i = 0; i < 5; ++i) {
        const BlockHash block(Sha256d(Bytes{i}));
        CHECK(Must(files.Read(places[i], block, FilterHash(filter))) == filter);
        CHECK(IsBadData(files.Read(places[i], BlockHash(), FilterHash(filter))));
    }
}

TEST_CASE("any step of the filter index's disk fails once", "[filterindex]")
{
    Machine machine;
    const auto live = [&](const Path& folder, FaultEnv& env) -> Result<> {
        IBD_ASSIGN_OR_RETURN(auto db, OpenKv(folder / "db", [&](const char* kind, const Path& p) {
                                 return env.Step(kind, p);
                             }));
        FilterIndex index(env, folder, std::move(db));
        Followed<FilterIndex> followed(machine, index);
        machine.chain.SetDurableTip(machine.tip_a);
        IBD_RETURN_IF_ERROR(followed.follower.Open());
        IBD_RETURN_IF_ERROR(followed.follower.CatchUp());
        machine.chain.SetDurableTip(machine.tip_b);
        return followed.follower.CatchUp();
    };
    int failures = 0;
    // The many writes of single filters are alike: most of them are passed over.
    for (uint64_t step = 0;; step += step < 30 ? 1 : 7) {
        const Path folder = machine.folder / ("step" + std::to_string(step));
        FaultEnv env;
        std::atomic<bool> hit = false;
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.number == step && !hit.exchange(true);
        });
        const Result<> first = live(folder, env);
        if (!hit) break;
        failures += first.Ok() ? 0 : 1;
        FaultEnv sound;
        Must(live(folder, sound));
        {
            const FilterIndex index = MakeFilters(TestEnv(), folder);
            machine.CheckFilters(index, machine.tip_b);
        }
        // Only now no thread of the database removes files, too.
        std::filesystem::remove_all(folder);
    }
    CHECK(failures > 20);
}

TEST_CASE("spenders are those of the active chain", "[spenderindex]")
{
    Machine machine;
    const Path folder = machine.folder / "txospenderindex";
    std::map<Bytes, Bytes> at_b;
    for (const bool restart : {false, true}) {
        std::unique_ptr<SpenderIndex> index;
        std::unique_ptr<Followed<SpenderIndex>> followed;
        for (const HeaderNode* tip : {machine.tip_a, machine.tip_b, machine.tip_a, machine.tip_b}) {
            machine.chain.SetDurableTip(tip);
            if (restart || !index) {
                followed.reset();
                index.reset();
                index = std::make_unique<SpenderIndex>(TestEnv(), Must(OpenKv(folder)));
                followed = std::make_unique<Followed<SpenderIndex>>(machine, *index);
                Must(followed->follower.Open());
            }
            Must(followed->follower.CatchUp());
            machine.CheckSpenders(*index, tip);
        }
        if (!restart) at_b = RecordsOf(index->Db());
        CHECK(RecordsOf(index->Db()) == at_b); // the key of the hashes stays, too
        if (!restart) continue;
        // Left by a crash, of blocks that were stored elsewhere afterwards; each is found first.
        KvBatch stale(index->Db());
        for (const auto& [key, value] : at_b) {
            if (key[0] != 's' || key.size() < 9) continue;
            Bytes elsewhere(key.begin(), key.begin() + 9);
            Append(elsewhere, Bytes{0x00, 0x08, 0x7f}); // inside genesis
            stale.Put(elsewhere, {});
        }
        Must(index->Db().Write(stale));
        machine.CheckSpenders(*index, machine.tip_b);
    }
}

TEST_CASE("any step of the spender index's disk fails once", "[spenderindex]")
{
    Machine machine;
    FailEachStep(
        machine.chain, machine.tip_a, machine.tip_b,
        [](std::unique_ptr<KvStore> db) {
            return std::make_unique<SpenderIndex>(TestEnv(), std::move(db));
        },
        [&](const SpenderIndex& index) { machine.CheckSpenders(index, machine.tip_b); });
}

TEST_CASE("any step of the disk of coin statistics fails once", "[coinstatsindex]")
{
    Machine machine;
    std::map<Bytes, Bytes> expected;
    FailEachStep(
        machine.chain, machine.tip_a, machine.tip_b,
        [&](std::unique_ptr<KvStore> db) {
            return std::make_unique<CoinStatsIndex>(machine.params.consensus, std::move(db));
        },
        [&](const CoinStatsIndex& index) {
            std::map<Bytes, Bytes> records = RecordsOf(index.Db());
            if (expected.empty()) expected = records;
            // If it had reached b, the records of b's blocks were kept by hash on its way to a.
            std::erase_if(records, [&](const auto& record) {
                return record.first[0] == 's' && !expected.contains(record.first);
            });
            CHECK((records == expected)); // too long to be printed
        });
    CHECK(expected.size() > 10);
}

TEST_CASE("statistics of coins are the same by any way", "[coinstatsindex]")
{
    Machine machine;
    const auto open = [&](const Path& folder) {
        return std::make_unique<CoinStatsIndex>(machine.params.consensus, Must(OpenKv(folder)));
    };
    const Path around = machine.folder / "around";
    for (const HeaderNode* tip : {machine.fork, machine.tip_a, machine.tip_b}) {
        machine.chain.SetDurableTip(tip);
        const auto index = open(around);
        Followed<CoinStatsIndex> followed(machine, *index);
        Must(followed.follower.Open());
        Must(followed.follower.CatchUp());
    }
    const auto index = open(around);
    const auto straight = open(machine.folder / "straight");
    Followed<CoinStatsIndex> followed(machine, *straight);
    Must(followed.follower.Open());
    Must(followed.follower.CatchUp());
    for (int32_t height = 0; height <= machine.tip_b->height; ++height) {
        const HeaderNode& node = *machine.tip_b->Ancestor(height);
        const CoinTotals totals = *Must(index->Find(node));
        REQUIRE(Must(straight->Find(node)) == totals);
        REQUIRE(totals.total + totals.Unspendable() == totals.subsidy);
    }
    CHECK(Must(index->Find(*machine.tip_a))); // stays
    CHECK_FALSE(Must(straight->Find(*machine.tip_a)));

    // The sum must be that of the block.
    KvBatch batch(straight->Db());
    batch.Put(Bytes{'M'}, MuHash3072(Bytes{1}).Serialize());
    Must(straight->Db().Write(batch));
    const Result<> opened = followed.follower.Open();
    REQUIRE(IsBadData(opened));
    CHECK(
        opened.Message().find("Cannot read current coinstatsindex state; index may be corrupted") !=
        std::string::npos);
}

TEST_CASE("blocks that are prepared ahead may be disconnected meanwhile", "[filterindex]")
{
    Machine machine;
    const int at = GENERATE(1, 40, 110, 117);
    const Path folder = machine.folder / "basic";
    FaultEnv env;
    std::atomic<int> filters = 0;
    env.SetScript([&](const FaultEnv::Operation& operation) {
        if (operation.kind == "write" && operation.path.filename() == "fltr00000.dat" &&
            ++filters == at) {
            machine.chain.SetDurableTip(machine.tip_b);
        }
        return false;
    });
    machine.chain.SetDurableTip(machine.tip_a);
    FilterIndex index = MakeFilters(env, folder);
    Followed<FilterIndex> followed(machine, index);
    Must(followed.follower.Open());
    Must(followed.follower.CatchUp());
    CHECK(filters > at);
    CHECK(followed.follower.Best() == machine.tip_b);
    machine.CheckFilters(index, machine.tip_b);
}

TEST_CASE("records are the same whether blocks are prepared ahead or not", "[coinstatsindex]")
{
    Machine machine;
    const auto records = [&](const Path& folder, bool ahead) {
        CoinStatsIndex stats(machine.params.consensus, Must(OpenKv(folder / "stats")));
        FilterIndex filters(TestEnv(), folder, Must(OpenKv(folder / "filters")));
        std::vector<std::map<Bytes, Bytes>> out;
        for (Index* const index : {static_cast<Index*>(&stats), static_cast<Index*>(&filters)}) {
            IndexFollower follower(*index, machine.chain, TestEnv(), TestLog(), {});
            machine.chain.SetDurableTip(machine.fork->Ancestor(0));
            Must(follower.Open());
            for (int32_t height = 1; height <= machine.fork->height && !ahead; ++height) {
                machine.chain.SetDurableTip(machine.fork->Ancestor(height));
                Must(follower.CatchUp());
            }
            machine.chain.SetDurableTip(machine.fork);
            Must(follower.CatchUp());
            out.push_back(RecordsOf(index->Db()));
        }
        return out;
    };
    const auto serial = records(machine.folder / "serial", false);
    CHECK(serial[0].size() > static_cast<size_t>(machine.fork->height));
    CHECK(records(machine.folder / "ahead", true) == serial);
}

TEST_CASE("a block that cannot be read ends the index at its turn", "[coinstatsindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    CoinStatsIndex index(machine.params.consensus, Must(OpenKv(machine.folder / "stats")));
    Followed<CoinStatsIndex> followed(machine, index);
    Must(followed.follower.Open());
    const HeaderNode& bad = *machine.fork->Ancestor(60);
    const bool undo = GENERATE(false, true);
    const Path file = machine.folder / "blocks" / (undo ? "rev00000.dat" : "blk00000.dat");
    const auto out = Must(TestEnv().OpenWrite(file, false));
    Must(out->WriteAt((undo ? bad.undo_pos : bad.data_pos) + 4, Bytes(6, 0xee)));
    const Result<> done = followed.follower.CatchUp();
    REQUIRE(IsBadData(done));
    CHECK(done.Message() == fmt::format("Failed to read {} {} from disk",
                                        undo ? "undo block data" : "block", bad.hash.ToHex()));
    Must(followed.follower.Save());
    CHECK(followed.follower.Best() == bad.prev);
}
