// See sync_job.h.
#include "swiftsync/sync_job.h"

namespace ibd {

FoldRules SyncJob::Rules() const
{
    return FoldRulesOf(terminal, hints.Info().counting, params.consensus);
}

UniqueCoinbases SyncJob::Unique() const { return UniqueCoinbasesOf(terminal, params.consensus); }

Checkpoint SyncJob::NewCheckpoint() const
{
    Checkpoint fresh;
    fresh.network_magic = params.magic;
    fresh.hints_id = hints.Info().id;
    fresh.terminal_height = hints.Info().terminal_height;
    fresh.terminal_hash = terminal.hash;
    fresh.aggregate = options.aggregate;
    fresh.full_validation = options.full_validation;
    fresh.rules = RulesId();
    env.RandomBytes(fresh.salt);
    fresh.sum = MakeAggregate(fresh.aggregate, fresh.salt)->Serialize();
    fresh.folded = HeightSet(fresh.terminal_height);
    return fresh;
}

bool SyncJob::Owns(const Checkpoint& c) const
{
    return c.network_magic == params.magic && c.hints_id == hints.Info().id &&
           c.terminal_hash == terminal.hash && c.aggregate == options.aggregate &&
           c.full_validation == options.full_validation && c.rules == RulesId() &&
           MakeAggregate(c.aggregate, c.salt)->Load(c.sum).Ok();
}

Result<std::vector<RunReader>> SyncJob::OpenRunsOf(const Checkpoint& checkpoint) const
{
    return OpenRuns(env, options.directory, checkpoint.runs, hints.Info().id);
}

} // namespace ibd
