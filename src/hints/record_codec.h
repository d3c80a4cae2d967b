// RecordCodec: one block's record in a format with a short header and consecutive records, with or
// without an index. Pure; one object for each format, immutable.
#pragma once

#include "hints/hints.h"
#include "hints/hints_format.h"

namespace ibd {

class RecordCodec {
public:
    virtual ~RecordCodec() = default;

    virtual HintsFormat Format() const = 0;
    /** Decodes the record at the start of `bytes` and sets its size. Null, or the error; `out` is
     *  then unspecified. `kind`: the index's bit for it, in formats that have one. */
    virtual const char* Take(ByteSpan bytes, bool kind, size_t& used, BlockHints& out) const = 0;
    /** Appends a block's record. */
    virtual void Put(std::optional<uint32_t> outputs, std::span<const uint32_t> unspent,
                     Bytes& out) const = 0;
};

/** BIP 456: Elias-Fano. The formats differ in bit order and first block. */
const RecordCodec& EliasFanoCodec(HintsFormat format);
/** The four revisions of the indexed file. */
const RecordCodec& IndexedCodec(HintsFormat format);
/** btcd's runs, unpacked. */
const RecordCodec& BtcdCodec();
/** Lines of text. */
const RecordCodec& GapsCodec();

/** The longest record of a format with this interface. */
inline constexpr size_t kMaxRecordBytes = 4 << 20;

} // namespace ibd
