// StandaloneCalls: the table of all calls without a node: chain and network are absent until they
// are set. For tests, and for the program that writes bitcoin-cli's table. One thread.
#pragma once

#include "rpc/all_calls.h"
#include "rpc/tip_coins.h"

namespace ibd {

struct StandaloneCalls {
    /** Both outlive it. */
    StandaloneCalls(Env& environment, const ChainParams& params)
        : env(environment), acceptance(params.consensus, {}, nullptr)
    {
        AddAllCalls(table, {.control = control,
                            .chain = chain,
                            .pool = pool_context,
                            .mining = mining,
                            .net = net,
                            .booster = [this] { return booster; },
                            .overall = overall,
                            .signature_verifier = {},
                            .hints_join = {},
                            .hints_made = {}});
    }
    StandaloneCalls(const StandaloneCalls&) = delete;
    StandaloneCalls& operator=(const StandaloneCalls&) = delete;

    Env& env;
    FileLogger log{env};
    RpcTable table{env};
    TipWaiters waiters;
    NodeWarnings warnings;
    std::atomic<bool> interrupt{false};
    OverallProgress overall{env};
    std::optional<BoosterProgress> booster; //!< source of getboosterinfo
    TxPool pool{PoolLimits()};
    TxAcceptance acceptance;
    BlockAssembler assembler{env, log, pool, {}};
    ControlContext control{env, table, log, "debug.log", 0, [] {}};
    ChainContext chain{env, log, waiters, warnings, interrupt};
    ChainTipCoins coins{chain.chain, chain.env};
    TxSubmission submission{acceptance, pool, coins};
    FeeEstimator fees; //!< without data
    PoolContext pool_context{chain, pool, acceptance, submission, log, &fees};
    MiningContext mining{chain, assembler, pool};
    NetContext net{chain};
};

} // namespace ibd
