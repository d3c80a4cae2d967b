// RpcServer: the JSON-RPC service configured by the options: HTTP, logins, calls; and REST beside
// it.
#pragma once

#include "jsonrpc/auth.h"
#include "jsonrpc/http_server.h"
#include "jsonrpc/table.h"

namespace ibd {

/** The message for the user if the server does not start; the log has the reason. */
inline constexpr const char* kRpcServerNotStarted =
    "Unable to start HTTP server. See debug log for details.";

struct RpcServerOptions {
    HttpServerOptions http;
    RpcAuthOptions auth;
    bool log_ips = false; //!< -logips
    bool rest = false;    //!< -rest
};

class RpcServer {
public:
    /** Serves `table`, which must outlive it. `rest`: answers requests for paths below /rest/,
     *  without a login; may be empty. */
    static Result<std::unique_ptr<RpcServer>> Start(Env& env, Logger& logger,
                                                    const RpcServerOptions& options,
                                                    RpcTable& table, HttpHandler rest = {});
    /** Refuses new requests; running ones continue. */
    void Interrupt() { m_http->Interrupt(); }

private:
    RpcServer(Logger& logger, RpcTable& table, HttpHandler rest)
        : m_logger(logger), m_table(table), m_rest(std::move(rest))
    {
    }
    HttpResponse Answer(const HttpRequest& request);

    Logger& m_logger;
    RpcTable& m_table;
    const HttpHandler m_rest;
    bool m_log_ips = false;
    std::unique_ptr<RpcAuth> m_auth;
    std::unique_ptr<HttpServer> m_http; //!< stops first
};

} // namespace ibd
