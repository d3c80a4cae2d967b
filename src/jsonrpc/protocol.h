// JSON-RPC over a transport that carries a body and a status: requests of versions 1.0, 1.1 and
// 2.0, batches, notifications. Stateless; any thread.
#pragma once

#include "jsonrpc/table.h"

#include <functional>

namespace ibd {

/** Status and body of the answer. */
struct RpcReply {
    int http_status = 200;
    std::string body;
};

/** The caller of a request. */
struct RpcCaller {
    std::string user = {};
    std::string peer = {}; //!< "127.0.0.1:50000"
    bool log_ips = false;  //!< -logips: the log may contain the peer's address
    bool may_call_nothing = false;
    /** Whether the user may call the method; empty: all are allowed. */
    std::function<bool(const std::string& method)> may_call = {};
};

/** Executes the request or batch in `body`. Status: 200 for a result, for a batch, and for the
 *  error of a well-formed version 2.0 request; other errors: 400 (invalid request), 404 (no such
 *  method), 403 (a forbidden call), else 500; only notifications: 204. */
RpcReply AnswerRpc(RpcTable& table, Logger& logger, const std::string& body,
                   const RpcCaller& caller);

} // namespace ibd
