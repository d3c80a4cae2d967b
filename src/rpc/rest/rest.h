// REST: read-only answers over HTTP without a login (-rest): blocks, headers, transactions,
// filters, coins and the pool, as bytes, hex or JSON, with Core's paths, status codes and texts.
// Any thread.
#pragma once

#include "jsonrpc/http_types.h"
#include "rpc/rest/context.h"

namespace ibd {

/** Answers requests for paths below /rest/. */
HttpHandler MakeRest(const RestContext& context);

} // namespace ibd
