// The streams of a batch: all values of one kind in the blocks' order, each stream compressed by
// itself, since equal kinds resemble each other. The writer has byte strings, the reader a Reader
// for each. Layout: doc/formats/packed_blocks.md.
#pragma once

#include "packing/batch_limits.h"
#include "primitives/serialize.h"
#include "util/result.h"

#include <array>
#include <vector>

namespace ibd {

/** In the order in which they are stored. */
enum class PackStream : uint8_t {
    kBlocks,     //!< flags and headers
    kTxs,        //!< a byte for each transaction, and its rarer fields
    kInputs,     //!< a byte for each input
    kOutputs,    //!< a byte for each output
    kTokens,     //!< scripts and witnesses without known forms
    kNumbers,    //!< counts and sizes
    kLocks,      //!< rare versions, sequences, lock times
    kVouts,      //!< output numbers of outpoints
    kAmounts,    //!< little-endian, without leading zeros
    kTxRefs,     //!< distances to earlier txids
    kKeyRefs,    //!< 0: a new key; or the distance to an earlier one
    kHashRefs,   //!< references of outputs
    kTxids,      //!< 32 bytes each
    kKeyForms,   //!< a byte for each new key
    kKeys,       //!< its x, 32 bytes each
    kSignatures, //!< 64 bytes each
    kHashes20,   //!< 20 bytes each
    kHashes32,   //!< 32 bytes each
    kData,       //!< all other bytes
    kRaw,        //!< blocks that are not modelled
};
inline constexpr size_t kPackStreams = 20;

class StreamWriter {
public:
    Bytes& At(PackStream stream) { return m_streams[static_cast<size_t>(stream)]; }
    Writer To(PackStream stream) { return Writer(At(stream)); }
    size_t Size() const;
    void Clear();
    /** Appends all streams, compressed where that saves bytes. */
    Result<> Store(int level, Bytes& out) const;

private:
    std::array<Bytes, kPackStreams> m_streams;
};

class StreamReader {
public:
    /** Reads all streams at the reader's position; together they unpack to at most `most` bytes. */
    Result<> Load(Reader& in, size_t most);
    Reader& At(PackStream stream) { return m_readers[static_cast<size_t>(stream)]; }
    /** Whether no read failed; `end`: and all was read. */
    bool Ok(bool end) const;

private:
    std::array<Bytes, kPackStreams> m_unpacked;
    std::vector<Reader> m_readers{kPackStreams, Reader(ByteSpan())};
};

} // namespace ibd
