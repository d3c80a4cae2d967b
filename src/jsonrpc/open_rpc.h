// The description of all calls for programs, in the format of OpenRPC (https://spec.open-rpc.org),
// made from the table of calls. Pure.
#pragma once

#include "jsonrpc/table.h"

namespace ibd {

inline constexpr const char* kOpenRpcVersion = "1.4.1";

struct OpenRpcOptions {
    std::string title;
    std::string version;        //!< of the program
    bool with_hidden = false;   //!< calls and arguments that help does not show, too
};

/** An OpenRPC document. Types of results are those of the outermost value: their members are only
 *  described in words. */
UniValue OpenRpcDocument(const RpcTable& table, const OpenRpcOptions& options);

} // namespace ibd
