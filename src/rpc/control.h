// Calls about the server itself: help, stop, uptime, getmemoryinfo, getrpcinfo, logging, and
// setmocktime.
#pragma once

#include "jsonrpc/table.h"
#include "util/log_file.h"

namespace ibd {

struct ControlContext {
    Env& env;
    RpcTable& table;
    FileLogger& logger;
    Path log_file;
    int64_t start_micros;                      //!< monotonic time of the node's start
    std::function<void()> stop;                //!< requests a shutdown; returns at once
    std::atomic<int64_t>* mock_time = nullptr; //!< null on networks without mock time
    std::function<void(std::chrono::seconds)> forward_jobs = {}; //!< advances the due times of
                                                                 //!< regular jobs
};

/** `context` must outlive the table. */
void AddControlMethods(RpcTable& table, ControlContext& context);

} // namespace ibd
