// See spender_index.h.
#include "index/spender_index.h"

#include "index/place_sort.h"

#include <algorithm>

namespace ibd {

namespace {

// Core writes the text as an array, with its final NUL.
constexpr uint8_t kHashKeyRecord[] = "siphash_key";
constexpr size_t kHashKeySize = 16;

constexpr uint8_t kPrefix = 's';

uint64_t HashOf(SipKey key, const OutPoint& output)
{
    return SipHash36(key, output.txid.Array(), output.vout);
}

void WritePrefix(Writer& out, SipKey key, const OutPoint& output)
{
    out.U8(kPrefix);
    out.U64(HashOf(key, output));
}

/** See PlaceSortOf. A name is the hash of an output, as in the key. */
struct SpentNames {
    static constexpr size_t kBytes = 8;
    SipKey key;

    template <typename Visitor>
    void ForEach(const BlockView& block, Visitor visit) const
    {
        ForEachOffset(block, [&](const TxView& tx, uint32_t offset) {
            if (tx.IsCoinbase()) return;
            for (const InputView& input : tx.inputs) {
                uint8_t name[kBytes];
                WriteLE64(name, HashOf(key, input.Prevout()));
                visit(name, offset);
            }
        });
    }
    /** A transaction that spends two outputs with the same hash has one record. */
    template <typename Record>
    Result<> Add(TableWriter& out, std::span<const Record> same,
                 std::span<const FilePos> places) const
    {
        std::vector<Bytes> keys;
        for (const Record& record : same) {
            Writer writer(keys.emplace_back());
            writer.U8(kPrefix);
            writer.Raw(record.Name());
            PositionOf(record, places).Write(writer);
        }
        std::ranges::sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        for (const Bytes& one : keys) IBD_RETURN_IF_ERROR(out.Add(one, {}));
        return {};
    }
};

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
        KvBatch batch(Db());
        value = MakeKey();
        batch.Put(kHashKeyRecord, *value);
        IBD_RETURN_IF_ERROR(Db().Write(batch, true));
    }
    if (SetKey(*value)) return {};
    return BadData("database {}: the key of its hashes is malformed", Db().Directory().string());
}

Bytes SpenderIndex::MakeKey() const
{
    Bytes key(kHashKeySize);
    m_env.RandomBytes(key);
    return key;
}

/** False: malformed. */
bool SpenderIndex::SetKey(ByteSpan bytes)
{
    Reader in(bytes);
    m_key.k0 = in.U64();
    m_key.k1 = in.U64();
    return in.AtEnd();
}

std::unique_ptr<PlaceSort> SpenderIndex::MakeSort(Env& env, const PlaceSortOptions& options)
{
    m_built_key = MakeKey();
    CHECK(SetKey(m_built_key));
    return std::make_unique<PlaceSortOf<SpentNames>>(env, SpentNames{m_key}, options);
}

void SpenderIndex::PutBuilt(KvBatch& batch) const { batch.Put(kHashKeyRecord, m_built_key); }

void SpenderIndex::ForEachKey(const IndexedBlock& block,
                              const std::function<void(const Bytes&)>& visit) const
{
    Bytes key;
    ForEachOffset(*block.view, [&](const TxView& tx, uint32_t offset) {
        if (tx.IsCoinbase()) return;
        for (const InputView& input : tx.inputs) {
            key.clear();
            Writer out(key);
            WritePrefix(out, m_key, input.Prevout());
            TxPosition{block.place.data, offset}.Write(out);
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

Found<PlacedTx> SpenderIndex::Find(const BlockStore& blocks, const OutPoint& output,
                                   const IsPlaceOf& is_place) const
{
    const auto db = ShareDb();
    if (!db) return std::nullopt;
    Bytes prefix;
    Writer out(prefix);
    WritePrefix(out, m_key, output);
    std::optional<Error> damage;
    KvIterator it = db->NewIterator();
    for (it.Seek(prefix); it.Valid(); it.Next()) {
        const ByteSpan key = it.Key();
        if (key.size() < prefix.size() || !std::ranges::equal(key.first(prefix.size()), prefix)) {
            break;
        }
        Reader in(key.subspan(prefix.size()));
        const TxPosition at = TxPosition::Read(in);
        if (!in.AtEnd()) {
            return BadData("database {}: a record is malformed", db->Directory().string());
        }
        // The position is part of the key. So a crash or the repair of a damaged block may leave a
        // record of a place that the block has left, beside the record of its true place.
        auto found = ReadTxAt(blocks, at);
        IBD_RETURN_IF_SYSTEM_ERROR(found);
        if (!found) {
            if (!damage) damage = found.GetError();
        } else if (is_place(found->block, at.block) && Spends(found->tx->View(), output)) {
            return std::move(*found);
        }
    }
    IBD_RETURN_IF_ERROR(it.Status());
    if (damage) return *damage;
    return std::nullopt;
}

} // namespace ibd
