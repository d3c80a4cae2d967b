// Env: the seam to the machine - files, clock and randomness. The node uses PosixEnv(); tests use
// one that injects faults and a fixed seed, so that a whole sync repeats from one number.
// An Env and read-only files may be used from any thread; a WritableFile by one thread at a time,
// but for Sync(), StartSync() and DontNeed(), which may run beside writes.
#pragma once

#include "util/bytes.h"
#include "util/result.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace ibd {

using Path = std::filesystem::path;

/** A file read at any offset, from any thread. */
class ReadableFile {
public:
    virtual ~ReadableFile() = default;
    /** Fills `out` from `offset`; returns the bytes read, fewer only at the end of the file. */
    virtual Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const = 0;
    virtual Result<uint64_t> Size() const = 0;
    /** Tells the kernel that [offset, offset+length) is wanted soon. */
    virtual void WillNeed(uint64_t offset, uint64_t length) const = 0;
    /** Tells the kernel that [offset, offset+length) need not stay in its cache. */
    virtual void DontNeed(uint64_t offset, uint64_t length) const = 0;
};

/** A file being written. Nothing is durable before Sync() succeeded. */
class WritableFile {
public:
    virtual ~WritableFile() = default;
    virtual Result<> WriteAt(uint64_t offset, ByteSpan data) = 0;
    virtual Result<uint64_t> Size() const = 0;
    virtual Result<> Truncate(uint64_t size) = 0;
    /** Reserves disk space up to `size` so that later writes cannot fail for lack of it. */
    virtual Result<> Allocate(uint64_t size) = 0;
    /** Data and size to stable storage (fdatasync). */
    virtual Result<> Sync() = 0;
    /** Has the kernel begin with what was written to [offset, offset+length), so that a later
     * Sync() finds little to do. Nothing is durable by it. */
    virtual Result<> StartSync(uint64_t /*offset*/, uint64_t /*length*/) { return {}; }
    /** Tells the kernel that what is durable of [offset, offset+length) need not stay in its cache;
     *  length 0 is to the end. */
    virtual void DontNeed(uint64_t /*offset*/, uint64_t /*length*/) {}
};

/** What is at a path, symbolic links followed. */
enum class FileKind {
    kNothing,
    kDeadLink, //!< a symbolic link to nothing
    kRegular,
    kFolder,
    kNamedPipe, //!< a FIFO: may have no writer
    kPipe,      //!< has had its writer from the start, as a shell's <(command)
    kOther,     //!< a device, a socket
};

/** "a folder" and so on, for error texts. */
std::string_view NameOf(FileKind kind);

/** Asked now and then while a pipe keeps its reader or writer waiting; true: wait no longer. */
using StopWaiting = std::function<bool()>;

/** What is read once from its start to its end, and may be a pipe. */
class InputStream {
public:
    virtual ~InputStream() = default;
    /** Fills `out`; fewer bytes only at the end. */
    virtual Result<size_t> Read(MutableByteSpan out) = 0;
};

/** An exclusive lock on a file, held until destruction. */
class FileLock {
public:
    virtual ~FileLock() = default;
};

class Env {
public:
    virtual ~Env() = default;

    // Files. Every error names the path and the system's reason. Opening for reading or writing
    // takes regular files only, so that no pipe or device holds a start up; the two calls that take
    // pipes say so.
    virtual Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& path) = 0;
    /** The same through a memory map, if there is one: for many small reads. */
    virtual Result<std::unique_ptr<ReadableFile>> OpenMapped(const Path& path)
    {
        return OpenRead(path);
    }
    /** Opens for writing, creating the file if absent; `truncate` empties it. */
    virtual Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& path, bool truncate) = 0;
    /** Makes a file and opens it for writing; an error if anything has this name, a link too. For
     *  names beside those that users give, which may be taken by files of theirs. */
    virtual Result<std::unique_ptr<WritableFile>> CreateFile(const Path& path);
    /** Takes pipes and devices too. An error of Read() when `stop` ends the wait for a writer. */
    virtual Result<std::unique_ptr<InputStream>> OpenStream(const Path& path, StopWaiting stop);
    /** A named pipe that is there, for writing from offset 0 on without a gap; waits for a reader.
     *  An error when there is none any more, or when `stop` ends the wait. */
    virtual Result<std::unique_ptr<WritableFile>> OpenPipe(const Path& path, StopWaiting stop);
    /** Locks `path` (created if absent); an error if another process holds it. */
    virtual Result<std::unique_ptr<FileLock>> Lock(const Path& path) = 0;
    /** Whether something is at `path`. Says no, too, where the system cannot tell: for questions
     *  whose wrong answer costs nothing. */
    virtual bool Exists(const Path& path) = 0;
    /** The same, but an error where the system cannot tell (a folder that may not be searched, a
     *  failing disk): for questions that decide what is removed, rebuilt or begun anew. */
    virtual Result<bool> IsThere(const Path& path) { return Exists(path); }
    /** An error where the system cannot tell. */
    virtual Result<FileKind> KindOf(const Path& path);
    virtual Result<std::vector<std::string>> List(const Path& directory) = 0;
    virtual Result<> CreateDirectories(const Path& directory) = 0;
    virtual Result<> Remove(const Path& path) = 0;
    virtual Result<> RemoveAll(const Path& directory) = 0;
    /** Atomically replaces `to`; call SyncDirectory on the parent to make it durable. */
    virtual Result<> Rename(const Path& from, const Path& to) = 0;
    virtual Result<> SyncDirectory(const Path& directory) = 0;
    /** Where a symbolic link leads, to whatever is or may be there; any other path is its own
     *  answer. */
    virtual Path FollowLink(const Path& path) { return path; }
    /** Whether both exist on one file system, so that Rename() works between them. */
    virtual bool SameFileSystem(const Path&, const Path&) { return true; }
    /** Bytes that an unprivileged process may still write on the file system of `path`. */
    virtual Result<uint64_t> SpaceAvailable(const Path& path) = 0;

    /** Files that this process may have open at once. Asks the system for `wanted` first if it is
     *  fewer; no more is given than the system permits the process to ask for. */
    virtual uint64_t OpenFileLimit(uint64_t wanted = 0)
    {
        (void)wanted;
        return 1024;
    }

    // Time and chance.
    /** Seconds since 1970, UTC: the time that rules go by, which tests may set. */
    virtual int64_t UnixTime() = 0;
    /** Microseconds since 1970, UTC, for the log; whole seconds where there is no finer clock. */
    virtual int64_t UnixMicros() { return UnixTime() * 1'000'000; }
    /** Microseconds of a clock that never goes back; origin unspecified. */
    virtual int64_t MonotonicMicros() = 0;
    /** Bytes of memory that the process occupies now; 0 where that is not known. */
    virtual uint64_t ResidentBytes() { return 0; }
    /** Fills `out` from the operating system's generator; aborts if there is none. */
    virtual void RandomBytes(MutableByteSpan out) = 0;
};

/** The machine itself. While `*mock_time` is not 0, UnixTime() says that instead (-mocktime). */
std::unique_ptr<Env> MakePosixEnv(const std::atomic<int64_t>* mock_time = nullptr);

/** Whole contents of a file. */
Result<Bytes> ReadWholeFile(Env& env, const Path& path);

/** A file for the user to write, a bitcoin.conf: whole contents of a file, pipe or device, at most
 *  kMaxTextFile bytes. A named pipe that stays silent for kPipePatienceSeconds is an error. */
Result<Bytes> ReadWholeStream(Env& env, const Path& path);
inline constexpr size_t kMaxTextFile = 64 << 20;
inline constexpr int64_t kPipePatienceSeconds = 5;

/** Replaces `path` by `data` so that after a crash either the old or the new contents are there:
 *  write beside, sync, rename, sync the directory. A symbolic link stays, and what it leads to is
 *  replaced. */
Result<> WriteFileAtomically(Env& env, const Path& path, ByteSpan data);

} // namespace ibd
