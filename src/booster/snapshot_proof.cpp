// See snapshot_proof.h.
#include "booster/snapshot_proof.h"

#include "booster/coins_walk.h"
#include "crypto/random_key.h"
#include "storage/data_dir.h"
#include "swiftsync/snapshot_difference.h"
#include "util/strings.h"
#include "util/thread_priority.h"
#include "util/time_left.h"
#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

namespace {

/** Exists once the snapshot is known to be wrong: its hash, and the reason. */
constexpr const char* kRefuted = "refuted";
constexpr auto kLookForDamaged = std::chrono::milliseconds(200);
/** A block received in another way waits for others during this number of calls by RunWatched(). */
constexpr int kLooksBeforeRestart = 2;

BoosterOptions ProofOptions(BoosterOptions booster)
{
    BoosterOptions options;
    options.threads = std::max(1u, booster.threads / 2);
    options.memory_bytes = booster.memory_bytes;
    options.checkpoint_bytes = booster.checkpoint_bytes;
    options.checkpoint_seconds = booster.checkpoint_seconds;
    options.background = booster.background;
    options.directory = booster.directory / "snapshot";
    options.chainstate = std::move(booster.chainstate);
    options.remember_bad = false;
    return options;
}

/** Finds blocks that were not received from the supply's peers, for example those of submitblock.
 */
class StoredWatch {
public:
    StoredWatch(const ChainManager& chain, PeerBlockSupply& supply)
        : m_chain(chain), m_supply(supply)
    {
    }

    void Look()
    {
        const HeaderNode* const lowest = m_supply.NextMissing(-1);
        if (!lowest || m_chain.Where(*lowest).data.IsNull()) return;
        if (++m_looks == kLooksBeforeRestart) m_supply.Finish();
    }

private:
    const ChainManager& m_chain;
    PeerBlockSupply& m_supply;
    int m_looks = 0;
};

} // namespace

SnapshotProof::SnapshotProof(Env& env, Logger& log, const ChainParams& params,
                             BoosterOptions booster)
    : m_env(env), m_log(log), m_params(params), m_options(ProofOptions(std::move(booster)))
{
}

SnapshotIdentity SnapshotProof::Identity(const AssumeutxoData& data) const
{
    return {m_params.magic, static_cast<uint32_t>(data.height), data.block_hash,
            data.hash_serialized};
}

FoldRules SnapshotProof::Rules() const
{
    return FoldRulesOf(*m_base, HintsCounting::kSpendable, m_params.consensus);
}

Result<SnapshotProof::Standing> SnapshotProof::Look(const AssumeutxoData& data) const
{
    const SnapshotIdentity snapshot = Identity(data);
    const Path refuted = m_options.directory / kRefuted;
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(refuted));
    if (there) {
        IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(m_env, refuted));
        const ByteSpan hash = snapshot.hash.Span();
        if (bytes.size() >= hash.size() && std::equal(hash.begin(), hash.end(), bytes.begin())) {
            return Standing::kRefuted;
        }
    }
    IBD_ASSIGN_OR_RETURN(const ProofStanding files,
                         FindProofStanding(m_env, m_options.directory, snapshot));
    return files == ProofStanding::kProven ? Standing::kProven : Standing::kOpen;
}

Result<> SnapshotProof::Remove() const
{
    const Path refuted = m_options.directory / kRefuted;
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(refuted));
    for (const Path& folder : {SpentFolder(), CoinsFolder(), m_options.directory}) {
        IBD_RETURN_IF_ERROR(RemoveProofFiles(m_env, folder));
        if (there && folder == m_options.directory) IBD_RETURN_IF_ERROR(m_env.Remove(refuted));
        IBD_ASSIGN_OR_RETURN(const bool exists, m_env.IsThere(folder));
        if (!exists) continue;
        IBD_ASSIGN_OR_RETURN(const std::vector<std::string> names, m_env.List(folder));
        if (names.empty())
            IBD_RETURN_IF_ERROR(m_env.Remove(folder)); // else the user has files there
    }
    return {};
}

void SnapshotProof::Start(ChainManager& chain, const AssumeutxoData& data, SnapshotProofHooks hooks)
{
    m_chain = &chain;
    m_base = chain.SnapshotBase();
    CHECK(m_base && m_base->hash == data.block_hash);
    m_snapshot = Identity(data);
    m_hooks = std::move(hooks);
    SetPhase("waiting");
    m_thread = NamedThread("snapshot", [this] {
        LowerThreadPriority();
        Work();
    });
}

void SnapshotProof::Stop()
{
    m_stop = true;
    {
        const Lock lock(m_mutex);
        if (m_engine) m_engine->Interrupt();
        m_stopped.notify_all();
    }
    m_thread.Join();
}

void SnapshotProof::SetPhase(const char* phase)
{
    const Lock lock(m_mutex);
    m_phase = phase;
}

bool SnapshotProof::Wait(std::chrono::milliseconds time)
{
    const Lock lock(m_mutex);
    if (!m_stop) m_stopped.wait_for(m_mutex, time);
    return !m_stop;
}

void SnapshotProof::Work()
{
    while (MayTryAgain(Prove())) {
        if (!Wait(m_hooks.pause)) return;
        m_log.Info("[snapshot] continuing the proof of the history below block {}",
                   m_base->hash.ToHex());
        SetPhase("waiting");
    }
}

bool SnapshotProof::NeedsUndoData() const
{
    if (!m_needs_undo || !m_failing) return m_needs_undo;
    return m_chain->Tip()->height - m_base->height <= m_hooks.patience_blocks;
}

/** Reports a failure. Whether it is one that a later try may not have. */
bool SnapshotProof::MayTryAgain(const Result<>& done)
{
    if (done || m_stop) return false;
    const bool again = SystemFailed(done);
    if (!again) m_needs_undo = false;
    m_failing = again;
    SetPhase("failed");
    m_log.Error(
        "[snapshot] the history below block {} could not be proven, {}: {}", m_base->hash.ToHex(),
        again ? "the node tries again in ten minutes" : "a restart tries again", done.Message());
    return again;
}

Result<> SnapshotProof::Prove()
{
    IBD_ASSIGN_OR_RETURN(auto coins, OpenCoins());
    if (coins) m_needs_undo = false;
    while (coins && !m_stop) {
        SetPhase("folding");
        const Result<Verdict> verdict = Fold(*coins);
        if (verdict && verdict->kind == VerdictKind::kIncomplete) continue;
        if (verdict) return Conclude(*verdict, *coins);
        if (coins->IsDamaged()) {
            m_log.Warning("[snapshot] sorting the coins again: {}", verdict.Message());
            coins.reset();
            IBD_RETURN_IF_ERROR(RemoveProofFiles(m_env, CoinsFolder()));
            IBD_ASSIGN_OR_RETURN(coins, OpenCoins());
        } else if (!Mends(verdict.GetError())) {
            return verdict.GetError();
        }
    }
    return {};
}

Result<std::unique_ptr<SnapshotCoins>> SnapshotProof::OpenCoins()
{
    IBD_ASSIGN_OR_RETURN(auto coins,
                         SnapshotCoins::Open(m_env, CoinsFolder(), m_snapshot, Rules()));
    if (coins) return coins;
    SetPhase("sorting");
    IBD_ASSIGN_OR_RETURN(const bool made, MakeCoins());
    if (!made) return std::unique_ptr<SnapshotCoins>();
    IBD_ASSIGN_OR_RETURN(coins, SnapshotCoins::Open(m_env, CoinsFolder(), m_snapshot, Rules()));
    if (coins) return coins;
    return SystemError("'{}' does not keep written data", CoinsFolder().string());
}

/** The disk holds two copies of the coins at the same time. */
Result<> SnapshotProof::CheckRoom() const
{
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_options.directory));
    IBD_ASSIGN_OR_RETURN(const uint64_t free, m_env.SpaceAvailable(m_options.directory));
    const uint64_t needed = 2 * m_chain->EstimateCoinsSize() + kMinDiskSpace;
    if (free >= needed) return {};
    return SystemError("disk space is too low: {} has {} free, the sorted coins take about {}; "
                       "-ibdboosterdir moves them to another disk",
                       m_options.directory.string(), FormatBytes(free), FormatBytes(needed));
}

Result<bool> SnapshotProof::MakeCoins()
{
    IBD_RETURN_IF_ERROR(CheckRoom());
    std::unique_ptr<CoinsWalk> walk;
    const auto start = [&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(walk, CoinsWalk::Start(*m_chain, m_base));
        return {};
    };
    IBD_RETURN_IF_ERROR(m_hooks.run(start));
    m_log.Info("[snapshot] sorting the coins at block {} by the block that made them, for the "
               "proof of the history below",
               m_base->hash.ToHex());
    IBD_RETURN_IF_ERROR(RemoveProofFiles(m_env, SpentFolder()));
    IBD_ASSIGN_OR_RETURN(
        const bool back,
        walk->TakeBack(m_env, SpentFolder(), m_options.memory_bytes / 2, m_stop, m_log));
    if (!back) return false;
    IBD_ASSIGN_OR_RETURN(
        const SnapshotCoinsMade made,
        SnapshotCoins::Make(
            m_env, CoinsFolder(), m_snapshot, m_options.memory_bytes / 2,
            [&](OutPoint& outpoint, Coin& coin) { return walk->Next(outpoint, coin); }, m_stop));
    walk.reset(); // removes its files
    if (made == SnapshotCoinsMade::kOtherCoins) {
        return BadData("chainstate_snapshot or undo data is damaged: without the blocks above it, "
                       "its coins are not those that were loaded. Restart with {}",
                       m_chain->RebuildOption());
    }
    return made == SnapshotCoinsMade::kDone;
}

Result<Verdict> SnapshotProof::Fold(const SnapshotCoins& coins)
{
    ChainKeeper keeper(*m_chain, m_chain->IsPruneMode() ? m_base->height + 1 : 0);
    PeerBlockSupply supply(m_env, m_chain->Blocks(), *m_base, keeper, *m_hooks.peers);
    supply.ReadUnder(*m_chain);
    BoosterOptions options = m_options;
    options.proves = &coins;
    SyncEngine engine(m_env, m_log, m_params, *m_base, m_chain->Blocks(), supply, coins,
                      std::move(options));
    {
        const Lock lock(m_mutex);
        m_engine = &engine;
        m_supply = &supply;
    }
    StoredWatch stored(*m_chain, supply);
    std::optional<Result<Verdict>> verdict;
    RunWatched(
        "snapshot", 1, [&](size_t) { verdict = engine.Run(); },
        [&] {
            if (m_stop) engine.Interrupt();
            stored.Look();
        });
    m_hooks.peers->StopFetching();
    m_folded = static_cast<int64_t>(engine.Progress().blocks);
    const Lock lock(m_mutex);
    m_engine = nullptr;
    m_supply = nullptr;
    return std::move(*verdict);
}

/** After an error of the disk: true if damaged blocks were the cause and were received again, or if
 *  the proof has progressed since the last error: a file may have been pruned. */
bool SnapshotProof::Mends(const Error& error)
{
    const bool further = m_folded > std::exchange(m_failed_at, m_folded);
    const bool peers = m_chain->Options().peers_bring_blocks;
    if (m_stop) return false;
    const auto lost = peers ? m_chain->ForgetDamaged() : std::vector<const HeaderNode*>();
    if (!lost) m_log.Error("{}", lost.Message());
    if (!lost) return false;
    if (lost->empty() && !m_chain->NextLost(-1)) {
        if (further) m_log.Warning("[snapshot] trying again: {}", error.message);
        return further;
    }
    m_log.Info("[snapshot] fetching damaged blocks from peers before the proof continues");
    while (m_chain->NextLost(-1)) {
        if (!Wait(kLookForDamaged)) return false;
    }
    return true;
}

Result<> SnapshotProof::Conclude(const Verdict& verdict, const SnapshotCoins& coins)
{
    switch (verdict.kind) {
    case VerdictKind::kDone: Accept(verdict.coins); return {};
    case VerdictKind::kInterrupted: return {};
    case VerdictKind::kBlockInvalid: return Refute(verdict.reason);
    case VerdictKind::kHintsWrong: break;
    default: return BadData("{}", verdict.reason);
    }
    if (!verdict.suspect) return Refute(verdict.reason); // it names the coin
    m_log.Error("[snapshot] {}. Looking for the first output that differs, in two readings of all "
                "blocks",
                verdict.reason);
    const auto named = NameDifference(coins);
    if (m_stop) return {};
    if (named && *named) return Refute(**named);
    return Refute(fmt::format("the blocks do not make its coins ({})",
                              named ? "no output could be named" : named.Message()));
}

Found<std::string> SnapshotProof::NameDifference(const SnapshotCoins& coins)
{
    SetPhase("naming");
    return FindSnapshotDifference(
        {.base = *m_base,
         .coins = coins,
         .rules = Rules(),
         .secret = Random64(m_env),
         .read = [this](const HeaderNode& node) { return m_chain->ReadBlock(node); },
         .stop = m_stop});
}

void SnapshotProof::Accept(uint64_t coins)
{
    m_standing = Standing::kProven;
    m_chain->Snapshot().Trust();
    m_log.Info("[snapshot] the history below is proven: the blocks up to {} (height {}) make "
               "exactly the {} coins of the snapshot. The next stop or start removes the older "
               "chainstate",
               m_base->hash.ToHex(), m_base->height, coins);
    m_hooks.proven();
    SetPhase(nullptr);
}

Result<> SnapshotProof::Refute(const std::string& why)
{
    Bytes record(m_snapshot.hash.Span().begin(), m_snapshot.hash.Span().end());
    record.insert(record.end(), why.begin(), why.end());
    IBD_RETURN_IF_ERROR(WriteFileAtomically(m_env, m_options.directory / kRefuted, record));
    m_standing = Standing::kRefuted;
    m_hooks.refuted(BadData(
        "the UTXO snapshot of block {} is wrong: {}. The node stops, and does not use these "
        "coins again: the next start goes on from the older coins, and validates the "
        "blocks above them. Do not load the snapshot again, and remove -assumeutxo if you "
        "gave it",
        m_base->hash.ToHex(), why));
    SetPhase(nullptr);
    return {};
}

std::optional<ProofProgress> SnapshotProof::Progress() const
{
    const Lock lock(m_mutex);
    if (!m_phase) return std::nullopt;
    ProofProgress out{.phase = m_phase, .terminal_height = static_cast<int32_t>(m_snapshot.height)};
    if (!m_engine) return out;
    const FoldProgress fold = m_engine->Progress();
    out.blocks = fold.blocks;
    out.bytes = fold.bytes;
    out.total_bytes = std::max(fold.bytes, fold.total_bytes);
    out.bytes_per_second = fold.bytes_per_second;
    out.seconds_left =
        SecondsLeft(fold.bytes_per_second, static_cast<double>(out.total_bytes - out.bytes), 1);
    const DownloadProgress download = m_supply->Progress();
    if (download.blocks > 0) out.download = download;
    return out;
}

} // namespace ibd
