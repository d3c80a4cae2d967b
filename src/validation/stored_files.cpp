// See stored_files.h.
#include "validation/stored_files.h"

#include "storage/block_files.h"
#include "storage/kv_store.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace ibd {

namespace {

/** Core's name for the file that makes a folder the chainstate of a snapshot. */
constexpr const char* kBaseBlockHash = "base_blockhash";
constexpr const char* kCouldNotRemove = "Couldn't remove snapshot chainstate.";
/** LevelDB removes files of such a name when it opens or destroys a database. */
constexpr const char* kTemporaryDbFile = "000000.dbtmp";

Path SnapshotFolder(const DataDir& dir) { return dir.Net() / "chainstate_snapshot"; }

/** Whether Core uses a snapshot here. It passes over a folder without the hash of its block. */
Result<bool> HasSnapshot(Env& env, Logger& log, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    if (!there) return false;
    IBD_ASSIGN_OR_RETURN(const bool based, env.IsThere(folder / kBaseBlockHash));
    if (based) return true;
    log.Info("[snapshot] snapshot chainstate dir is malformed! no base blockhash file exists at "
             "path {}. Try deleting {} and calling loadtxoutset again?",
             folder.string(), folder.string());
    return false;
}

/** For the error text; empty if it cannot be read. */
std::string BaseOf(Env& env, const Path& folder)
{
    const auto bytes = ReadWholeFile(env, folder / kBaseBlockHash);
    if (!bytes || bytes->size() != BlockHash().Span().size()) return {};
    return " of block " + BlockHash::FromBytes(bytes->data()).ToHex();
}

/** Numbers of the files in which the index has blocks, or undo data. */
std::vector<bool> FilesInUse(const ChainView& chain, bool undo)
{
    std::vector<bool> used;
    const ChainReader reader = chain.Read();
    const HeaderTree& tree = reader.Tree();
    for (size_t i = 0; i < tree.Size(); ++i) {
        const HeaderNode& node = *tree.NodeAt(i);
        if (!(undo ? node.HasUndo() : node.HasData()) || node.file < 0) continue;
        const auto file = static_cast<size_t>(node.file);
        if (file >= used.size()) used.resize(file + 1);
        used[file] = true;
    }
    return used;
}

/** The node's block files. The log names other files with similar names. */
Result<BlockFilesFound> FindFiles(Env& env, Logger& log, const Path& blocks_dir)
{
    IBD_ASSIGN_OR_RETURN(BlockFilesFound found, FindBlockFiles(env, blocks_dir));
    if (const std::string text = DescribeOthers(found, blocks_dir); !text.empty()) {
        log.Warning("{}", text);
    }
    return found;
}

/** Whether a file of this name in a database's folder is LevelDB's. */
bool IsDbFileName(std::string_view name)
{
    constexpr std::string_view kWhole[] = {"CURRENT", "LOCK", "LOG", "LOG.old"};
    constexpr std::string_view kManifest = "MANIFEST-";
    constexpr std::string_view kSuffixes[] = {".log", ".ldb", ".sst", ".dbtmp"};
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    if (std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole)) return true;
    if (name.starts_with(kManifest)) return is_number(name.substr(kManifest.size()));
    return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
        return name.ends_with(suffix) && is_number(name.substr(0, name.size() - suffix.size()));
    });
}

/** Checks the permission to make and remove files in a database's folder, if there is one. After a
 *  kill LevelDB removes the file. */
Result<> CheckDbFolder(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    return there ? CheckCreates(env, folder / kTemporaryDbFile) : Result<>();
}

/** Checks the permission to write what -reindex makes anew. */
Result<> CheckMayRebuild(Env& env, const DataDir& dir, int32_t last)
{
    IBD_RETURN_IF_ERROR(CheckDbFolder(env, dir.Chainstate()));
    IBD_RETURN_IF_ERROR(CheckDbFolder(env, dir.BlockIndex()));
    return CheckWriteAccess(env, dir.Blocks(), last);
}

/** Names in the folder of a snapshot's chainstate that are not of Core. */
Result<std::vector<std::string>> FindForeign(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(std::vector<std::string> names, env.List(folder));
    std::erase_if(names, [](const std::string& name) {
        return name == kBaseBlockHash || IsDbFileName(name);
    });
    std::sort(names.begin(), names.end());
    return names;
}

/** Core's text for a folder that is still there after its removal, and what helps. */
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

Result<> LookBeforeReindex(Env& env, Logger& log, const DataDir& dir)
{
    const Path& blocks_dir = dir.Blocks();
    IBD_ASSIGN_OR_RETURN(const BlockFilesFound found, FindFiles(env, log, blocks_dir));
    const int32_t last = found.blocks.empty() ? 0 : found.blocks.back();
    IBD_RETURN_IF_ERROR(CheckNamesAhead(env, blocks_dir, last));
    if (const Result<> readable = CheckReadable(env, blocks_dir, found.blocks); !readable) {
        return SystemError("{}. Nothing was removed: make the file readable, or move it away to do "
                           "without its blocks, then restart with -reindex",
                           readable.Message());
    }
    const Result<> writable = CheckMayRebuild(env, dir, last);
    if (writable) return {};
    return SystemError("{}. Nothing was removed: permit the node to write there, then restart with "
                       "-reindex",
                       writable.Message());
}

Result<> CheckStoredFiles(Env& env, Logger& log, const ChainView& chain,
                          const BlockStore& blocks, const Path& blocks_dir)
{
    IBD_RETURN_IF_ERROR(FindFiles(env, log, blocks_dir));
    IBD_RETURN_IF_ERROR(CheckNamesAhead(env, blocks_dir, blocks.LastFile()));
    std::vector<uint64_t> sizes;
    std::vector<uint64_t> undo_sizes;
    for (const BlockFileInfo& info : blocks.Files()) {
        sizes.push_back(info.size);
        undo_sizes.push_back(info.undo_size);
    }
    log.Info("Checking all blk files are present...");
    const Result<> undo =
        CheckFilesHold(env, blocks_dir, "rev", undo_sizes, FilesInUse(chain, true));
    if (!undo)
        log.Warning("Undo data is missing, which a reorganisation may need: {}", undo.Message());
    return CheckFilesHold(env, blocks_dir, "blk", sizes, FilesInUse(chain, false));
}

Result<> RefuseSnapshot(Env& env, Logger& log, const DataDir& dir)
{
    const Path folder = SnapshotFolder(dir);
    IBD_ASSIGN_OR_RETURN(const bool there, HasSnapshot(env, log, folder));
    if (!there) return {};
    return BadData(
        "Bitcoin Core uses a UTXO snapshot{} here, in '{}', which this version cannot go "
        "on with. Let Bitcoin Core finish its validation and restart it once, which "
        "removes that folder, or restart this node with -reindex-chainstate (-reindex "
        "with -prune), which removes it and rebuilds the chainstate from the blocks",
        BaseOf(env, folder), folder.string());
}

// The base's hash goes last: until then a start that was killed in here finds the folder to be what
// it is.
Result<> RemoveSnapshot(Env& env, Logger& log, const DataDir& dir)
{
    const Path folder = SnapshotFolder(dir);
    IBD_ASSIGN_OR_RETURN(const bool there, HasSnapshot(env, log, folder));
    if (!there) return {};
    IBD_RETURN_IF_ERROR(CheckSnapshotIsRemovable(env, folder));
    log.Info("[snapshot] deleting snapshot chainstate due to reindexing");
    const auto remove = [&]() -> Result<> {
        IBD_RETURN_IF_ERROR(DestroyDb(folder));
        IBD_RETURN_IF_ERROR(env.Remove(folder / kBaseBlockHash));
        IBD_RETURN_IF_ERROR(env.Remove(folder));
        return env.SyncDirectory(dir.Net());
    };
    const Result<> removed = remove();
    if (removed) return {};
    return SystemError("{} {}. Remove the folder '{}', then restart with the same option",
                       kCouldNotRemove, removed.Message(), folder.string());
}

} // namespace ibd
