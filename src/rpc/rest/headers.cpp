// Headers and hashes of blocks; see rest.h.
#include "jsonrpc/json.h"
#include "rpc/block_json.h"
#include "rpc/rest/request.h"

#include <algorithm>

namespace ibd::rest {

namespace {

constexpr const char* kHeadersForm =
    "Invalid URI format. Expected /rest/headers/<hash>.<ext>?count=<count>";

/** Keeps the characters that a URI may have. */
std::string UriCharacters(std::string_view text)
{
    constexpr std::string_view kSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789!*'();:@&=+$,/?#[]-_.~%";
    std::string out;
    std::ranges::copy_if(text, std::back_inserter(out),
                         [&](char c) { return kSafe.find(c) != std::string_view::npos; });
    return out;
}

} // namespace

/** "<hash>?count=<n>", or the older form "<count>/<hash>". */
HttpResponse Headers(const RestContext& context, const RestRequest& request)
{
    const auto parts = request.Parts();
    if (parts.size() > 2) Refuse(kBadRequest, "{}", kHeadersForm);
    const size_t count = ParseCount(parts.size() == 2 ? parts[0] : CountParameter(request));
    const BlockHash hash = ParseHash(parts.back());
    const auto nodes = ActiveFrom(context.chain.Read(), hash, count);
    if (request.target.format == Format::kJson) {
        // The headers lock is taken for each header, not for all together.
        return JsonItems("[", nodes.size(), "]", [&context, nodes](size_t i, std::string& out) {
            out += HeaderJson(context.chain.Read(), *nodes[i]).write();
        });
    }
    Bytes out;
    for (const HeaderNode* node : nodes) Append(out, node->Header().ToBytes());
    return Binary(std::move(out), request.target.format);
}

HttpResponse HashByHeight(const RestContext& context, const RestRequest& request)
{
    const auto height = ParseInteger<int32_t>(request.target.name);
    if (!height || *height < 0) {
        Refuse(kBadRequest, "Invalid height: {}", UriCharacters(request.target.name));
    }
    const BlockHash hash = [&] {
        const ChainReader chain = context.chain.Read();
        if (*height > chain.Active().Height()) Refuse(kNotFound, "Block height out of range");
        return chain.Active()[*height]->hash;
    }();
    if (request.target.format == Format::kHex) { // in display order, not the bytes' order
        return {200, hash.ToHex() + "\n", "text/plain"};
    }
    return InFormat(
        request, [&] { return Bytes(hash.Span().begin(), hash.Span().end()); },
        [&] {
            UniValue out(UniValue::VOBJ);
            out.pushKV("blockhash", hash.ToHex());
            return out;
        });
}

} // namespace ibd::rest
