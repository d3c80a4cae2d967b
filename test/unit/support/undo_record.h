// The joined bytes of a record of undo data in pieces.
#pragma once

#include "storage/undo.h"

namespace ibd::test {

inline Bytes Together(const UndoRecord& record)
{
    Bytes out;
    for (const ByteSpan piece : record.pieces) Append(out, piece);
    return out;
}

} // namespace ibd::test
