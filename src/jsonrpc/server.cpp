// See server.h.
#include "jsonrpc/server.h"
#include "jsonrpc/protocol.h"

namespace ibd {

namespace {

constexpr auto kWrongPasswordDelay = std::chrono::milliseconds(250);

} // namespace

Result<std::unique_ptr<RpcServer>> RpcServer::Start(Env& env, Logger& logger,
                                                    const RpcServerOptions& options,
                                                    RpcTable& table, HttpHandler rest)
{
    std::unique_ptr<RpcServer> server(new RpcServer(logger, table, std::move(rest)));
    server->m_log_ips = options.log_ips;
    RpcServer* const raw = server.get();
    const auto start = [&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(server->m_auth, RpcAuth::Make(env, logger, options.auth));
        IBD_ASSIGN_OR_RETURN(server->m_http, HttpServer::Start(env, logger, options.http,
                                                               [raw](const HttpRequest& request) {
                                                                   return raw->Answer(request);
                                                               }));
        return {};
    };
    const auto started = start();
    if (started) return server;
    logger.Error("{}", started.Message());
    return SystemError("{}", kRpcServerNotStarted);
}

HttpResponse RpcServer::Answer(const HttpRequest& request)
{
    if (m_rest && request.uri.starts_with("/rest/")) return m_rest(request);
    if (request.uri != "/") return {404};
    if (request.method != "POST") return {405, "JSONRPC server handles only POST requests"};
    constexpr int kUnauthorized = 401;
    HttpResponse who{kUnauthorized};
    who.ask_for_login = true;
    if (!request.authorization) return who;
    const auto user = m_auth->Check(*request.authorization);
    if (!user) {
        m_logger.Warning("ThreadRPCServer incorrect password attempt from {}", request.peer);
        who.delay = kWrongPasswordDelay; // slows down guessing
        return who;
    }
    RpcCaller caller{*user, request.peer, m_log_ips};
    caller.may_call_nothing = m_auth->MayCallNothing(*user);
    if (m_auth->IsLimited(*user)) {
        caller.may_call = [&](const std::string& method) { return m_auth->MayCall(*user, method); };
    }
    const RpcReply reply = AnswerRpc(m_table, m_logger, request.body, caller);
    return {reply.http_status, reply.body, reply.body.empty() ? "" : "application/json"};
}

} // namespace ibd
