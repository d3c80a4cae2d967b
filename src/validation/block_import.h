// BlockImporter: brings blocks from files into the index: the node's own blk files for -reindex
// (left in place), any other file for -loadblock (copied). Blocks may be in any order, repeated, on
// branches, or between garbage. One thread. Memory: file position and hash of each block that waits
// for its parent, and the scanner's window.
#pragma once

#include "util/progress.h"
#include "validation/block_survey.h"
#include "validation/chain_manager.h"
#include "validation/import_breaks.h"

#include <map>

namespace ibd {

class BlockImporter {
public:
    BlockImporter(ChainManager& chain, BlockStore& blocks, Env& env, Logger& log,
                  const std::atomic<bool>& interrupt);

    /** The display of Reindex()'s progress. */
    void ShowIn(const ProgressTargets& progress) { m_progress = progress; }
    /** Bytes of the store's block files. */
    Result<uint64_t> StoredBytes() const;
    /** Indexes every block of the store's files. Stops early, without error, when interrupted. */
    Result<> Reindex();
    /** Does the same with the same result, but skips blocks that the survey has found sound: it
     *  reads only the others and the bytes between blocks. */
    Result<> Reindex(const BlockSurvey& survey);
    /** Stores the blocks of a file that is not obfuscated; they are connected later. The file may
     *  be a pipe. A pipe cannot be read again, so blocks before their parent are left out; an
     *  interrupt ends the wait for more data. A file that cannot be opened causes a warning. */
    Result<> LoadFile(const Path& path);

    /** Searches the block files for blocks that are not stored, by their headers: files may have
     *  been repaired since -reindex left damaged blocks out. */
    Result<> FindMissing();

    uint64_t Accepted() const { return m_accepted; }
    /** Reindex() notes here the places where the files break the chain, for an error that may
     *  follow. */
    void TellBreakIn(std::string& text)
    {
        text.clear();
        m_break = &text;
    }

private:
    /** The position of a block that waits for its parent: in a file of the store, or in m_source.
     */
    struct Waiting {
        FilePos stored;
        uint64_t offset = 0;
        uint32_t size = 0;
        const SurveyedBlock* known = nullptr; //!< checked already, so it need not be read
        BlockHash hash = {};                  //!< set while it waits
    };

    /** `raw`: the block; empty if it is known. */
    ScanStep Visit(const Waiting& place, const BlockHeader& header, ByteSpan raw);
    ScanStep Visit(const Waiting& place, ByteSpan raw)
    {
        return Visit(place, BlockHeader::FromBytes(raw.data()), raw);
    }
    Result<ScanStep> VisitSurveyed(const SurveyedBlock& block);
    Result<> ReindexFile(std::span<const SurveyedBlock> blocks, ProgressMeter& meter,
                         uint64_t& read);
    ProgressMeter Meter(uint64_t bytes) const;
    Result<uint64_t> SizeOf(int32_t file) const;
    Result<size_t> ScanUntilKnown(std::span<const SurveyedBlock> blocks, size_t next,
                                  uint64_t from);
    /** Accepts a block whose parent is known, and all blocks that waited for it. */
    Result<ScanStep> Accept(const Waiting& place, ByteSpan raw);
    Result<BlockOutcome> AcceptOne(const Waiting& place, ByteSpan raw);
    /** The same, with log lines and counts. */
    Result<BlockOutcome> Take(const Waiting& place, ByteSpan raw);
    void LeaveOut(const Waiting& place, ByteSpan raw, const BlockOutcome& outcome);
    static BlockHash HashOf(const Waiting& place, ByteSpan raw);
    Result<UnzeroedBytes> Read(const Waiting& place) const;
    Result<> AcceptWaiting(const BlockHash& parent);
    void NoteRefused(const Waiting& place, const std::string& why);
    void ReportWaiting(const std::string& where) const;
    Result<uint64_t> EndFile(int32_t file, FrameGaps& gaps) const;
    void ReportReindex(const FrameGaps& gaps);
    std::string DescribeFirstWaiting() const;
    Result<> LoadFrom(const ReadableFile& file, const Path& path);

    ChainManager& m_chain;
    BlockStore& m_blocks;
    Env& m_env;
    Logger& m_log;
    const std::atomic<bool>& m_interrupt;
    ProgressTargets m_progress;
    const ReadableFile* m_source = nullptr; //!< of LoadFile(), while it runs
    bool m_reads_once = false;              //!< m_source is a pipe
    uint64_t m_left_out = 0;                //!< blocks of the pipe that came before their parent
    /** By parent; blocks with the same parent in the order of the files. */
    std::multimap<BlockHash, Waiting> m_waiting;
    Result<> m_failure; //!< a disk error; ends the import
    uint64_t m_accepted = 0;
    uint64_t m_damaged = 0; //!< damaged blocks of the store, left out
    std::optional<ImportBreak> m_refused; //!< the first block of the store that was not accepted
    std::string* m_break = nullptr;
};

} // namespace ibd
