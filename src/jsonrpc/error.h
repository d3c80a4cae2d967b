// RpcError and the codes of Core's JSON-RPC interface. Handlers throw it; the dispatcher catches
// it. It never leaves this module.
#pragma once

#include <string>

#include <fmt/core.h>
#include <univalue.h>

namespace ibd {

enum class RpcCode : int {
    // JSON-RPC 2.0
    kInvalidRequest = -32600,
    kMethodNotFound = -32601,
    kInvalidParams = -32602,
    kInternalError = -32603,
    kParseError = -32700,
    // The node's own
    kMisc = -1,
    kTypeError = -3,
    kInvalidAddressOrKey = -5,
    kOutOfMemory = -7,
    kInvalidParameter = -8,
    kClientNotConnected = -9,
    kInitialDownload = -10,
    kDatabase = -20,
    kDeserialization = -22,
    kNodeAlreadyAdded = -23,
    kNodeNotAdded = -24,
    kVerify = -25,
    kVerifyRejected = -26,
    kVerifyAlreadyInChain = -27,
    kInWarmup = -28,
    kNodeNotConnected = -29,
    kInvalidSubnet = -30,
    kP2pDisabled = -31,
    kMethodDeprecated = -32,
    kNodeCapacityReached = -34,
    kPrivateQueueFull = -37,
};

struct RpcError {
    RpcCode code;
    std::string message;

    UniValue ToJson() const
    {
        UniValue json(UniValue::VOBJ);
        json.pushKV("code", static_cast<int>(code));
        json.pushKV("message", message);
        return json;
    }
};

template <typename... Args>
[[noreturn]] void ThrowRpc(RpcCode code, fmt::format_string<Args...> text, Args&&... args)
{
    throw RpcError{code, fmt::format(text, std::forward<Args>(args)...)};
}

} // namespace ibd
