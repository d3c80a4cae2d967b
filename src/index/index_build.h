// IndexBuild: builds the databases of indexes from all stored blocks of a branch, in one pass over
// the block files, in their order, on all cores (PlaceSort). Much faster than indexing block by
// block, which inserts each record at a random place of a growing database. A database that a kill
// or an error leaves in place names no best block, so it is built again. The next attempt removes
// the work folder (WorkFolder). Owned by Indexes. Run() on one thread, which starts others, all of
// low priority; the rest on any. Memory: IndexBuildOptions::memory_bytes, and a few MB for each
// thread.
#pragma once

#include "index/index.h"
#include "index/index_chain.h"
#include "index/place_sort.h"
#include "storage/table_db.h"
#include "swiftsync/block_plan.h"

namespace ibd {

struct IndexBuildOptions {
    unsigned threads = 0; //!< 0: as many as there are cores
    size_t memory_bytes = size_t{192} << 20;
    int32_t least_blocks = 100; //!< with fewer blocks there is no build
};

class IndexBuild {
public:
    /** The chain up to `end` must be stored. The indexes have no open database (Index::CloseDb()),
     *  and their directories are empty. All arguments outlive it. */
    IndexBuild(Env& env, Logger& log, const IndexChain& chain, const HeaderNode& end,
               const std::vector<Index*>& indexes, const IndexBuildOptions& options);
    ~IndexBuild();

    /** True: the databases are in place, closed, and lack only the record of the best block. False:
     *  stopped, and no files are left. Error: the machine failed, or a block is damaged or missing;
     *  the text names no remedy. Databases that were already in place stay: the caller removes
     *  them. */
    Result<bool> Run();
    /** Makes Run() return soon. */
    void Stop() { m_stop = true; }

    const HeaderNode& End() const { return m_end; }
    bool Builds(const Index& index) const
    {
        return std::ranges::any_of(m_parts, [&](const Part& part) { return part.index == &index; });
    }
    /** Share of the work that is done. */
    double Done() const;
    /** Nothing: unknown yet. */
    std::optional<int64_t> SecondsLeft() const;

private:
    /** One index, and the place of its records. */
    struct Part {
        Index* index;
        Path folder; //!< of the database
        std::unique_ptr<PlaceSort> sort;
        std::unique_ptr<TableDbBuilder> db;
        std::vector<TableFile> tables;
    };
    /** A part of the records of one index. */
    struct Task {
        Part* part;
        uint32_t number;
    };

    /** The progress of a step. */
    struct Bytewise {
        std::atomic<uint64_t> done{0};
        std::atomic<uint64_t> total{0};
    };

    Result<bool> RunAll();
    Result<> CheckRoom() const;
    Result<> Plan();
    Result<> MakeParts();
    unsigned PartBits(uint64_t bytes) const;
    Result<> ReadAll();
    Result<> Read(size_t worker);
    Result<> WriteAll();
    Result<> Write(const Task& task);
    Result<> Publish();
    Result<> Clear() const;
    Result<> AddOtherRecords(const Index& index, const Path& made);
    /** Runs body(worker) on all threads. Returns the first error. */
    Result<> OnThreads(const char* doing, const Bytewise& progress,
                       const std::function<Result<>(size_t worker)>& body);

    Env& m_env;
    Logger& m_log;
    const IndexChain& m_chain;
    const HeaderNode& m_end;
    const IndexBuildOptions m_options;
    const size_t m_threads;
    const int64_t m_started_micros;
    std::vector<Part> m_parts;
    std::vector<FilePos> m_places; //!< of blocks, by height
    std::optional<BlockPlan> m_plan;
    std::atomic<bool> m_stop{false};
    Bytewise m_read;    //!< blocks
    Bytewise m_written; //!< records
    Mutex m_mutex;      //!< of Part::tables
};

} // namespace ibd
