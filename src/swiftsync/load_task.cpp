// See load_task.h.
#include "swiftsync/load_task.h"

namespace ibd {

std::string DuplicateCoin(const OutPoint& outpoint)
{
    return fmt::format("two outputs {}:{} are hinted unspent", outpoint.txid.ToHex(),
                       outpoint.vout);
}

} // namespace ibd
