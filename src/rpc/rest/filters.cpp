// Block filters (BIP158) and their headers; see rest.h.
#include "primitives/serialize.h"
#include "rpc/index_use.h"
#include "rpc/no_filter.h"
#include "rpc/rest/request.h"
#include "util/hex.h"

namespace ibd::rest {

namespace {

constexpr uint8_t kBasicType = 0; //!< number of the type in P2P messages

const FilterIndex& IndexOf(const RestContext& context, const std::string& type)
{
    if (type != kBasicFilter) Refuse(kBadRequest, "Unknown filtertype {}", type);
    const FilterIndex* const index = FindIndex(context.chain, &Indexes::Filters);
    if (!index) Refuse(kBadRequest, "Index is not enabled for filtertype {}", type);
    return *index;
}

[[noreturn]] void RefuseMissing(bool was_connected, bool indexed)
{
    throw Refusal{kNotFound, NoFilter(was_connected, indexed).message};
}

} // namespace

/** "<type>/<hash>?count=<n>", or the older form "<type>/<count>/<hash>". */
HttpResponse FilterHeaders(const RestContext& context, const RestRequest& request)
{
    const auto parts = request.Parts();
    if (parts.size() != 2 && parts.size() != 3) {
        Refuse(kBadRequest,
               "Invalid URI format. Expected "
               "/rest/blockfilterheaders/<filtertype>/<blockhash>.<ext>?count=<count>");
    }
    const size_t count = ParseCount(parts.size() == 3 ? parts[1] : CountParameter(request));
    const BlockHash hash = ParseHash(parts.back());
    const FilterIndex& index = IndexOf(context, parts[0]);
    const auto nodes = ActiveFrom(context.chain.Read(), hash, count);
    const bool indexed = WaitForTip(context.chain, index);
    std::vector<FilterHeader> headers;
    for (const HeaderNode* node : nodes) {
        const auto entry = LogIfUnreadable(context.chain, index.Find(*node));
        if (!entry) RefuseMissing(true, indexed);
        headers.push_back(entry->header);
    }
    return InFormat(
        request,
        [&] {
            Bytes out;
            for (const FilterHeader& header : headers) Append(out, header.Span());
            return out;
        },
        [&] {
            UniValue out(UniValue::VARR);
            for (const FilterHeader& header : headers) out.push_back(header.ToHex());
            return out;
        });
}

HttpResponse Filter(const RestContext& context, const RestRequest& request)
{
    const auto parts = request.Parts();
    if (parts.size() != 2) {
        Refuse(kBadRequest,
               "Invalid URI format. Expected /rest/blockfilter/<filtertype>/<blockhash>");
    }
    const BlockHash hash = ParseHash(parts[1]);
    const FilterIndex& index = IndexOf(context, parts[0]);
    const HeaderNode* const node = context.chain.Read().Find(hash);
    if (!node) Refuse(kNotFound, "{} not found", parts[1]);
    const bool was_connected = WasConnected(context.chain, *node);
    const bool indexed = WaitForTip(context.chain, index);
    const auto filter = LogIfUnreadable(context.chain, index.Filter(*node));
    if (!filter) RefuseMissing(was_connected, indexed);
    return InFormat(
        request,
        [&] {
            Bytes out;
            Writer writer(out);
            writer.U8(kBasicType);
            writer.Hash(hash);
            writer.VarBytes(*filter);
            return out;
        },
        [&] {
            UniValue out(UniValue::VOBJ);
            out.pushKV("filter", ToHex(*filter));
            return out;
        });
}

} // namespace ibd::rest
