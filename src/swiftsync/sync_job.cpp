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
    fresh.known_height = KnownHeight();
    fresh.rules = RulesId();
    if (first) {
        fresh.coins_only = true;
        fresh.salt = first->salt;
        fresh.sum = first->sum;
    } else {
        env.RandomBytes(fresh.salt);
        fresh.sum = MakeAggregate(fresh.aggregate, fresh.salt)->Serialize();
    }
    fresh.folded = HeightSet(fresh.terminal_height);
    return fresh;
}

bool SyncJob::CanUse(const FirstPass& pass) const
{
    return !options.full_validation && !options.fold_only && pass.terminal_hash == terminal.hash &&
           pass.rules == RulesId() && pass.aggregate == options.aggregate &&
           hints.Info().counting == HintsCounting::kSpendable &&
           pass.checksums.size() == static_cast<size_t>(terminal.height) + 1 &&
           MakeAggregate(pass.aggregate, pass.salt)->Load(pass.sum).Ok();
}

bool SyncJob::Owns(const Checkpoint& c) const
{
    if (c.coins_only != (first != nullptr) || (first && c.salt != first->salt)) return false;
    return c.network_magic == params.magic && c.hints_id == hints.Info().id &&
           c.terminal_hash == terminal.hash && c.aggregate == options.aggregate &&
           c.full_validation == options.full_validation && c.rules == RulesId() &&
           MakeAggregate(c.aggregate, c.salt)->Load(c.sum).Ok();
}

uint32_t SyncJob::KnownHeight() const
{
    return options.full_validation ? static_cast<uint32_t>(options.known_height) : 0;
}

Result<std::vector<RunReader>> SyncJob::OpenRunsOf(const Checkpoint& checkpoint) const
{
    return OpenRuns(env, options.directory, checkpoint.runs, hints.Info().id);
}

} // namespace ibd
