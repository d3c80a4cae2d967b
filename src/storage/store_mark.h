// StoreMark: a small text file by which a start recognises an older copy of a store that is outside
// of the data directory. The store's folder has one, and the data directory has one for each such
// store, which also names the store's directory. Both have a number that grows with each start; see
// store_places.h. Format: doc/stores.md. Functions of values; one thread.
#pragma once

#include "util/env.h"
#include "util/found.h"

namespace ibd {

struct StoreMark {
    std::string id;          //!< of the pair of data directory and store
    uint64_t starts = 0;     //!< number of starts with this pair
    bool unfinished = false; //!< of a store: an older copy, whose rebuild has not finished
    Path directory = {};     //!< in the data directory only: the option's value
};

inline constexpr const char* kStoreMarkName = "store-mark.txt";
inline constexpr uint64_t kMaxStoreMarkBytes = 16 << 10; //!< more than the longest path

/** Nothing: there is no file of this name. BadData: it is no mark. */
Found<StoreMark> ReadStoreMark(Env& env, const Path& file);
/** Replaces the file atomically. */
Result<> WriteStoreMark(Env& env, const Path& file, const StoreMark& mark);
/** Removes the file, and what a crash left of a write of it. */
Result<> RemoveStoreMark(Env& env, const Path& file);
/** Whether a start may find a file of this name, whole or not, in a marked folder. */
bool IsStoreMarkName(const std::string& name);

/** Call it before a complete new database takes the place of the one in `from`: `to` gets the mark
 *  of `from`, if that has one, without `unfinished`. */
Result<> CarryStoreMark(Env& env, const Path& from, const Path& to);
/** Call it when the store in this folder has been emptied or replaced for a rebuild: from now on a
 *  start without the rebuild accepts it. Does nothing without a mark. */
Result<> FinishStoreMark(Env& env, const Path& folder);

} // namespace ibd
