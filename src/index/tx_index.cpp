// See tx_index.h.
#include "index/tx_index.h"

namespace ibd {

namespace {

constexpr size_t kKeySize = 1 + Txid::size();

std::array<uint8_t, kKeySize> KeyOf(const Txid& txid)
{
    std::array<uint8_t, kKeySize> key{'t'};
    std::ranges::copy(txid.Span(), key.begin() + 1);
    return key;
}

} // namespace

// The coinbase of genesis has no spendable output, and Core does not know it either.
Result<> TxIndex::Connect(KvBatch& batch, const IndexedBlock& block)
{
    if (block.place.height == 0) return {};
    Bytes value;
    ForEachPosition(*block.view, block.place.data, [&](const TxView& tx, const TxPosition& at) {
        value.clear();
        Writer out(value);
        at.Write(out);
        batch.Put(KeyOf(tx.txid), value);
    });
    return {};
}

Found<PlacedTx> TxIndex::Find(const BlockStore& blocks, const Txid& txid) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, Db().Get(KeyOf(txid)));
    if (!value) return std::nullopt;
    Reader in(*value);
    const TxPosition at = TxPosition::Read(in);
    if (!in.Ok()) {
        return BadData("database {}: the record of transaction {} is malformed",
                       Db().Directory().string(), txid.ToHex());
    }
    IBD_ASSIGN_OR_RETURN(PlacedTx found, ReadTxAt(blocks, at));
    if (found.tx->Id() != txid) {
        return BadData("database {}: the record of transaction {} leads to another one",
                       Db().Directory().string(), txid.ToHex());
    }
    return found;
}

} // namespace ibd
