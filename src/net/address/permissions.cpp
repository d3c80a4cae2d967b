// See permissions.h.
#include "net/address/permissions.h"

#include "util/strings.h"

#include <map>

namespace ibd {

namespace {

struct Parsed {
    uint32_t permissions = kPermitNone;
    bool in = false;
    bool out = false;
    std::string_view rest; //!< after the "@", or all
};

std::optional<uint32_t> PermissionOf(std::string_view name)
{
    static const std::map<std::string_view, uint32_t> names = {{"bloomfilter", kPermitBloomFilter},
                                                               {"bloom", kPermitBloomFilter},
                                                               {"noban", kPermitNoBan},
                                                               {"forcerelay", kPermitForceRelay},
                                                               {"mempool", kPermitMempool},
                                                               {"download", kPermitDownload},
                                                               {"all", kPermitAll},
                                                               {"relay", kPermitRelay},
                                                               {"addr", kPermitAddr},
                                                               {"", kPermitNone}};
    const auto found = names.find(name);
    if (found == names.end()) return std::nullopt;
    return found->second;
}

Result<Parsed> ParsePermissions(std::string_view text, bool may_be_out)
{
    Parsed out;
    const size_t at = text.find('@');
    if (at == std::string_view::npos) {
        out.permissions = kPermitImplicit;
        out.in = true;
        out.rest = text;
        return out;
    }
    out.rest = text.substr(at + 1);
    for (const std::string_view name : Split(text.substr(0, at), ',')) {
        if (name == "in") {
            out.in = true;
        } else if (name == "out") {
            if (!may_be_out) {
                return BadData("whitebind may only be used for incoming connections (\"out\" was "
                               "passed)");
            }
            out.out = true;
        } else if (const auto permission = PermissionOf(name)) {
            out.permissions |= *permission;
        } else {
            return BadData("Invalid P2P permission: '{}'", name);
        }
    }
    if (!out.in && !out.out) {
        out.in = true;
    } else if (out.permissions == kPermitNone) {
        return BadData("Only direction was set, no permissions: '{}'", text);
    }
    return out;
}

} // namespace

Result<Whitelisted> ParseWhitelist(std::string_view text, bool cjdns_reachable)
{
    IBD_ASSIGN_OR_RETURN(const Parsed parsed, ParsePermissions(text, true));
    const auto range = Subnet::Parse(parsed.rest, cjdns_reachable);
    if (!range) return BadData("Invalid netmask specified in -whitelist: '{}'", parsed.rest);
    return Whitelisted{*range, parsed.permissions, parsed.in, parsed.out};
}

Result<Binding> ParseWhitebind(std::string_view text)
{
    IBD_ASSIGN_OR_RETURN(const Parsed parsed, ParsePermissions(text, false));
    const auto address = Endpoint::Parse(parsed.rest, 0);
    if (!address) return BadData("Cannot resolve -whitebind address: '{}'", parsed.rest);
    if (address->port == 0) {
        return BadData("Need to specify a port with -whitebind: '{}'", parsed.rest);
    }
    return Binding{*address, parsed.permissions, false};
}

std::vector<std::string> PermissionNames(uint32_t permissions)
{
    static constexpr std::pair<uint32_t, const char*> kNames[] = {
        {kPermitBloomFilter, "bloomfilter"},
        {kPermitNoBan, "noban"},
        {kPermitForceRelay, "forcerelay"},
        {kPermitRelay, "relay"},
        {kPermitMempool, "mempool"},
        {kPermitDownload, "download"},
        {kPermitAddr, "addr"}};
    std::vector<std::string> out;
    for (const auto& [bits, name] : kNames) {
        if ((permissions & bits) == bits) out.emplace_back(name);
    }
    return out;
}

} // namespace ibd
