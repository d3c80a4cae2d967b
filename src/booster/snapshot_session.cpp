// See snapshot_session.h.
#include "booster/snapshot_session.h"

#include "booster/snapshot_loader.h"
#include "validation/snapshot_folder.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr const char* kPoolNotEmpty = "Can't activate a snapshot when mempool not empty";
constexpr const char* kRebuild = "Restart with -reindex-chainstate (-reindex with -prune), which "
                                 "removes the snapshot and rebuilds the chainstate from the blocks";

bool HasLessWork(const ChainManager& chain, const HeaderNode& base)
{
    const ChainReader reader = chain.Read();
    return reader.Tip() == nullptr || LessPreferred(*reader.Tip(), base);
}

Error Unpopulated(const Error& error)
{
    return {"Population failed: " + error.message, error.kind};
}

} // namespace

Result<> SnapshotSession::Prepare()
{
    IBD_RETURN_IF_ERROR(RecoverDb(m_env, m_log, SnapshotFolder(m_dir)));
    IBD_ASSIGN_OR_RETURN(const std::optional<BlockHash> base, FindSnapshot(m_env, m_log, m_dir));
    m_in_use = base.has_value();
    if (!base) return {};
    m_data.block_hash = *base;
    m_log.Info("[snapshot] detected active snapshot chainstate ({}) - loading",
               SnapshotFolder(m_dir).string());
    return {};
}

/** -assumeutxo may give only a height. */
std::optional<AssumeutxoData> SnapshotSession::Known(const ChainReader& chain,
                                                     const BlockHash& base) const
{
    if (const AssumeutxoData* const data = m_params.AssumeutxoFor(base)) return *data;
    const HeaderNode* const node = chain.Find(base);
    for (AssumeutxoData data : m_params.assumeutxo) {
        if (!node || data.height != node->height || !data.block_hash.IsNull()) continue;
        data.block_hash = base;
        return data;
    }
    return std::nullopt;
}

Result<> SnapshotSession::Judge(ChainManager& chain)
{
    if (!InUse()) return m_proof.Remove();
    const auto data = Known(chain.Read(), m_data.block_hash);
    if (!data) {
        return BadData("Assumeutxo data not found for the given blockhash '{}'. {}",
                       m_data.block_hash.ToHex(), kRebuild);
    }
    m_data = *data;
    IBD_ASSIGN_OR_RETURN(const SnapshotProof::Standing standing, m_proof.Look(m_data));
    if (standing == SnapshotProof::Standing::kProven) return Promote();
    if (standing == SnapshotProof::Standing::kRefuted) {
        IBD_RETURN_IF_ERROR(DisownIn(chain));
        return PutAside();
    }
    IBD_ASSIGN_OR_RETURN(const ChainstateSummary older,
                         LookAtChainstate(m_env, m_log, m_dir.Chainstate()));
    m_older = older.best;
    if (m_older == m_data.block_hash) IBD_RETURN_IF_ERROR(TakeProof());
    if (!InUse()) return {};
    m_log.Info("[snapshot] switching active chainstate to {}", SnapshotFolder(m_dir).string());
    m_log.Info("Running node in NODE_NETWORK_LIMITED mode until snapshot background sync "
               "completes");
    return {};
}

Found<Uint256> SnapshotSession::HashOlderCoins() const
{
    CoinsDbOptions options = m_hooks.coins;
    options.directory = m_dir.Chainstate();
    IBD_ASSIGN_OR_RETURN(const auto coins, CoinsDb::Open(m_env, m_log, options));
    return HashCoins(*coins, m_interrupt);
}

/** Core validates up to the block of a snapshot in the older coins. At its next start it compares
 *  them and removes them. */
Result<> SnapshotSession::TakeProof()
{
    m_log.Info("[snapshot] computing UTXO stats for background chainstate to validate snapshot - "
               "this could take a few minutes");
    IBD_ASSIGN_OR_RETURN(const std::optional<Uint256> hash, HashOlderCoins());
    if (!hash || m_interrupt) return {};
    const BlockHash& base = m_data.block_hash;
    if (*hash != m_data.hash_serialized) {
        m_log.Error("[snapshot] hash mismatch: actual={}, expected={}", hash->ToHex(),
                    m_data.hash_serialized.ToHex());
        return BadData("The coins in '{}', which were validated up to block {}, are not those of "
                       "the UTXO snapshot of this block. {}",
                       m_dir.Chainstate().string(), base.ToHex(), kRebuild);
    }
    m_log.Info("[snapshot] snapshot beginning at {} has been fully validated", base.ToHex());
    return Promote();
}

Result<> SnapshotSession::Promote()
{
    m_log.Info("[snapshot] cleaning up unneeded background chainstate, then reinitializing");
    IBD_RETURN_IF_ERROR(PromoteSnapshot(m_env, m_log, m_dir));
    m_in_use = false;
    return m_proof.Remove();
}

Result<> SnapshotSession::DisownIn(ChainManager& chain) const
{
    const HeaderNode* const base = chain.Read().Find(m_data.block_hash);
    if (!base) return {};
    chain.Snapshot().Disown(*base);
    return chain.FlushIndex();
}

void SnapshotSession::Disown(ChainManager& chain)
{
    if (m_proof.Now() != SnapshotProof::Standing::kRefuted) return;
    const Result<> done = DisownIn(chain);
    m_disowned = done.Ok();
    if (!done) m_log.Error("[snapshot] {}", done.Message());
}

Result<> SnapshotSession::PutAside()
{
    IBD_RETURN_IF_ERROR(PutSnapshotAside(m_env, m_log, m_dir));
    m_in_use = false;
    return m_proof.Remove();
}

void SnapshotSession::StartProof(ChainManager& chain)
{
    if (!InUse() || m_proof_begun.exchange(true)) return;
    if (!m_hooks.proof) {
        m_log.Warning("[snapshot] the history below is not proven, because no block is assumed "
                      "valid and the proof runs no scripts. {}",
                      kRebuild);
        return;
    }
    m_proof.Start(chain, m_data, m_hooks.proof());
}

std::vector<PruneLock> SnapshotSession::Current() const
{
    if (!InUse() || !m_hooks.proof || !m_proof.NeedsUndoData()) return {};
    return {{"the proof of the UTXO snapshot", m_data.height}};
}

void SnapshotSession::Settle()
{
    Result<> settled;
    if (m_proof.Now() == SnapshotProof::Standing::kProven) settled = Promote();
    if (m_disowned) settled = PutAside();
    if (!settled) {
        m_log.Error("[snapshot] the next start puts the coins in their place: {}",
                    settled.Message());
    }
}

Result<> SnapshotSession::Remove()
{
    m_in_use = false;
    IBD_RETURN_IF_ERROR(m_proof.Remove());
    IBD_RETURN_IF_ERROR(RecoverDb(m_env, m_log, SnapshotFolder(m_dir)));
    return RemoveSnapshot(m_env, m_log, m_dir);
}

std::optional<SnapshotStart> SnapshotSession::Start() const
{
    return InUse() ? std::optional<SnapshotStart>({m_data, m_older}) : std::nullopt;
}

Result<std::unique_ptr<CoinsDb>> SnapshotSession::OpenCoins() const
{
    CoinsDbOptions options = m_hooks.coins;
    options.directory = SnapshotFolder(m_dir);
    return CoinsDb::Open(m_env, m_log, options);
}

Error SnapshotSession::NotRecognised(const BlockHash& base) const
{
    std::vector<int> heights;
    for (const AssumeutxoData& data : m_params.assumeutxo) heights.push_back(data.height);
    return BadData("assumeutxo block hash in snapshot metadata not recognized (hash: {}). The "
                   "following snapshot heights are available: {}",
                   base.ToHex(), fmt::join(heights, ", "));
}

Result<const HeaderNode*> SnapshotSession::Check(const ChainManager& chain,
                                                 const BlockHash& hash) const
{
    if (InUse()) return BadData("Can't activate a snapshot-based chainstate more than once");
    const HeaderNode* base = nullptr;
    {
        const ChainReader reader = chain.Read();
        base = reader.Find(hash);
        const bool any_block = !base && std::ranges::any_of(m_params.assumeutxo, [](const auto& a) {
            return a.block_hash.IsNull();
        });
        if (!any_block && !Known(reader, hash)) return NotRecognised(hash);
        if (!base) {
            return BadData("The base block header ({}) must appear in the headers chain. Make sure "
                           "all headers are syncing, and call loadtxoutset again",
                           hash.ToHex());
        }
        if (base->Failed()) {
            return BadData("The base block header ({}) is part of an invalid chain", hash.ToHex());
        }
        if (reader.Tree().BestHeader()->Ancestor(base->height) != base) {
            return BadData("A forked headers-chain with more work than the chain with the snapshot "
                           "base block header exists. Please proceed to sync without AssumeUtxo.");
        }
    }
    if (!m_hooks.pool_is_empty()) return BadData("{}", kPoolNotEmpty);
    return base;
}

Result<const HeaderNode*> SnapshotSession::Load(ChainManager& chain, const Path& file,
                                                const SnapshotHeader& header, const Runner& run)
{
    if (m_loading.exchange(true)) return BadData("A snapshot is being loaded by another call");
    auto loaded = LoadAlone(chain, file, header, run);
    m_loading = false;
    return loaded;
}

Result<const HeaderNode*> SnapshotSession::LoadAlone(ChainManager& chain, const Path& file,
                                                     const SnapshotHeader& header,
                                                     const Runner& run)
{
    IBD_ASSIGN_OR_RETURN(const HeaderNode* const base, Check(chain, header.base));
    if (!HasLessWork(chain, *base)) {
        return BadData("Population failed: Work does not exceed active chainstate");
    }
    IBD_RETURN_IF_ERROR(CheckSnapshotFolder(m_env, m_dir));
    IBD_RETURN_IF_ERROR(CheckSnapshotCanTakeOver(m_env, m_dir));
    SnapshotLoader loader(m_env, m_log, SnapshotFolder(m_dir), m_interrupt);
    const AssumeutxoData data = *Known(chain.Read(), header.base);
    const Result<> populated = loader.Load(file, data);
    if (!populated) return Unpopulated(populated.GetError());
    IBD_RETURN_IF_ERROR(run([&] { return Activate(chain, data, loader); }));
    return base;
}

/** Until the last step the node can continue as before: new folders are removed again. */
Result<> SnapshotSession::Activate(ChainManager& chain, const AssumeutxoData& data,
                                   SnapshotLoader& loader)
{
    const HeaderNode& base = *chain.Read().Find(data.block_hash);
    if (!HasLessWork(chain, base)) return BadData("work does not exceed active chainstate");
    if (!m_hooks.pool_is_empty()) return BadData("{}", kPoolNotEmpty);
    chain.Snapshot().Assume(base);
    if (Result<> prepared = chain.Flush(FlushMode::kAlways); !prepared) {
        m_hooks.fatal(prepared.GetError()); // as after any failed write of the chain
        return prepared;
    }
    std::unique_ptr<CoinsDb> coins;
    if (Result<> placed = PutInPlace(loader, coins); !placed) {
        if (const Result<> removed = RemoveSnapshot(m_env, m_log, m_dir); !removed) {
            m_hooks.fatal(removed.GetError()); // the next start would use it
        }
        return placed;
    }
    m_data = data;
    m_older = chain.Current().hash;
    const SnapshotStart start{m_data, m_older};
    if (Result<> attached = chain.AttachCoins(std::move(coins), &start); !attached) {
        m_hooks.fatal(attached.GetError());
        return attached;
    }
    m_in_use = true;
    m_hooks.switched();
    m_log.Info("[snapshot] successfully activated snapshot {}", base.hash.ToHex());
    StartProof(chain);
    return {};
}

Result<> SnapshotSession::PutInPlace(SnapshotLoader& loader, std::unique_ptr<CoinsDb>& coins) const
{
    IBD_RETURN_IF_ERROR(loader.Publish());
    IBD_ASSIGN_OR_RETURN(coins, OpenCoins());
    return {};
}

} // namespace ibd
