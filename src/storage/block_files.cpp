// See block_files.h.
#include "storage/block_files.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr size_t kMostNamed = 8; //!< in one log line
constexpr const char* kBlocks = "blk";
constexpr const char* kUndo = "rev";

/** Nothing: the node never writes such a name. */
std::optional<int32_t> NumberIn(std::string_view name)
{
    const std::string_view digits = name.substr(3, name.size() - 7);
    int32_t number = 0;
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc() || stop != end || number < 0) return std::nullopt;
    if (name != BlockFileName(name.substr(0, 3), number)) return std::nullopt;
    return number;
}

bool LooksLikeOne(std::string_view name)
{
    return (name.starts_with(kBlocks) || name.starts_with(kUndo)) && name.ends_with(".dat") &&
           name.size() >= 7;
}

/** Checks that a file of that name can be opened for writing or created. */
Result<> CheckWritable(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(path));
    if (kind == FileKind::kNothing || kind == FileKind::kRegular) return {};
    if (kind == FileKind::kDeadLink) {
        IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(env.FollowLink(path).parent_path()));
        if (there) return {}; // the target of the link will be created
    }
    return SystemError("'{}' is {}, and the node is to write there: move it away, then restart",
                       path.string(), NameOf(kind));
}

/** Checks the permission to write a file, if it exists. Changes nothing. */
Result<> CheckOpensForWriting(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(path));
    if (kind != FileKind::kRegular) return {};
    const auto file = env.OpenWrite(path, false);
    return file ? Result<>() : Result<>(file.GetError());
}

/** A missing file is a fault of the folder, which -reindex repairs. Anything else is a failure of
 *  the system, for which nothing may be rebuilt. */
Error CannotOpen(Env& env, const Path& path, const Error& error)
{
    const auto kind = env.KindOf(path);
    if (kind && *kind == FileKind::kNothing) {
        return BadData("Unable to open file {}: {}", path.string(), error.message);
    }
    const bool dead = kind && *kind == FileKind::kDeadLink;
    return SystemError("Unable to open file {}: {}{}", path.string(), error.message,
                       dead ? ". It is a link to nothing: mount the disk with its target" : "");
}

} // namespace

Result<> CheckCreates(Env& env, const Path& absent)
{
    const auto file = env.OpenWrite(absent, false);
    if (!file) return file.GetError();
    return env.Remove(absent);
}

std::string BlockFileName(std::string_view prefix, int32_t number)
{
    return fmt::format("{}{:05}.dat", prefix, number);
}

Result<BlockFilesFound> FindBlockFiles(Env& env, const Path& blocks_dir)
{
    IBD_ASSIGN_OR_RETURN(std::vector<std::string> names, env.List(blocks_dir));
    std::sort(names.begin(), names.end());
    BlockFilesFound found;
    for (const std::string& name : names) {
        if (!LooksLikeOne(name)) continue;
        const auto number = NumberIn(name);
        if (!number) {
            found.others.push_back(name + " (no name that the node gives)");
            continue;
        }
        IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(blocks_dir / name));
        if (kind == FileKind::kRegular) {
            (name.starts_with(kBlocks) ? found.blocks : found.undo).push_back(*number);
        } else {
            found.others.push_back(fmt::format("{} ({})", name, NameOf(kind)));
            if (kind == FileKind::kDeadLink) found.dead_links.push_back(name);
        }
    }
    std::sort(found.blocks.begin(), found.blocks.end());
    std::sort(found.undo.begin(), found.undo.end());
    return found;
}

std::string DescribeOthers(const BlockFilesFound& found, const Path& blocks_dir)
{
    if (found.others.empty()) return {};
    const size_t named = std::min(found.others.size(), kMostNamed);
    const auto end = found.others.begin() + static_cast<std::ptrdiff_t>(named);
    const size_t more = found.others.size() - named;
    return fmt::format("In '{}' these are no block files of the node and are left out: {}{}",
                       blocks_dir.string(), fmt::join(found.others.begin(), end, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : std::string());
}

Result<> CheckReadable(Env& env, const Path& blocks_dir, std::span<const int32_t> blocks)
{
    for (const int32_t number : blocks) {
        const auto file = env.OpenRead(blocks_dir / BlockFileName(kBlocks, number));
        if (!file) return file.GetError();
    }
    return {};
}

Result<> CheckNamesAhead(Env& env, const Path& blocks_dir, int32_t last)
{
    for (const int32_t number : {last, last + 1}) {
        IBD_RETURN_IF_ERROR(CheckWritable(env, blocks_dir / BlockFileName(kBlocks, number)));
    }
    for (int32_t number = 0; number <= last + 1; ++number) {
        IBD_RETURN_IF_ERROR(CheckWritable(env, blocks_dir / BlockFileName(kUndo, number)));
    }
    return {};
}

Result<> CheckWriteAccess(Env& env, const Path& blocks_dir, int32_t last)
{
    IBD_RETURN_IF_ERROR(CheckOpensForWriting(env, blocks_dir / BlockFileName(kBlocks, last)));
    for (int32_t number = 0; number <= last; ++number) {
        IBD_RETURN_IF_ERROR(CheckOpensForWriting(env, blocks_dir / BlockFileName(kUndo, number)));
    }
    const Path next = blocks_dir / BlockFileName(kBlocks, last + 1);
    IBD_ASSIGN_OR_RETURN(const FileKind kind, env.KindOf(next));
    return kind == FileKind::kNothing ? CheckCreates(env, next) : Result<>();
}

Result<> RemoveUnusableBlockFiles(Env& env, const Path& blocks_dir)
{
    IBD_ASSIGN_OR_RETURN(const BlockFilesFound found, FindBlockFiles(env, blocks_dir));
    for (const int32_t number : found.undo) {
        IBD_RETURN_IF_ERROR(env.Remove(blocks_dir / BlockFileName(kUndo, number)));
    }
    int32_t expected = 0;
    for (const int32_t number : found.blocks) {
        if (number == expected) {
            ++expected;
        } else {
            IBD_RETURN_IF_ERROR(env.Remove(blocks_dir / BlockFileName(kBlocks, number)));
        }
    }
    return {};
}

Result<> CheckFilesHold(Env& env, const Path& blocks_dir, std::string_view prefix,
                        std::span<const uint64_t> sizes, const std::vector<bool>& used)
{
    for (size_t number = 0; number < used.size(); ++number) {
        if (!used[number]) continue;
        const Path path = blocks_dir / BlockFileName(prefix, static_cast<int32_t>(number));
        const auto opened = env.OpenRead(path);
        if (!opened) return CannotOpen(env, path, opened.GetError());
        IBD_ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
        const uint64_t recorded = number < sizes.size() ? sizes[number] : 0;
        if (size >= recorded) continue;
        return BadData("{} has {} bytes, but the index knows of {}: put a sound copy in its place, "
                       "or restart with -reindex to do without the lost blocks",
                       path.string(), size, recorded);
    }
    return {};
}

} // namespace ibd
