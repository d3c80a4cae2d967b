// The places of the stores that may be outside of the data directory: chainstate (-chainstatedir)
// and indexes (-indexdir). A start finds a store that is elsewhere, missing, or older than the data
// directory, and does not build it again unless the user asks for that. Main thread.
//
// A store outside of the data directory has a StoreMark in its folder, and the data directory has
// one for it. Each start raises the number in both, the store's first. So the store's number is
// that of the data directory or, after a kill in between, one more; a store with any other number
// is a copy of another time. The mark of the data directory also shows where the store was last.
// Stores in the data directory have no marks. Manual: doc/stores.md.
#pragma once

#include "storage/data_dir.h"
#include "util/log.h"

namespace ibd {

/** The stores that a start uses or rebuilds. */
struct StoreUses {
    bool chainstate_rebuilt = false; //!< the user asks for it (-reindex, -reindex-chainstate)
    bool indexes_used = false;       //!< unused ones are not checked
    bool indexes_rebuilt = false;    //!< -reindex
};

/** Call it at start, before a store is opened: completes an interrupted replacement of the
 *  chainstate, checks the places of the stores and raises their numbers. Errors are one line for
 *  the user; then no number was raised. A store that is to be rebuilt may be missing, or a copy of
 *  another time, but not in two places. */
Result<> PrepareStores(Env& env, Logger& log, const DataDir& dir, const StoreUses& uses);

} // namespace ibd
