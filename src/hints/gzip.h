// gzip, to the extent needed for btcd's hints. The only user of zlib.
#pragma once

#include "hints/hints_file.h"

namespace ibd {

/** Unpacked files are held in memory; a longer one is refused. Mainnet's takes 190 MB. */
inline constexpr uint64_t kMaxUnpackedBytes = 512 << 20;

/** The contents of a gzip file, in memory. Keeps the packed file's name; offsets in errors about
 *  the packing are the packed file's too. */
Result<HintsFile> UnpackGzip(HintsFile packed);

/** Packs a stream of bytes. */
class GzipPacker {
public:
    GzipPacker();
    ~GzipPacker();
    GzipPacker(const GzipPacker&) = delete;
    GzipPacker& operator=(const GzipPacker&) = delete;

    /** Appends finished output to `out`. `last`: the input ends. */
    void Add(ByteSpan in, bool last, Bytes& out);

private:
    struct Stream;
    std::unique_ptr<Stream> m_stream;
};

} // namespace ibd
