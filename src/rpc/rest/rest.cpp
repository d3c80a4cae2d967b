// See rest.h.
#include "rpc/rest/rest.h"
#include "rpc/rest/request.h"

namespace ibd {

namespace {

using rest::RestRequest;

struct Route {
    std::string_view prefix;
    HttpResponse (*handler)(const RestContext& context, const RestRequest& request);
};

/** The first entry whose prefix matches answers the request. */
constexpr Route kRoutes[] = {
    {"/rest/tx/", rest::Tx},
    {"/rest/block/notxdetails/", rest::BlockWithIds},
    {"/rest/block/", rest::Block},
    {"/rest/blockpart/", rest::BlockPart},
    {"/rest/blockfilter/", rest::Filter},
    {"/rest/blockfilterheaders/", rest::FilterHeaders},
    {"/rest/chaininfo", rest::ChainInfo},
    {"/rest/mempool/", rest::Mempool},
    {"/rest/headers/", rest::Headers},
    {"/rest/getutxos", rest::Utxos},
    {"/rest/deploymentinfo/", rest::DeploymentInfo},
    {"/rest/deploymentinfo", rest::DeploymentInfo},
    {"/rest/blockhashbyheight/", rest::HashByHeight},
    {"/rest/spenttxouts/", rest::SpentOutputs},
};

HttpResponse Refused(int status, const std::string& text)
{
    return {status, text + "\r\n", "text/plain"};
}

HttpResponse Answer(const RestContext& context, const Route& route, const HttpRequest& http)
{
    if (const auto status = context.table.WarmupStatus()) {
        return Refused(rest::kUnavailable, "Service temporarily unavailable: " + *status);
    }
    const std::string_view uri = http.uri;
    try {
        return route.handler(context, {http, rest::ParseTarget(uri.substr(route.prefix.size()))});
    } catch (const rest::Refusal& refusal) {
        return Refused(refusal.status, refusal.text);
    } catch (const RpcError& error) { // common errors: of the disk, or missing data
        if (error.code != RpcCode::kDatabase) return Refused(rest::kServerError, error.message);
        // Such a text names files, and REST has no login.
        context.chain.log.Error("REST: {}", error.message);
        return Refused(rest::kServerError, "Database error: see debug.log");
    }
}

} // namespace

HttpHandler MakeRest(const RestContext& context)
{
    return [context](const HttpRequest& http) -> HttpResponse {
        for (const Route& route : kRoutes) {
            if (http.uri.starts_with(route.prefix)) return Answer(context, route, http);
        }
        return {rest::kNotFound};
    };
}

} // namespace ibd
