// See marked_folder.h.
#include "util/marked_folder.h"

namespace ibd {

Result<> MarkedFolder::CheckOurs(Env& env) const
{
    IBD_ASSIGN_OR_RETURN(const bool is_there, env.IsThere(m_path));
    if (!is_there) return {};
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(MarkerPath()));
    if (is_marked) return {};
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(m_path));
    // A crash happened before the marker was written, or between the removals of marker and folder.
    if (names.empty()) return {};
    return SystemError("'{}' is where {} would work, but was not made by it (no '{}' in it): move "
                       "it away",
                       m_path.string(), m_marker.user, m_marker.name);
}

Result<> MarkedFolder::Make(Env& env) const
{
    IBD_RETURN_IF_ERROR(CheckOurs(env));
    IBD_ASSIGN_OR_RETURN(const bool is_made, env.IsThere(MarkerPath()));
    if (is_made) return {};
    IBD_RETURN_IF_ERROR(env.CreateDirectories(m_path));
    // Not atomic, because a crash would leave a temporary name here.
    IBD_ASSIGN_OR_RETURN(const auto marker, env.CreateFile(MarkerPath()));
    IBD_RETURN_IF_ERROR(marker->WriteAt(0, AsBytes(m_marker.text)));
    IBD_RETURN_IF_ERROR(marker->Sync());
    IBD_RETURN_IF_ERROR(env.SyncDirectory(m_path));
    return env.SyncDirectory(FolderOf(m_path));
}

Result<> MarkedFolder::RemoveFiles(Env& env,
                                   const std::function<bool(const std::string&)>& is_ours) const
{
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(MarkerPath()));
    if (!is_marked) return {};
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(m_path));
    for (const std::string& name : names) {
        if (is_ours(name)) IBD_RETURN_IF_ERROR(env.Remove(m_path / name));
    }
    return {};
}

Result<> MarkedFolder::RemoveIfEmpty(Env& env) const
{
    IBD_ASSIGN_OR_RETURN(const bool is_marked, env.IsThere(MarkerPath()));
    if (is_marked) {
        IBD_ASSIGN_OR_RETURN(const auto left, env.List(m_path));
        if (left.size() > 1) return {}; // there are files of a user: the marker remains valid
        if (env.FollowLink(m_path) != m_path) return {};
        IBD_RETURN_IF_ERROR(env.Remove(MarkerPath()));
    }
    const auto left = env.List(m_path); // another user's path may be a file, or not accessible
    return left && left->empty() && env.FollowLink(m_path) == m_path ? env.Remove(m_path)
                                                                     : Result<>();
}

} // namespace ibd
