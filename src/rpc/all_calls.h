// All calls of the node in one table. A new file of calls is named in all_calls.cpp and nowhere
// else.
#pragma once

#include "rpc/blockchain.h"
#include "rpc/control.h"
#include "rpc/hints_calls.h"
#include "rpc/mempool.h"
#include "rpc/mining.h"
#include "rpc/network.h"
#include "rpc/zmq_calls.h"

namespace ibd {

/** The objects that calls use. All must outlive the table. */
struct CallContexts {
    ControlContext& control;
    ChainContext& chain;
    PoolContext& pool;
    MiningContext& mining;
    NetContext& net;
    std::function<std::optional<BoosterProgress>()> booster; //!< of getboosterinfo
    const OverallProgress& overall;                          //!< likewise
    std::string signature_verifier;                          //!< likewise
    JoinOptions hints_join;                                  //!< of dumptxouthints
    HintsMade hints_made;                                    //!< by dumptxouthints
    std::vector<ZmqNotification> zmq = {};                   //!< of getzmqnotifications
};

void AddAllCalls(RpcTable& table, const CallContexts& contexts);

} // namespace ibd
