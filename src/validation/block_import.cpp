// See block_import.h.
#include "validation/block_import.h"

#include "storage/frame_scanner.h"

#include <deque>

namespace ibd {

BlockImporter::BlockImporter(ChainManager& chain, BlockStore& blocks, Env& env, Logger& log,
                             const std::atomic<bool>& interrupt)
    : m_chain(chain), m_blocks(blocks), m_env(env), m_log(log), m_interrupt(interrupt)
{
}

namespace {

/** Says that blocks are being imported, as long as it lives. */
class Importing {
public:
    explicit Importing(ChainManager& chain) : m_chain(chain) { m_chain.SetImporting(true); }
    ~Importing() { m_chain.SetImporting(false); }
    Importing(const Importing&) = delete;
    Importing& operator=(const Importing&) = delete;

private:
    ChainManager& m_chain;
};

} // namespace

Result<Bytes> BlockImporter::Read(const Waiting& place) const
{
    if (!place.stored.IsNull()) return m_blocks.ReadBlock(place.stored);
    Bytes raw(place.size);
    IBD_ASSIGN_OR_RETURN(const size_t got, m_source->ReadAt(place.offset, raw));
    if (got != raw.size()) return SystemError("the imported file shrank while it was read");
    return raw;
}

Result<ScanStep> BlockImporter::Accept(const Waiting& place, ByteSpan raw)
{
    const FilePos* stored = place.stored.IsNull() ? nullptr : &place.stored;
    IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, m_chain.AcceptBlock(raw, stored));
    if (outcome.violation) {
        m_log.Debug(LogCategory::kReindex, "block refused: {}", outcome.violation->ToString());
        // Bytes that do not even parse may hide the start of a real frame.
        return outcome.node ? ScanStep::kNext : ScanStep::kNotABlock;
    }
    if (outcome.is_new) ++m_accepted;
    if (m_waiting.contains(outcome.node->hash)) {
        IBD_RETURN_IF_ERROR(AcceptWaiting(outcome.node->hash));
    }
    return ScanStep::kNext;
}

Result<> BlockImporter::AcceptWaiting(const BlockHash& parent)
{
    std::deque<BlockHash> parents{parent};
    while (!parents.empty()) {
        const auto [begin, end] = m_waiting.equal_range(parents.front());
        parents.pop_front();
        std::vector<Waiting> children;
        for (auto it = begin; it != end; ++it) children.push_back(it->second);
        m_waiting.erase(begin, end);
        for (const Waiting& child : children) {
            IBD_ASSIGN_OR_RETURN(const Bytes raw, Read(child));
            const FilePos* stored = child.stored.IsNull() ? nullptr : &child.stored;
            IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, m_chain.AcceptBlock(raw, stored));
            if (outcome.violation) continue;
            if (outcome.is_new) ++m_accepted;
            parents.push_back(outcome.node->hash);
        }
    }
    return {};
}

ScanStep BlockImporter::Visit(const Waiting& place, ByteSpan raw)
{
    if (m_interrupt) return ScanStep::kStop;
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    bool parent_known;
    {
        const auto lock = m_chain.Lock();
        parent_known = header.prev_hash.IsNull() || m_chain.Tree().Find(header.prev_hash);
    }
    if (!parent_known) {
        m_waiting.emplace(header.prev_hash, place);
        return ScanStep::kNext;
    }
    auto step = Accept(place, raw);
    if (step) return *step;
    m_failure = step.GetError();
    return ScanStep::kStop;
}

void BlockImporter::ReportWaiting(const std::string& where) const
{
    if (m_waiting.empty()) return;
    m_log.Warning("{} blocks in {} have no parent there and were left out", m_waiting.size(),
                  where);
}

Result<> BlockImporter::Reindex()
{
    const Importing importing(m_chain);
    IBD_ASSIGN_OR_RETURN(const std::vector<int32_t> files, m_blocks.ListBlockFiles());
    for (size_t i = 0; i < files.size() && !m_interrupt; ++i) {
        m_log.Info("Reindexing block file blk{:05}.dat ({}% complete)...", files[i],
                   i * 100 / files.size());
        IBD_RETURN_IF_ERROR(m_blocks.ScanFile(files[i], [&](FilePos pos, ByteSpan raw) {
            return Visit({pos, 0, 0}, raw);
        }));
        IBD_RETURN_IF_ERROR(m_failure);
    }
    if (m_interrupt) return {};
    ReportWaiting("the block files");
    m_log.Info("Reindexing finished: {} blocks", m_accepted);
    return {};
}

Result<> BlockImporter::LoadFile(const Path& path)
{
    m_log.Info("Importing blocks file {}...", path.string());
    const Importing importing(m_chain);
    IBD_ASSIGN_OR_RETURN(const auto file, m_env.OpenRead(path));
    m_source = file.get();
    m_waiting.clear(); // their places were in another file
    FrameScanner scanner(*file, path, XorKey(), m_blocks.Magic(), BlockStore::kScanWindow);
    ScanStep step = ScanStep::kNext;
    while (step != ScanStep::kStop) {
        IBD_ASSIGN_OR_RETURN(const auto frame, scanner.Next());
        if (!frame) break;
        const auto size = static_cast<uint32_t>(frame->block.size());
        step = Visit({{}, scanner.End() - size, size}, frame->block);
        if (step == ScanStep::kNotABlock) scanner.Refuse();
    }
    IBD_RETURN_IF_ERROR(m_failure);
    if (m_interrupt) return {};
    ReportWaiting(path.string());
    m_log.Info("Imported {} blocks from {}", m_accepted, path.string());
    return m_chain.ActivateBestChain();
}

} // namespace ibd
