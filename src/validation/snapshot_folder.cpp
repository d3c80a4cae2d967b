// See snapshot_folder.h.
#include "validation/snapshot_folder.h"

#include "storage/block_files.h"
#include "storage/chainstate_builder.h"
#include "storage/kv_store.h"
#include "storage/store_mark.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {

namespace {

/** Core's name for the file that makes a folder the chainstate of a snapshot. */
constexpr const char* kBaseBlockHash = "base_blockhash";
/** Core's suffix for the name of an invalid chainstate. */
constexpr const char* kAside = "_INVALID";
constexpr const char* kCouldNotRemove = "Couldn't remove snapshot chainstate.";
/** LevelDB removes files of such a name when it opens or destroys a database. */
constexpr const char* kTemporaryDbFile = "000000.dbtmp";

/** Names in the folder of a snapshot's chainstate that neither Core nor this program uses. */
Result<std::vector<std::string>> FindForeign(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(std::vector<std::string> names, env.List(folder));
    std::erase_if(names, [](const std::string& name) {
        return name == kBaseBlockHash || IsStoreMarkName(name) || IsDbFileName(name);
    });
    std::sort(names.begin(), names.end());
    return names;
}

/** Core's text for a folder that could not be removed, with the remedy. */
Result<> CheckSnapshotIsRemovable(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<std::string> foreign, FindForeign(env, folder));
    if (!foreign.empty()) {
        return SystemError("{} '{}' also holds '{}', which is no file of a chainstate. Nothing was "
                           "removed: move it out of the folder, then restart with the same option",
                           kCouldNotRemove, folder.string(), fmt::join(foreign, "', '"));
    }
    const Result<> writable = CheckDbFolder(env, folder);
    if (writable) return {};
    return SystemError("{} {}. Nothing was removed: permit the node to write in '{}', then restart "
                       "with the same option",
                       kCouldNotRemove, writable.Message(), folder.string());
}

} // namespace

Path SnapshotFolder(const DataDir& dir)
{
    return dir.ChainstateParent() / "chainstate_snapshot";
}

Found<BlockHash> FindSnapshot(Env& env, Logger& log, const DataDir& dir)
{
    const Path folder = SnapshotFolder(dir);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const bool based, env.IsThere(folder / kBaseBlockHash));
    if (!based) {
        log.Info("[snapshot] snapshot chainstate dir is malformed! no base blockhash file exists "
                 "at path {}. Try deleting {} and calling loadtxoutset again?",
                 folder.string(), folder.string());
        return std::nullopt;
    }
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, folder / kBaseBlockHash));
    if (bytes.size() == BlockHash().Span().size()) return BlockHash::FromBytes(bytes.data());
    return BadData("'{}' has {} bytes and is no block hash. Restart with -reindex-chainstate "
                   "(-reindex with -prune), which removes the snapshot and rebuilds the chainstate "
                   "from the blocks",
                   (folder / kBaseBlockHash).string(), bytes.size());
}

Result<> WriteSnapshotBase(Env& env, const Path& folder, const BlockHash& base)
{
    return WriteFileAtomically(env, folder / kBaseBlockHash, base.Span());
}

Result<> CheckDbFolder(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    return there ? CheckCreates(env, folder / kTemporaryDbFile) : Result<>();
}

Result<> CheckSnapshotFolder(Env& env, const DataDir& dir)
{
    const Path folder = SnapshotFolder(dir);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    return there ? CheckSnapshotIsRemovable(env, folder) : Result<>();
}

// The base's hash is removed last: until then a start after a kill recognises the folder.
Result<> RemoveSnapshot(Env& env, Logger& log, const DataDir& dir)
{
    const Path folder = SnapshotFolder(dir);
    const auto base = FindSnapshot(env, log, dir);
    IBD_RETURN_IF_SYSTEM_ERROR(base);
    if (base && !*base) return {};
    IBD_RETURN_IF_ERROR(CheckSnapshotIsRemovable(env, folder));
    log.Info("[snapshot] deleting snapshot chainstate due to reindexing");
    const auto remove = [&]() -> Result<> {
        IBD_RETURN_IF_ERROR(DestroyDb(env, folder));
        IBD_RETURN_IF_ERROR(RemoveStoreMark(env, folder / kStoreMarkName));
        IBD_RETURN_IF_ERROR(env.Remove(folder / kBaseBlockHash));
        IBD_RETURN_IF_ERROR(env.Remove(folder));
        return env.SyncDirectory(dir.ChainstateParent());
    };
    const Result<> removed = remove();
    if (removed) return {};
    return SystemError("{} {}. Remove the folder '{}', then restart with the same option",
                       kCouldNotRemove, removed.Message(), folder.string());
}

Result<> PutSnapshotAside(Env& env, Logger& log, const DataDir& dir)
{
    const Path snapshot = SnapshotFolder(dir);
    const Path aside = snapshot.string() + kAside;
    IBD_ASSIGN_OR_RETURN(const bool taken, env.IsThere(aside));
    if (taken) return RemoveSnapshot(env, log, dir);
    log.Info("[snapshot] moving the wrong snapshot chainstate ({}) to {}", snapshot.string(),
             aside.string());
    IBD_RETURN_IF_ERROR(env.Rename(snapshot, aside));
    return env.SyncDirectory(dir.ChainstateParent());
}

Result<> CheckSnapshotCanTakeOver(Env& env, const DataDir& dir)
{
    const Path chainstate = dir.Chainstate(); // a link is resolved
    const Path& parent = dir.ChainstateParent();
    IBD_RETURN_IF_ERROR(WorkFolder(chainstate).CheckOurs(env));
    if (env.SameMount(chainstate, parent) && env.SameMount(chainstate.parent_path(), parent)) {
        return {};
    }
    return SystemError("'{}' and '{}' are on different disks or mounts, so the coins of a snapshot "
                       "cannot take the place of the older ones: stop the node and move '{}' into "
                       "'{}' (-chainstatedir puts both on another disk)",
                       chainstate.string(), SnapshotFolder(dir).string(), chainstate.string(),
                       parent.string());
}

Result<> PromoteSnapshot(Env& env, Logger& log, const DataDir& dir)
{
    IBD_RETURN_IF_ERROR(CheckSnapshotCanTakeOver(env, dir));
    const Path chainstate = dir.Chainstate();
    const Path snapshot = SnapshotFolder(dir);
    log.Info("[snapshot] moving snapshot chainstate ({}) to default chainstate directory ({})",
             snapshot.string(), chainstate.string());
    const WorkFolder work(chainstate);
    IBD_RETURN_IF_ERROR(work.Make(env));
    IBD_RETURN_IF_ERROR(CarryStoreMark(env, chainstate, snapshot));
    IBD_RETURN_IF_ERROR(env.Rename(chainstate, work.Old()));
    IBD_RETURN_IF_ERROR(env.Rename(snapshot, chainstate));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(work.Get()));
    IBD_RETURN_IF_ERROR(env.SyncDirectory(chainstate.parent_path()));
    IBD_RETURN_IF_ERROR(env.Remove(chainstate / kBaseBlockHash));
    log.Info("[snapshot] deleting background chainstate directory (now unnecessary) ({})",
             work.Old().string());
    return work.Remove(env);
}

} // namespace ibd
