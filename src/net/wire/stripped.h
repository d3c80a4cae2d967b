// Transactions in the format before BIP144, without witness.
#pragma once

#include "primitives/tx_view.h"
#include "util/bytes.h"

namespace ibd {

inline void WriteStripped(Writer& writer, const TxView& tx)
{
    for (const ByteSpan part : GetTxidPreimage(tx).parts) writer.Raw(part);
}

} // namespace ibd
