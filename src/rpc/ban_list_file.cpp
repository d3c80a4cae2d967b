// See ban_list_file.h.
#include "rpc/ban_list_file.h"
#include "jsonrpc/json.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr const char* kFile = "banlist.json";
constexpr const char* kList = "banned_nets";
constexpr int kVersion = 1;

/** An error if the whole is malformed; skips unusable entries. */
Result<Bans> ParseBans(const UniValue& file, bool cjdns_reachable, Logger& logger)
{
    if (!file.isObject() || !file[kList].isArray()) return BadData("no list of {}", kList);
    Bans out;
    for (const UniValue& entry : file[kList].getValues()) {
        if (!entry.isObject() || !entry["version"].isNum() || !entry["ban_created"].isNum() ||
            !entry["banned_until"].isNum() || !entry["address"].isStr()) {
            return BadData("an entry lacks one of its fields");
        }
        const auto version = ParseInteger<int32_t>(entry["version"].getValStr());
        const auto created = ParseInteger<int64_t>(entry["ban_created"].getValStr());
        const auto until = ParseInteger<int64_t>(entry["banned_until"].getValStr());
        if (!version || !created || !until) return BadData("a number is out of range");
        if (*version != kVersion) {
            logger.Info("Dropping entry with unknown version ({}) from ban list", *version);
            continue;
        }
        const auto subnet = Subnet::Parse(entry["address"].get_str(), cjdns_reachable);
        if (!subnet) {
            logger.Info("Dropping entry with unparseable address or subnet ({}) from ban list",
                        EscapeControl(entry["address"].get_str()));
            continue;
        }
        out[*subnet] = {*created, *until};
    }
    return out;
}

} // namespace

Found<Bans> ReadBans(Env& env, const Path& folder, bool cjdns_reachable, Logger& logger)
{
    const Path path = folder / kFile;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return std::optional<Bans>();
    IBD_ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(env, path));
    UniValue file;
    if (!file.read(std::string(AsChars(text)))) {
        logger.Warning("Cannot load banlist {}: it does not contain valid JSON", path.string());
        return std::optional<Bans>();
    }
    const auto bans = ParseBans(file, cjdns_reachable, logger);
    if (!bans) {
        logger.Warning("Cannot parse banlist {}: {}", path.string(), bans.Message());
        return std::optional<Bans>();
    }
    return std::optional(*bans);
}

Result<> WriteBans(Env& env, const Path& folder, const Bans& bans)
{
    UniValue list(UniValue::VARR);
    for (const auto& [subnet, entry] : bans) {
        UniValue ban(UniValue::VOBJ);
        ban.pushKV("version", Num(kVersion));
        ban.pushKV("ban_created", Num(entry.created));
        ban.pushKV("banned_until", Num(entry.until));
        ban.pushKV("address", subnet.ToString());
        list.push_back(ban);
    }
    UniValue file(UniValue::VOBJ);
    file.pushKV(kList, list);
    return WriteFileAtomically(env, folder / kFile, AsBytes(file.write(4, 1) + "\n"));
}

} // namespace ibd
