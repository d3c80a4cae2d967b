// See chainstate_builder.h.
#include "storage/chainstate_builder.h"

#include "storage/coins_db.h"
#include "storage/kv_store.h"
#include "storage/store_mark.h"

namespace ibd {
namespace {

Result<> RemoveIfThere(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(directory));
    return is_there ? env.RemoveAll(directory) : Result<>();
}

} // namespace

Result<std::unique_ptr<ChainstateBuilder>>
ChainstateBuilder::Create(Env& env, ChainstateBuilderOptions options)
{
    const WorkFolder work(options.chainstate);
    IBD_RETURN_IF_ERROR(work.Make(env));
    XorKey key;
    if (options.obfuscate) {
        std::array<uint8_t, XorKey::kSize> bytes;
        env.RandomBytes(bytes);
        key = XorKey(bytes);
    }
    IBD_ASSIGN_OR_RETURN(auto db,
                         TableDbBuilder::Create(env, work.New(), key, options.max_file_bytes));
    return std::unique_ptr<ChainstateBuilder>(
        new ChainstateBuilder(env, std::move(options), std::move(db)));
}

/** Writes the table of the records before all coins. The key's own record is not obfuscated. */
Result<std::vector<TableFile>> ChainstateBuilder::WriteHead(const BlockHash& best_block)
{
    const auto head = m_db->NewPlainWriter();
    const XorKey& key = m_db->Key();
    if (!key.IsZero()) {
        Bytes record = {XorKey::kSize};
        Append(record, key.Span());
        IBD_RETURN_IF_ERROR(head->Add(ObfuscationRecordKey(), record));
    }
    Bytes value(best_block.data(), best_block.data() + 32);
    key.Apply(value);
    const uint8_t best_block_key[] = {'B'};
    IBD_RETURN_IF_ERROR(head->Add(best_block_key, value));
    return head->Finish();
}

Result<> ChainstateBuilder::Complete(std::vector<TableFile> tables, const BlockHash& best_block)
{
    IBD_ASSIGN_OR_RETURN(std::vector<TableFile> head, WriteHead(best_block));
    AppendTables(tables, std::move(head));
    return m_db->Complete(std::move(tables));
}

Result<> ChainstateBuilder::Publish(std::vector<TableFile> tables, const BlockHash& best_block)
{
    IBD_RETURN_IF_ERROR(Complete(std::move(tables), best_block));
    return ReplaceDb(m_env, m_options.chainstate);
}

WorkFolder::WorkFolder(const Path& database)
    : m_folder(Path(database) += ".ibdbooster",
               {.name = "made-by-the-ibd-booster",
                .text = "The next start of the node finishes or removes this folder.\n",
                .user = "the booster"})
{
}

Result<> WorkFolder::Remove(Env& env) const
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(Get()));
    if (!is_there) return {};
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(Marker()));
    if (is_marked) {
        IBD_RETURN_IF_ERROR(RemoveNew(env));
        for (const Path& part : {Old(), Batch(), Sort()}) {
            IBD_RETURN_IF_ERROR(RemoveIfThere(env, part));
        }
    }
    return m_folder.RemoveIfEmpty(env);
}

Result<> WorkFolder::RemoveNew(Env& env) const
{
    return RemoveDbFolder(env, New());
}

Result<> CheckReplaceable(Env& env, const Path& database)
{
    const WorkFolder work(database);
    IBD_RETURN_IF_ERROR(work.CheckOurs(env));
    for (const Path& folder : {database, work.Get()}) {
        IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(folder));
        if (!is_there || env.SameMount(folder, database.parent_path())) continue;
        return SystemError("'{}' is a mount point, so that no new folder can take the place of "
                           "'{}': mount the disk elsewhere and make '{}' a symbolic link to a "
                           "folder on it",
                           folder.string(), database.string(), database.string());
    }
    return {};
}

Result<> ReplaceDb(Env& env, const Path& database)
{
    const WorkFolder work(database);
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(database));
    if (is_there) {
        // Before the renames: after a kill the new one may take the place without more work.
        IBD_RETURN_IF_ERROR(CarryStoreMark(env, database, work.New()));
        IBD_RETURN_IF_ERROR(RemoveIfThere(env, work.Old()));
        IBD_RETURN_IF_ERROR(env.Rename(database, work.Old()));
    }
    IBD_RETURN_IF_ERROR(env.Rename(work.New(), database));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(work.Get()));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(database.parent_path()));
    return work.Remove(env);
}

Result<> RecoverDb(Env& env, Logger& log, const Path& database)
{
    const WorkFolder work(database);
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(work.Marker()));
    if (!is_marked) return work.Remove(env);
    // An I/O error must not count as a missing database or copy, because the remains are removed
    // below.
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(database));
    IBD_ASSIGN_OR_RETURN(const bool has_new, env.IsThere(work.New() / "CURRENT"));
    IBD_ASSIGN_OR_RETURN(const bool has_old, env.IsThere(work.Old()));
    if (!is_there && (has_new || has_old)) {
        log.Info("IBD Booster: '{}' was being replaced when the node died; the {} one takes its "
                 "place",
                 database.string(), has_new ? "new" : "old");
        IBD_RETURN_IF_ERROR(env.Rename(has_new ? work.New() : work.Old(), database));
        IBD_RETURN_IF_ERROR(env.SyncDirectory(work.Get()));
        IBD_RETURN_IF_ERROR(env.SyncDirectory(database.parent_path()));
    }
    log.Info("IBD Booster: removing '{}', left by a build that was interrupted",
             work.Get().string());
    return work.Remove(env);
}

Result<ChainstateSummary> LookAtChainstate(Env& env, Logger& log, const Path& chainstate)
{
    ChainstateSummary summary;
    IBD_ASSIGN_OR_RETURN(summary.exists, env.IsThere(chainstate / "CURRENT"));
    if (!summary.exists) return summary;
    CoinsDbOptions options;
    options.directory = chainstate;
    IBD_ASSIGN_OR_RETURN(const auto coins, CoinsDb::Open(env, log, options));
    IBD_ASSIGN_OR_RETURN(const std::vector<BlockHash> heads, coins->HeadBlocks());
    summary.between = !heads.empty();
    IBD_ASSIGN_OR_RETURN(summary.best, coins->BestBlock());
    return summary;
}

} // namespace ibd
