// See pool_file.h.
#include "mempool/pool_file.h"

#include "mempool/upkeep.h"
#include "primitives/tx_parser.h"
#include "storage/xor_key.h"
#include "util/bounded_file.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint64_t kMaxPoolFile = uint64_t{4} << 30; //!< bytes

void EncodeRecord(Writer& writer, const PoolRecord& record)
{
    writer.U64(record.txs.size());
    for (const PoolRecord::Tx& tx : record.txs) {
        writer.Raw(tx.tx->View().raw);
        writer.I64(tx.time);
        writer.I64(tx.delta);
    }
    writer.CompactSize(record.deltas.size());
    for (const auto& [id, delta] : record.deltas) {
        writer.Hash(id);
        writer.I64(delta);
    }
    writer.CompactSize(record.unbroadcast.size());
    for (const Txid& id : record.unbroadcast) writer.Hash(id);
}

Error Damaged(const Reader& reader, std::string_view why)
{
    return BadData("at byte {}: {}", reader.Position(), why);
}

Result<TransactionRef> ReadTx(Reader& reader)
{
    std::vector<InputView> inputs;
    std::vector<OutputView> outputs;
    TxView view;
    const size_t start = reader.Position();
    if (const char* const fault = ParseTx(reader, /*allow_witness=*/true, inputs, outputs, view)) {
        return Damaged(reader, fault);
    }
    return Transaction::Parse(reader.Since(start));
}

Result<> ReadRecord(Reader& reader, PoolRecord& out)
{
    constexpr size_t kTxSize = kMinTxSize + 2 * sizeof(int64_t);
    const uint64_t count = reader.U64();
    if (count > reader.Remaining() / kTxSize) {
        return Damaged(reader, fmt::format("{} transactions do not fit into the file", count));
    }
    for (uint64_t i = 0; i < count; ++i) {
        PoolRecord::Tx tx;
        IBD_ASSIGN_OR_RETURN(tx.tx, ReadTx(reader));
        tx.time = reader.I64();
        tx.delta = reader.I64();
        if (!reader.Ok()) return Damaged(reader, reader.Fault());
        out.txs.push_back(std::move(tx));
    }
    for (size_t left = reader.Count(sizeof(Uint256) + sizeof(Amount)); left > 0; --left) {
        const Txid id(reader.Hash());
        out.deltas[id] = reader.I64();
    }
    for (size_t left = reader.Count(sizeof(Uint256)); left > 0; --left) {
        out.unbroadcast.insert(Txid(reader.Hash()));
    }
    if (!reader.Ok()) return Damaged(reader, reader.Fault());
    return {};
}

/** Removes the obfuscation. Returns the offset of the record. */
Result<size_t> ReadHead(Bytes& data)
{
    Reader reader(data);
    const uint64_t version = reader.U64();
    if (!reader.Ok()) return Damaged(reader, reader.Fault());
    if (version == static_cast<uint64_t>(PoolFileVersion::kPlain)) return reader.Position();
    if (version != static_cast<uint64_t>(PoolFileVersion::kObfuscated)) {
        return BadData("version {} is unknown, so it is no mempool.dat, or one of a later program",
                       version);
    }
    const ByteSpan key = reader.VarBytes();
    if (!reader.Ok()) return Damaged(reader, reader.Fault());
    if (key.size() != XorKey::kSize) return Damaged(reader, "the obfuscation key has a wrong size");
    std::array<uint8_t, XorKey::kSize> bytes{};
    std::copy(key.begin(), key.end(), bytes.begin());
    const size_t start = reader.Position();
    XorKey(bytes).Apply(MutableByteSpan(data).subspan(start), start);
    return start;
}

/** The outcome of an import. */
struct Counts {
    size_t succeeded = 0, failed = 0, expired = 0, known = 0;
};

class Importer {
public:
    Importer(const PoolImport& import, const TxSubmission& door, TxPool& pool, Env& env)
        : m_import(import), m_door(door), m_pool(pool), m_env(env)
    {
    }

    Result<> Take(const PoolRecord::Tx& tx)
    {
        const int64_t now = m_env.UnixTime();
        const int64_t time = m_import.current_time ? now : tx.time;
        if (m_import.deltas) AddDelta(tx.tx->Id(), tx.delta);
        if (time <= now - m_pool.Limits().expiry) {
            ++m_counts.expired;
            return {};
        }
        IBD_ASSIGN_OR_RETURN(const SubmitVerdict out,
                             m_door.Submit(tx.tx, {.arrival = {.now = now, .time = time}}));
        if (!out.verdict.violation) {
            ++m_counts.succeeded;
        } else if (IsInPool(tx.tx->Id())) {
            ++m_counts.known;
        } else {
            ++m_counts.failed;
        }
        return {};
    }
    void AddDelta(const Txid& id, Amount delta)
    {
        if (delta == 0) return;
        const PoolGate::Pass pass(m_pool.gate);
        const Lock lock(m_pool.mutex);
        Prioritise(m_pool, id, delta);
    }
    size_t TakeUnbroadcast(const std::set<Txid>& ids)
    {
        const Lock lock(m_pool.mutex);
        for (const Txid& id : ids) m_pool.SetBroadcast(id, false);
        return static_cast<size_t>(
            std::count_if(ids.begin(), ids.end(), [&](const Txid& id) IBD_NO_THREAD_CHECK {
                return m_pool.Find(id) != nullptr;
            }));
    }
    const Counts& Done() const { return m_counts; }

private:
    bool IsInPool(const Txid& id) const
    {
        const Lock lock(m_pool.mutex);
        return m_pool.Find(id) != nullptr;
    }

    const PoolImport& m_import;
    const TxSubmission& m_door;
    TxPool& m_pool;
    Env& m_env;
    Counts m_counts;
};

} // namespace

bool PoolRecord::operator==(const PoolRecord& other) const
{
    return deltas == other.deltas && unbroadcast == other.unbroadcast &&
           std::equal(txs.begin(), txs.end(), other.txs.begin(), other.txs.end(),
                      [](const Tx& a, const Tx& b) {
                          return a.tx->WitnessId() == b.tx->WitnessId() && a.time == b.time &&
                                 a.delta == b.delta;
                      });
}

PoolRecord RecordOf(const TxPool& pool)
{
    PoolRecord record;
    const Lock lock(pool.mutex);
    record.deltas = pool.Deltas();
    for (const PoolTx* tx : pool.InOrder()) {
        record.txs.push_back({tx->tx, tx->time, tx->delta});
        record.deltas.erase(tx->Id());
        if (tx->own) record.unbroadcast.insert(tx->Id());
    }
    return record;
}

Bytes EncodePool(const PoolRecord& record, PoolFileVersion version, Env& env)
{
    Bytes data;
    Writer writer(data);
    writer.U64(static_cast<uint64_t>(version));
    std::array<uint8_t, XorKey::kSize> key{};
    if (version == PoolFileVersion::kObfuscated) {
        env.RandomBytes(key);
        writer.VarBytes(key);
    }
    const size_t start = data.size();
    EncodeRecord(writer, record);
    XorKey(key).Apply(MutableByteSpan(data).subspan(start), start);
    return data;
}

DecodedPool DecodePool(Bytes data)
{
    DecodedPool out;
    const Result<size_t> start = ReadHead(data);
    if (!start.Ok()) {
        out.complete = start.GetError();
        return out;
    }
    Reader reader(data);
    (void)reader.Span(*start);
    out.complete = ReadRecord(reader, out.record);
    return out;
}

Result<> DumpPool(const TxPool& pool, PoolFile& file, Env& env, Logger& log)
{
    const Lock writing(file.writing);
    const PoolRecord record = RecordOf(pool);
    log.Info("Writing {} mempool transactions to file...", record.txs.size());
    log.Info("Writing {} unbroadcast transactions to file.", record.unbroadcast.size());
    const Bytes data = EncodePool(record, file.version, env);
    IBD_RETURN_IF_ERROR(WriteFileAtomically(env, file.path, data));
    log.Info("Dumped mempool: {} bytes dumped to file", data.size());
    return {};
}

Result<> ImportPool(const Path& file, const PoolImport& import, const TxSubmission& door,
                    TxPool& pool, Env& env, Logger& log, const std::atomic<bool>& interrupt)
{
    IBD_ASSIGN_OR_RETURN(Bytes data, ReadBoundedFile(env, file, kMaxPoolFile));
    const DecodedPool decoded = DecodePool(std::move(data));
    const PoolRecord& record = decoded.record;
    log.Info("Loading {} mempool transactions from file...", record.txs.size());
    Importer importer(import, door, pool, env);
    for (const PoolRecord::Tx& tx : record.txs) {
        if (interrupt) return {};
        IBD_RETURN_IF_ERROR(importer.Take(tx));
    }
    if (import.deltas) {
        for (const auto& [id, delta] : record.deltas) importer.AddDelta(id, delta);
    }
    const size_t waiting = import.unbroadcast ? importer.TakeUnbroadcast(record.unbroadcast) : 0;
    const Counts& done = importer.Done();
    log.Info("Imported mempool transactions from file: {} succeeded, {} failed, {} expired, {} "
             "already there, {} waiting for initial broadcast",
             done.succeeded, done.failed, done.expired, done.known, waiting);
    return decoded.complete;
}

} // namespace ibd
