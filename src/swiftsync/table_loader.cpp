// See table_loader.h.
#include "swiftsync/table_loader.h"

namespace ibd {

Result<LoadReport> LoadByTables(Env& env, Logger& log, const LoadTask& task)
{
    LoadTask batches = task;
    batches.kind = LoaderKind::kBatch;
    return LoadChainstate(env, log, batches);
}

} // namespace ibd
