// PosixEnv on a real file system, and its loops against calls that fail, stop short or are
// interrupted.
#include "sim/fault_env.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "util/posix_io.h"

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"

using namespace ibd;
using ibd::test::FaultEnv;
using ibd::test::Must;
using ibd::test::TempDir;

TEST_CASE("a loop of short and interrupted reads gives all bytes")
{
    const Bytes source = test::RandomBytes(1000);
    Bytes out(700);
    int calls = 0;
    const auto read = [&](uint8_t* p, size_t n, off_t at) -> ssize_t {
        if (++calls % 3 == 0) {
            errno = EINTR;
            return -1;
        }
        const size_t some = std::min<size_t>({n, 7, source.size() - static_cast<size_t>(at)});
        std::memcpy(p, source.data() + at, some);
        return static_cast<ssize_t>(some);
    };
    const IoOutcome full = ReadFully(read, out, 100);
    CHECK(full.error == 0);
    CHECK(full.done == 700);
    CHECK(std::equal(out.begin(), out.end(), source.begin() + 100));

    const IoOutcome at_end = ReadFully(read, out, 950);
    CHECK(at_end.error == 0);
    CHECK(at_end.done == 50);
}

TEST_CASE("a read or write that fails midway reports its errno")
{
    int calls = 0;
    const auto fails = [&](auto*, size_t n, off_t) -> ssize_t {
        if (++calls < 3) return static_cast<ssize_t>(std::min<size_t>(n, 10));
        errno = EIO;
        return -1;
    };
    Bytes buffer(100);
    IoOutcome r = ReadFully(fails, buffer, 0);
    CHECK(r.done == 20);
    CHECK(r.error == EIO);
    calls = 0;
    r = WriteFully(fails, buffer, 0);
    CHECK(r.done == 20);
    CHECK(r.error == EIO);
    // A write of nothing without an error must not loop for ever.
    r = WriteFully([](const uint8_t*, size_t, off_t) -> ssize_t { return 0; }, buffer, 0);
    CHECK(r.error == ENOSPC);
}

TEST_CASE("files are written, read and cut")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const Bytes data = test::RandomBytes(10000);
    {
        const auto file = env->OpenWrite(dir / "a", true);
        REQUIRE(file.Ok());
        REQUIRE((*file)->WriteAt(500, data).Ok());
        REQUIRE((*file)->Sync().Ok());
        CHECK(*(*file)->Size() == 10500);
        REQUIRE((*file)->Truncate(9000).Ok());
        REQUIRE((*file)->Allocate(20000).Ok());
        CHECK(*(*file)->Size() == 20000);
    }
    const auto file = env->OpenRead(dir / "a");
    REQUIRE(file.Ok());
    Bytes out(8500);
    CHECK(*(*file)->ReadAt(500, out) == 8500);
    CHECK(std::equal(out.begin(), out.end(), data.begin()));
    CHECK(*(*file)->ReadAt(19990, out) == 10);
    CHECK(*(*file)->ReadAt(30000, out) == 0);
    (*file)->WillNeed(100, 0);
    (*file)->WillNeed(0, 1 << 20);
    (*file)->DontNeed(0, 100);
    // Opening without truncation keeps the contents.
    REQUIRE(env->OpenWrite(dir / "a", false).Ok());
    CHECK(*(*env->OpenRead(dir / "a"))->Size() == 20000);
    REQUIRE(env->OpenWrite(dir / "a", true).Ok());
    CHECK(*(*env->OpenRead(dir / "a"))->Size() == 0);
}

TEST_CASE("a mapped file reads as one that is not, also when it is cut short meanwhile")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const Bytes data = test::RandomBytes(50'000);
    REQUIRE((*env->OpenWrite(dir / "a", true))->WriteAt(0, data).Ok());
    const auto mapped = Must(env->OpenMapped(dir / "a"));
    const auto plain = Must(env->OpenRead(dir / "a"));
    CHECK(Must(mapped->Size()) == data.size());
    const auto same = [&](uint64_t offset, size_t size) {
        Bytes a(size);
        Bytes b(size);
        const size_t got = Must(mapped->ReadAt(offset, a));
        CHECK(got == Must(plain->ReadAt(offset, b)));
        CHECK(std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(got), b.begin()));
    };
    const auto same_everywhere = [&] {
        for (const uint64_t offset : {0, 1, 4095, 20'000, 36'863, 49'999, 50'000, 60'000}) {
            for (const size_t size : {0, 1, 5'000, 40'000, 70'000}) same(offset, size);
        }
    };
    same_everywhere();
    // Pages that go are shown by a signal, the rest of the last one by nothing.
    for (const uint64_t size : {49'000, 20'100, 4096, 3}) {
        REQUIRE((*env->OpenWrite(dir / "a", false))->Truncate(size).Ok());
        CHECK(Must(mapped->Size()) == data.size());
        same_everywhere();
    }
    (void)Must(env->OpenWrite(dir / "a", true));
    std::vector<std::thread> readers;
    std::atomic<int> empty = 0;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            Bytes out(100);
            for (int n = 0; n < 500; ++n) empty += *mapped->ReadAt(n * 50, out) == 0 ? 1 : 0;
        });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(empty == 2000);
    const auto none = Must(env->OpenMapped(dir / "a"));
    Bytes out(10);
    CHECK(Must(none->ReadAt(0, out)) == 0);
}

TEST_CASE("errors name the path and the reason and are the machine's fault")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto expect = [](const auto& result, const std::string& path, int code) {
        REQUIRE_FALSE(result.Ok());
        const Error& e = result.GetError();
        CHECK(e.kind == Error::Kind::kSystem);
        CHECK_THAT(e.message, Catch::Contains(path));
        CHECK_THAT(e.message, Catch::Contains(std::generic_category().message(code)));
    };
    const Path none = dir / "none";
    expect(env->OpenRead(none), none, ENOENT);
    expect(env->OpenRead(dir.Get()), dir.Get(), EISDIR);
    expect(env->OpenWrite(none / "x", true), none, ENOENT);
    expect(env->OpenWrite(dir.Get(), false), dir.Get(), EISDIR);
    expect(env->Remove(none), none, ENOENT);
    expect(env->Rename(none, dir / "b"), none, ENOENT);
    expect(env->List(none), none, ENOENT);
    expect(env->SpaceAvailable(none), none, ENOENT);
    expect(env->SyncDirectory(none), none, ENOENT);
    REQUIRE(WriteFileAtomically(*env, dir / "file", AsBytes("x")).Ok());
    expect(env->CreateDirectories(dir / "file/sub"), "file", ENOTDIR);
    expect(ReadWholeFile(*env, none), none, ENOENT);
}

TEST_CASE("a file that may not grow is an error of the write")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto file = Must(env->OpenWrite(dir / "file", false));
    struct rlimit before;
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    struct rlimit none = before;
    none.rlim_cur = 0;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
    const auto result = file->WriteAt(0, AsBytes("text"));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    REQUIRE_FALSE(result.Ok());
    CHECK_THAT(result.Message(), Catch::Contains(std::generic_category().message(EFBIG)));
}

TEST_CASE("directories are made, listed and removed")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    REQUIRE(env->CreateDirectories(dir / "a/b/c").Ok());
    REQUIRE(env->CreateDirectories(dir / "a/b/c").Ok());
    REQUIRE(WriteFileAtomically(*env, dir / "a/f", AsBytes("1")).Ok());
    auto names = env->List(dir / "a");
    REQUIRE(names.Ok());
    std::sort(names->begin(), names->end());
    CHECK(*names == std::vector<std::string>{"b", "f"});
    REQUIRE(env->SyncDirectory(dir / "a").Ok());
    REQUIRE(env->RemoveAll(dir / "a").Ok());
    CHECK_FALSE(env->Exists(dir / "a"));
    CHECK(*env->SpaceAvailable(dir.Get()) > 0);
}

TEST_CASE("a missing file is distinguished from a failed look-up")
{
    const TempDir temp;
    const auto env = MakePosixEnv();
    std::ofstream(temp.Get() / "file") << "x";
    CHECK(Must(env->IsThere(temp.Get())));
    CHECK(Must(env->IsThere(temp.Get() / "file")));
    CHECK_FALSE(Must(env->IsThere(temp.Get() / "none")));
    CHECK_FALSE(Must(env->IsThere(temp.Get() / "file" / "below")));
    const Path too_long = temp.Get() / std::string(300, 'x');
    CHECK_FALSE(env->Exists(too_long));
    const auto unknown = env->IsThere(too_long);
    REQUIRE_FALSE(unknown.Ok());
    CHECK(unknown.GetError().kind == Error::Kind::kSystem);
}

TEST_CASE("more open files are asked for, and no more than the system permits are counted on")
{
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const auto env = MakePosixEnv();
    const rlimit low = {60, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
    CHECK(env->OpenFileLimit() == 60);
    CHECK(env->OpenFileLimit(50) == 60);
    CHECK(env->OpenFileLimit(100) == 100);
    CHECK(env->OpenFileLimit() == 100);
    CHECK(env->OpenFileLimit(before.rlim_max) == before.rlim_max);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("an atomic write replaces the file and leaves nothing beside it")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    for (const size_t size : {10u, 100000u, 0u}) {
        const Bytes data = test::RandomBytes(size);
        REQUIRE(WriteFileAtomically(*env, dir / "f", data).Ok());
        CHECK(*ReadWholeFile(*env, dir / "f") == data);
        CHECK(env->List(dir.Get())->size() == 1);
    }
}

/** What `condition` returns in another process. */
template <typename Condition>
static bool HoldsInChild(const Condition& condition)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(condition() ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 1;
}

TEST_CASE("one holder of a lock at a time, in one process and across processes")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    auto held = Must(env->Lock(dir / ".lock"));
    REQUIRE(held);
    CHECK_FALSE(Must(env->Lock(dir / ".lock")));
    const auto failed = env->Lock(dir / "none" / ".lock");
    CHECK_THAT(failed.Message(), Catch::Contains("open lock file"));
    const auto other_process_locks = [&] {
        return HoldsInChild([&] { return Must(env->Lock(dir / ".lock")) != nullptr; });
    };
    CHECK_FALSE(other_process_locks());
    { // A lock outlasts other descriptors of its file.
        const auto other = Must(env->OpenRead(dir / ".lock"));
    }
    CHECK_FALSE(other_process_locks());
    held = Must(env->Lock(dir / "other")); // lets go of the first
    CHECK(other_process_locks());
}

TEST_CASE("a lock and Core's exclude each other")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const Path path = dir / ".lock";
    const auto core_locks = [&](int fd) {
        struct flock whole = {};
        whole.l_type = F_WRLCK;
        whole.l_whence = SEEK_SET;
        return ::fcntl(fd, F_SETLK, &whole) == 0;
    };
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(core_locks(fd));
    CHECK(HoldsInChild([&] { return !Must(env->Lock(path)); }));
    ::close(fd);
    const auto held = Must(env->Lock(path));
    REQUIRE(held);
    CHECK(HoldsInChild([&] { return !core_locks(::open(path.c_str(), O_RDWR | O_CLOEXEC)); }));
}

TEST_CASE("a file that could not be replaced leaves nothing beside it")
{
    const TempDir dir;
    for (const char* kind : {"create", "write", "sync", "rename"}) {
        INFO(kind);
        FaultEnv env;
        Must(WriteFileAtomically(env, dir / "file", AsBytes("old")));
        env.SetScript([kind](const FaultEnv::Operation& now) {
            return now.kind == kind && now.path.filename() == "file.new";
        });
        CHECK_FALSE(WriteFileAtomically(env, dir / "file", AsBytes("new")));
        CHECK(Must(ReadWholeFile(env, dir / "file")) == Bytes{'o', 'l', 'd'});
        CHECK_FALSE(std::filesystem::exists(dir / "file.new"));
    }
    // A folder of this name is not ours.
    FaultEnv env;
    std::filesystem::create_directory(dir / "file.new");
    CHECK_FALSE(WriteFileAtomically(env, dir / "file", AsBytes("new")));
    CHECK(std::filesystem::exists(dir / "file.new"));
}

TEST_CASE("clocks advance and random bytes differ")
{
    const auto env = MakePosixEnv();
    CHECK(env->UnixTime() > 1'700'000'000);
    CHECK(std::abs(env->UnixMicros() / 1'000'000 - env->UnixTime()) <= 1);
    const int64_t before = env->MonotonicMicros();
    CHECK(env->MonotonicMicros() >= before);
    Bytes a(32);
    Bytes b(32);
    env->RandomBytes(a);
    env->RandomBytes(b);
    CHECK(a != b);
}

TEST_CASE("links are followed to their end, also where that is not there")
{
    const auto env = MakePosixEnv();
    TempDir dir;
    const Path real = dir.Get() / "disk" / "data";
    Must(env->CreateDirectories(real));
    std::filesystem::create_symlink("disk/data", dir.Get() / "relative");
    std::filesystem::create_symlink(real, dir.Get() / "absolute");
    std::filesystem::create_symlink("relative", dir.Get() / "twice");
    for (const char* name : {"relative", "absolute", "twice"}) {
        REQUIRE(env->FollowLink(dir.Get() / name) == real);
    }
    REQUIRE(env->FollowLink(real) == real);
    REQUIRE(env->FollowLink(dir.Get() / "none") == dir.Get() / "none");
    std::filesystem::remove(real);
    REQUIRE(env->FollowLink(dir.Get() / "twice") == real);
    std::filesystem::create_symlink("circle", dir.Get() / "circle");
    (void)env->FollowLink(dir.Get() / "circle"); // ends
}

TEST_CASE("two file systems are distinguished")
{
    const auto env = MakePosixEnv();
    TempDir dir;
    REQUIRE(env->SameFileSystem(dir.Get(), dir.Get().parent_path()));
    REQUIRE_FALSE(env->SameFileSystem(dir.Get(), "/proc"));
    REQUIRE_FALSE(env->SameFileSystem(dir.Get(), dir.Get() / "none"));
    std::filesystem::create_directory(dir / "folder");
    REQUIRE(env->SameMount(dir.Get(), dir / "folder"));
    REQUIRE_FALSE(env->SameMount(dir.Get(), "/proc"));
    REQUIRE_FALSE(env->SameMount(dir.Get(), dir / "none"));
}

TEST_CASE("a file that is not regular is recognised, and not opened as a regular one")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    Must(WriteFileAtomically(*env, dir / "file", AsBytes("data")));
    REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
    std::filesystem::create_directory(dir / "folder");
    std::filesystem::create_symlink(dir / "file", dir / "link");
    std::filesystem::create_symlink(dir / "gone", dir / "dead");
    const std::pair<const char*, FileKind> kinds[] = {
        {"file", FileKind::kRegular}, {"link", FileKind::kRegular},
        {"pipe", FileKind::kNamedPipe}, {"folder", FileKind::kFolder},
        {"dead", FileKind::kDeadLink}, {"none", FileKind::kNothing}};
    for (const auto& [name, kind] : kinds) {
        INFO(name);
        CHECK(Must(env->KindOf(dir / name)) == kind);
        CHECK(env->OpenRead(dir / name).Ok() == (kind == FileKind::kRegular));
        CHECK(env->OpenMapped(dir / name).Ok() == (kind == FileKind::kRegular));
    }
    CHECK(Must(env->KindOf("/dev/null")) == FileKind::kOther);
    for (const Path& path : {dir / "pipe", dir / "folder", Path("/dev/null")}) {
        CHECK_FALSE(env->OpenWrite(path, /*truncate=*/true).Ok());
    }
    // The pipe was opened without anybody at its other end, and nothing waited.
    CHECK_FALSE(env->OpenPipe(dir / "pipe", [] { return true; }).Ok());
}

TEST_CASE("a pipe is read to its end and written from its start")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
    const Bytes sent = test::RandomBytes(300'000); // more than a pipe holds
    std::thread writer([&] {
        const auto pipe = Must(env->OpenPipe(dir / "pipe", {}));
        Must(pipe->WriteAt(0, ByteSpan(sent).first(1000)));
        Must(pipe->WriteAt(1000, ByteSpan(sent).subspan(1000)));
        Must(pipe->Sync());
    });
    const Bytes got = Must(ReadWholeStream(*env, dir / "pipe"));
    writer.join();
    CHECK(got == sent);
    CHECK(Must(ReadWholeStream(*env, "/dev/null")).empty());
    CHECK_FALSE(ReadWholeStream(*env, "/dev/zero").Ok()); // more than is taken
    CHECK_FALSE(ReadWholeStream(*env, dir.Get()).Ok());
    const auto silent = Must(env->OpenStream(dir / "pipe", [] { return true; }));
    Bytes out(10);
    CHECK_FALSE(silent->Read(out).Ok());
}

TEST_CASE("a file is replaced where a link leads, and the link stays")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    std::filesystem::create_directory(dir / "elsewhere");
    Must(WriteFileAtomically(*env, dir / "elsewhere" / "real", AsBytes("old")));
    std::filesystem::create_symlink("elsewhere/real", dir / "link");
    Must(WriteFileAtomically(*env, dir / "link", AsBytes("new")));
    CHECK(std::filesystem::is_symlink(dir / "link"));
    CHECK(Must(ReadWholeFile(*env, dir / "elsewhere" / "real")) == Bytes{'n', 'e', 'w'});
    // A link to nothing gives way, as the file is to be there.
    std::filesystem::create_symlink("nowhere/gone", dir / "dead");
    Must(WriteFileAtomically(*env, dir / "dead", AsBytes("new")));
    CHECK(Must(ReadWholeFile(*env, dir / "dead")) == Bytes{'n', 'e', 'w'});
}

TEST_CASE("FolderOf: the folder that contains a path")
{
    CHECK(FolderOf("/a/b") == "/a");
    CHECK(FolderOf("/a") == "/");
    CHECK(FolderOf("a/b") == "a");
    CHECK(FolderOf("a") == ".");
}
