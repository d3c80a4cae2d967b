// See block_import.h.
#include "validation/block_import.h"

#include "storage/frame_scanner.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

namespace ibd {

BlockImporter::BlockImporter(ChainManager& chain, BlockStore& blocks, Env& env, Logger& log,
                             const std::atomic<bool>& interrupt)
    : m_chain(chain), m_blocks(blocks), m_env(env), m_log(log), m_interrupt(interrupt)
{
}

namespace {

/** Sets the importing state of the chain as long as it lives. */
class Importing {
public:
    explicit Importing(ChainManager& chain) : m_chain(chain) { m_chain.SetImporting(true); }
    ~Importing() { m_chain.SetImporting(false); }
    Importing(const Importing&) = delete;
    Importing& operator=(const Importing&) = delete;

private:
    ChainManager& m_chain;
};

/** Reads a file once, from its start to its end, so that it may be a pipe. */
class StreamedFile final : public ReadableFile {
public:
    explicit StreamedFile(std::unique_ptr<InputStream> stream) : m_stream(std::move(stream)) {}
    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        CHECK(offset == m_at);
        IBD_ASSIGN_OR_RETURN(const size_t got, m_stream->Read(out));
        m_at += got;
        return got;
    }
    Result<uint64_t> Size() const override { return m_at; }
    void WillNeed(uint64_t, uint64_t) const override {}
    void DontNeed(uint64_t, uint64_t) const override {}

private:
    const std::unique_ptr<InputStream> m_stream;
    mutable uint64_t m_at = 0; //!< used by one thread
};

} // namespace

Result<UnzeroedBytes> BlockImporter::Read(const Waiting& place) const
{
    if (!place.stored.IsNull()) return m_blocks.ReadBlock(place.stored);
    UnzeroedBytes raw(place.size);
    IBD_ASSIGN_OR_RETURN(const size_t got, m_source->ReadAt(place.offset, raw));
    if (got != raw.size()) return SystemError("the imported file shrank while it was read");
    return raw;
}

Result<BlockOutcome> BlockImporter::AcceptOne(const Waiting& place, ByteSpan raw)
{
    if (place.known) {
        const SurveyedBlock& block = *place.known;
        return m_chain.AcceptSound({block.node->Header(), block.block_size, block.tx_count},
                                   block.pos);
    }
    return m_chain.AcceptBlock(raw, place.stored.IsNull() ? nullptr : &place.stored);
}

BlockHash BlockImporter::HashOf(const Waiting& place, ByteSpan raw)
{
    if (place.known) return place.known->node->hash;
    return BlockHeader::FromBytes(raw.data()).Hash();
}

/** Accepts the header of a damaged block, so that the blocks above are indexed. */
void BlockImporter::LeaveOut(const Waiting& place, ByteSpan raw, const BlockOutcome& outcome)
{
    const RuleViolation& why = *outcome.violation;
    m_log.Debug(LogCategory::kReindex, "block refused: {}", why.ToString());
    if (place.stored.IsNull() || place.known) return;
    NoteRefused(place, why.ToString());
    if (outcome.node && why.kind != RuleViolation::Kind::kMutated) return;
    if (!outcome.node && m_chain.AcceptHeader(BlockHeader::FromBytes(raw.data()))) return;
    m_chain.NoteLeftOut(HashOf(place, raw), place.stored, why.ToString());
    ++m_damaged;
}

/** Keeps the first position by file and offset. */
void BlockImporter::NoteRefused(const Waiting& place, const std::string& why)
{
    const auto order = [](const FilePos& pos) { return std::pair(pos.file, pos.offset); };
    const FilePos& pos = place.stored;
    if (m_refused && order(m_refused->pos) <= order(pos)) return;
    m_refused = {pos, fmt::format("the block in {}, offset {} is damaged or invalid ({})",
                                  m_blocks.BlockPath(pos.file).string(), pos.offset, why)};
}

Result<BlockOutcome> BlockImporter::Take(const Waiting& place, ByteSpan raw)
{
    IBD_ASSIGN_OR_RETURN(BlockOutcome outcome, AcceptOne(place, raw));
    if (outcome.violation) LeaveOut(place, raw, outcome);
    if (outcome.is_new) ++m_accepted;
    return outcome;
}

Result<ScanStep> BlockImporter::Accept(const Waiting& place, ByteSpan raw)
{
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, Take(place, raw));
    const BlockHash hash = outcome.node ? outcome.node->hash : HashOf(place, raw);
    if (m_waiting.contains(hash) && m_chain.Read().Find(hash)) {
        IBD_RETURN_IF_ERROR(AcceptWaiting(hash));
    }
    // Bytes that do not parse may hide the start of a real frame.
    return outcome.node ? ScanStep::kNext : ScanStep::kNotABlock;
}

Result<> BlockImporter::AcceptWaiting(const BlockHash& parent)
{
    std::deque<BlockHash> parents{parent};
    while (!parents.empty()) {
        const BlockHash known = parents.front();
        const auto [begin, end] = m_waiting.equal_range(known);
        parents.pop_front();
        std::vector<Waiting> children;
        for (auto it = begin; it != end; ++it) children.push_back(it->second);
        m_waiting.erase(begin, end);
        for (const Waiting& child : children) {
            UnzeroedBytes raw;
            if (!child.known) {
                IBD_ASSIGN_OR_RETURN(raw, Read(child));
            }
            IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, Take(child, raw));
            const BlockHash hash = HashOf(child, raw);
            if (m_chain.Read().Find(hash)) parents.push_back(hash);
            if (outcome.violation) continue;
            m_log.Debug(LogCategory::kReindex,
                        "LoadExternalBlockFile: Processing out of order child {} of {}",
                        hash.ToHex(), known.ToHex());
        }
    }
    return {};
}

ScanStep BlockImporter::Visit(const Waiting& place, const BlockHeader& header, ByteSpan raw)
{
    if (m_interrupt) return ScanStep::kStop;
    if (!header.prev_hash.IsNull() && !m_chain.Read().Find(header.prev_hash)) {
        m_log.Debug(LogCategory::kReindex,
                    "LoadExternalBlockFile: Out of order block {}, parent {} not known",
                    header.Hash().ToHex(), header.prev_hash.ToHex());
        if (place.stored.IsNull() && m_reads_once) {
            ++m_left_out;
            return ScanStep::kNext;
        }
        Waiting waiting = place;
        waiting.hash = header.Hash();
        m_waiting.emplace(header.prev_hash, waiting);
        return ScanStep::kNext;
    }
    auto step = Accept(place, raw);
    if (step) return *step;
    m_failure = step.GetError();
    return ScanStep::kStop;
}

void BlockImporter::ReportWaiting(const std::string& where) const
{
    if (m_damaged > 0) {
        m_log.Warning("{} blocks in {} are damaged and were left out; peers have them", m_damaged,
                      where);
    }
    const uint64_t count = m_waiting.size() + m_left_out;
    if (count == 0) return;
    m_log.Warning("{} blocks in {} have no parent {} and were left out", count, where,
                  m_reads_once ? "before them" : "there");
}

/** The first block in the files whose parent is in none of them. */
std::string BlockImporter::DescribeFirstWaiting() const
{
    std::vector<BlockHash> waiting;
    for (const auto& [parent, child] : m_waiting) waiting.push_back(child.hash);
    std::sort(waiting.begin(), waiting.end());
    const auto place = [](const auto& entry) {
        return std::pair(entry.second.stored.file, entry.second.stored.offset);
    };
    auto first = m_waiting.end();
    for (auto it = m_waiting.begin(); it != m_waiting.end(); ++it) {
        if (std::binary_search(waiting.begin(), waiting.end(), it->first)) continue;
        if (first == m_waiting.end() || place(*it) < place(*first)) first = it;
    }
    CHECK(first != m_waiting.end()); // hashes cannot form a ring
    const FilePos& pos = first->second.stored;
    return fmt::format("the parent {} of the block in {}, offset {} is missing",
                       first->first.ToHex(), m_blocks.BlockPath(pos.file).string(), pos.offset);
}

/** Logs what was left out and where the first damage is. Only the last file may be damaged so that
 *  no block lacks its parent. */
void BlockImporter::ReportReindex(const FrameGaps& gaps)
{
    ReportWaiting("the block files");
    const auto gap = m_waiting.empty() ? gaps.InLastFile(m_blocks) : gaps.First(m_blocks);
    std::vector<std::string> parts;
    if (gap) parts.push_back(gap->text);
    if (m_refused) parts.push_back(m_refused->text);
    if (!m_waiting.empty()) parts.push_back(DescribeFirstWaiting());
    if (parts.empty()) return;
    std::string found = fmt::format("{}", fmt::join(parts, "; "));
    if (gap || !m_waiting.empty()) {
        found = fmt::format("blocks are missing in the block files, whose headers reach height {}: "
                            "{}. Restart with -reindex once the file is sound, or with a peer",
                            m_chain.Read().Tree().BestHeader()->height, found);
        if (m_break) *m_break = found;
    }
    m_log.Warning("-reindex: {}", found);
}

Result<uint64_t> BlockImporter::SizeOf(int32_t file) const
{
    IBD_ASSIGN_OR_RETURN(const auto readable, m_env.OpenRead(m_blocks.BlockPath(file)));
    return readable->Size();
}

Result<uint64_t> BlockImporter::StoredBytes() const
{
    uint64_t bytes = 0;
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_blocks.ListBlockFiles());
    for (const int32_t file : files) {
        IBD_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file));
        bytes += size;
    }
    return bytes;
}

/** The size of a file that was read. Only the warning suffers if its end cannot be read again. */
Result<uint64_t> BlockImporter::EndFile(int32_t file, FrameGaps& gaps) const
{
    IBD_ASSIGN_OR_RETURN(const auto readable, m_env.OpenRead(m_blocks.BlockPath(file)));
    const Result<> looked = gaps.EndFile(*readable);
    if (!looked) m_log.Warning("-reindex: damage could not be looked for: {}", looked.Message());
    return readable->Size();
}

ProgressMeter BlockImporter::Meter(uint64_t bytes) const
{
    return ProgressMeter(m_env, m_log,
                         {.label = "Reindexing blocks",
                          .unit = "bytes",
                          .total = bytes,
                          .to = m_progress,
                          .step = WorkStep::kIndex});
}

Result<> BlockImporter::Reindex()
{
    const Importing importing(m_chain);
    IBD_ASSIGN_OR_RETURN(const uint64_t bytes, StoredBytes());
    ProgressMeter meter = Meter(bytes);
    uint64_t before = 0;
    FrameGaps gaps;
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_blocks.ListBlockFiles());
    for (size_t i = 0; i < files.size() && !m_interrupt; ++i) {
        gaps.BeginFile(files[i]);
        m_log.Info("Reindexing block file blk{:05}.dat ({}% complete)...", files[i],
                   i * 100 / files.size());
        IBD_RETURN_IF_ERROR(m_blocks.ScanFile(files[i], [&](FilePos pos, ByteSpan raw) {
            meter.Update(before + pos.offset);
            gaps.AddFrame(pos.offset, raw.size());
            return Visit({.stored = pos}, raw);
        }));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, EndFile(files[i], gaps));
        meter.Update(before += size);
        IBD_RETURN_IF_ERROR(m_failure);
    }
    if (m_interrupt) return {};
    ReportReindex(gaps);
    m_log.Info("Reindexing finished: {} blocks", m_accepted);
    return {};
}

Result<ScanStep> BlockImporter::VisitSurveyed(const SurveyedBlock& block)
{
    if (block.checked) {
        return Visit({.stored = block.pos, .known = &block}, block.node->Header(), {});
    }
    IBD_ASSIGN_OR_RETURN(const UnzeroedBytes raw, m_blocks.ReadBlock(block.pos));
    return Visit({.stored = block.pos}, raw);
}

/** Scans on from the place where survey and import disagree, until both reach the same frame.
 *  Returns its index, or blocks.size() at the end of the file. */
Result<size_t> BlockImporter::ScanUntilKnown(std::span<const SurveyedBlock> blocks, size_t next,
                                             uint64_t from)
{
    const int32_t number = blocks.front().pos.file;
    const Path path = m_blocks.BlockPath(number);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    FrameScanner scanner(*file, path, m_blocks.Key(), m_blocks.Magic(), BlockStore::kScanWindow,
                         from);
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const auto frame, scanner.Next());
        if (!frame) return blocks.size();
        const auto same = std::find_if(
            blocks.begin() + static_cast<ptrdiff_t>(next), blocks.end(),
            [&](const SurveyedBlock& block) { return block.pos.offset == frame->offset; });
        if (same != blocks.end()) return static_cast<size_t>(same - blocks.begin());
        const ScanStep step = Visit({.stored = {number, frame->offset}}, frame->block);
        if (step == ScanStep::kStop) return blocks.size();
        if (step == ScanStep::kNotABlock) scanner.Refuse();
    }
}

/** Imports the blocks of one file. The place of the next frame depends on whether a frame was
 *  refused. The survey sees only headers, so it may have accepted a block that is refused here, or
 *  the reverse. */
Result<> BlockImporter::ReindexFile(std::span<const SurveyedBlock> blocks, ProgressMeter& meter,
                                    uint64_t& read)
{
    for (size_t i = 0; i < blocks.size();) {
        const SurveyedBlock& block = blocks[i];
        IBD_ASSIGN_OR_RETURN(const ScanStep step, VisitSurveyed(block));
        if (step == ScanStep::kStop) return {};
        meter.Update(read += block.frame_size);
        ++i;
        const bool refused = step == ScanStep::kNotABlock;
        if (refused == block.refused) continue;
        const uint64_t from =
            refused ? block.pos.offset - kFrameHeaderSize + 1 : block.pos.offset + block.frame_size;
        IBD_ASSIGN_OR_RETURN(i, ScanUntilKnown(blocks, i, from));
    }
    return {};
}

Result<> BlockImporter::Reindex(const BlockSurvey& survey)
{
    const Importing importing(m_chain);
    std::span<const SurveyedBlock> rest = survey.Blocks();
    const size_t all = rest.size();
    uint64_t bytes = 0;
    for (const SurveyedBlock& block : rest) bytes += block.frame_size;
    ProgressMeter meter = Meter(bytes);
    uint64_t read = 0;
    while (!rest.empty() && !m_interrupt) {
        const int32_t file = rest.front().pos.file;
        m_log.Info("Reindexing block file blk{:05}.dat ({}% complete)...", file,
                   (all - rest.size()) * 100 / all);
        const auto next = std::find_if(rest.begin(), rest.end(), [&](const SurveyedBlock& block) {
            return block.pos.file != file;
        });
        const auto count = static_cast<size_t>(next - rest.begin());
        IBD_RETURN_IF_ERROR(ReindexFile(rest.first(count), meter, read));
        IBD_RETURN_IF_ERROR(m_failure);
        rest = rest.subspan(count);
    }
    if (m_interrupt) return {};
    ReportReindex(survey.Gaps());
    m_log.Info("Reindexing finished: {} blocks", m_accepted);
    return {};
}

Result<> BlockImporter::FindMissing()
{
    const Importing importing(m_chain);
    BlockSurvey survey(m_chain.Params());
    IBD_RETURN_IF_ERROR(survey.Take(m_env, m_log, m_blocks, m_interrupt));
    for (const SurveyedBlock& block : survey.Blocks()) {
        if (m_interrupt) return {};
        if (!block.node || m_chain.IsStored(block.node->hash)) continue;
        IBD_ASSIGN_OR_RETURN(const UnzeroedBytes raw, m_blocks.ReadBlock(block.pos));
        IBD_RETURN_IF_ERROR(Take({.stored = block.pos}, raw));
    }
    m_log.Info("{} of the missing blocks are in the block files", m_accepted);
    return {};
}

Result<> BlockImporter::LoadFile(const Path& path)
{
    const auto kind = m_env.KindOf(path);
    m_reads_once = kind && *kind != FileKind::kRegular;
    if (!m_reads_once) {
        auto file = m_env.OpenRead(path);
        if (file) return LoadFrom(**file, path);
    } else if (*kind != FileKind::kFolder) {
        auto stream = m_env.OpenStream(path, [this] { return m_interrupt.load(); });
        if (stream) return LoadFrom(StreamedFile(std::move(stream).Value()), path);
    }
    m_log.Warning("Could not open blocks file {}", path.string());
    return {};
}

Result<> BlockImporter::LoadFrom(const ReadableFile& file, const Path& path)
{
    const int64_t began = m_env.MonotonicMicros();
    m_log.Info("Importing blocks file {}...", path.string());
    const Importing importing(m_chain);
    m_source = &file;
    m_waiting.clear(); // their positions were in another file
    m_left_out = 0;
    FrameScanner scanner(file, path, XorKey(), m_blocks.Magic(), BlockStore::kScanWindow);
    ScanStep step = ScanStep::kNext;
    while (step != ScanStep::kStop) {
        const auto frame = scanner.Next();
        if (m_interrupt) return {}; // an interrupt may have ended the data early
        if (!frame) return frame.GetError();
        if (!*frame) break;
        const ByteSpan block = (*frame)->block;
        const auto size = static_cast<uint32_t>(block.size());
        step = Visit({.stored = {}, .offset = scanner.End() - size, .size = size}, block);
        if (step == ScanStep::kNotABlock) scanner.Refuse();
    }
    IBD_RETURN_IF_ERROR(m_failure);
    if (m_interrupt) return {};
    ReportWaiting(path.string());
    m_log.Info("Loaded {} blocks from external file in {}ms", m_accepted,
               (m_env.MonotonicMicros() - began) / 1'000);
    return {};
}

} // namespace ibd
