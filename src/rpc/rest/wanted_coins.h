// WantedCoins: the coins that a request for /rest/getutxos names, in its path or its body.
#pragma once

#include "primitives/tx_view.h"
#include "rpc/rest/request.h"

namespace ibd::rest {

struct WantedCoins {
    bool with_pool = false;
    std::vector<OutPoint> outpoints;
};

/** Refuses a malformed request, and one without coins where coins are required. */
WantedCoins ParseWanted(const RestRequest& request);

} // namespace ibd::rest
