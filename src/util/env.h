// Env: the interface to the machine: files, clock and randomness. The node uses PosixEnv(). Tests
// use an Env that injects faults and has a fixed seed, so that a whole sync can be repeated. An Env
// and read-only files may be used from any thread; a WritableFile by one thread at a time, but for
// Sync(), StartSync() and DontNeed(), which may run beside writes.
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
    /** Tells the kernel that [offset, offset+length) will be read soon. */
    virtual void WillNeed(uint64_t offset, uint64_t length) const = 0;
    /** Tells the kernel that [offset, offset+length) need not stay in its cache. */
    virtual void DontNeed(uint64_t offset, uint64_t length) const = 0;
};

/** A file being written. Data is durable only after Sync() has succeeded. */
class WritableFile {
public:
    virtual ~WritableFile() = default;
    virtual Result<> WriteAt(uint64_t offset, ByteSpan data) = 0;
    virtual Result<uint64_t> Size() const = 0;
    virtual Result<> Truncate(uint64_t size) = 0;
    /** Reserves disk space up to `size` so that later writes cannot fail for lack of it. */
    virtual Result<> Allocate(uint64_t size) = 0;
    /** Writes data and size to stable storage (fdatasync). */
    virtual Result<> Sync() = 0;
    /** Starts writeback of [offset, offset+length), so that a later Sync() has little left to do.
     *  Makes no data durable. */
    virtual Result<> StartSync(uint64_t /*offset*/, uint64_t /*length*/) { return {}; }
    /** Tells the kernel that the durable part of [offset, offset+length) need not stay in its
     *  cache; length 0: up to the end. */
    virtual void DontNeed(uint64_t /*offset*/, uint64_t /*length*/) {}
};

/** The kind of a file, after symbolic links. */
enum class FileKind {
    kNothing,
    kDeadLink, //!< a symbolic link without a target
    kRegular,
    kFolder,
    kNamedPipe, //!< a FIFO: may have no writer
    kPipe,      //!< a pipe that had a writer when it was passed, like a shell's <(command)
    kOther,     //!< a device, a socket
};

/** "a folder" and so on, for error texts. */
std::string_view NameOf(FileKind kind);

/** Called at intervals while a pipe waits for its other end; true: stop waiting. */
using StopWaiting = std::function<bool()>;

/** An input that is read once from start to end; may be a pipe. */
class InputStream {
public:
    virtual ~InputStream() = default;
    /** Fills `out`; returns fewer bytes only at the end. */
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
    // accepts regular files only, so that no pipe or device can block a start; the two calls that
    // accept pipes say so.
    virtual Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& path) = 0;
    /** The same through a memory map, if available: for many small reads. */
    virtual Result<std::unique_ptr<ReadableFile>> OpenMapped(const Path& path)
    {
        return OpenRead(path);
    }
    /** Opens for writing, creating the file if absent; `truncate` empties it. */
    virtual Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& path, bool truncate) = 0;
    /** Creates a file and opens it for writing; an error if the name exists, even as a link. For
     *  names in a folder of the user, where a file of that name may be the user's. */
    virtual Result<std::unique_ptr<WritableFile>> CreateFile(const Path& path);
    /** Accepts pipes and devices too. Read() returns an error when `stop` ends the wait for a
     *  writer. */
    virtual Result<std::unique_ptr<InputStream>> OpenStream(const Path& path, StopWaiting stop);
    /** Opens an existing named pipe for writing from offset 0 without gaps; waits for a reader. An
     *  error when the reader has closed the pipe, or when `stop` ends the wait. */
    virtual Result<std::unique_ptr<WritableFile>> OpenPipe(const Path& path, StopWaiting stop);
    /** Locks `path` (created if absent). Null: another process, or this one, holds the lock. */
    virtual Result<std::unique_ptr<FileLock>> Lock(const Path& path) = 0;
    /** Whether `path` exists. Also false if the system cannot tell: use it only where a wrong
     *  answer does no harm. */
    virtual bool Exists(const Path& path) = 0;
    /** The same, but an error if the system cannot tell (folder without permission, failing disk):
     *  for decisions to remove or rebuild data, or to start over. */
    virtual Result<bool> IsThere(const Path& path) { return Exists(path); }
    /** An error if the system cannot tell. */
    virtual Result<FileKind> KindOf(const Path& path);
    virtual Result<std::vector<std::string>> List(const Path& directory) = 0;
    virtual Result<> CreateDirectories(const Path& directory) = 0;
    virtual Result<> Remove(const Path& path) = 0;
    virtual Result<> RemoveAll(const Path& directory) = 0;
    /** Atomically replaces `to`; call SyncDirectory on the parent to make it durable. */
    virtual Result<> Rename(const Path& from, const Path& to) = 0;
    virtual Result<> SyncDirectory(const Path& directory) = 0;
    /** The final target of a symbolic link, existing or not; any other path unchanged. */
    virtual Path FollowLink(const Path& path) { return path; }
    /** Whether both exist on one file system, and so share its space. */
    virtual bool SameFileSystem(const Path&, const Path&) { return true; }
    /** Whether Rename() works between them: both exist on one file system, in one mount of it. A
     *  mount point is in another mount than its parent folder. */
    virtual bool SameMount(const Path& a, const Path& b) { return SameFileSystem(a, b); }
    /** Free bytes for an unprivileged process on the file system of `path`. */
    virtual Result<uint64_t> SpaceAvailable(const Path& path) = 0;

    /** Number of files that this process may have open at once. First raises the limit towards
     *  `wanted`, as far as the system permits. */
    virtual uint64_t OpenFileLimit(uint64_t wanted = 0)
    {
        (void)wanted;
        return 1024;
    }

    // Time and randomness.
    /** Seconds since 1970, UTC: the time for rules; tests may set it. */
    virtual int64_t UnixTime() = 0;
    /** Microseconds since 1970, UTC, for the log; whole seconds without a finer clock. */
    virtual int64_t UnixMicros() { return UnixTime() * 1'000'000; }
    /** Microseconds of a clock that never goes backwards; origin unspecified. */
    virtual int64_t MonotonicMicros() = 0;
    /** Bytes of memory that the process occupies now; 0: unknown. */
    virtual uint64_t ResidentBytes() { return 0; }
    /** Fills `out` from the operating system's generator; aborts if there is none. */
    virtual void RandomBytes(MutableByteSpan out) = 0;
};

/** The real machine. While `*mock_time` is not 0, UnixTime() returns it (-mocktime). */
std::unique_ptr<Env> MakePosixEnv(const std::atomic<int64_t>* mock_time = nullptr);

/** The folder that contains `path`; "." for a name alone. */
Path FolderOf(const Path& path);

/** Whole contents of a file. */
Result<Bytes> ReadWholeFile(Env& env, const Path& path);

/** Whole contents of a user's text file such as bitcoin.conf; may be a file, pipe or device, at
 *  most kMaxTextFile bytes. A named pipe that stays silent for kPipePatienceSeconds is an error. */
Result<Bytes> ReadWholeStream(Env& env, const Path& path);
inline constexpr size_t kMaxTextFile = 64 << 20;
inline constexpr int64_t kPipePatienceSeconds = 5;

/** Replaces `path` by `data`, atomically even at a crash: writes a new file, syncs it, renames it,
 *  syncs the directory. A symbolic link stays, and its target is replaced. */
Result<> WriteFileAtomically(Env& env, const Path& path, ByteSpan data);

} // namespace ibd
