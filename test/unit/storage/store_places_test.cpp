// Stores outside of the data directory: every place that a store can be in, copies of another time,
// and marks that survive failures and kills.
#include "sim/fault_env.h"
#include "storage/chainstate_builder.h"
#include "storage/store_mark.h"
#include "storage/store_places.h"
#include "support.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;

namespace fs = std::filesystem;

namespace {

constexpr StoreUses kPlain = {.indexes_used = true};
constexpr StoreUses kRebuilds = {
    .chainstate_rebuilt = true, .indexes_used = true, .indexes_rebuilt = true};

/** A data directory and two other disks. */
class Disks {
public:
    Disks()
    {
        for (const char* name : {"data", "a", "b"}) fs::create_directory(m_dir / name);
    }

    /** The folder of the network on a disk. */
    Path On(const std::string& disk) const { return m_dir / disk / "regtest"; }
    Path Coins(const std::string& disk) const { return On(disk) / "chainstate"; }
    Path Mark(const std::string& disk) const { return Coins(disk) / kStoreMarkName; }
    Path Record() const { return On("data") / "chainstatedir.txt"; }

    /** A start with both stores on this disk, up to where they are opened. */
    Result<> Prepare(Env& env, const std::string& disk, const StoreUses& uses = kPlain) const
    {
        const Path base = disk == "data" ? Path() : m_dir / disk;
        IBD_ASSIGN_OR_RETURN(const auto dir, DataDir::Open(env, {.base = m_dir / "data",
                                                                 .blocks_base = {},
                                                                 .folder = "regtest",
                                                                 .chainstate_base = base,
                                                                 .index_base = base}));
        return PrepareStores(env, TestLog(), *dir, uses);
    }
    /** The same; databases are made where there are none. */
    Result<> Start(const std::string& disk, const StoreUses& uses = kPlain) const
    {
        IBD_RETURN_IF_ERROR(Prepare(TestEnv(), disk, uses));
        Fill(disk);
        return {};
    }
    void Fill(const std::string& disk) const
    {
        for (const Path& folder : {Coins(disk), On(disk) / "indexes/txindex"}) {
            fs::create_directories(folder);
            std::ofstream(folder / "CURRENT", std::ios::app) << "x";
        }
    }
    void Finish(const std::string& disk) const
    {
        Must(FinishStoreMark(TestEnv(), Coins(disk)));
        Must(FinishStoreMark(TestEnv(), On(disk) / "indexes"));
    }
    void Move(const std::string& from, const std::string& to) const
    {
        fs::create_directories(On(to));
        for (const char* name : {"chainstate", "indexes"}) {
            fs::rename(On(from) / name, On(to) / name);
        }
    }
    void Copy(const Path& from, const Path& to) const
    {
        fs::remove_all(to);
        fs::create_directories(to.parent_path());
        fs::copy(from, to, fs::copy_options::recursive);
    }
    Path operator/(const std::string& name) const { return m_dir / name; }
    uint64_t NumberIn(const Path& file) const
    {
        return Must(ReadStoreMark(TestEnv(), file)).value().starts;
    }
    /** Files with marks, of any store. */
    size_t Marks() const
    {
        size_t count = 0;
        for (const auto& entry : fs::recursive_directory_iterator(m_dir.Get())) {
            const std::string name = entry.path().filename().string();
            count += IsStoreMarkName(name) || name.find("dir.txt") != name.npos;
        }
        return count;
    }

private:
    TempDir m_dir;
};

void CheckRefused(const Result<>& refused, const std::string& part)
{
    REQUIRE_FALSE(refused.Ok());
    CHECK_THAT(refused.Message(), Catch::Contains(part));
    CHECK(refused.Message().find('\n') == std::string::npos);
}

} // namespace

TEST_CASE("a store in the data directory has no marks; elsewhere each start raises its number")
{
    const Disks disks;
    Must(disks.Start("data"));
    Must(disks.Start("data"));
    CHECK(disks.Marks() == 0);
    disks.Move("data", "a");
    for (uint64_t n = 1; n < 4; ++n) {
        Must(disks.Start("a"));
        CHECK(disks.NumberIn(disks.Record()) == n);
        CHECK(disks.NumberIn(disks.Mark("a")) == n);
        CHECK(disks.NumberIn(disks.On("data") / "indexdir.txt") == n);
        CHECK(disks.NumberIn(disks.On("a") / "indexes" / kStoreMarkName) == n);
    }
    const auto record = Must(ReadStoreMark(TestEnv(), disks.Record())).value();
    CHECK(record.directory == disks / "a");
    CHECK(record.id == Must(ReadStoreMark(TestEnv(), disks.Mark("a"))).value().id);
    // From disk to disk, and back: then the marks go.
    disks.Move("a", "b");
    Must(disks.Start("b"));
    CHECK(disks.NumberIn(disks.Mark("b")) == 4);
    disks.Move("b", "data");
    Must(disks.Start("data"));
    CHECK(disks.Marks() == 0);
    disks.Move("data", "b");
    Must(disks.Start("b"));
    CHECK(disks.NumberIn(disks.Mark("b")) == 1);
}

TEST_CASE("a new node makes its stores where they shall be")
{
    const Disks disks;
    Must(disks.Start("a"));
    CHECK(fs::exists(disks.Mark("a")));
    CHECK_FALSE(fs::exists(disks.Coins("data")));
    CHECK_FALSE(fs::exists(disks.On("data") / "indexes"));
    // Indexes that are not used are not checked.
    fs::remove_all(disks.On("a") / "indexes");
    Must(disks.Prepare(TestEnv(), "a", {}));
    CheckRefused(disks.Prepare(TestEnv(), "a"), "There is no 'indexes' in");
}

TEST_CASE("a store that is elsewhere is refused, with its place, in a rebuild too")
{
    for (const StoreUses& uses : {kPlain, kRebuilds}) {
        const Disks disks;
        const std::string a = (disks / "a").string();
        Must(disks.Start("data"));
        CheckRefused(disks.Start("a", uses),
                     "There is no 'chainstate' in '" + disks.On("a").string() +
                         "', but there is '" + disks.Coins("data").string() +
                         "': start without -chainstatedir, or move the folder");
        disks.Move("data", "a");
        Must(disks.Start("a"));
        CheckRefused(disks.Start("data", uses), "': start with -chainstatedir=" + a + ", or move");
        CheckRefused(disks.Start("b", uses), "': start with -chainstatedir=" + a + ", or move");
        // In two places, of which one may be only that of a snapshot.
        fs::create_directories(disks.On("data") / "chainstate_snapshot");
        Must(disks.Start("a"));
        std::ofstream(disks.On("data") / "chainstate_snapshot/CURRENT") << "x";
        CheckRefused(disks.Start("a", uses), "chainstate_snapshot' both exist: move the one");
        CheckRefused(disks.Start("data", uses), "both exist");
        fs::remove_all(disks.On("data") / "chainstate_snapshot");
        // A link to a disk that is not mounted is a store, too.
        fs::create_directory_symlink(disks / "none", disks.Coins("data"));
        CheckRefused(disks.Start("a", uses), "both exist");
        fs::remove(disks.Coins("data"));
        // So is what a killed booster left there, if no other one is.
        fs::create_directories(disks.On("b"));
        fs::rename(disks.On("a") / "indexes", disks.On("b") / "indexes");
        const WorkFolder work(disks.Coins("a"));
        Must(work.Make(TestEnv()));
        fs::rename(disks.Coins("a"), work.Old());
        CheckRefused(disks.Start("b", uses), "there is '" + work.Old().string());
    }
}

TEST_CASE("work of a killed booster does not stay where the store was")
{
    for (const bool whole : {false, true}) {
        const Disks disks;
        Must(disks.Start("data"));
        const WorkFolder work(disks.Coins("data"));
        Must(work.Make(TestEnv()));
        fs::create_directory(work.New());
        if (whole) std::ofstream(work.New() / "CURRENT") << "x";
        disks.Move("data", "a");
        Must(disks.Start("a"));
        CHECK(fs::exists(work.New()) == whole); // a whole database is the user's to delete
        CHECK(fs::exists(work.Get()) == whole);
        Must(disks.Start("a"));
    }
}

TEST_CASE("a missing store is refused, and made in a rebuild")
{
    for (const std::string option : {"a", "b", "data"}) {
        const Disks disks;
        Must(disks.Start("a"));
        fs::remove_all(disks.On("a"));
        CheckRefused(disks.Start(option), "There is no 'chainstate' in '" +
                                              disks.On("a").string() +
                                              "', where the last start used it: mount its disk, or "
                                              "restart with -reindex-chainstate");
        CHECK_FALSE(fs::exists(disks.Coins(option)));
        Must(disks.Start(option, kRebuilds));
        Must(disks.Start(option));
        CHECK(disks.Marks() == (option == "data" ? 0 : 4));
    }
}

TEST_CASE("an older copy is refused; a rebuild of it is accepted once it has finished")
{
    const Disks disks;
    Must(disks.Start("a"));
    disks.Copy(disks.On("a"), disks / "old");
    Must(disks.Start("a"));
    disks.Copy(disks.On("a"), disks / "newer");
    disks.Copy(disks / "old", disks.On("a"));
    const std::string fault = "'" + disks.Coins("a").string() +
                              "' is an older copy: it is of start 1 of this node, but '" +
                              disks.On("data").string() + "' is of start 2";
    CheckRefused(disks.Start("a"), fault + ". Put the folder of the last start there, or restart");
    // The same for the indexes alone.
    disks.Copy(disks / "newer/chainstate", disks.Coins("a"));
    CheckRefused(disks.Start("a"), "indexes' is an older copy: it is of start 1");
    CHECK(disks.NumberIn(disks.Mark("a")) == 2); // no number was raised
    disks.Copy(disks / "old", disks.On("a"));

    Must(disks.Start("a", kRebuilds));
    CheckRefused(disks.Start("a"), "' is an older copy, whose rebuild has not finished. Put");
    Must(disks.Start("a", kRebuilds));
    disks.Finish("a");
    Must(disks.Start("a"));
}

TEST_CASE("a copy without a mark, of another data directory, and an older data directory")
{
    const Disks disks, others;
    Must(disks.Start("a"));
    disks.Copy(disks / "data", disks / "older");
    for (int i = 0; i < 2; ++i) Must(disks.Start("a"));
    Must(others.Start("a"));
    const Path good = disks / "good";
    disks.Copy(disks.On("a"), good);

    fs::remove(disks.Mark("a"));
    CheckRefused(disks.Start("a"), "made by another program: it has no 'store-mark.txt'. Put the");
    disks.Copy(others.On("a"), disks.On("a"));
    CheckRefused(disks.Start("a"), "belongs to another data directory, or to this one at another");
    fs::remove(disks.Record());
    CheckRefused(disks.Start("a"), "belongs to another data directory");
    std::ofstream(disks.Record()) << "id=1\n";
    CheckRefused(disks.Start("a"), "chainstatedir.txt' is damaged: if the folder of the last");
    std::ofstream(disks.Record()) << "id=1\nstarts=1\n";
    CheckRefused(disks.Start("a"), "chainstatedir.txt' is damaged");

    disks.Copy(good, disks.On("a"));
    disks.Copy(disks / "older", disks / "data");
    CheckRefused(disks.Start("a"),
                 "'" + disks.On("data").string() + "' is an older copy: it is of start 1 of this "
                 "node, but '" + disks.Coins("a").string() + "' is of start 3");
    std::ofstream(disks.Mark("a")) << std::string(1 << 20, 'x');
    CheckRefused(disks.Start("a"), "store-mark.txt' is damaged");
    // To use a store as it is, the user removes the marks.
    fs::remove(disks.Mark("a"));
    fs::remove(disks.Record());
    fs::remove(disks.On("a") / "indexes" / kStoreMarkName);
    fs::remove(disks.On("data") / "indexdir.txt");
    Must(disks.Start("a"));
}

TEST_CASE("an older copy back in the data directory is refused, too")
{
    const Disks disks;
    Must(disks.Start("a"));
    disks.Copy(disks.On("a"), disks / "old");
    Must(disks.Start("a"));
    fs::remove_all(disks.On("a"));
    for (const char* name : {"chainstate", "indexes"}) {
        disks.Copy(disks / "old" / name, disks.On("data") / name);
    }
    CheckRefused(disks.Start("data"), "chainstate' is an older copy: it is of start 1");
    Must(disks.Start("data", kRebuilds));
    CheckRefused(disks.Start("data"), "whose rebuild has not finished");
    disks.Finish("data");
    Must(disks.Start("data"));
    fs::remove_all(disks / "old");
    CHECK(disks.Marks() == 0);
}

TEST_CASE("marks survive every failure and kill of a start")
{
    for (const bool kill : {false, true}) {
        for (const std::string from : {"data", "a"}) {
            for (uint64_t n = 0;; ++n) {
                INFO("operation " << n << (kill ? " and all later ones fail" : " fails"));
                const Disks disks;
                Must(disks.Start(from));
                if (from == "a") Must(disks.Start(from));
                disks.Copy(disks.On(from), disks / "old");
                if (from == "data") disks.Move("data", "a");
                FaultEnv env;
                env.SetScript([&](const FaultEnv::Operation& op) {
                    return kill ? op.number >= n : op.number == n;
                });
                const Result<> started = disks.Prepare(env, "a");
                if (n >= env.Operations()) {
                    REQUIRE(started.Ok());
                    break;
                }
                CHECK_FALSE(started.Ok());
                Must(disks.Start("a")); // whatever was written
                if (from == "data") continue;
                disks.Copy(disks / "old", disks.On("a"));
                CheckRefused(disks.Start("a"), "is an older copy: it is of start 2");
            }
        }
    }
}

TEST_CASE("the mark comes along when the booster replaces the chainstate, after each kill")
{
    for (uint64_t n = 0;; ++n) {
        INFO("killed at operation " << n);
        const Disks disks;
        Must(disks.Start("a"));
        const WorkFolder work(disks.Coins("a"));
        Must(work.Make(TestEnv()));
        fs::create_directory(work.New());
        std::ofstream(work.New() / "CURRENT") << "new";
        FaultEnv env;
        env.CrashAt(n);
        const Result<> replaced = ReplaceDb(env, disks.Coins("a"));
        Must(disks.Start("a"));
        CHECK(disks.NumberIn(disks.Mark("a")) == 2);
        CHECK_FALSE(fs::exists(work.Get()));
        if (!replaced) continue;
        CHECK(fs::file_size(disks.Coins("a") / "CURRENT") == 4); // "new" and the x of the start
        break;
    }
    // A rebuilt chainstate is no older copy.
    const Disks disks;
    Must(disks.Start("a"));
    fs::remove(disks.Mark("a"));
    Must(disks.Start("a", kRebuilds));
    disks.Finish("a"); // of the indexes; here the replacement does it for the chainstate
    const WorkFolder work(disks.Coins("a"));
    Must(WriteStoreMark(TestEnv(), disks.Mark("a"),
                        {Must(ReadStoreMark(TestEnv(), disks.Record())).value().id, 2, true}));
    CheckRefused(disks.Start("a"), "whose rebuild has not finished");
    Must(work.Make(TestEnv()));
    fs::create_directory(work.New());
    std::ofstream(work.New() / "CURRENT") << "new";
    Must(ReplaceDb(TestEnv(), disks.Coins("a")));
    Must(disks.Start("a"));
}
