// MarkedFolder: a folder for unfinished work. Its name may exist already as a folder of the user,
// so the folder is ours only if it contains the marker file; any other folder is never used,
// emptied or removed. In a marked folder, only files with the owner's names are removed. A value;
// one thread.
#pragma once

#include "util/env.h"

#include <functional>

namespace ibd {

class MarkedFolder {
public:
    struct Marker {
        std::string name;
        std::string text; //!< explains the folder to the user
        std::string user; //!< the component that uses it, such as "the booster", for errors
    };

    MarkedFolder(Path path, Marker marker) : m_path(std::move(path)), m_marker(std::move(marker)) {}

    const Path& Get() const { return m_path; }
    Path MarkerPath() const { return m_path / m_marker.name; }

    /** Refuses a folder of this name without the marker, unless it is empty. */
    Result<> CheckOurs(Env& env) const;
    /** Makes the folder with its marker, unless it exists. */
    Result<> Make(Env& env) const;
    /** Removes the files whose names `is_ours` accepts, if the folder is marked. */
    Result<> RemoveFiles(Env& env, const std::function<bool(const std::string&)>& is_ours) const;
    /** Removes marker and folder if there are no other files. If files of the user are there, or
     *  the folder is a symbolic link's target, folder and marker stay. */
    Result<> RemoveIfEmpty(Env& env) const;

private:
    Path m_path;
    Marker m_marker;
};

} // namespace ibd
