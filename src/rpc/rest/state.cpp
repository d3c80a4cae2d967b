// The paths that return answers of calls: chain, rules and the pool; see rest.h.
#include "jsonrpc/http_uri.h"
#include "rpc/rest/request.h"

namespace ibd::rest {

namespace {

HttpResponse OfCall(const RestContext& context, const char* name, const UniValue& params)
{
    return Json(context.table.Find(name)->Execute(params));
}

UniValue NoParams() { return UniValue(UniValue::VARR); }

bool FlagParameter(const RestRequest& request, const char* key, bool otherwise)
{
    const auto text = QueryParameter(request.http.uri, key);
    if (!text) return otherwise;
    if (*text == "true" || *text == "false") return *text == "true";
    Refuse(kBadRequest, "The \"{}\" query parameter must be either \"true\" or \"false\".", key);
}

} // namespace

HttpResponse ChainInfo(const RestContext& context, const RestRequest& request)
{
    RequireJson(request);
    return OfCall(context, "getblockchaininfo", NoParams());
}

HttpResponse DeploymentInfo(const RestContext& context, const RestRequest& request)
{
    RequireJson(request);
    UniValue params = NoParams();
    if (const std::string& hex = request.target.name; !hex.empty()) {
        if (!context.chain.Read().Find(ParseHash(hex))) Refuse(kBadRequest, "Block not found");
        params.push_back(hex);
    }
    return OfCall(context, "getdeploymentinfo", params);
}

HttpResponse Mempool(const RestContext& context, const RestRequest& request)
{
    const std::string& what = request.target.name;
    if (what != "contents" && what != "info") {
        Refuse(kBadRequest, "Invalid URI format. Expected /rest/mempool/<info|contents>.json");
    }
    RequireJson(request);
    if (what == "info") return OfCall(context, "getmempoolinfo", NoParams());
    const bool verbose = FlagParameter(request, "verbose", true);
    const bool with_sequence = FlagParameter(request, "mempool_sequence", false);
    if (verbose && with_sequence) {
        Refuse(kBadRequest, "Verbose results cannot contain mempool sequence values. (hint: set "
                            "\"verbose=false\")");
    }
    UniValue params = NoParams();
    params.push_back(UniValue(verbose));
    params.push_back(UniValue(with_sequence));
    return OfCall(context, "getrawmempool", params);
}

} // namespace ibd::rest
