// TableDbBuilder: makes a LevelDB database from tables that are written directly, in a directory of
// its own. Owned by the code that loads. NewWriter() may be called from any thread; each writer
// belongs to one thread and has a key range of its own. Complete() is called once, after all
// writers finished; only then is the directory a database.
#pragma once

#include "storage/table_writer.h"

namespace ibd {

class TableDbBuilder {
public:
    /** Removes the remains of an earlier attempt and makes an empty directory. `key`: for the
     *  values. */
    static Result<std::unique_ptr<TableDbBuilder>> Create(Env& env, Path directory, XorKey key,
                                                          uint64_t max_file_bytes = 32 << 20);

    std::unique_ptr<TableWriter> NewWriter() { return NewWriter(m_key); }
    /** A writer for values that are obfuscated already. */
    std::unique_ptr<TableWriter> NewPlainWriter() { return NewWriter(XorKey()); }
    const XorKey& Key() const { return m_key; }
    const Path& Directory() const { return m_directory; }

    /** Writes the manifest of all tables and makes everything durable. The tables' key ranges must
     *  not overlap (CHECK). */
    Result<> Complete(std::vector<TableFile> tables);

private:
    TableDbBuilder(Env& env, Path directory, XorKey key, uint64_t max_file_bytes)
        : m_env(env), m_directory(std::move(directory)), m_key(key),
          m_max_file_bytes(max_file_bytes)
    {
    }
    std::unique_ptr<TableWriter> NewWriter(const XorKey& key);
    Result<> WriteManifest(std::span<const TableFile> tables);

    Env& m_env;
    const Path m_directory;
    const XorKey m_key;
    const uint64_t m_max_file_bytes;
    std::atomic<uint64_t> m_next_number{2}; //!< 1 is the manifest
};

/** Appends the tables in `more`. */
inline void AppendTables(std::vector<TableFile>& tables, std::vector<TableFile> more)
{
    tables.insert(tables.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

} // namespace ibd
