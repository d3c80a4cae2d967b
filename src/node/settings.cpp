// See settings.h.
#include "node/settings.h"

#include <univalue.h>

namespace ibd {

namespace {

void AddValue(ArgsManager& args, const std::string& name, const UniValue& value)
{
    if (value.isArray()) {
        for (const UniValue& item : value.getValues()) AddValue(args, name, item);
    } else if (value.isBool()) {
        args.AddSetting(name, value.isTrue() ? "1" : "0");
    } else if (value.isStr() || value.isNum()) {
        args.AddSetting(name, value.getValStr());
    }
}

} // namespace

Result<> ReadSettingsFile(Env& env, ArgsManager& args, const Path& net_dir)
{
    if (args.IsNegated("-settings")) return {};
    const Path path = net_dir / args.Get("-settings", "settings.json");
    if (!env.Exists(path)) return {};
    IBD_ASSIGN_OR_RETURN(const Bytes text, ReadWholeFile(env, path));
    UniValue json;
    if (!json.read(std::string(AsChars(text))) || !json.isObject()) {
        return BadData("settings file '{}' is not a JSON object", path.string());
    }
    for (size_t i = 0; i < json.getKeys().size(); ++i) {
        const std::string name = "-" + json.getKeys()[i];
        if (args.Knows(name)) AddValue(args, name, json.getValues()[i]);
    }
    return {};
}

} // namespace ibd
