// MarkedFolder: a folder for unfinished work at a name that may be a user's already. It is ours
// only if it holds the marker file; another one is never adopted, emptied or removed. Of what is in
// it, only files of names that its owner uses are removed. A value; one thread.
#pragma once

#include "util/env.h"

#include <functional>

namespace ibd {

class MarkedFolder {
public:
    struct Marker {
        std::string name;
        std::string text; //!< for the user who finds it
        std::string user; //!< "the booster": who would work there, for errors
    };

    MarkedFolder(Path path, Marker marker) : m_path(std::move(path)), m_marker(std::move(marker)) {}

    const Path& Get() const { return m_path; }
    Path MarkerPath() const { return m_path / m_marker.name; }

    /** Refuses a folder of this name without the marker, unless it is empty. */
    Result<> CheckOurs(Env& env) const;
    /** Makes it, marked, unless it is there. */
    Result<> Make(Env& env) const;
    /** Removes the files of names that `is_ours` takes, if the folder is marked. */
    Result<> RemoveFiles(Env& env, const std::function<bool(const std::string&)>& is_ours) const;
    /** Removes the marker and the folder if nothing else is in it; where a link leads to the folder
     *  both stay. What a user has put in stays with the marker. */
    Result<> RemoveIfEmpty(Env& env) const;

private:
    Path m_path;
    Marker m_marker;
};

} // namespace ibd
