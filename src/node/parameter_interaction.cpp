// See parameter_interaction.h.
#include "node/parameter_interaction.h"

#include "node/start_checks.h"
#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

/** Sets options that the user did not set, and logs the reason. */
class Setter {
public:
    Setter(ArgsManager& args, Logger& log) : m_args(args), m_log(log) {}

    void Set(const char* reason, const std::string& name, const std::string& value)
    {
        if (!m_args.SoftSet(name, value)) return;
        m_log.Info("parameter interaction: {} -> setting {}={}", reason, name, value);
    }

private:
    ArgsManager& m_args;
    Logger& m_log;
};

bool IsClearnet(std::string net)
{
    std::transform(net.begin(), net.end(), net.begin(), [](unsigned char c) { return tolower(c); });
    return net == "ipv4" || net == "ipv6";
}

} // namespace

void ApplyParameterInteraction(ArgsManager& args, Logger& log)
{
    Setter setter(args, log);
    for (const char* name : {"-bind", "-whitebind"}) {
        if (args.GetAll(name).empty()) continue;
        setter.Set(fmt::format("{} set", name).c_str(), "-listen", "1");
    }
    const bool few_peers = !args.GetAll("-connect").empty() || args.IsNegated("-connect") ||
                           args.GetInt("-maxconnections", 125) <= 0;
    if (few_peers) {
        for (const char* name : {"-dnsseed", "-listen"}) {
            setter.Set("-connect or -maxconnections=0 set", name, "0");
        }
    }
    if (const std::string proxy = args.Get("-proxy", ""); !proxy.empty() && proxy != "0") {
        for (const char* name : {"-listen", "-natpmp", "-discover"}) {
            setter.Set("-proxy set", name, "0");
        }
    }
    if (!args.GetBool("-listen", true)) {
        for (const char* name : {"-natpmp", "-discover", "-listenonion", "-i2pacceptincoming"}) {
            setter.Set("-listen=0", name, "0");
        }
    }
    if (!args.GetAll("-externalip").empty()) setter.Set("-externalip set", "-discover", "0");
    if (args.GetBool("-blocksonly", false)) {
        setter.Set("-blocksonly=1", "-whitelistrelay", "0");
        setter.Set("-blocksonly=1", "-maxmempool", "5");
    }
    if (args.GetBool("-whitelistforcerelay", false)) {
        setter.Set("-whitelistforcerelay=1", "-whitelistrelay", "1");
    }
    const std::vector<std::string> nets = args.GetAll("-onlynet");
    if (!nets.empty() && std::none_of(nets.begin(), nets.end(), IsClearnet)) {
        setter.Set("-onlynet excludes IPv4 and IPv6", "-dnsseed", "0");
    }
}

} // namespace ibd
