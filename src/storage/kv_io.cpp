// See kv_io.h.
#include "storage/kv_io.h"

#include <leveldb/env.h>

namespace ibd {
namespace {

leveldb::Status Ask(const KvIoCheck& check, const char* kind, const std::string& path)
{
    const Result<> asked = check(kind, path);
    return asked ? leveldb::Status::OK() : leveldb::Status::IOError(asked.Message());
}

class CheckedSequential final : public leveldb::SequentialFile {
public:
    CheckedSequential(const KvIoCheck& check, std::string path, leveldb::SequentialFile* inner)
        : m_check(check), m_path(std::move(path)), m_inner(inner)
    {
    }
    leveldb::Status Read(size_t n, leveldb::Slice* result, char* scratch) override
    {
        const leveldb::Status status = Ask(m_check, "read", m_path);
        return status.ok() ? m_inner->Read(n, result, scratch) : status;
    }
    leveldb::Status Skip(uint64_t n) override { return m_inner->Skip(n); }
    std::string GetName() const override { return m_path; }

private:
    const KvIoCheck& m_check;
    const std::string m_path;
    const std::unique_ptr<leveldb::SequentialFile> m_inner;
};

class CheckedRandom final : public leveldb::RandomAccessFile {
public:
    CheckedRandom(const KvIoCheck& check, std::string path, leveldb::RandomAccessFile* inner)
        : m_check(check), m_path(std::move(path)), m_inner(inner)
    {
    }
    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override
    {
        const leveldb::Status status = Ask(m_check, "read", m_path);
        return status.ok() ? m_inner->Read(offset, n, result, scratch) : status;
    }
    std::string GetName() const override { return m_path; }

private:
    const KvIoCheck& m_check;
    const std::string m_path;
    const std::unique_ptr<leveldb::RandomAccessFile> m_inner;
};

class CheckedWritable final : public leveldb::WritableFile {
public:
    CheckedWritable(const KvIoCheck& check, std::string path, leveldb::WritableFile* inner)
        : m_check(check), m_path(std::move(path)), m_inner(inner)
    {
    }
    leveldb::Status Append(const leveldb::Slice& data) override
    {
        const leveldb::Status status = Ask(m_check, "write", m_path);
        if (status.ok()) return m_inner->Append(data);
        // A failed write may have written a part.
        (void)m_inner->Append({data.data(), data.size() / 2});
        (void)m_inner->Flush();
        return status;
    }
    leveldb::Status Close() override { return m_inner->Close(); }
    leveldb::Status Flush() override { return m_inner->Flush(); }
    leveldb::Status Sync() override
    {
        const leveldb::Status status = Ask(m_check, "sync", m_path);
        return status.ok() ? m_inner->Sync() : status;
    }
    std::string GetName() const override { return m_path; }

private:
    const KvIoCheck& m_check;
    const std::string m_path;
    const std::unique_ptr<leveldb::WritableFile> m_inner;
};

class CheckedEnv final : public leveldb::EnvWrapper {
public:
    explicit CheckedEnv(KvIoCheck check)
        : EnvWrapper(leveldb::Env::Default()), m_check(std::move(check))
    {
    }
    leveldb::Status NewSequentialFile(const std::string& f, leveldb::SequentialFile** r) override
    {
        return Open<CheckedSequential>("open", f, r, &leveldb::Env::NewSequentialFile);
    }
    leveldb::Status NewRandomAccessFile(const std::string& f,
                                        leveldb::RandomAccessFile** r) override
    {
        return Open<CheckedRandom>("open", f, r, &leveldb::Env::NewRandomAccessFile);
    }
    leveldb::Status NewWritableFile(const std::string& f, leveldb::WritableFile** r) override
    {
        return Open<CheckedWritable>("create", f, r, &leveldb::Env::NewWritableFile);
    }
    leveldb::Status NewAppendableFile(const std::string& f, leveldb::WritableFile** r) override
    {
        return Open<CheckedWritable>("create", f, r, &leveldb::Env::NewAppendableFile);
    }
    leveldb::Status DeleteFile(const std::string& f) override
    {
        const leveldb::Status status = Ask(m_check, "remove", f);
        return status.ok() ? target()->DeleteFile(f) : status;
    }
    leveldb::Status RenameFile(const std::string& from, const std::string& to) override
    {
        const leveldb::Status status = Ask(m_check, "rename", from);
        return status.ok() ? target()->RenameFile(from, to) : status;
    }

private:
    template <typename Checked, typename File>
    leveldb::Status Open(const char* kind, const std::string& path, File** out,
                         leveldb::Status (leveldb::Env::*open)(const std::string&, File**))
    {
        *out = nullptr;
        leveldb::Status status = Ask(m_check, kind, path);
        File* inner = nullptr;
        if (status.ok()) status = (target()->*open)(path, &inner);
        if (status.ok()) *out = new Checked(m_check, path, inner);
        return status;
    }

    const KvIoCheck m_check;
};

} // namespace

std::unique_ptr<leveldb::Env> MakeCheckedKvEnv(KvIoCheck check)
{
    return std::make_unique<CheckedEnv>(std::move(check));
}

} // namespace ibd
