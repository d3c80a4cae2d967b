// See protocol.h.
#include "jsonrpc/protocol.h"
#include "util/strings.h"

namespace ibd {

namespace {

struct Request {
    bool version2 = false;
    std::optional<UniValue> id = UniValue(); //!< nothing: absent from the request
    std::string method;
    UniValue params;

    bool IsNotification() const { return version2 && !id; }
    /** Parses as much as is valid, so that an error can carry id and version. As in Core, a batch
     *  element that is not an object is answered with id and version of the previous element. */
    void Parse(const UniValue& json, const RpcCaller& caller, Logger& logger);
};

void LogCall(const Request& request, const RpcCaller& caller, Logger& logger)
{
    const bool has_id = request.id && !request.id->isNull();
    logger.Debug(LogCategory::kRpc, "ThreadRPCServer method={} user={}{} id={}",
                 SafeCharacters(request.method), caller.user,
                 caller.log_ips ? " peeraddr=" + caller.peer : "",
                 has_id ? SafeCharacters(request.id->getValStr()) : "");
}

void Request::Parse(const UniValue& json, const RpcCaller& caller, Logger& logger)
{
    if (!json.isObject()) throw RpcError{RpcCode::kInvalidRequest, "Invalid Request object"};
    if (json.exists("id"))
        id = json["id"];
    else
        id.reset();
    version2 = false;
    const UniValue& version = json["jsonrpc"];
    if (!version.isNull()) {
        if (!version.isStr()) {
            throw RpcError{RpcCode::kInvalidRequest, "jsonrpc field must be a string"};
        }
        version2 = version.getValStr() == "2.0";
        if (!version2 && version.getValStr() != "1.0") {
            throw RpcError{RpcCode::kInvalidRequest, "JSON-RPC version not supported"};
        }
    }
    const UniValue& name = json["method"];
    if (name.isNull()) throw RpcError{RpcCode::kInvalidRequest, "Missing method"};
    if (!name.isStr()) throw RpcError{RpcCode::kInvalidRequest, "Method must be a string"};
    method = name.getValStr();
    LogCall(*this, caller, logger);
    params = json["params"];
    if (params.isNull()) params.setArray();
    if (!params.isArray() && !params.isObject()) {
        throw RpcError{RpcCode::kInvalidRequest, "Params must be an array or object"};
    }
}

UniValue ReplyObject(const Request& request, const UniValue& result, const RpcError* error)
{
    UniValue reply(UniValue::VOBJ);
    if (request.version2) reply.pushKV("jsonrpc", "2.0");
    if (error == nullptr) {
        reply.pushKV("result", result);
        if (!request.version2) reply.pushKV("error", UniValue());
    } else {
        if (!request.version2) reply.pushKV("result", UniValue());
        reply.pushKV("error", error->ToJson());
    }
    if (request.id) reply.pushKV("id", *request.id);
    return reply;
}

RpcReply ErrorReply(const Request& request, const RpcError& error)
{
    int status = 500;
    if (error.code == RpcCode::kInvalidRequest) status = 400;
    if (error.code == RpcCode::kMethodNotFound) status = 404;
    return {status, ReplyObject(request, UniValue(), &error).write() + "\n"};
}

constexpr int kForbidden = 403;

bool MayCall(const RpcCaller& caller, const std::string& method, Logger& logger)
{
    if (!caller.may_call || caller.may_call(method)) return true;
    logger.Warning("RPC User {} not allowed to call method {}", caller.user, EscapeControl(method));
    return false;
}

RpcReply AnswerSingle(RpcTable& table, Logger& logger, const UniValue& json,
                      const RpcCaller& caller)
{
    Request request;
    try {
        request.Parse(json, caller, logger);
    } catch (const RpcError& error) {
        // A malformed request gets an answer, even as a notification.
        return ErrorReply(request, error);
    }
    if (!MayCall(caller, request.method, logger)) return {kForbidden, ""};
    try {
        const UniValue result = table.Execute(request.method, request.params);
        if (request.IsNotification()) return {204, ""};
        return {200, ReplyObject(request, result, nullptr).write() + "\n"};
    } catch (const RpcError& error) {
        if (request.IsNotification()) return {204, ""};
        // A valid 2.0 request gets its error with status 200.
        if (request.version2) {
            return {200, ReplyObject(request, UniValue(), &error).write() + "\n"};
        }
        return ErrorReply(request, error);
    }
}

/** Nothing: the user may make all calls. */
std::optional<RpcReply> RefuseBatch(Logger& logger, const UniValue& batch, const RpcCaller& caller)
{
    if (!caller.may_call) return std::nullopt;
    for (const UniValue& json : batch.getValues()) {
        if (!json.isObject()) {
            return ErrorReply({}, {RpcCode::kInvalidRequest, "Invalid Request object"});
        }
        const UniValue& name = json["method"];
        if (!name.isStr()) {
            return ErrorReply({}, {RpcCode::kParseError, WrongTypeText(name, UniValue::VSTR)});
        }
        if (!MayCall(caller, name.getValStr(), logger)) return RpcReply{kForbidden, ""};
    }
    return std::nullopt;
}

RpcReply AnswerBatch(RpcTable& table, Logger& logger, const UniValue& batch,
                     const RpcCaller& caller)
{
    if (const auto refused = RefuseBatch(logger, batch, caller)) return *refused;
    UniValue replies(UniValue::VARR);
    Request request;
    for (const UniValue& json : batch.getValues()) {
        UniValue reply;
        try {
            request.Parse(json, caller, logger);
            reply = ReplyObject(request, table.Execute(request.method, request.params), nullptr);
        } catch (const RpcError& error) {
            reply = ReplyObject(request, UniValue(), &error);
        }
        if (!request.IsNotification()) replies.push_back(reply);
    }
    // An empty batch has no version; old clients expect the empty array.
    if (replies.empty() && !batch.empty()) return {204, ""};
    return {200, replies.write() + "\n"};
}

} // namespace

RpcReply AnswerRpc(RpcTable& table, Logger& logger, const std::string& body,
                   const RpcCaller& caller)
{
    UniValue json;
    if (!json.read(body)) return ErrorReply({}, {RpcCode::kParseError, "Parse error"});
    if (caller.may_call_nothing) {
        logger.Warning("RPC User {} not allowed to call any methods", caller.user);
        return {kForbidden, ""};
    }
    if (json.isObject()) return AnswerSingle(table, logger, json, caller);
    if (json.isArray()) return AnswerBatch(table, logger, json, caller);
    return ErrorReply({}, {RpcCode::kParseError, "Top-level object parse error"});
}

} // namespace ibd
