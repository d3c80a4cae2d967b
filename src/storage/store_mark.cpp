// See store_mark.h.
#include "storage/store_mark.h"

#include "util/atomic_file.h"
#include "util/bounded_file.h"
#include "util/strings.h"

#include <fmt/format.h>

namespace ibd {
namespace {

/** The value of the line at the start of `text` if the line begins with `key`; moves past it. */
std::optional<std::string_view> TakeLine(std::string_view& text, std::string_view key)
{
    const size_t end = text.find('\n');
    if (!text.starts_with(key) || end == text.npos) return std::nullopt;
    const std::string_view value = text.substr(key.size(), end - key.size());
    text.remove_prefix(end + 1);
    return value;
}

std::optional<StoreMark> Parse(std::string_view text)
{
    const auto id = TakeLine(text, "id=");
    const auto starts = TakeLine(text, "starts=");
    if (!id || id->empty() || !starts) return std::nullopt;
    const auto number = ParseInteger<uint64_t>(*starts);
    if (!number) return std::nullopt;
    StoreMark mark{std::string(*id), *number};
    mark.unfinished = TakeLine(text, "unfinished").has_value();
    if (text.empty()) return mark;
    // The last line, as a path may contain an end of line.
    constexpr std::string_view kDirectory = "directory=";
    if (!text.starts_with(kDirectory) || !text.ends_with('\n')) return std::nullopt;
    text.remove_prefix(kDirectory.size());
    text.remove_suffix(1);
    mark.directory = Path(text);
    return mark;
}

} // namespace

Found<StoreMark> ReadStoreMark(Env& env, const Path& file)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(file));
    if (!there) return std::nullopt;
    const auto bytes = ReadBoundedFile(env, file, kMaxStoreMarkBytes);
    IBD_RETURN_IF_SYSTEM_ERROR(bytes);
    auto mark = bytes ? Parse(AsChars(ByteSpan(*bytes))) : std::nullopt;
    if (!mark) return BadData("'{}' is damaged", file.string());
    return mark;
}

Result<> WriteStoreMark(Env& env, const Path& file, const StoreMark& mark)
{
    std::string text = fmt::format("id={}\nstarts={}\n", mark.id, mark.starts);
    if (mark.unfinished) text += "unfinished\n";
    if (!mark.directory.empty()) text += fmt::format("directory={}\n", mark.directory.string());
    return WriteFileAtomically(env, file, AsBytes(text));
}

Result<> RemoveStoreMark(Env& env, const Path& file)
{
    IBD_ASSIGN_OR_RETURN(const bool removed, RemoveWithUnwritten(env, file));
    return removed ? env.SyncDirectory(FolderOf(file)) : Result<>();
}

bool IsStoreMarkName(const std::string& name)
{
    return name == kStoreMarkName || name == std::string(kStoreMarkName) + kUnwrittenEnding;
}

Result<> CarryStoreMark(Env& env, const Path& from, const Path& to)
{
    IBD_ASSIGN_OR_RETURN(auto mark, ReadStoreMark(env, from / kStoreMarkName));
    if (!mark) return {};
    mark->unfinished = false;
    return WriteStoreMark(env, to / kStoreMarkName, *mark);
}

Result<> FinishStoreMark(Env& env, const Path& folder)
{
    IBD_ASSIGN_OR_RETURN(const auto mark, ReadStoreMark(env, folder / kStoreMarkName));
    return mark && mark->unfinished ? CarryStoreMark(env, folder, folder) : Result<>();
}

} // namespace ibd
