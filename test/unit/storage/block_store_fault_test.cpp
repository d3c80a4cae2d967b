// Block files, and the swap of chainstates, on a disk that is full or fails.
#include "crypto/sha256.h"
#include "sim/fault_env.h"
#include "storage/block_files.h"
#include "storage/block_store.h"
#include "storage/chainstate_builder.h"
#include "storage/undo.h"
#include "support.h"
#include "util/endian.h"
#include "util/found.h"

#include <fstream>
#include <limits>

using namespace ibd;
using namespace ibd::test;

namespace {

/** The machine with a disk that is full, or whose writes or syncs fail. */
class FailingEnv : public Env {
public:
    bool full = false, fail_write = false, fail_sync = false, fail_start = false;
    bool fail_look = false;
    std::function<void()> in_sync;                      //!< what happens while a file is synced
    std::vector<std::pair<uint64_t, uint64_t>> started; //!< what syncs were begun with
    int looks_left = std::numeric_limits<int>::max();   //!< that do not fail

    struct File : WritableFile {
        FailingEnv* env;
        std::unique_ptr<WritableFile> file;
        Result<> WriteAt(uint64_t offset, ByteSpan data) override
        {
            if (env->fail_write) return SystemError("write failed");
            return file->WriteAt(offset, data);
        }
        Result<uint64_t> Size() const override { return file->Size(); }
        Result<> Truncate(uint64_t size) override { return file->Truncate(size); }
        Result<> Allocate(uint64_t size) override { return file->Allocate(size); }
        Result<> Sync() override
        {
            if (env->in_sync) std::exchange(env->in_sync, {})();
            return env->fail_sync ? Result<>(SystemError("sync failed")) : file->Sync();
        }
        Result<> StartSync(uint64_t offset, uint64_t length) override
        {
            env->started.emplace_back(offset, offset + length);
            return env->fail_start ? Result<>(SystemError("no start")) : Result<>();
        }
    };

    Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& p, bool truncate) override
    {
        auto out = std::make_unique<File>();
        out->env = this;
        IBD_ASSIGN_OR_RETURN(out->file, m_real.OpenWrite(p, truncate));
        return std::unique_ptr<WritableFile>(std::move(out));
    }
    Result<uint64_t> SpaceAvailable(const Path& p) override
    {
        return full ? Result<uint64_t>(uint64_t{1} << 20) : m_real.SpaceAvailable(p);
    }
    Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& p) override
    {
        return m_real.OpenRead(p);
    }
    Result<std::unique_ptr<FileLock>> Lock(const Path& p) override { return m_real.Lock(p); }
    bool Exists(const Path& p) override { return Looks() && m_real.Exists(p); }
    Result<bool> IsThere(const Path& p) override
    {
        return Looks() ? m_real.IsThere(p) : Result<bool>(SystemError("look failed"));
    }
    Result<std::vector<std::string>> List(const Path& p) override { return m_real.List(p); }
    Result<> CreateDirectories(const Path& p) override { return m_real.CreateDirectories(p); }
    Result<> Remove(const Path& p) override { return m_real.Remove(p); }
    Result<> RemoveAll(const Path& p) override { return m_real.RemoveAll(p); }
    Result<> Rename(const Path& a, const Path& b) override { return m_real.Rename(a, b); }
    Result<> SyncDirectory(const Path& p) override { return m_real.SyncDirectory(p); }
    int64_t UnixTime() override { return m_real.UnixTime(); }
    int64_t MonotonicMicros() override { return m_real.MonotonicMicros(); }
    void RandomBytes(MutableByteSpan out) override { m_real.RandomBytes(out); }

private:
    bool Looks() { return !fail_look && looks_left-- > 0; }

    Env& m_real = TestEnv();
};

BlockStoreOptions Options(const TempDir& dir)
{
    BlockStoreOptions o;
    o.blocks_dir = dir.Get();
    o.magic = kMainMagic;
    o.block_chunk = 16 << 10;
    o.undo_chunk = 4 << 10;
    return o;
}

} // namespace

TEST_CASE("a disk that is full or fails stops the write and leaves the records as they were")
{
    const TempDir dir;
    FailingEnv env;
    const auto store = Must(BlockStore::Open(env, TestLog(), Options(dir)));
    const Bytes first = RandomBlock(5000), second = RandomBlock(15'000);
    const FilePos pos = Must(store->WriteBlock(first, 0, 0));
    const std::vector<BlockFileInfo> before = store->Files();

    env.full = true; // the second block needs another chunk
    const auto full = store->WriteBlock(second, 1, 0);
    REQUIRE_FALSE(full.Ok());
    CHECK(full.GetError().kind == Error::Kind::kSystem);
    CHECK(full.Message().find("blk00000.dat") != std::string::npos);
    CHECK(full.Message().find("disk space") != std::string::npos);
    env.full = false;
    env.fail_write = true;
    CHECK_FALSE(store->WriteBlock(second, 1, 0).Ok());
    CHECK_FALSE(store->WriteUndo(0, RandomBytes(10), BlockHash(), 0).Ok());
    env.fail_write = false;
    CHECK(store->Files() == before);
    const FilePos next = Must(store->WriteBlock(second, 1, 0));
    CHECK(next.offset == pos.offset + first.size() + 8);
    CHECK(Must(store->ReadBlock(pos)) == first);
    CHECK(Must(store->ReadBlock(next)) == second);
}

TEST_CASE("after a failed sync nothing is promised any more, whatever the next sync says")
{
    const TempDir dir;
    FailingEnv env;
    const auto store = Must(BlockStore::Open(env, TestLog(), Options(dir)));
    Must(store->WriteBlock(RandomBlock(5000), 0, 0));
    env.fail_sync = true;
    CHECK_FALSE(store->Flush().Ok());
    env.fail_sync = false;
    CHECK_FALSE(store->Flush().Ok());
    const auto again = Must(BlockStore::Open(env, TestLog(), Options(dir)));
    Must(again->WriteBlock(RandomBlock(5000), 0, 0));
    Must(again->Flush());
}

TEST_CASE("blocks are on their way to the disk before a flush, each byte once")
{
    const TempDir dir;
    FailingEnv env;
    BlockStoreOptions options = Options(dir);
    options.stretch = 10'000;
    options.max_file_size = 50'000;
    const auto store = Must(BlockStore::Open(env, TestLog(), options));
    for (uint32_t height = 0; height < 30; ++height) {
        Must(store->WriteBlock(RandomBlock(3000), height, 0,
                               height % 2 == 0 ? ReadAgain::kSoon : ReadAgain::kLate));
    }
    uint64_t end = 0;
    size_t files = 0;
    for (const auto& [from, to] : env.started) {
        files += from == 0;
        CHECK((from == 0 || from == end));
        CHECK(to > from);
        CHECK(to - from < 10'000 + 4000);
        end = to;
    }
    CHECK(files == 2);
    CHECK(store->LastFile() == 1);
    CHECK(store->Files().back().size - end < 10'000);
}

TEST_CASE("undo data is on its way to the disk before a flush, each byte once")
{
    const TempDir dir;
    FailingEnv env;
    BlockStoreOptions options = Options(dir);
    options.stretch = 10'000;
    const auto store = Must(BlockStore::Open(env, TestLog(), options));
    for (int i = 0; i < 30; ++i) Must(store->WriteUndo(0, RandomBytes(3000), BlockHash(), 0));
    uint64_t end = 0;
    for (const auto& [from, to] : env.started) {
        CHECK(from == end);
        CHECK(to - from >= 10'000);
        CHECK(to - from < 10'000 + 4000);
        end = to;
    }
    CHECK(store->Files().front().undo_size - end < 10'000);
}

TEST_CASE("a disk that fails before the flush is reported by the flush")
{
    const TempDir dir;
    FailingEnv env;
    BlockStoreOptions options = Options(dir);
    options.stretch = 1;
    const auto store = Must(BlockStore::Open(env, TestLog(), options));
    env.fail_start = true;
    const Bytes block = RandomBlock(5000);
    CHECK(Must(store->ReadBlock(Must(store->WriteBlock(block, 0, 0)))) == block);
    env.fail_start = false;
    Must(store->WriteBlock(RandomBlock(5000), 1, 0));
    for (int again = 0; again < 2; ++again) {
        const auto flushed = store->Flush();
        REQUIRE_FALSE(flushed.Ok());
        CHECK(flushed.GetError().kind == Error::Kind::kSystem);
        CHECK(flushed.Message() == "no start");
    }
}

TEST_CASE("while files are synced blocks are written, and the next flush syncs those")
{
    const TempDir dir;
    FailingEnv env;
    const auto store = Must(BlockStore::Open(env, TestLog(), Options(dir)));
    Must(store->WriteBlock(RandomBlock(5000), 0, 0));
    env.in_sync = [&] { Must(store->WriteBlock(RandomBlock(5000), 1, 0)); };
    Must(store->Flush());
    CHECK_FALSE(env.in_sync);
    CHECK(store->Files().front().blocks == 2);
    env.fail_sync = true;
    CHECK_FALSE(store->Flush().Ok());
}

TEST_CASE("a file that is full is synced by the next flush, which the record of it waits for")
{
    const TempDir dir;
    FailingEnv env;
    BlockStoreOptions options = Options(dir);
    options.max_file_size = 10'000;
    const auto store = Must(BlockStore::Open(env, TestLog(), options));
    size_t syncs = 0;
    for (uint32_t height = 0; height < 3; ++height) { // a file each
        Must(store->WriteBlock(RandomBlock(6000), height, 0));
    }
    const std::function<void()> count = [&] {
        ++syncs;
        env.in_sync = count;
    };
    env.in_sync = count;
    Must(store->Flush());
    CHECK(syncs == 3);
    Must(store->Flush());
    CHECK(syncs == 3);
    Must(store->WriteUndo(0, RandomBytes(10), BlockHash(), 0));
    Must(store->Flush());
    CHECK(syncs == 4);
}

TEST_CASE("undo records of more than 32 MiB are read back; a length beyond all limits is refused")
{
    const TempDir dir;
    FailingEnv env;
    const auto store = Must(BlockStore::Open(env, TestLog(), Options(dir)));
    const BlockHash prev(Sha256d({}));
    const Bytes undo = RandomBytes((32 << 20) + 1);
    const FilePos pos = Must(store->WriteUndo(0, undo, prev, 1));
    CHECK(Must(store->ReadUndo(pos, prev)) == undo);
    // The length is the last word of the frame before the record.
    const Path path = store->UndoPath(0);
    for (const uint32_t claimed : {kMaxUndoSize, kMaxUndoSize + 1}) {
        Bytes file = Must(ReadWholeFile(TestEnv(), path));
        WriteLE32(&file[pos.offset - 4], claimed);
        store->Key().Apply(MutableByteSpan(file).subspan(pos.offset - 4, 4), pos.offset - 4);
        Must(WriteFileAtomically(TestEnv(), path, file));
        const auto read = store->ReadUndo(pos, prev);
        REQUIRE_FALSE(read.Ok());
        CHECK(read.GetError().kind == Error::Kind::kBadData);
        CHECK(read.Message().find(std::to_string(claimed)) != std::string::npos);
    }
}

TEST_CASE("a key that cannot be looked for is not replaced")
{
    const TempDir dir;
    FailingEnv env;
    const auto log = MakeNullLogger();
    const XorKey key = Must(BlockStore::Open(env, *log, Options(dir)))->Key();
    std::ofstream(dir.Get() / "blk00000.dat") << "x";
    const Bytes before = Must(ReadWholeFile(env, dir.Get() / "xor.dat"));
    env.fail_look = true;
    const auto refused = BlockStore::Open(env, *log, Options(dir));
    REQUIRE_FALSE(refused.Ok());
    CHECK(refused.GetError().kind == Error::Kind::kSystem);
    env.fail_look = false;
    CHECK(Must(ReadWholeFile(env, dir.Get() / "xor.dat")) == before);
    CHECK(Must(BlockStore::Open(env, *log, Options(dir)))->Key().Span()[0] == key.Span()[0]);
}

TEST_CASE("a system that cannot tell whether a chainstate is there does not make it go")
{
    namespace fs = std::filesystem;
    // Killed between the two renames, and before the first one.
    for (const bool is_there : {false, true}) {
        const TempDir dir;
        const Path chainstate = dir / "chainstate";
        const WorkFolder work(chainstate);
        Must(work.Make(TestEnv()));
        fs::create_directory(work.New());
        std::ofstream(work.New() / "CURRENT") << "new";
        fs::create_directory(is_there ? chainstate : work.Old());
        std::ofstream((is_there ? chainstate : work.Old()) / "CURRENT") << "old";

        FailingEnv env;
        for (int nth = 0;; ++nth) {
            env.looks_left = nth;
            const bool recovered = RecoverDb(env, TestLog(), chainstate).Ok();
            if (recovered) break; // every look of a whole run was let through
            CHECK((fs::exists(chainstate / "CURRENT") || fs::exists(work.New() / "CURRENT")));
            REQUIRE(nth < 20);
        }
        const Bytes left = Must(ReadWholeFile(TestEnv(), chainstate / "CURRENT"));
        CHECK(AsChars(left) == (is_there ? "old" : "new"));
        CHECK_FALSE(fs::exists(work.Get()));
    }
}

TEST_CASE("a block file that cannot be opened is no damage, so nothing is rebuilt for it")
{
    const TempDir dir;
    FaultEnv env;
    const std::vector<bool> used{true};
    const auto check = [&] {
        return CheckFilesHold(env, dir.Get(), "blk", std::vector<uint64_t>{10}, used);
    };
    const auto missing = check();
    CHECK_FALSE((missing.Ok() || SystemFailed(missing)));
    std::filesystem::create_symlink(dir / "unmounted" / "blk", dir / "blk00000.dat");
    const auto dead = check();
    CHECK(SystemFailed(dead));
    CHECK_THAT(dead.Message(), Catch::Contains("It is a link to nothing: mount the disk"));
    std::filesystem::remove(dir / "blk00000.dat");
    std::ofstream(dir / "blk00000.dat") << "ten bytes.";
    Must(check());
    env.SetScript([](const FaultEnv::Operation& operation) { return operation.kind == "open"; });
    CHECK(SystemFailed(check()));
}
