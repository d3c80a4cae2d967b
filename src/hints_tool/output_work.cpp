// See output_work.h.
#include "hints_tool/output_work.h"

#include "join/join_state.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr const char* kLock = "lock";
constexpr const char* kLockOfJoin = ".lock";

/** Whether the name has six digits and one of these endings. */
bool IsNumbered(const std::string& name)
{
    constexpr size_t kDigits = 6;
    constexpr std::string_view kEndings[] = {".coins", ".done", ".done.new", ".begun",
                                             ".begun.new"};
    if (name.size() <= kDigits || name.find_first_not_of("0123456789") != kDigits) return false;
    const std::string_view ending = std::string_view(name).substr(kDigits);
    return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

bool IsOurs(const std::string& name)
{
    return name == kLock || OutputWork::IsOfSnapshot(name) || OutputWork::IsOfJoin(name) ||
           OutputWork::IsPart(name);
}

Path Canonical(const Path& path)
{
    std::error_code code;
    Path out = std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
    return code ? path : out;
}

bool LiesIn(const Path& path, const Path& folder)
{
    const Path inner = Canonical(path);
    const Path outer = Canonical(folder);
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
}

} // namespace

bool OutputWork::IsOfSnapshot(const std::string& name)
{
    return name == "state" || name == "state.new" || IsNumbered(name);
}

bool OutputWork::IsOfJoin(const std::string& name)
{
    return name == kLockOfJoin || IsJoinFile(name);
}

bool OutputWork::IsPart(const std::string& name)
{
    return name == "hints" || name == "hints.gaps" || name == "hints.incomplete" ||
           name == "hints.incomplete.gaps";
}

namespace {

MarkedFolder WorkFolderOf(const Path& out)
{
    return MarkedFolder(
        out.string() + ".work",
        {.name = "made-by-bitcoin-hints",
         .text = "Unfinished work of bitcoin-hints. The same command continues it; if it is "
                 "not needed, the folder may be removed.\n",
         .user = "bitcoin-hints"});
}

/** Only the last folder of the path is made: the others may be those of an unmounted disk. */
Result<> CheckParent(Env& env, const Path& out)
{
    const Path parent = FolderOf(out);
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(parent));
    if (is_there) return {};
    return SystemError("{}: there is no such folder; make it first", parent.string());
}

uint64_t SizeOf(Env& env, const Path& folder)
{
    uint64_t size = 0;
    const auto names = env.List(folder);
    if (!names) return 0;
    for (const std::string& name : *names) {
        std::error_code code;
        const uintmax_t bytes = std::filesystem::file_size(folder / name, code);
        if (IsOurs(name) && !code) size += bytes;
    }
    return size;
}

} // namespace

Result<OutputWork> OutputWork::Begin(Env& env, const Path& out, const std::vector<Path>& inputs)
{
    MarkedFolder folder = WorkFolderOf(out);
    for (const Path& input : inputs) {
        if (!LiesIn(input, folder.Get())) continue;
        return BadData("{} lies in {}, the folder of unfinished work: move it elsewhere",
                       input.string(), folder.Get().string());
    }
    IBD_RETURN_IF_ERROR(CheckParent(env, out));
    IBD_RETURN_IF_ERROR(folder.Make(env));
    IBD_ASSIGN_OR_RETURN(auto lock, env.Lock(folder.Get() / kLock));
    if (!lock) return SystemError("{}: another bitcoin-hints works there", folder.Get().string());
    return OutputWork(std::move(folder), std::move(lock));
}

uint64_t OutputWork::Size(Env& env) const
{
    return SizeOf(env, Folder());
}

uint64_t OutputWork::SizeAt(Env& env, const Path& out)
{
    const MarkedFolder folder = WorkFolderOf(out);
    return env.Exists(folder.MarkerPath()) ? SizeOf(env, folder.Get()) : 0;
}

Result<> OutputWork::RemoveFiles(Env& env,
                                 const std::function<bool(const std::string&)>& unwanted) const
{
    return m_folder.RemoveFiles(
        env, [&](const std::string& name) { return IsOurs(name) && unwanted(name); });
}

Result<> OutputWork::RemovePart(Env& env) const
{
    IBD_RETURN_IF_ERROR(
        RemoveFiles(env, [](const std::string& name) { return name == kLock || IsPart(name); }));
    return m_folder.RemoveIfEmpty(env);
}

Result<> OutputWork::Remove(Env& env) const
{
    // Removes the state, which says that the coins are split, first: the removal may be
    // interrupted.
    IBD_RETURN_IF_ERROR(RemoveFiles(env, [](const std::string& name) { return name == "state"; }));
    IBD_RETURN_IF_ERROR(RemoveFiles(env, [](const std::string&) { return true; }));
    return m_folder.RemoveIfEmpty(env);
}

} // namespace ibd
