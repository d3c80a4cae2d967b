// The blk and rev files of a folder by name: which of them the node takes for its own. Who removes
// or reads by name asks here and nowhere else. Any thread.
#pragma once

#include "util/env.h"

#include <span>

namespace ibd {

/** "blk00012.dat", with five digits or, above 99,999, as many as it takes. */
std::string BlockFileName(std::string_view prefix, int32_t number);

struct BlockFilesFound {
    std::vector<int32_t> blocks; //!< numbers of blk files, ascending
    std::vector<int32_t> undo;   //!< of rev files
    /** What looks like such a file but is none: its name is not one that the node writes, or it is
     *  no regular file. With the reason, for the log. */
    std::vector<std::string> others;
};

/** Links count as what they lead to. */
Result<BlockFilesFound> FindBlockFiles(Env& env, const Path& blocks_dir);

/** One line that names what is left out; empty if that is nothing. */
std::string DescribeOthers(const BlockFilesFound& found, const Path& blocks_dir);

/** Whether each can be opened for reading; the error names the first that cannot. */
Result<> CheckReadable(Env& env, const Path& blocks_dir, std::span<const int32_t> blocks);

/** Whether the names that are written to next, now or hours later, can be: those of blk file `last`
 *  and the one behind it, and of all rev files up to that. The error names what has such a name. */
Result<> CheckNamesAhead(Env& env, const Path& blocks_dir, int32_t last);

/** Before the blocks in a pruned directory are indexed anew: deletes undo files, and the blk files
 *  behind the first that is missing, which hold nothing that connects. */
Result<> RemoveUnusableBlockFiles(Env& env, const Path& blocks_dir);

/** Holds files against the index: those that are `used` are there, and none ends before the last
 *  byte that is recorded of it. The error names the first. */
Result<> CheckFilesHold(Env& env, const Path& blocks_dir, std::string_view prefix,
                        std::span<const uint64_t> sizes, const std::vector<bool>& used);

} // namespace ibd
