// The common part of scantxoutset and scanblocks: one scan runs at a time; other calls can query or
// abort it.
#pragma once

#include "jsonrpc/method.h"

#include <atomic>

namespace ibd {

struct TurnState {
    std::atomic<bool> running = false;
    std::atomic<bool> abort = false;
    std::atomic<int> percent = 0;
    std::atomic<int> height = 0; //!< height of the current block; scanblocks only
};

/** The argument "scanobjects". */
RpcArg ScanObjectsArg(bool required, const char* help);
/** The arguments "action" and "scanobjects". */
std::vector<RpcArg> ScanArgs();

/** Executes the action. "start": runs `scan`, unless another scan runs. "abort": returns whether
 *  there was a scan to abort. "status": returns the progress, completed by `add_status`; null
 *  without a scan. */
UniValue AnswerScan(const RpcCall& call, TurnState& state, const std::function<UniValue()>& scan,
                    const std::function<void(UniValue&)>& add_status = {});

/** The scan objects of a call that starts; an error if they are no array. */
const UniValue& ScanObjects(const RpcCall& call);

} // namespace ibd
