// getzmqnotifications.
#pragma once

#include "jsonrpc/table.h"

namespace ibd {

/** An active ZeroMQ notification. */
struct ZmqNotification {
    std::string type; //!< "pubhashblock"
    std::string address;
    int high_water_mark;
};

void AddZmqMethods(RpcTable& table, std::vector<ZmqNotification> active);

} // namespace ibd
