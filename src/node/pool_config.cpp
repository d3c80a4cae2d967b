// See pool_config.h.
#include "node/pool_config.h"

#include "node/start_checks.h"

#include <algorithm>

namespace ibd {

void ReadAmount(const ArgsManager& args, const char* name, Amount& out)
{
    if (const auto text = args.Get(name)) out = ParseMoney(*text).value_or(out);
}

void ReadPolicy(const ArgsManager& args, PolicyOptions& out)
{
    out.require_standard = !args.GetBool("-acceptnonstdtxn", false);
    ReadAmount(args, "-incrementalrelayfee", out.incremental_fee);
    // If only the increment is set, it is also the minimum rate.
    out.min_relay_fee = std::max(out.min_relay_fee, out.incremental_fee);
    ReadAmount(args, "-minrelaytxfee", out.min_relay_fee);
    ReadAmount(args, "-dustrelayfee", out.dust_fee);
    if (!args.GetBool("-datacarrier", true)) out.max_datacarrier = 0;
}

} // namespace ibd
