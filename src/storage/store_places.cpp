// See store_places.h.
#include "storage/store_places.h"

namespace ibd {

void LogStorePlaces(Logger& log, const DataDir& dir)
{
    const auto tell = [&](const Path& store, const char* option) {
        if (store.parent_path() == dir.Net()) return;
        log.Info("'{}' is where Bitcoin Core does not look (-{}): before Core uses this data "
                 "directory, stop the node, move the folder into '{}', and start without the "
                 "option",
                 store.string(), option, dir.Net().string());
    };
    tell(dir.ChainstateName(), "chainstatedir");
    tell(dir.Indexes(), "indexdir");
}

} // namespace ibd
