// See kv_store.h.
#include "storage/kv_store.h"

#include "util/check.h"
#include "util/hex.h"
#include "util/mutex.h"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace ibd {
namespace {

// Followed by a NUL that is not part of it.
constexpr uint8_t kObfuscationRecord[] = "\x0e\0obfuscate_key";

leveldb::Slice ToSlice(ByteSpan bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteSpan ToSpan(const leveldb::Slice& slice)
{
    return {reinterpret_cast<const uint8_t*>(slice.data()), slice.size()};
}

Error ToError(const leveldb::Status& status, const Path& directory)
{
    // Corruption is damage, which a rebuild repairs; any other error is a failure of the machine.
    const std::string text =
        fmt::format("database {}: LevelDB error: {}", directory.string(), status.ToString());
    return status.IsCorruption() ? BadData("{}", text) : SystemError("{}", text);
}

/** LevelDB's own messages, in the debug category "leveldb". */
class LogAdapter : public leveldb::Logger {
public:
    explicit LogAdapter(ibd::Logger& log) : m_log(log) {}

    __attribute__((format(printf, 2, 0))) void Logv(const char* format, va_list args) override
    {
        if (!m_log.Wants(LogLevel::kDebug, LogCategory::kLevelDb)) return;
        char line[1000];
        const int n = std::vsnprintf(line, sizeof line, format, args);
        if (n <= 0) return;
        std::string_view text(line, std::min(static_cast<size_t>(n), sizeof line - 1));
        while (text.ends_with('\n')) text.remove_suffix(1);
        m_log.Debug(LogCategory::kLevelDb, "{}", text);
    }

private:
    ibd::Logger& m_log;
};

} // namespace

ByteSpan ObfuscationRecordKey() { return ByteSpan(kObfuscationRecord, 15); }

struct KvStore::Impl {
    Impl(Logger& log, KvOptions o) : options(std::move(o)), logger(log)
    {
        cache.reset(leveldb::NewLRUCache(options.cache_bytes / 2));
        filter.reset(leveldb::NewBloomFilterPolicy(10));
        if (options.before_io) checked_env = MakeCheckedKvEnv(options.before_io);
    }

    leveldb::Options DbOptions()
    {
        leveldb::Options o;
        o.create_if_missing = true;
        o.block_cache = cache.get();
        o.write_buffer_size = options.cache_bytes / 4; // two may exist at once
        o.filter_policy = filter.get();
        o.compression = leveldb::kNoCompression;
        o.paranoid_checks = true;
        o.max_file_size = std::max(o.max_file_size, options.max_file_bytes);
        o.info_log = &logger;
        if (checked_env) o.env = checked_env.get();
        return o;
    }

    static leveldb::ReadOptions ReadOptions()
    {
        leveldb::ReadOptions o;
        o.verify_checksums = true;
        return o;
    }

    Found<Bytes> Get(ByteSpan key) const
    {
        std::string value;
        const leveldb::Status status = db->Get(ReadOptions(), ToSlice(key), &value);
        if (status.IsNotFound()) return std::nullopt;
        if (!status.ok()) return ToError(status, options.directory);
        Bytes bytes(value.begin(), value.end());
        xor_key.Apply(bytes);
        return bytes;
    }

    Result<bool> IsEmpty() const
    {
        const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(ReadOptions()));
        it->SeekToFirst();
        if (!it->status().ok()) return ToError(it->status(), options.directory);
        return !it->Valid();
    }

    Result<> LoadKey(Env& env);
    Result<> MakeKey(Env& env);

    const KvOptions options;
    LogAdapter logger;
    std::unique_ptr<leveldb::Cache> cache;
    std::unique_ptr<const leveldb::FilterPolicy> filter;
    std::unique_ptr<leveldb::Env> checked_env;
    std::unique_ptr<leveldb::DB> db; // closed before the members above, which it uses
    XorKey xor_key;
    Mutex failure_mutex;
    std::optional<Error> write_failure IBD_GUARDED_BY(failure_mutex);
};

/** Reads the key's own record, which is not obfuscated: a length byte and eight bytes. */
Result<> KvStore::Impl::LoadKey(Env& env)
{
    IBD_ASSIGN_OR_RETURN(const auto record, Get(ObfuscationRecordKey()));
    if (!record) {
        if (!options.obfuscate) return {}; // reading a record would report damage too early
        IBD_ASSIGN_OR_RETURN(const bool empty, IsEmpty());
        return empty ? MakeKey(env) : Result<>();
    }
    if (record->size() != 1 + XorKey::kSize || (*record)[0] != XorKey::kSize) {
        return BadData("database {}: malformed obfuscation key", options.directory.string());
    }
    std::array<uint8_t, XorKey::kSize> key;
    std::copy(record->begin() + 1, record->end(), key.begin());
    xor_key = XorKey(key);
    return {};
}

Result<> KvStore::Impl::MakeKey(Env& env)
{
    std::array<uint8_t, XorKey::kSize> key;
    env.RandomBytes(key);
    Bytes record = {XorKey::kSize};
    Append(record, key);
    const leveldb::Status status =
        db->Put(leveldb::WriteOptions(), ToSlice(ObfuscationRecordKey()), ToSlice(record));
    if (!status.ok()) return ToError(status, options.directory);
    xor_key = XorKey(key);
    return {};
}

namespace {

/** Refuses special files: LevelDB would wait for the other end of a pipe. */
Result<> CheckKinds(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(directory));
    for (const std::string& name : names) {
        IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(directory / name));
        if (kind != FileKind::kNamedPipe && kind != FileKind::kOther) continue;
        return BadData("database {}: '{}' is {}, not a file", directory.string(), name,
                       NameOf(kind));
    }
    return {};
}

/** LevelDB's lock of a database that is not open. */
class DbLock {
public:
    DbLock(leveldb::Env& env, const Path& directory)
        : m_env(env), m_status(env.LockFile((directory / "LOCK").string(), &m_lock))
    {
    }
    DbLock(const DbLock&) = delete;
    DbLock& operator=(const DbLock&) = delete;
    ~DbLock()
    {
        if (m_status.ok()) m_env.UnlockFile(m_lock);
    }
    const leveldb::Status& Status() const { return m_status; }

private:
    leveldb::Env& m_env;
    leveldb::FileLock* m_lock = nullptr;
    const leveldb::Status m_status;
};

/** The names of the write-ahead logs, the newest first. */
std::vector<std::string> NewestLogsFirst(std::vector<std::string> names)
{
    std::erase_if(names, [](const std::string& name) {
        return !name.ends_with(".log") || !IsDbFileName(name);
    });
    std::ranges::sort(names, std::greater(), [](const std::string& name) {
        return std::pair(name.size(), name); // numbers of at least six digits
    });
    return names;
}

/** Removes the logs, then the name of the manifest. Without it a directory is an empty database,
 *  but LevelDB would put the records of a log that is still there into it. */
Result<> RemoveBeginnings(Env& env, const Path& directory, leveldb::Env& files)
{
    const DbLock lock(files, directory);
    if (!lock.Status().ok()) return ToError(lock.Status(), directory);
    IBD_ASSIGN_OR_RETURN(std::vector<std::string> names, env.List(directory));
    const bool has_current = std::ranges::find(names, "CURRENT") != names.end();
    names = NewestLogsFirst(std::move(names));
    if (has_current) names.emplace_back("CURRENT");
    for (const std::string& name : names) {
        const leveldb::Status removed = files.DeleteFile((directory / name).string());
        if (!removed.ok()) return ToError(removed, directory);
        IBD_RETURN_IF_ERROR(env.SyncDirectory(directory));
    }
    return {};
}

Result<> Destroy(Env& env, const Path& directory, const leveldb::Options& options)
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(directory));
    if (is_there) IBD_RETURN_IF_ERROR(RemoveBeginnings(env, directory, *options.env));
    const leveldb::Status status = leveldb::DestroyDB(directory.string(), options);
    return status.ok() ? Result<>() : ToError(status, directory);
}

} // namespace

KvStore::KvStore(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
KvStore::~KvStore() = default;

Result<std::unique_ptr<KvStore>> KvStore::Open(Env& env, Logger& log, KvOptions options)
{
    auto impl = std::make_unique<Impl>(log, std::move(options));
    const KvOptions& o = impl->options;
    if (o.wipe) {
        log.Info("Wiping LevelDB in {}", o.directory.string());
        IBD_RETURN_IF_ERROR(Destroy(env, o.directory, impl->DbOptions()));
    }
    IBD_RETURN_IF_ERROR(env.CreateDirectories(o.directory));
    IBD_RETURN_IF_ERROR(CheckKinds(env, o.directory));
    log.Info("Opening LevelDB in {}", o.directory.string());
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(impl->DbOptions(), o.directory.string(), &db);
    if (!status.ok()) return ToError(status, o.directory);
    impl->db.reset(db);
    log.Info("Opened LevelDB successfully");
    if (o.compact) {
        log.Info("Starting database compaction of {}", o.directory.string());
        db->CompactRange(nullptr, nullptr);
        log.Info("Finished database compaction of {}", o.directory.string());
    }
    IBD_RETURN_IF_ERROR(impl->LoadKey(env));
    log.Info("Using obfuscation key for {}: {}", o.directory.string(), ToHex(impl->xor_key.Span()));
    return std::unique_ptr<KvStore>(new KvStore(std::move(impl)));
}

Found<Bytes> KvStore::Get(ByteSpan key) const { return m_impl->Get(key); }

Result<bool> KvStore::Exists(ByteSpan key) const
{
    std::string value;
    const leveldb::Status status = m_impl->db->Get(Impl::ReadOptions(), ToSlice(key), &value);
    if (!status.ok() && !status.IsNotFound()) return ToError(status, Directory());
    return status.ok();
}

Result<bool> KvStore::IsEmpty() const { return m_impl->IsEmpty(); }

uint64_t KvStore::EstimateSize(ByteSpan begin, ByteSpan end) const
{
    const leveldb::Range range(ToSlice(begin), ToSlice(end));
    uint64_t size = 0;
    m_impl->db->GetApproximateSizes(&range, 1, &size);
    return size;
}

std::string KvStore::Property(const std::string& name) const
{
    std::string value;
    return m_impl->db->GetProperty(name, &value) ? value : std::string();
}

size_t KvStore::MemoryUsage() const
{
    return std::strtoull(Property("leveldb.approximate-memory-usage").c_str(), nullptr, 10);
}

void KvStore::CompactRange() { m_impl->db->CompactRange(nullptr, nullptr); }

Result<> KvStore::WriteMemory()
{
    // A range without a key; before it is compacted LevelDB writes its memory.
    const leveldb::Slice none("\xff", 1);
    m_impl->db->CompactRange(&none, &none);
    return Write(KvBatch(*this), true); // reports a failure of the compaction
}

const XorKey& KvStore::Key() const { return m_impl->xor_key; }
const Path& KvStore::Directory() const { return m_impl->options.directory; }

// Batches.

namespace {

/** Collects the changes of a batch and orders them by key. Keys and values stay in the batch. */
class SortedChanges final : public leveldb::WriteBatch::Handler {
public:
    void Put(const leveldb::Slice& key, const leveldb::Slice& value) override
    {
        m_changes.push_back({key, value, false});
    }
    void Delete(const leveldb::Slice& key) override { m_changes.push_back({key, {}, true}); }

    leveldb::WriteBatch Sorted()
    {
        std::ranges::stable_sort(m_changes, [](const Change& a, const Change& b) {
            return a.key.compare(b.key) < 0;
        });
        leveldb::WriteBatch out;
        for (const Change& change : m_changes) {
            if (change.erased) {
                out.Delete(change.key);
            } else {
                out.Put(change.key, change.value);
            }
        }
        return out;
    }

private:
    struct Change {
        leveldb::Slice key;
        leveldb::Slice value;
        bool erased;
    };
    std::vector<Change> m_changes;
};

} // namespace

struct KvBatch::Impl {
    mutable leveldb::WriteBatch batch; //!< LevelDB sets sequence numbers in it while it writes it
    XorKey key;
    Bytes value; //!< buffer for the obfuscated value
};

KvBatch::KvBatch(const KvStore& store) : m_impl(std::make_unique<Impl>())
{
    m_impl->key = store.Key();
}
KvBatch::~KvBatch() = default;
KvBatch::KvBatch(KvBatch&&) noexcept = default;

void KvBatch::Put(ByteSpan key, ByteSpan value)
{
    m_impl->value.resize(value.size());
    m_impl->key.Apply(m_impl->value.data(), value.data(), value.size(), 0);
    m_impl->batch.Put(ToSlice(key), ToSlice(m_impl->value));
}

void KvBatch::Erase(ByteSpan key) { m_impl->batch.Delete(ToSlice(key)); }

void KvBatch::Sort()
{
    SortedChanges changes;
    const leveldb::Status read = m_impl->batch.Iterate(&changes);
    CHECK(read.ok());
    m_impl->batch = changes.Sorted();
}

void KvBatch::Clear() { m_impl->batch.Clear(); }
size_t KvBatch::ApproximateSize() const { return m_impl->batch.ApproximateSize(); }

Result<> KvStore::Write(const KvBatch& batch, bool sync)
{
    const Lock lock(m_impl->failure_mutex);
    if (m_impl->write_failure) return *m_impl->write_failure;
    leveldb::WriteOptions options;
    options.sync = sync;
    const leveldb::Status status = m_impl->db->Write(options, &batch.Changes().batch);
    if (status.ok()) return {};
    m_impl->write_failure = ToError(status, Directory());
    return *m_impl->write_failure;
}

// Iterators.

struct KvIterator::Impl {
    std::unique_ptr<leveldb::Iterator> it;
    XorKey key;
    Path directory;
    mutable Bytes value; //!< the current value, de-obfuscated
};

KvIterator::KvIterator(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
KvIterator::~KvIterator() = default;
KvIterator::KvIterator(KvIterator&&) noexcept = default;

KvIterator KvStore::NewIterator() const
{
    leveldb::ReadOptions options = Impl::ReadOptions();
    // A walk reads everything once, and would displace frequently read blocks.
    options.fill_cache = false;
    auto impl = std::make_unique<KvIterator::Impl>();
    impl->it.reset(m_impl->db->NewIterator(options));
    impl->key = Key();
    impl->directory = Directory();
    return KvIterator(std::move(impl));
}

void KvIterator::SeekToFirst() { m_impl->it->SeekToFirst(); }
void KvIterator::Seek(ByteSpan key) { m_impl->it->Seek(ToSlice(key)); }
void KvIterator::Next() { m_impl->it->Next(); }
bool KvIterator::Valid() const { return m_impl->it->Valid(); }
ByteSpan KvIterator::Key() const { return ToSpan(m_impl->it->key()); }

ByteSpan KvIterator::Value() const
{
    const ByteSpan stored = ToSpan(m_impl->it->value());
    m_impl->value.resize(stored.size());
    m_impl->key.Apply(m_impl->value.data(), stored.data(), stored.size(), 0);
    return m_impl->value;
}

Result<> KvIterator::Status() const
{
    if (!m_impl->it->status().ok()) return ToError(m_impl->it->status(), m_impl->directory);
    return {};
}

Result<> DestroyDb(Env& env, const Path& directory)
{
    return Destroy(env, directory, leveldb::Options());
}

Result<> RemoveDbFolder(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(directory));
    if (!is_there) return {};
    IBD_RETURN_IF_ERROR(DestroyDb(env, directory));
    return env.RemoveAll(directory);
}

bool IsDbFileName(std::string_view name)
{
    constexpr std::string_view kWhole[] = {"CURRENT", "LOCK", "LOG", "LOG.old"};
    constexpr std::string_view kManifest = "MANIFEST-";
    constexpr std::string_view kSuffixes[] = {".log", ".ldb", ".sst", ".dbtmp"};
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    if (std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole)) return true;
    if (name.starts_with(kManifest)) return is_number(name.substr(kManifest.size()));
    return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
        return name.ends_with(suffix) && is_number(name.substr(0, name.size() - suffix.size()));
    });
}

} // namespace ibd
