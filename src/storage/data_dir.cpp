// See data_dir.h.
#include "storage/data_dir.h"
#include "util/version.h"

#include <algorithm>

namespace ibd {
namespace {

/** `what`: for the error text. */
Result<> CheckIsThere(Env& env, const Path& base, const char* what)
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(base));
    if (kind == FileKind::kFolder) return {};
    return BadData("Specified {} directory \"{}\" does not exist.", what, base.string());
}

/** `folder`, but by the name `known` if that is the same: it must not be locked twice. */
Path OnceNamed(const Path& folder, const Path& known)
{
    std::error_code code;
    const Path canonical = std::filesystem::weakly_canonical(folder, code);
    return canonical == std::filesystem::weakly_canonical(known, code) ? known : folder;
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
    std::unique_ptr<DataDir> dir(new DataDir(env, options.folder));
    const auto folder = [&](const Path& given, const char* what) -> Result<Path> {
        const Path& base = given.empty() ? options.base : given;
        IBD_RETURN_IF_ERROR(CheckIsThere(env, base, what));
        return dir->FolderBelow(base);
    };
    IBD_ASSIGN_OR_RETURN(dir->m_net, folder(options.base, "data"));
    IBD_ASSIGN_OR_RETURN(dir->m_blocks, folder(options.blocks_base, "blocks"));
    dir->m_blocks /= "blocks";
    IBD_ASSIGN_OR_RETURN(dir->m_chainstate_parent, folder(options.chainstate_base, "chainstate"));
    IBD_ASSIGN_OR_RETURN(dir->m_index_parent, folder(options.index_base, "index"));
    dir->m_chainstate_parent = OnceNamed(dir->m_chainstate_parent, dir->m_net);
    dir->m_index_parent = OnceNamed(dir->m_index_parent, dir->m_net);
    dir->m_index_parent = OnceNamed(dir->m_index_parent, dir->m_chainstate_parent);
    for (const Path& each :
         {dir->m_net, dir->m_blocks, dir->m_chainstate_parent, dir->m_index_parent}) {
        IBD_RETURN_IF_ERROR(dir->MakeAndLock(each));
    }
    IBD_RETURN_IF_ERROR(dir->CheckSpace());
    return dir;
}

/** The lock file stays, as in Core. */
Result<> DataDir::MakeAndLock(const Path& folder)
{
    if (std::ranges::find(m_folders, folder) != m_folders.end()) return {};
    const Path lock_file = folder / ".lock";
    const auto made = m_env.CreateDirectories(folder);
    if (!made || !m_env.OpenWrite(lock_file, /*truncate=*/false)) {
        return SystemError("Cannot write to directory '{}'; check permissions.", folder.string());
    }
    auto lock = m_env.Lock(lock_file);
    if (!lock) {
        return SystemError("Cannot obtain a lock on directory {}: {}", folder.string(),
                           lock.Message());
    }
    if (!*lock) {
        return SystemError("Cannot obtain a lock on directory {}. {} is probably already running.",
                           folder.string(), kProjectName);
    }
    m_folders.push_back(folder);
    m_locks.push_back(std::move(lock).Value());
    return {};
}

Result<bool> DataDir::AdoptOldBlockIndex()
{
    IBD_ASSIGN_OR_RETURN(const bool has_old, m_env.IsThere(OldBlockIndex() / "CURRENT"));
    if (!has_old) return false;
    IBD_ASSIGN_OR_RETURN(const bool has_new, m_env.IsThere(BlockIndex() / "CURRENT"));
    if (has_new) return false;
    // Without a chainstate it may be that of another node, whose block files this one shares.
    IBD_ASSIGN_OR_RETURN(const bool has_coins, m_env.IsThere(Chainstate() / "CURRENT"));
    if (!has_coins) return false;
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
    for (const Path& folder : m_folders) IBD_RETURN_IF_ERROR(CheckSpaceOf(m_env, folder, more));
    return {};
}

} // namespace ibd
