// See protocol.h.
#include "rpc/protocol.h"

namespace ibd {

namespace {

struct Request {
    bool version2 = false;
    std::optional<UniValue> id = UniValue(); //!< none: absent from the request
    std::string method;
    UniValue params;

    bool IsNotification() const { return version2 && !id; }
    /** Reads as far as it is valid, so that an error can carry id and version. */
    void Parse(const UniValue& json);
};

void Request::Parse(const UniValue& json)
{
    *this = Request{};
    if (!json.isObject()) throw RpcError{RpcCode::kInvalidRequest, "Invalid Request object"};
    if (json.exists("id"))
        id = json["id"];
    else
        id.reset();
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

RpcReply AnswerSingle(RpcTable& table, const UniValue& json, const MayCall& may_call)
{
    Request request;
    try {
        request.Parse(json);
    } catch (const RpcError& error) {
        return ErrorReply(request, error); // whoever asks so needs an answer, notification or not
    }
    try {
        if (may_call && !may_call(request.method)) return {403, ""};
        const UniValue result = table.Execute(request.method, request.params);
        if (request.IsNotification()) return {204, ""};
        return {200, ReplyObject(request, result, nullptr).write() + "\n"};
    } catch (const RpcError& error) {
        if (request.IsNotification()) return {204, ""};
        // A 2.0 request that was understood gets its error with the status of success.
        if (request.version2) {
            return {200, ReplyObject(request, UniValue(), &error).write() + "\n"};
        }
        return ErrorReply(request, error);
    }
}

RpcReply AnswerBatch(RpcTable& table, const UniValue& batch, const MayCall& may_call)
{
    if (may_call) {
        for (const UniValue& json : batch.getValues()) {
            if (!json.isObject()) {
                return ErrorReply({}, {RpcCode::kInvalidRequest, "Invalid Request object"});
            }
            if (!may_call(json["method"].getValStr())) return {403, ""};
        }
    }
    UniValue replies(UniValue::VARR);
    for (const UniValue& json : batch.getValues()) {
        Request request;
        UniValue reply;
        try {
            request.Parse(json);
            reply = ReplyObject(request, table.Execute(request.method, request.params), nullptr);
        } catch (const RpcError& error) {
            reply = ReplyObject(request, UniValue(), &error);
        }
        if (!request.IsNotification()) replies.push_back(reply);
    }
    // An empty batch names no version, so old clients get the empty array they expect.
    if (replies.empty() && !batch.empty()) return {204, ""};
    return {200, replies.write() + "\n"};
}

} // namespace

RpcReply AnswerRpc(RpcTable& table, const std::string& body, const MayCall& may_call)
{
    UniValue json;
    if (!json.read(body)) return ErrorReply({}, {RpcCode::kParseError, "Parse error"});
    if (json.isObject()) return AnswerSingle(table, json, may_call);
    if (json.isArray()) return AnswerBatch(table, json, may_call);
    return ErrorReply({}, {RpcCode::kParseError, "Top-level object parse error"});
}

} // namespace ibd
