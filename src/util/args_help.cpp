// ArgsManager: the text of -help; see args.h.
#include "util/args.h"
#include "util/strings.h"

namespace ibd {

namespace {

constexpr std::pair<OptionGroup, const char*> kGroups[] = {
    {OptionGroup::kGeneral, "Options:"},
    {OptionGroup::kBooster, "IBD Booster options:"},
    {OptionGroup::kConnection, "Connection options:"},
    {OptionGroup::kZmq, "ZeroMQ notification options:"},
    {OptionGroup::kDebug, "Debugging/Testing options:"},
    {OptionGroup::kChain, "Chain selection options:"},
    {OptionGroup::kRelay, "Node relay options:"},
    {OptionGroup::kMining, "Block creation options:"},
    {OptionGroup::kRpc, "RPC server options:"},
    {OptionGroup::kCli, "Client options:"},
};

constexpr size_t kIndent = 7;
constexpr size_t kWidth = 79;

} // namespace

std::string ArgsManager::Help(bool all) const
{
    std::string text;
    for (const auto& [group, title] : kGroups) {
        std::string part;
        std::set<std::string> sorted(m_order.begin(), m_order.end());
        for (const std::string& name : sorted) {
            const OptionSpec& spec = m_specs.at(name);
            if (spec.group != group) continue;
            if ((spec.flags & OptionSpec::kHidden) != 0 && !all) continue;
            part += fmt::format("  {}{}\n{}{}\n\n", name, spec.argument, std::string(kIndent, ' '),
                                WrapText(spec.help, kWidth - kIndent, kIndent));
        }
        if (!part.empty()) text += fmt::format("{}\n\n{}", title, part);
    }
    return text;
}

} // namespace ibd
