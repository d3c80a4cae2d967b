// See spender_index.h.
#include "index/spender_index.h"

#include <algorithm>

namespace ibd {

namespace {

// Core writes the text as an array, with its final NUL.
constexpr uint8_t kHashKeyRecord[] = "siphash_key";
constexpr size_t kHashKeySize = 16;

void WritePrefix(Writer& out, SipKey key, const OutPoint& output)
{
    out.U8('s');
    out.U64(SipHash36(key, output.txid.Array(), output.vout));
}

bool Spends(const TxView& tx, const OutPoint& output)
{
    return std::ranges::any_of(tx.inputs,
                               [&](const InputView& input) { return input.Prevout() == output; });
}

} // namespace

Result<> SpenderIndex::Load(const HeaderNode*)
{
    IBD_ASSIGN_OR_RETURN(auto value, Db().Get(kHashKeyRecord));
    if (!value) {
        value.emplace(kHashKeySize);
        m_env.RandomBytes(*value);
        KvBatch batch(Db());
        batch.Put(kHashKeyRecord, *value);
        IBD_RETURN_IF_ERROR(Db().Write(batch, true));
    }
    Reader in(*value);
    m_key.k0 = in.U64();
    m_key.k1 = in.U64();
    if (in.AtEnd()) return {};
    return BadData("database {}: the key of its hashes is malformed", Db().Directory().string());
}

void SpenderIndex::ForEachKey(const IndexedBlock& block,
                              const std::function<void(const Bytes&)>& visit) const
{
    Bytes key;
    ForEachPosition(*block.view, block.place.data, [&](const TxView& tx, const TxPosition& at) {
        if (tx.IsCoinbase()) return;
        for (const InputView& input : tx.inputs) {
            key.clear();
            Writer out(key);
            WritePrefix(out, m_key, input.Prevout());
            at.Write(out);
            visit(key);
        }
    });
}

Result<> SpenderIndex::Connect(KvBatch& batch, const IndexedBlock& block)
{
    ForEachKey(block, [&](const Bytes& key) { batch.Put(key, {}); });
    return {};
}

Result<> SpenderIndex::Disconnect(KvBatch& batch, const IndexedBlock& block)
{
    ForEachKey(block, [&](const Bytes& key) { batch.Erase(key); });
    return {};
}

Found<PlacedTx> SpenderIndex::Find(const BlockStore& blocks, const OutPoint& output) const
{
    Bytes prefix;
    Writer out(prefix);
    WritePrefix(out, m_key, output);
    KvIterator it = Db().NewIterator();
    for (it.Seek(prefix); it.Valid(); it.Next()) {
        const ByteSpan key = it.Key();
        if (key.size() < prefix.size() || !std::ranges::equal(key.first(prefix.size()), prefix)) {
            break;
        }
        Reader in(key.subspan(prefix.size()));
        const TxPosition at = TxPosition::Read(in);
        if (!in.AtEnd()) {
            return BadData("database {}: a record is malformed", Db().Directory().string());
        }
        IBD_ASSIGN_OR_RETURN(PlacedTx found, ReadTxAt(blocks, at));
        if (Spends(found.tx->View(), output)) return found;
    }
    IBD_RETURN_IF_ERROR(it.Status());
    return std::nullopt;
}

} // namespace ibd
