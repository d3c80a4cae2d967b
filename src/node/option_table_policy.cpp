// See option_table.h. Options about the pool of transactions and mining.
#include "node/option_table.h"

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;
constexpr unsigned kHidden = OptionSpec::kHidden;

constexpr OptionRow<NodeOptions> kRelay[] = {
    {"-acceptnonstdtxn", "", "Accept transactions that are not standard; not on main", kHidden},
    {"-bytespersigop", "=<n>", "Virtual bytes counted for each signature operation (default: 20)",
     kPlain, kClamped<&NodeOptions::policy, &PolicyOptions::bytes_per_sigop>.From(0, UINT32_MAX)},
    {"-datacarrier", "", "Relay transactions that carry data (default: 1)"},
    {"-datacarriersize", "=<n>",
     "Maximum number of bytes of data in a transaction (default: "
     "100000)",
     kPlain, kClamped<&NodeOptions::policy, &PolicyOptions::max_datacarrier>.From(0, UINT32_MAX)},
    {"-dustrelayfee", "=<amt>", "Fee rate that defines dust, BTC/kvB (default: 0.00003)", kHidden},
    {"-incrementalrelayfee", "=<amt>",
     "Minimum increase of the fee rate in a replacement, BTC/kvB (default: "
     "0.000001)",
     kHidden},
    {"-minrelaytxfee", "=<amt>",
     "Minimum fee rate of transactions to relay, BTC/kvB (default: "
     "0.000001)"},
    {"-permitbaremultisig", "", "Relay bare multisig outputs (default: 1)", kPlain,
     kFlag<&NodeOptions::policy, &PolicyOptions::permit_bare_multisig>},
};

constexpr OptionRow<NodeOptions> kMining[] = {
    {"-blockmaxweight", "=<n>", "Maximum weight of a block template (default: 4000000)", kHidden,
     kClamped<&NodeOptions::assembler, &AssemblerOptions::max_weight>.From(0)},
    {"-blockmintxfee", "=<amt>", "Lowest fee rate in a template, BTC/kvB (default: 0.00000001)"},
    {"-blockreservedweight", "=<n>", "Weight reserved for header and coinbase (default: 8000)",
     kPlain, kClamped<&NodeOptions::assembler, &AssemblerOptions::reserved_weight>.From(0)},
    {"-blockversion", "=<n>", "Version of blocks that this node makes, on regtest only", kHidden,
     kClamped<&NodeOptions::assembler, &AssemblerOptions::version>.From(INT32_MIN, INT32_MAX)},
};

} // namespace

std::vector<NodeTopic> PolicyTopics()
{
    return {{OptionGroup::kRelay, kRelay}, {OptionGroup::kMining, kMining}};
}

} // namespace ibd
