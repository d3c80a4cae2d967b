// See tx_index.h.
#include "index/tx_index.h"

#include "index/place_sort.h"

namespace ibd {

namespace {

constexpr size_t kKeySize = 1 + Txid::size();

std::array<uint8_t, kKeySize> KeyOf(ByteSpan txid)
{
    std::array<uint8_t, kKeySize> key{'t'};
    std::ranges::copy(txid, key.begin() + 1);
    return key;
}

/** See PlaceSortOf. */
struct TxNames {
    static constexpr size_t kBytes = Txid::size();

    template <typename Visitor>
    void ForEach(const BlockView& block, Visitor visit) const
    {
        ForEachOffset(block, [&](const TxView& tx, uint32_t offset) {
            visit(tx.txid.data(), offset);
        });
    }
    /** If a txid occurs twice, the record names the highest block, as after indexing in order. */
    template <typename Record>
    Result<> Add(TableWriter& out, std::span<const Record> same,
                 std::span<const FilePos> places) const
    {
        Bytes value;
        Writer writer(value);
        PositionOf(same.back(), places).Write(writer);
        return out.Add(KeyOf(same.back().Name()), value);
    }
};

} // namespace

std::unique_ptr<PlaceSort> TxIndex::MakeSort(Env& env, const PlaceSortOptions& options)
{
    return std::make_unique<PlaceSortOf<TxNames>>(env, TxNames(), options);
}

// The coinbase of genesis has no spendable output, and Core does not know it either.
Result<> TxIndex::Connect(KvBatch& batch, const IndexedBlock& block)
{
    if (block.place.height == 0) return {};
    Bytes value;
    ForEachOffset(*block.view, [&](const TxView& tx, uint32_t offset) {
        value.clear();
        Writer out(value);
        TxPosition{block.place.data, offset}.Write(out);
        batch.Put(KeyOf(tx.txid.Span()), value);
    });
    return {};
}

Found<PlacedTx> TxIndex::Find(const BlockStore& blocks, const Txid& txid) const
{
    const auto db = ShareDb();
    if (!db) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const auto value, db->Get(KeyOf(txid.Span())));
    if (!value) return std::nullopt;
    Reader in(*value);
    const TxPosition at = TxPosition::Read(in);
    if (!in.Ok()) {
        return BadData("database {}: the record of transaction {} is malformed",
                       db->Directory().string(), txid.ToHex());
    }
    IBD_ASSIGN_OR_RETURN(PlacedTx found, ReadTxAt(blocks, at));
    if (found.tx->Id() != txid) {
        return BadData("database {}: the record of transaction {} leads to another one",
                       db->Directory().string(), txid.ToHex());
    }
    return found;
}

} // namespace ibd
