// See wanted_coins.h.
#include "rpc/rest/wanted_coins.h"
#include "primitives/serialize.h"
#include "util/hex.h"

namespace ibd::rest {

namespace {

constexpr size_t kOutPointSize = 36; //!< bytes

[[noreturn]] void RefuseEmpty() { Refuse(kBadRequest, "Error: empty request"); }
[[noreturn]] void RefuseMalformed() { Refuse(kBadRequest, "Parse error"); }

/** "<txid>-<n>". */
OutPoint ParseOutPoint(const std::string& text)
{
    const auto parts = Split(text, '-');
    if (parts.size() != 2) RefuseMalformed();
    const auto txid = Uint256::FromHex(parts[0]);
    const auto vout = ParseInteger<uint32_t>(parts[1]);
    if (!txid || !vout) RefuseMalformed();
    return {*txid, *vout};
}

/** "/checkmempool/<outpoint>/<outpoint>", the first part being optional. */
WantedCoins ParsePath(const std::vector<std::string>& parts)
{
    WantedCoins wanted;
    wanted.with_pool = parts[0] == "checkmempool";
    for (size_t i = wanted.with_pool ? 1 : 0; i < parts.size(); ++i) {
        wanted.outpoints.push_back(ParseOutPoint(parts[i]));
    }
    if (wanted.outpoints.empty()) RefuseEmpty();
    return wanted;
}

/** Reads the flag for the pool and a list of outpoints; further bytes are ignored. By BIP64 and
 *  Core's documentation the body has both. But Core prepends the body's length and reads the flag
 *  from the first byte of that, so the body must contain only the list. Clients that work with Core
 *  rely on this. */
WantedCoins ParseBytes(ByteSpan body)
{
    Bytes bytes;
    Writer(bytes).VarBytes(body);
    Reader in(bytes);
    WantedCoins wanted;
    wanted.with_pool = in.U8() != 0;
    wanted.outpoints.resize(in.Count(kOutPointSize));
    for (OutPoint& outpoint : wanted.outpoints) {
        outpoint.txid = in.Hash();
        outpoint.vout = in.U32();
    }
    if (!in.Ok()) RefuseMalformed();
    return wanted;
}

/** Decodes pairs of hex digits, with white space between them; any other text gives no bytes. */
Bytes LenientHex(std::string_view text)
{
    constexpr std::string_view kSpace = " \f\n\r\t\v";
    Bytes out;
    for (size_t i = text.find_first_not_of(kSpace); i < text.size();
         i = text.find_first_not_of(kSpace, i + 2)) {
        const auto byte = FromHex(text.substr(i, 2));
        if (!byte) return {};
        Append(out, *byte);
    }
    return out;
}

} // namespace

WantedCoins ParseWanted(const RestRequest& request)
{
    const std::string& body = request.http.body;
    const std::string& name = request.target.name;
    const bool in_path = name.size() > 1;
    if (!in_path && body.empty()) RefuseEmpty();
    WantedCoins wanted;
    // Any first character is treated as a slash.
    if (in_path) wanted = ParsePath(RestRequest{request.http, {name.substr(1)}}.Parts());
    switch (request.target.format) {
    case Format::kNone: RefuseFormat();
    case Format::kJson:
        if (!in_path) RefuseEmpty();
        return wanted;
    case Format::kBin:
    case Format::kHex: break;
    }
    const bool is_hex = request.target.format == Format::kHex;
    const Bytes bytes = is_hex ? LenientHex(body) : Bytes(body.begin(), body.end());
    if (bytes.empty()) return wanted;
    if (in_path) {
        Refuse(kBadRequest, "Combination of URI scheme inputs and raw post data is not allowed");
    }
    return ParseBytes(bytes);
}

} // namespace ibd::rest
