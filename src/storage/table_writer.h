// TableWriter: writes sorted records as LevelDB table files, without LevelDB: no log, no memory
// table, no compaction. Each writer belongs to one thread; several may fill the same directory with
// disjoint key ranges and shared file numbers. Memory: one write buffer plus the index and filter
// of one table, about 2 MiB. Format: doc/formats/chainstate.md, "Tables".
#pragma once

#include "storage/xor_key.h"
#include "util/env.h"

#include <atomic>
#include <memory>
#include <optional>

namespace ibd {

/** A finished table, as the manifest lists it. */
struct TableFile {
    uint64_t number = 0;
    uint64_t size = 0;
    uint64_t records = 0;
    Bytes smallest; //!< first and last key
    Bytes largest;
};

struct TableOptions {
    Path directory;
    XorKey key;                         //!< obfuscation of values
    uint64_t max_file_bytes = 32 << 20; //!< a table is closed once it has reached this size
};

/** "000005.ldb" */
std::string TableFileName(uint64_t number);

/** The records of one block: each key is stored without its common prefix with the previous one. */
class TableBlock {
public:
    explicit TableBlock(uint32_t restart_interval) : m_restart_interval(restart_interval) {}

    /** Adds a record; `key` ends in its trailer and is above all earlier keys. Obfuscates the value
     *  with `xor_key`. */
    void Add(ByteSpan key, ByteSpan value, const XorKey& xor_key = {});
    /** Appends the restart points; the block is complete. */
    ByteSpan Finish();
    void Reset();
    bool Empty() const { return m_bytes.empty(); }
    size_t Size() const { return m_bytes.size() + 4 * m_restarts.size() + 4; }

private:
    const uint32_t m_restart_interval;
    Bytes m_bytes;
    std::vector<uint32_t> m_restarts = {0};
    uint32_t m_since_restart = 0;
    Bytes m_last_key;
};

/** The bloom filters of a table: one for each 2 KiB of blocks, 10 bits a key. */
class TableFilter {
public:
    void AddKey(ByteSpan user_key);
    /** Later blocks start at `offset`. */
    void StartBlock(uint64_t offset);
    ByteSpan Finish();
    void Reset();

private:
    void CloseFilter();

    std::vector<uint32_t> m_hashes; //!< hashes of the keys since the last filter
    std::vector<uint32_t> m_offsets;
    Bytes m_bytes;
};

class TableWriter {
public:
    static constexpr size_t kBlockSize = 4096;

    /** `next_number` is shared by all writers of the directory. */
    TableWriter(Env& env, TableOptions options, std::atomic<uint64_t>& next_number);

    /** Adds a record. Keys must ascend strictly (CHECK). The first error is kept. */
    Result<> Add(ByteSpan key, ByteSpan value);
    /** Closes and syncs the last table; returns all tables. The writer must not be used afterwards.
     */
    Result<std::vector<TableFile>> Finish();

private:
    struct Handle {
        uint64_t offset = 0;
        uint64_t size = 0;
    };

    Result<> OpenTable();
    Result<> CloseTable();
    void FlushBlock();
    /** Adds the index entry of the last block, once the first key after it is known (or there is
     *  none). */
    void AddIndexEntry(ByteSpan next_key);
    Handle AppendBlock(ByteSpan contents);
    Result<> Drain(size_t keep_below);

    Env& m_env;
    const TableOptions m_options;
    std::atomic<uint64_t>& m_next_number;

    std::vector<TableFile> m_done;
    std::unique_ptr<WritableFile> m_file; //!< null between tables
    TableFile m_table;                    //!< the open table
    Bytes m_out;                          //!< not yet in the file
    uint64_t m_offset = 0;                //!< of the table, including m_out

    Bytes m_last_key;     //!< last key added, without trailer
    Bytes m_internal_key; //!< space for a key with its trailer
    TableBlock m_data{16};
    TableBlock m_index{1};
    TableFilter m_filter;
    std::optional<Handle> m_unindexed; //!< block whose index entry waits for the next key
};

} // namespace ibd
