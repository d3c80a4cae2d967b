// Amounts in JSON.
#pragma once

#include "primitives/tx_view.h"
#include "util/strings.h"

#include <univalue.h>

namespace ibd {

/** An amount as a JSON number in bitcoin, "50.00000000". */
inline UniValue AmountJson(Amount amount)
{
    UniValue v;
    v.setNumStr(FormatAmount(amount));
    return v;
}

} // namespace ibd
