// See snapshot_coins.h.
#include "swiftsync/snapshot_coins.h"

#include "storage/coins_stats.h"
#include "swiftsync/coin_merge.h"
#include "swiftsync/coin_sorter.h"
#include "util/found.h"

#include <algorithm>
#include <bitset>
#include <limits>

namespace ibd {

namespace {

constexpr uint64_t kLookForStopEvery = 4096; //!< coins
/** A record's key has the height and the start of the txid; the rest precedes its value. */
constexpr size_t kHeightSize = 4;
constexpr size_t kIdStart = 32 - kHeightSize;

/** A coin in a record. */
class BlockCoin {
public:
    explicit BlockCoin(const CoinRecord& record) : m_record(record) {}

    ByteSpan IdStart() const { return m_record.Key().subspan(kHeightSize, kIdStart); }
    bool IsOf(const Txid& txid) const
    {
        return std::ranges::equal(IdStart(), txid.Span().first(kIdStart)) &&
               std::ranges::equal(m_record.Value().first(kHeightSize),
                                  txid.Span().subspan(kIdStart));
    }
    OutPoint Outpoint() const
    {
        OutPoint outpoint;
        std::ranges::copy(IdStart(), outpoint.txid.data());
        std::ranges::copy(m_record.Value().first(kHeightSize), outpoint.txid.data() + kIdStart);
        Reader reader(m_record.Key().subspan(kHeightSize + kIdStart));
        outpoint.vout = static_cast<uint32_t>(reader.VarInt());
        return outpoint;
    }
    ByteSpan Value() const { return m_record.Value().subspan(kHeightSize); }

private:
    CoinRecord m_record;
};

Result<> AddCoin(CoinSorter& sorter, const OutPoint& outpoint, const Coin& coin, Bytes& scratch)
{
    std::array<uint8_t, 32> id;
    WriteBE32(id.data(), coin.height);
    std::copy_n(outpoint.txid.data(), kIdStart, id.data() + kHeightSize);
    scratch.assign(outpoint.txid.data() + kIdStart, outpoint.txid.data() + id.size());
    AppendCoin(scratch, coin);
    return sorter.Add(id, outpoint.vout, scratch);
}

/** The checkpoint that names the finished file. */
Checkpoint Naming(const SnapshotIdentity& snapshot, const RunInfo& run)
{
    Checkpoint names;
    names.network_magic = snapshot.network_magic;
    names.hints_id = snapshot.hash;
    names.terminal_height = snapshot.height;
    names.terminal_hash = snapshot.base;
    names.folded = HeightSet(snapshot.height);
    names.runs = {run};
    return names;
}

/** Whether a checkpoint is of this snapshot's coins. */
bool IsOf(const Checkpoint& checkpoint, const SnapshotIdentity& snapshot)
{
    return checkpoint.network_magic == snapshot.network_magic &&
           checkpoint.hints_id == snapshot.hash && checkpoint.terminal_hash == snapshot.base;
}

/** Describes the difference between the block's output and the coin with its outpoint. */
std::string Difference(const BlockCoin& ours, const OutputView& output, bool coinbase)
{
    const auto coin = DecodeCoin(ours.Value());
    if (!coin) return "cannot be decoded: " + coin.Message();
    if (coin->value != output.value) {
        return fmt::format("has {} satoshis there, but {} in the snapshot", output.value,
                           coin->value);
    }
    if (coin->coinbase != coinbase) {
        return coinbase ? "is of the coinbase there, but not in the snapshot"
                        : "is not of the coinbase there, but in the snapshot";
    }
    return "has another script there than in the snapshot";
}

/** Walks a block's outputs with its coins. */
class Matcher {
public:
    /** `records`: the block's coins, sorted. */
    Matcher(std::span<const CoinRecord> records, uint32_t height, const FoldRules& rules,
            std::vector<uint32_t>& unspent)
        : m_records(records), m_height(height), m_overwritten(rules.IsOverwritten(height)),
          m_unspent(unspent), m_matched(records.size())
    {
        for (const CoinRecord& record : records) {
            m_starts[Start(BlockCoin(record).IdStart())] = true;
        }
    }

    /** Bad data: a coin that the block does not contain in this form. */
    Result<> Match(std::span<const TxView> txs)
    {
        for (size_t i = 0; i < txs.size(); ++i) {
            FindCoins(txs[i]);
            IBD_RETURN_IF_ERROR(MatchTx(txs[i], i == 0));
        }
        const auto lost = std::ranges::find(m_matched, false);
        if (lost == m_matched.end()) return {};
        const auto index = static_cast<size_t>(lost - m_matched.begin());
        return Wrong(BlockCoin(m_records[index]), "is not there");
    }
    uint32_t Outputs() const { return m_index; }

private:
    struct Claim {
        uint32_t vout;
        size_t record;
    };

    static size_t Start(ByteSpan id) { return id[0] | (id[1] & 0x0f) << 8; }

    /** Sets the coins of a transaction, by index. */
    void FindCoins(const TxView& tx)
    {
        m_claims.clear();
        const ByteSpan id = tx.txid.Span().first(kIdStart);
        if (!m_starts[Start(id)]) return;
        auto at = std::ranges::lower_bound(
            m_records, id,
            [](ByteSpan a, ByteSpan b) { return std::ranges::lexicographical_compare(a, b); },
            [](const CoinRecord& record) { return BlockCoin(record).IdStart(); });
        for (; at != m_records.end() && BlockCoin(*at).IsOf(tx.txid); ++at) {
            m_claims.push_back(
                {BlockCoin(*at).Outpoint().vout, static_cast<size_t>(at - m_records.begin())});
        }
        // The order of keys is not that of numbers.
        std::ranges::sort(m_claims, {}, &Claim::vout);
    }
    Result<> MatchTx(const TxView& tx, bool coinbase)
    {
        auto claim = m_claims.begin();
        for (size_t i = 0; i < tx.outputs.size(); ++i) {
            const OutputView& output = tx.outputs[i];
            const bool counted =
                !(coinbase && m_overwritten) && !IsUnspendable(output.script_pubkey);
            const bool claimed = claim != m_claims.end() && claim->vout == i;
            if (claimed) IBD_RETURN_IF_ERROR(MatchOutput(*claim++, output, coinbase, counted));
            if (claimed) m_unspent.push_back(m_index);
            if (counted) ++m_index;
        }
        return {};
    }
    Result<> MatchOutput(const Claim& claim, const OutputView& output, bool coinbase, bool counted)
    {
        const BlockCoin coin(m_records[claim.record]);
        if (!counted) return Wrong(coin, "can never be spent there");
        m_expected.clear();
        AppendCoin(m_expected, output.value, output.script_pubkey, m_height, coinbase);
        if (!std::ranges::equal(m_expected, coin.Value())) {
            return Wrong(coin, Difference(coin, output, coinbase));
        }
        m_matched[claim.record] = true;
        return {};
    }
    Error Wrong(const BlockCoin& coin, const std::string& what) const
    {
        const OutPoint outpoint = coin.Outpoint();
        return BadData("output {}:{}, which the snapshot has of block {}, {}",
                       outpoint.txid.ToHex(), outpoint.vout, m_height, what);
    }

    const std::span<const CoinRecord> m_records;
    const uint32_t m_height;
    const bool m_overwritten;
    std::vector<uint32_t>& m_unspent;
    std::vector<bool> m_matched;
    /** A filter by twelve bits of a txid: whether a coin has them. Most transactions have no
     *  unspent output. */
    std::bitset<1 << 12> m_starts;
    std::vector<Claim> m_claims; //!< of a transaction
    uint32_t m_index = 0;        //!< number of counted outputs so far
    Bytes m_expected;
};

} // namespace

Result<ProofStanding> FindProofStanding(Env& env, const Path& directory,
                                        const SnapshotIdentity& snapshot)
{
    const auto kept = LoadCheckpoint(env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(kept);
    if (!kept || !*kept || !IsOf(**kept, snapshot)) return ProofStanding::kUnfinished;
    if ((*kept)->published) return ProofStanding::kProven;
    return (*kept)->folded.Count() == snapshot.height ? ProofStanding::kFolded
                                                      : ProofStanding::kUnfinished;
}

Result<> RemoveProofFiles(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(directory));
    if (!there) return {};
    IBD_RETURN_IF_ERROR(RemoveCheckpoint(env, directory));
    IBD_ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(directory));
    for (const std::string& name : names) {
        if (IsBoosterLock(name)) IBD_RETURN_IF_ERROR(env.Remove(directory / name));
    }
    return {};
}

Result<SnapshotCoinsMade> SnapshotCoins::Make(Env& env, const Path& directory,
                                              const SnapshotIdentity& snapshot,
                                              size_t memory_bytes, const NextCoin& next,
                                              const std::atomic<bool>& stop)
{
    IBD_RETURN_IF_ERROR(RemoveProofFiles(env, directory));
    IBD_RETURN_IF_ERROR(env.CreateDirectories(directory));
    CoinSorter sorter(env, directory, snapshot.hash, memory_bytes);
    Bytes scratch;
    CoinsStatsBuilder stats(CoinsHashKind::kSerialized3);
    OutPoint outpoint;
    Coin coin;
    for (uint64_t coins = 0;; ++coins) {
        if (coins % kLookForStopEvery == 0 && stop) return SnapshotCoinsMade::kInterrupted;
        IBD_ASSIGN_OR_RETURN(const bool more, next(outpoint, coin));
        if (!more) break;
        IBD_RETURN_IF_ERROR(AddCoin(sorter, outpoint, coin, scratch));
        stats.Add(outpoint, std::move(coin));
    }
    if (stats.Finish().hash != snapshot.hash) {
        IBD_RETURN_IF_ERROR(RemoveProofFiles(env, directory));
        return SnapshotCoinsMade::kOtherCoins;
    }
    IBD_ASSIGN_OR_RETURN(const auto run, sorter.Finish(stop));
    if (!run) return SnapshotCoinsMade::kInterrupted;
    IBD_RETURN_IF_ERROR(sorter.Sync());
    const Checkpoint names = Naming(snapshot, *run);
    IBD_RETURN_IF_ERROR(SaveCheckpoint(env, directory, names));
    IBD_RETURN_IF_ERROR(RemoveOtherRuns(env, directory, names));
    return SnapshotCoinsMade::kDone;
}

Result<std::unique_ptr<SnapshotCoins>> SnapshotCoins::Open(Env& env, const Path& directory,
                                                           const SnapshotIdentity& snapshot,
                                                           FoldRules rules)
{
    const auto named = LoadCheckpoint(env, directory);
    IBD_RETURN_IF_SYSTEM_ERROR(named);
    const bool usable = named && *named && IsOf(**named, snapshot) && (*named)->runs.size() == 1;
    if (!usable) return std::unique_ptr<SnapshotCoins>();
    auto run = RunReader::Open(env, directory, (*named)->runs.front(), snapshot.hash);
    IBD_RETURN_IF_SYSTEM_ERROR(run);
    if (!run) return std::unique_ptr<SnapshotCoins>();
    return std::unique_ptr<SnapshotCoins>(
        new SnapshotCoins(std::move(*run), snapshot, std::move(rules)));
}

SnapshotCoins::SnapshotCoins(RunReader run, const SnapshotIdentity& snapshot, FoldRules rules)
    : m_run{std::move(run)}, m_rules(std::move(rules))
{
    m_info.terminal_height = snapshot.height;
    m_info.terminal_hash = snapshot.base;
    m_info.network_magic = snapshot.network_magic;
    m_info.unspent = m_run[0].Info().records;
    m_info.file_size = m_run[0].Info().size;
    m_info.id = snapshot.hash;
}

/** Not a verdict on the coins but an error of the machine. */
Error SnapshotCoins::Damaged(const Error& error) const
{
    if (IsBadData(error)) m_damaged = true;
    return SystemError("{}", error.message);
}

Result<> SnapshotCoins::Read(uint32_t, BlockHints&) const
{
    CHECK(false);
    return {};
}

Result<> SnapshotCoins::ReadFor(std::span<const TxView> txs, uint32_t height,
                                BlockHints& out) const
{
    const uint64_t first = uint64_t{height} << 32;
    CoinMerger coins(m_run, first, first | std::numeric_limits<uint32_t>::max());
    out.raw.clear();
    std::vector<size_t> starts;
    for (;;) {
        const Result<bool> more = coins.Next();
        if (!more) return Damaged(more.GetError());
        if (!*more) break;
        starts.push_back(out.raw.size());
        Append(out.raw, coins.Record().Whole());
    }
    std::vector<CoinRecord> records;
    records.reserve(starts.size());
    for (const size_t start : starts) records.emplace_back(out.raw.data() + start);
    out.unspent.clear();
    Matcher matcher(records, height, m_rules, out.unspent);
    IBD_RETURN_IF_ERROR(matcher.Match(txs));
    out.outputs = matcher.Outputs();
    return {};
}

Result<> SnapshotCoins::Visit(const std::function<void(const OutPoint&)>& visit) const
{
    CoinMerger coins(m_run, 0, std::numeric_limits<uint64_t>::max());
    for (;;) {
        const Result<bool> more = coins.Next();
        if (!more) return Damaged(more.GetError());
        if (!*more) return {};
        visit(BlockCoin(coins.Record()).Outpoint());
    }
}

} // namespace ibd
