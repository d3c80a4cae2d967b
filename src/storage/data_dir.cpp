// See data_dir.h.
#include "storage/data_dir.h"
#include "util/version.h"

#include <cstdlib>

namespace ibd {
namespace {

/** Makes the folder and locks it; the lock file stays, as in Core. */
Result<std::unique_ptr<FileLock>> MakeAndLock(Env& env, const Path& folder)
{
    const Path lock_file = folder / ".lock";
    const auto made = env.CreateDirectories(folder);
    if (!made || !env.OpenWrite(lock_file, /*truncate=*/false)) {
        return SystemError("Cannot write to directory '{}'; check permissions.", folder.string());
    }
    auto lock = env.Lock(lock_file);
    if (!lock) {
        return SystemError("Cannot obtain a lock on directory {}. {} is probably already running.",
                           folder.string(), kProjectName);
    }
    return std::move(lock).Value();
}

Result<> CheckSpaceOf(Env& env, const Path& folder, uint64_t more)
{
    IBD_ASSIGN_OR_RETURN(const uint64_t free, env.SpaceAvailable(folder));
    if (free >= kMinDiskSpace + more) return {};
    return SystemError("Error: Disk space is low for \"{}\"", folder.string());
}

} // namespace

Result<std::unique_ptr<DataDir>> DataDir::Open(Env& env, const DataDirOptions& options)
{
    if (!env.Exists(options.base)) {
        return BadData("Specified data directory \"{}\" does not exist.", options.base.string());
    }
    const Path& blocks_base = options.blocks_base.empty() ? options.base : options.blocks_base;
    if (!env.Exists(blocks_base)) {
        return BadData("Specified blocks directory \"{}\" does not exist.", blocks_base.string());
    }
    const Path net = options.folder.empty() ? options.base : options.base / options.folder;
    const Path blocks_net = options.folder.empty() ? blocks_base : blocks_base / options.folder;
    std::unique_ptr<DataDir> dir(new DataDir(env, net, blocks_net / "blocks"));
    IBD_ASSIGN_OR_RETURN(dir->m_net_lock, MakeAndLock(env, dir->m_net));
    IBD_ASSIGN_OR_RETURN(dir->m_blocks_lock, MakeAndLock(env, dir->m_blocks));
    IBD_RETURN_IF_ERROR(dir->CheckSpace());
    return dir;
}

Result<bool> DataDir::AdoptOldBlockIndex()
{
    if (!m_env.Exists(OldBlockIndex() / "CURRENT")) return false;
    if (m_env.Exists(BlockIndex() / "CURRENT")) return false;
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(BlockIndex().parent_path()));
    const auto moved = m_env.Rename(OldBlockIndex(), BlockIndex());
    if (moved) {
        IBD_RETURN_IF_ERROR(m_env.SyncDirectory(BlockIndex().parent_path()));
        return true;
    }
    return SystemError("the block index belongs into the data directory, even with -blocksdir: "
                       "move '{}' to '{}', or restart with -reindex ({})",
                       OldBlockIndex().string(), BlockIndex().string(), moved.Message());
}

Result<> DataDir::CheckSpace(uint64_t more) const
{
    IBD_RETURN_IF_ERROR(CheckSpaceOf(m_env, m_net, more));
    return CheckSpaceOf(m_env, m_blocks, more);
}

} // namespace ibd
