// See file_block_source.h.
#include "swiftsync/file_block_source.h"
#include "util/found.h"

#include <algorithm>
#include <utility>

namespace ibd {

Result<> FileBlockSupply::Begin(const std::function<bool(int32_t height)>& folded)
{
    m_plan.emplace(m_terminal, folded, m_order);
    m_plan->Uncached().LogTo(m_log);
    if (m_plan->Missing().empty()) return {};
    const HeaderNode& lowest = *m_plan->Missing().front();
    return BadData("block {} at height {} is not in the block files: put a sound copy of them in "
                   "their place, or start bitcoind with a network, which fetches it",
                   lowest.hash.ToHex(), lowest.height);
}

std::unique_ptr<BlockSource> FileBlockSupply::MakeSource()
{
    return std::make_unique<FileBlockSource>(m_env, m_store, *m_plan);
}

Error FileBlockSource::Damaged(const PlannedBlock& block, std::string_view what) const
{
    return m_store.DamagedBlock({block.file, block.offset}, block.node->hash, block.node->height,
                                what);
}

/** Opens the file unless it is open already. */
Result<std::shared_ptr<AheadFile>> FileBlockSource::Open(const PlannedBlock& block)
{
    const auto open = std::ranges::find(m_open, block.file, &OpenFile::number);
    if (open != m_open.end()) return open->file;
    auto opened = m_env.OpenRead(m_store.BlockPath(block.file));
    if (!opened) {
        return m_store.UnreadableBlock({block.file, block.offset}, block.node->hash,
                                       block.node->height, opened.GetError());
    }
    std::shift_right(m_open.begin(), m_open.end(), 1);
    m_open.front() = {block.file, std::make_shared<AheadFile>(std::move(*opened))};
    return m_open.front().file;
}

/** Begins the next stretch; false: there is none. */
Result<bool> FileBlockSource::StartStretch()
{
    if (m_claims.empty()) {
        IBD_RETURN_IF_ERROR(ClaimMore());
    }
    if (m_claims.empty() || m_plan.Stopped()) return false;
    Claim claim = m_claims.front();
    m_claims.pop_front();
    const PlannedBlock& first = claim.blocks.front();
    IBD_ASSIGN_OR_RETURN(m_file, Open(first));
    for (const PlannedBlock& block : claim.blocks) {
        if (block.offset < kFrameHeaderSize) return Damaged(block, "no room for a frame");
    }
    if (!claim.announced) Announce(claim, m_file);
    m_stretch = claim.blocks;
    m_stretch_end = m_stretch.back().offset - kFrameHeaderSize;
    m_window_size = 0;
    return true;
}

/** Claims the next blocks, if there are any. */
Result<> FileBlockSource::ClaimMore()
{
    const BlockPlan::Claimed claimed = m_plan.Claim();
    if (claimed.blocks.empty()) return {};
    m_claims.push_back({.blocks = claimed.blocks});
    return ReadAhead(claimed.ahead);
}

/** While files are cold, claims blocks before the earlier ones are handed out. */
Result<> FileBlockSource::ClaimAhead()
{
    while (m_reader.WantsMore() && m_claims.size() < kMaxClaims) {
        const size_t before = m_claims.size();
        IBD_RETURN_IF_ERROR(ClaimMore());
        if (m_claims.size() == before) break;
        Claim& claim = m_claims.back();
        const auto file = Open(claim.blocks.front());
        if (!file) break; // an error once the blocks are wanted
        Announce(claim, *file);
    }
    return {};
}

/** The end of a planned block in its file; an estimate if it is the last one there. */
uint64_t FileBlockSource::EndOf(const PlannedBlock& block) const
{
    return block.offset + m_plan.BytesOf(block);
}

void FileBlockSource::Announce(Claim& claim, const std::shared_ptr<AheadFile>& file)
{
    const PlannedBlock& first = claim.blocks.front();
    if (first.offset < kFrameHeaderSize) return;
    claim.announced = true;
    // A single block that is read through the cache needs only one read.
    if (claim.blocks.size() == 1 && !IsReadUncached(first, *file)) return;
    m_reader.Announce(file, first.offset - kFrameHeaderSize, EndOf(claim.blocks.back()));
}

/** Whether a block of a plan in height order must be read with direct I/O. */
bool FileBlockSource::IsReadUncached(const PlannedBlock& block, const AheadFile& file) const
{
    return m_plan.BytesOf(block) >= kLeastUncached && m_plan.Uncached().Allowed() &&
           file.IsCold(block.offset, EndOf(block));
}

/** Announces to the kernel the ranges that are read through the cache, each gapless range in one
 *  call. */
Result<> FileBlockSource::ReadAhead(std::span<const PlannedBlock> ahead)
{
    for (size_t i = 0; i < ahead.size();) {
        const PlannedBlock& first = ahead[i];
        IBD_ASSIGN_OR_RETURN(const auto file, Open(first));
        const uint64_t begin = first.offset - std::min<uint64_t>(first.offset, kFrameHeaderSize);
        uint64_t end = first.offset;
        for (; i < ahead.size() && ahead[i].file == first.file && ahead[i].offset <= end; ++i) {
            if (IsReadUncached(ahead[i], *file)) break;
            end = EndOf(ahead[i]);
        }
        if (end > first.offset) {
            file->Plain().WillNeed(begin, end - begin);
        } else {
            ++i;
        }
    }
    return {};
}

Result<MutableByteSpan> FileBlockSource::Need(uint64_t offset, size_t size)
{
    const uint64_t window_end = m_window_at + m_window_size;
    if (offset < m_window_at || offset + size > window_end) {
        // Keeps wanted bytes that are in the buffer, then reads on after them.
        size_t kept = 0;
        if (offset >= m_window_at && offset < window_end) {
            kept = window_end - offset;
            std::memmove(m_buffer.data(), m_buffer.data() + (offset - m_window_at), kept);
        }
        const size_t ahead =
            m_stretch_end > offset ? std::min<uint64_t>(kReadBytes, m_stretch_end - offset) : 0;
        const size_t target = std::max(size, ahead);
        if (m_buffer.size() < target) m_buffer.resize(target);
        m_window_at = offset;
        m_window_size = kept;
        if (target > kept) {
            const MutableByteSpan rest = MutableByteSpan(m_buffer).subspan(kept, target - kept);
            IBD_ASSIGN_OR_RETURN(const size_t got, m_reader.ReadAt(*m_file, offset + kept, rest));
            m_window_size += got;
        }
        if (m_window_size < size) return MutableByteSpan();
    }
    return MutableByteSpan(m_buffer).subspan(offset - m_window_at, size);
}

Result<bool> FileBlockSource::Next(SuppliedBlock& out)
{
    const bool again = std::exchange(m_again, false);
    if (!again) {
        if (m_stretch.empty()) {
            IBD_ASSIGN_OR_RETURN(const bool more, StartStretch());
            if (!more) return false;
        }
        IBD_RETURN_IF_ERROR(ClaimAhead());
        m_block = m_stretch.front();
        m_stretch = m_stretch.subspan(1);
    }
    Result<ByteSpan> bytes = again ? ReadAgain() : ReadPlanned();
    if (!again && IsBadData(bytes)) {
        const Result<ByteSpan> second = ReadAgain();
        if (second || SystemFailed(second)) bytes = second;
    }
    if (!bytes) return bytes.GetError();
    out = {m_block.node, *bytes, m_block.fold, m_block.indexed, m_block.tag};
    return true;
}

Result<ByteSpan> FileBlockSource::ReadPlanned()
{
    const PlannedBlock& block = m_block;
    m_is_second = false;
    IBD_ASSIGN_OR_RETURN(const MutableByteSpan frame,
                         Need(block.offset - kFrameHeaderSize, kFrameHeaderSize));
    if (frame.empty()) return Damaged(block, "the file is cut off");
    std::array<uint8_t, kFrameHeaderSize> header;
    m_store.Key().Apply(header.data(), frame.data(), frame.size(), block.offset - kFrameHeaderSize);
    if (!std::equal(m_store.Magic().begin(), m_store.Magic().end(), header.begin())) {
        return Damaged(block, "no frame with this network's magic");
    }
    const uint32_t size = ReadLE32(header.data() + 4);
    if (size < BlockHeader::kSize || size > kMaxStoredBlockSize) {
        return Damaged(block, "a frame has an impossible length");
    }
    IBD_ASSIGN_OR_RETURN(const MutableByteSpan bytes, Need(block.offset, size));
    if (bytes.empty()) return Damaged(block, "the file is cut off");
    m_store.Key().Apply(bytes, block.offset);
    return ByteSpan(bytes);
}

/** Reads through the block store, which opens the file for it. */
Result<ByteSpan> FileBlockSource::ReadAgain()
{
    m_is_second = true;
    auto bytes = m_store.ReadBlock({m_block.file, m_block.offset}, &m_block.node->hash);
    IBD_RETURN_IF_SYSTEM_ERROR(bytes);
    if (!bytes) return Damaged(m_block, bytes.Message());
    m_second = std::move(*bytes);
    return ByteSpan(m_second);
}

Result<bool> FileBlockSource::Reject(const SuppliedBlock& block, const RuleViolation& why)
{
    CHECK(block.node == m_block.node);
    if (!why.IsOfDataAlone()) return false;
    if (m_is_second) return Damaged(m_block, why.ToString());
    m_again = true;
    return true;
}

} // namespace ibd
