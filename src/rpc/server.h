// RpcServer: the JSON-RPC service configured by the options: HTTP, logins, calls.
#pragma once

#include "rpc/auth.h"
#include "rpc/http_server.h"
#include "rpc/table.h"
#include "util/args.h"

namespace ibd {

/** The options of the "RPC server" group of -help. */
void AddRpcOptions(ArgsManager& args);

struct RpcServerOptions {
    HttpServerOptions http;
    RpcAuthOptions auth;
    bool log_ips = false; //!< -logips
};

/** Reads the options. `network_dir`: the directory of the cookie unless -rpccookiefile is absolute.
 */
Result<RpcServerOptions> ReadRpcOptions(const ArgsManager& args, uint16_t default_port,
                                        const Path& network_dir, Logger& logger);

class RpcServer {
public:
    /** Serves `table`, which must outlive it. */
    static Result<std::unique_ptr<RpcServer>>
    Start(Env& env, Logger& logger, const RpcServerOptions& options, RpcTable& table);
    /** Refuses new requests; running ones continue. */
    void Interrupt() { m_http->Interrupt(); }

private:
    RpcServer(Logger& logger, RpcTable& table) : m_logger(logger), m_table(table) {}
    HttpResponse Answer(const HttpRequest& request);

    Logger& m_logger;
    RpcTable& m_table;
    bool m_log_ips = false;
    std::unique_ptr<RpcAuth> m_auth;
    std::unique_ptr<HttpServer> m_http; //!< stops first
};

} // namespace ibd
