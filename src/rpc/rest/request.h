// RestRequest: one parsed request for its handler, and the answer formats that all handlers share.
#pragma once

#include "jsonrpc/http_types.h"
#include "rpc/rest/context.h"
#include "util/bytes.h"

namespace ibd::rest {

enum class Format {
    kNone, //!< no suffix, or an unknown one
    kBin,
    kHex,
    kJson,
};

/** The part of the path after the prefix, without query and suffix. */
struct Target {
    std::string name;
    Format format = Format::kNone;
};

/** Splits query and suffix off. The text starts after the prefix. */
Target ParseTarget(std::string_view text);

struct RestRequest {
    const HttpRequest& http;
    Target target;

    /** The parts of the name between slashes; at least one. */
    std::vector<std::string> Parts() const;
};

/** Thrown by handlers, caught where they are called: an answer with a status other than 200. */
struct Refusal {
    int status;
    std::string text;
};

constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kServerError = 500;
constexpr int kUnavailable = 503;

template <typename... Args>
[[noreturn]] void Refuse(int status, fmt::format_string<Args...> text, Args&&... args)
{
    throw Refusal{status, fmt::format(text, std::forward<Args>(args)...)};
}

/** Throws 400 unless it is 64 hex digits. */
Uint256 ParseHash(const std::string& hex);
/** The number of headers or filter headers that a request asks for: 400 unless it is from 1 to
 *  kMostHeaders. */
size_t ParseCount(const std::string& text);
inline constexpr size_t kMostHeaders = 2000;
/** `count` of the query, or its default. */
std::string CountParameter(const RestRequest& request);

/** Answers with bytes, raw or as hex. Refuses other formats. */
HttpResponse Binary(Bytes data, Format format);
HttpResponse Json(const UniValue& value);
/** Answers with bytes, hex, or the result of `make_json`. Refuses other formats. */
HttpResponse InFormat(const RestRequest& request, const std::function<Bytes()>& make_bytes,
                      const std::function<UniValue()>& make_json);
/** JSON only. */
void RequireJson(const RestRequest& request);
/** The answer to requests without a known format. */
[[noreturn]] void RefuseFormat();

/** Text that is made item by item: `head`, the items with commas between, `tail`. `item` appends
 *  the JSON of one. */
HttpResponse JsonItems(std::string head, size_t count, std::string tail,
                       std::function<void(size_t, std::string&)> item);

/** The blocks of the active chain from this one up, at most `count`; none if it is not in that
 *  chain. */
std::vector<const HeaderNode*> ActiveFrom(const ChainReader& chain, const BlockHash& hash,
                                          size_t count);

// Handlers, a file for each topic.

HttpResponse Tx(const RestContext& context, const RestRequest& request);
HttpResponse Utxos(const RestContext& context, const RestRequest& request);
HttpResponse Block(const RestContext& context, const RestRequest& request);
HttpResponse BlockWithIds(const RestContext& context, const RestRequest& request);
HttpResponse BlockPart(const RestContext& context, const RestRequest& request);
HttpResponse SpentOutputs(const RestContext& context, const RestRequest& request);
HttpResponse Headers(const RestContext& context, const RestRequest& request);
HttpResponse HashByHeight(const RestContext& context, const RestRequest& request);
HttpResponse Filter(const RestContext& context, const RestRequest& request);
HttpResponse FilterHeaders(const RestContext& context, const RestRequest& request);
HttpResponse ChainInfo(const RestContext& context, const RestRequest& request);
HttpResponse DeploymentInfo(const RestContext& context, const RestRequest& request);
HttpResponse Mempool(const RestContext& context, const RestRequest& request);

} // namespace ibd::rest
