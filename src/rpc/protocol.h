// JSON-RPC over a transport that carries a body and a status: requests of versions 1.0, 1.1 and
// 2.0, batches, notifications. Stateless; any thread.
#pragma once

#include "rpc/table.h"

#include <functional>

namespace ibd {

/** Status and body of the answer. */
struct RpcReply {
    int http_status = 200;
    std::string body;
};

/** Whether the user may call the method; empty: everything is allowed. */
using MayCall = std::function<bool(const std::string& method)>;

/** Executes the request or batch in `body`. Version 2.0 requests answer errors with status 200;
 *  older ones with 400 (invalid request), 404 (no such method) or 500; a call the user may not
 *  make is 403; only notifications: 204. */
RpcReply AnswerRpc(RpcTable& table, const std::string& body, const MayCall& may_call);

} // namespace ibd
