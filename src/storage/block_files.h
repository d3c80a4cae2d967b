// The blk and rev files of a folder by name, and which of them belong to the node. All code that
// removes or reads them by name uses these functions. Any thread.
#pragma once

#include "util/env.h"

#include <span>

namespace ibd {

/** "blk00012.dat"; five digits, or more above 99,999. */
std::string BlockFileName(std::string_view prefix, int32_t number);

struct BlockFilesFound {
    std::vector<int32_t> blocks; //!< numbers of blk files, ascending
    std::vector<int32_t> undo;   //!< numbers of rev files
    /** Names similar to those of the node, but not written by it, and non-regular files. Each with
     *  the reason, for the log. */
    std::vector<std::string> others;
    std::vector<std::string> dead_links; //!< those of them that are links to nothing
};

/** Finds the files; symbolic links count as their targets. */
Result<BlockFilesFound> FindBlockFiles(Env& env, const Path& blocks_dir);

/** A line that names the ignored files; empty if there are none. */
std::string DescribeOthers(const BlockFilesFound& found, const Path& blocks_dir);

/** Checks that each file can be opened for reading; the error names the first failure. */
Result<> CheckReadable(Env& env, const Path& blocks_dir, std::span<const int32_t> blocks);

/** Checks that the files which the node will write next can be created or written: blk file `last`
 *  and the next one, and all rev files up to that. The error names the obstacle. */
Result<> CheckNamesAhead(Env& env, const Path& blocks_dir, int32_t last);

/** Checks that a file of this name, which does not exist, can be made and removed. */
Result<> CheckCreates(Env& env, const Path& absent);

/** Checks permissions: to write blk file `last` and the rev files up to it, and to make the next
 *  blk file. The error names the obstacle. */
Result<> CheckWriteAccess(Env& env, const Path& blocks_dir, int32_t last);

/** Prepares a -reindex of a pruned directory: deletes undo files, and the blk files after the first
 *  missing one, whose blocks cannot connect. */
Result<> RemoveUnusableBlockFiles(Env& env, const Path& blocks_dir);

/** Checks files against the index: the `used` ones exist, and none ends before its last recorded
 *  byte. The error names the first failure. */
Result<> CheckFilesHold(Env& env, const Path& blocks_dir, std::string_view prefix,
                        std::span<const uint64_t> sizes, const std::vector<bool>& used);

} // namespace ibd
