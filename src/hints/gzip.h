// gzip, as far as btcd's hints need it. The sole user of zlib.
#pragma once

#include "hints/hints_file.h"

namespace ibd {

/** Unpacked files are held in memory; a longer one is refused. Mainnet's takes 190 MB. */
inline constexpr uint64_t kMaxUnpackedBytes = 512 << 20;

/** The contents of a gzip file, in memory. The name stays the packed file's, and so do offsets in
 *  errors about the packing. */
Result<HintsFile> UnpackGzip(HintsFile packed);

/** The packed form of bytes that come in pieces. */
class GzipPacker {
public:
    GzipPacker();
    ~GzipPacker();
    GzipPacker(const GzipPacker&) = delete;
    GzipPacker& operator=(const GzipPacker&) = delete;

    /** Appends to `out` what is ready of it. `last`: nothing follows. */
    void Add(ByteSpan in, bool last, Bytes& out);

private:
    struct Stream;
    std::unique_ptr<Stream> m_stream;
};

} // namespace ibd
