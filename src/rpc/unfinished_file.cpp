// See unfinished_file.h.
#include "rpc/unfinished_file.h"

#include "crypto/sha256.h"
#include "swiftsync/snapshot_coins.h"
#include "util/hex.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr std::string_view kEnding = ".path";
constexpr std::string_view kCoinsFolder = "coins-";

Path NotesFolder(const Path& net_dir) { return net_dir / "unfinished"; }

/** Path of a file's note, which contains the file's path. */
Path NoteOf(const Path& net_dir, const Path& path)
{
    const Hash32 digest = Sha256Of(AsBytes(path.string()));
    return NotesFolder(net_dir) / (ToHex(ByteSpan(digest).first(16)) + std::string(kEnding));
}

Result<> WriteNote(Env& env, const Path& note, const Path& path)
{
    IBD_RETURN_IF_ERROR(env.CreateDirectories(FolderOf(note)));
    IBD_ASSIGN_OR_RETURN(const auto file, env.CreateFile(note));
    const auto write = [&]() -> Result<> {
        IBD_RETURN_IF_ERROR(file->WriteAt(0, AsBytes(std::filesystem::absolute(path).string())));
        IBD_RETURN_IF_ERROR(file->Sync());
        return env.SyncDirectory(FolderOf(note));
    };
    const Result<> written = write();
    if (!written) (void)env.Remove(note); // else no later call could claim the path
    return written;
}

/** Removes a noted file and its note. */
Result<> RemoveNoted(Env& env, Logger& log, const Path& note)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, note));
    const Path path = std::string(AsChars(bytes));
    std::error_code code;
    // Only a regular file is removed: the node may have been killed before the call created one.
    const auto status = std::filesystem::symlink_status(path, code);
    if (status.type() == std::filesystem::file_type::none) {
        return SystemError("'{}' cannot be looked at: {}", path.string(), code.message());
    }
    if (status.type() == std::filesystem::file_type::regular) {
        log.Warning("removing '{}' ({}), which a call was writing when the node died",
                    path.string(), FormatBytes(std::filesystem::file_size(path, code)));
        IBD_RETURN_IF_ERROR(env.Remove(path));
    }
    return env.Remove(note);
}

} // namespace

Result<UnfinishedFile> UnfinishedFile::Claim(Env& env, const Path& net_dir, const Path& path)
{
    // Created before the note, because a start removes the file that a note names.
    std::error_code code;
    const auto status = std::filesystem::symlink_status(path, code);
    if (std::filesystem::exists(status)) return SystemError("'{}' exists already", path.string());
    const Path note = NoteOf(net_dir, path);
    IBD_RETURN_IF_ERROR(WriteNote(env, note, path));
    const auto file = env.CreateFile(path);
    if (!file) {
        (void)env.Remove(note);
        return file.GetError();
    }
    return UnfinishedFile(env, path, note);
}

UnfinishedFile::~UnfinishedFile()
{
    if (m_note.empty()) return;
    const auto there = m_env.IsThere(m_path);
    const bool removed = there && (!*there || m_env.Remove(m_path));
    if (removed) (void)m_env.Remove(m_note);
}

Result<> RemoveUnfinishedFiles(Env& env, Logger& log, const Path& net_dir)
{
    const Path folder = NotesFolder(net_dir);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(folder));
    if (!there) return {};
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(folder));
    for (const std::string& name : names) {
        if (name.ends_with(kEnding)) IBD_RETURN_IF_ERROR(RemoveNoted(env, log, folder / name));
        if (!name.starts_with(kCoinsFolder)) continue;
        log.Warning("removing the coins in '{}', which a call was sorting when the node died",
                    (folder / name).string());
        IBD_RETURN_IF_ERROR(RemoveProofFiles(env, folder / name));
        IBD_RETURN_IF_ERROR(env.Remove(folder / name));
    }
    return {};
}

Path NewCoinsFolder(const Path& net_dir)
{
    static std::atomic<uint64_t> number = 0;
    return NotesFolder(net_dir) / fmt::format("{}{}", kCoinsFolder, number++);
}

} // namespace ibd
