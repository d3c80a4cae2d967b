// See request.h.
#include "rpc/rest/request.h"
#include "jsonrpc/http_uri.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd::rest {

namespace {

constexpr const char* kText = "text/plain";
constexpr const char* kBytes = "application/octet-stream";
constexpr const char* kJsonType = "application/json";
constexpr const char* kDefaultCount = "5";
constexpr size_t kHexAtOnce = 64 * 1024; //!< bytes that are turned into hex together

constexpr std::pair<std::string_view, Format> kFormats[] = {
    {"bin", Format::kBin}, {"hex", Format::kHex}, {"json", Format::kJson}};

/** Hex of bytes and a line end. */
class HexBody final : public HttpBody {
public:
    explicit HexBody(Bytes bytes) : m_bytes(std::move(bytes)) {}

    bool Append(std::string& out) override
    {
        const ByteSpan left = ByteSpan(m_bytes).subspan(m_at);
        const ByteSpan next = left.first(std::min(left.size(), kHexAtOnce));
        out += ToHex(next);
        m_at += next.size();
        if (next.size() < left.size()) return true;
        out.push_back('\n');
        return false;
    }
    std::optional<uint64_t> Size() const override { return 2 * (m_bytes.size() - m_at) + 1; }

private:
    const Bytes m_bytes;
    size_t m_at = 0;
};

class ItemsBody final : public HttpBody {
public:
    ItemsBody(std::string head, size_t count, std::string tail,
              std::function<void(size_t, std::string&)> item)
        : m_head(std::move(head)), m_count(count), m_tail(std::move(tail)), m_item(std::move(item))
    {
    }

    bool Append(std::string& out) override
    {
        out += m_next == 0 ? m_head : ",";
        if (m_count > 0) m_item(m_next++, out);
        if (m_next < m_count) return true;
        out += m_tail;
        return false;
    }

private:
    const std::string m_head;
    const size_t m_count;
    const std::string m_tail;
    const std::function<void(size_t, std::string&)> m_item;
    size_t m_next = 0;
};

HttpResponse Typed(const char* type)
{
    HttpResponse response;
    response.content_type = type;
    return response;
}

} // namespace

Target ParseTarget(std::string_view text)
{
    text = text.substr(0, text.rfind('?'));
    const size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) return {std::string(text)};
    const std::string_view suffix = text.substr(dot + 1);
    const std::string name(text.substr(0, dot));
    if (suffix.empty()) return {name};
    for (const auto& [known, format] : kFormats) {
        if (suffix == known) return {name, format};
    }
    return {std::string(text)};
}

std::vector<std::string> RestRequest::Parts() const
{
    std::vector<std::string> out;
    for (const std::string_view part : Split(target.name, '/')) out.emplace_back(part);
    return out;
}

Uint256 ParseHash(const std::string& hex)
{
    const auto hash = Uint256::FromHex(hex);
    if (!hash) Refuse(kBadRequest, "Invalid hash: {}", hex);
    return *hash;
}

size_t ParseCount(const std::string& text)
{
    const auto count = ParseInteger<size_t>(text);
    if (!count || *count < 1 || *count > kMostHeaders) {
        Refuse(kBadRequest, "Header count is invalid or out of acceptable range (1-{}): {}",
               kMostHeaders, text);
    }
    return *count;
}

std::string CountParameter(const RestRequest& request)
{
    return QueryParameter(request.http.uri, "count").value_or(kDefaultCount);
}

void RefuseFormat() { Refuse(kNotFound, "output format not found (available: .bin, .hex, .json)"); }

void RequireJson(const RestRequest& request)
{
    if (request.target.format == Format::kJson) return;
    Refuse(kNotFound, "output format not found (available: json)");
}

HttpResponse Binary(Bytes data, Format format)
{
    if (format == Format::kBin) {
        HttpResponse response = Typed(kBytes);
        response.data = std::move(data);
        return response;
    }
    if (format != Format::kHex) RefuseFormat();
    HttpResponse response = Typed(kText);
    response.rest = std::make_shared<HexBody>(std::move(data));
    return response;
}

HttpResponse Json(const UniValue& value)
{
    HttpResponse response = Typed(kJsonType);
    response.body = value.write() + "\n";
    return response;
}

HttpResponse InFormat(const RestRequest& request, const std::function<Bytes()>& make_bytes,
                      const std::function<UniValue()>& make_json)
{
    if (request.target.format == Format::kNone) RefuseFormat();
    if (request.target.format == Format::kJson) return Json(make_json());
    return Binary(make_bytes(), request.target.format);
}

HttpResponse JsonItems(std::string head, size_t count, std::string tail,
                       std::function<void(size_t, std::string&)> item)
{
    HttpResponse response = Typed(kJsonType);
    response.rest = std::make_shared<ItemsBody>(std::move(head), count, std::move(tail) + "\n",
                                                std::move(item));
    return response;
}

std::vector<const HeaderNode*> ActiveFrom(const ChainReader& chain, const BlockHash& hash,
                                          size_t count)
{
    std::vector<const HeaderNode*> out;
    const HeaderNode* node = chain.Find(hash);
    if (node && !chain.Active().Contains(node)) node = nullptr;
    for (; node && out.size() < count; node = chain.Active().Next(node)) out.push_back(node);
    return out;
}

} // namespace ibd::rest
