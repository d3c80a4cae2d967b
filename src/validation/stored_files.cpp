// See stored_files.h.
#include "validation/stored_files.h"

#include "storage/block_files.h"
#include "validation/snapshot_folder.h"

namespace ibd {

namespace {

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

/** Checks the permission to write the files that -reindex rebuilds. */
Result<> CheckMayRebuild(Env& env, const DataDir& dir, int32_t last)
{
    IBD_RETURN_IF_ERROR(CheckDbFolder(env, dir.Chainstate()));
    IBD_RETURN_IF_ERROR(CheckDbFolder(env, dir.BlockIndex()));
    return CheckWriteAccess(env, dir.Blocks(), last);
}

} // namespace

Result<> LookBeforeReindex(Env& env, Logger& log, const DataDir& dir, bool prunes)
{
    const Path& blocks_dir = dir.Blocks();
    IBD_ASSIGN_OR_RETURN(const BlockFilesFound found, FindFiles(env, log, blocks_dir));
    if (prunes && !found.dead_links.empty()) {
        return SystemError("'{}' is a link to nothing, and -reindex with -prune would remove the "
                           "block files after it. Nothing was removed: mount the disk with its "
                           "target, or remove the link, then restart with -reindex",
                           (blocks_dir / found.dead_links[0]).string());
    }
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

} // namespace ibd
