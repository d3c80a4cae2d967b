// See tx_view.h.
#include "primitives/tx_view.h"

#include "crypto/sha256.h"

namespace ibd {

Wtxid TxView::WitnessHash() const { return has_witness ? Wtxid(Sha256d(raw)) : txid; }

TxidPreimage GetTxidPreimage(const TxView& tx)
{
    if (!tx.has_witness) return {{tx.raw, {}, {}}};
    constexpr size_t kVersion = 4, kMarkerAndFlag = 2, kLockTime = 4;
    const size_t body = tx.stripped_size - kVersion - kLockTime;
    return {{tx.raw.first(kVersion), tx.raw.subspan(kVersion + kMarkerAndFlag, body),
             tx.raw.last(kLockTime)}};
}

} // namespace ibd
