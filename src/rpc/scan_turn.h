// The common part of scantxoutset and scanblocks: one scan at a time, which other calls query or
// abort.
#pragma once

#include "jsonrpc/method.h"

#include <atomic>

namespace ibd {

struct TurnState {
    std::atomic<bool> running = false;
    std::atomic<bool> abort = false;
    std::atomic<int> percent = 0;
    std::atomic<int> height = 0; //!< of the block that was reached; scanblocks only
};

/** The argument "scanobjects". */
RpcArg ScanObjectsArg(bool required, const char* help);
/** The arguments "action" and "scanobjects". */
std::vector<RpcArg> ScanArgs();

/** Answers by the action: `scan` to "start" if no other scan runs, and true, or false without a
 *  scan, to "abort". To "status" the progress, completed by `add_status`; null without a scan. */
UniValue AnswerScan(const RpcCall& call, TurnState& state, const std::function<UniValue()>& scan,
                    const std::function<void(UniValue&)>& add_status = {});

/** The scan objects of a call that starts; an error if they are no array. */
const UniValue& ScanObjects(const RpcCall& call);

} // namespace ibd
