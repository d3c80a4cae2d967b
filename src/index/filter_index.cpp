// See filter_index.h.
#include "index/filter_index.h"

#include "index/height_records.h"
#include "index/tx_position.h"
#include "primitives/serialize.h"

namespace ibd {

namespace {

constexpr uint8_t kNextKey[] = {'P'};

void PutNext(KvBatch& batch, const FilePos& next)
{
    Bytes value;
    Writer out(value);
    WritePos(out, next);
    batch.Put(kNextKey, value);
}

struct HashedFilter final : PreparedBlock {
    explicit HashedFilter(Bytes bytes) : filter(std::move(bytes)), hash(FilterHash(filter)) {}

    const Bytes filter;
    const Uint256 hash;
};

} // namespace

Found<FilterIndex::Entry> FilterIndex::FindEntry(int32_t height, const BlockHash& block) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, FindRecord(Db(), height, block));
    if (!value) return std::nullopt;
    Reader in(*value);
    Entry entry;
    entry.hash = in.Hash();
    entry.header = in.Hash();
    entry.at = ReadPos(in);
    if (in.AtEnd()) return entry;
    return BadData("database {}: the record of block {} is malformed", Db().Directory().string(),
                   block.ToHex());
}

Found<FilterIndex::Entry> FilterIndex::Find(const HeaderNode& block) const
{
    return FindEntry(block.height, block.hash);
}

Found<Bytes> FilterIndex::Filter(const HeaderNode& block) const
{
    IBD_ASSIGN_OR_RETURN(const auto entry, Find(block));
    if (!entry) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(Bytes filter, m_files.Read(entry->at, block.hash, entry->hash));
    return filter;
}

Result<> FilterIndex::Load(const HeaderNode* best)
{
    IBD_ASSIGN_OR_RETURN(const auto value, Db().Get(kNextKey));
    if (value) {
        Reader in(*value);
        const FilePos next = ReadPos(in);
        if (!in.AtEnd()) {
            return BadData("Cannot read current {} state; index may be corrupted", Name());
        }
        m_files.SetNext(next);
    }
    if (!best) return {};
    IBD_ASSIGN_OR_RETURN(const auto entry, Find(*best));
    if (!entry) return BadData("Cannot read last block filter header; index may be corrupted");
    m_header = entry->header;
    return {};
}

std::unique_ptr<PreparedBlock> FilterIndex::Prepare(const IndexedBlock& block) const
{
    return std::make_unique<HashedFilter>(BasicFilter(*block.view, block.undo));
}

Result<> FilterIndex::Connect(KvBatch& batch, const IndexedBlock& block)
{
    const auto& made = static_cast<const HashedFilter&>(*block.prepared);
    const FilterHeader header = NextFilterHeader(made.hash, m_header);
    IBD_ASSIGN_OR_RETURN(const FilePos at, m_files.Append(block.place.hash, made.filter));
    Bytes value;
    Writer out(value);
    out.Hash(made.hash);
    out.Hash(header);
    WritePos(out, at);
    PutAtHeight(batch, block.place.height, block.place.hash, value);
    m_header = header;
    return {};
}

// The new record refers to this filter, so it must not be overwritten after a crash.
Result<> FilterIndex::Disconnect(KvBatch& batch, const IndexedBlock& block)
{
    const StoredBlock& place = block.place;
    IBD_RETURN_IF_ERROR(KeepByHash(Db(), batch, place.height));
    IBD_RETURN_IF_ERROR(Save(batch));
    IBD_ASSIGN_OR_RETURN(
        const Entry below,
        RequireRecord(FindEntry(place.height - 1, place.prev_hash), Db(), place.prev_hash));
    m_header = below.header;
    return {};
}

Result<> FilterIndex::Save(KvBatch& batch)
{
    IBD_RETURN_IF_ERROR(m_files.Sync());
    PutNext(batch, m_files.Next());
    return {};
}

} // namespace ibd
