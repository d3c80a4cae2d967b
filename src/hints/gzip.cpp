// See gzip.h.
#include "hints/gzip.h"

#include "util/check.h"

#include <algorithm>
#include <zlib.h>

namespace ibd {

namespace {

constexpr int kGzipWindow = 15 + 16; //!< the largest window, with gzip's header and checksum
constexpr size_t kPiece = 256 << 10;

/** zlib's API has non-const pointers to input, which it does not change. */
Bytef* Input(ByteSpan in) { return const_cast<Bytef*>(in.data()); }

} // namespace

Result<HintsFile> UnpackGzip(HintsFile packed)
{
    z_stream stream{};
    CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
    const struct End {
        z_stream& stream;
        ~End() { inflateEnd(&stream); }
    } end{stream};
    Bytes in;
    Bytes out;
    Bytes piece(kPiece);
    uint64_t at = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (stream.avail_in == 0) {
            in.resize(std::min<uint64_t>(kPiece, packed.Size() - at));
            if (in.empty()) return packed.Damaged(at, "btcd: the gzip stream is cut off");
            IBD_RETURN_IF_ERROR(packed.Read(at, in));
            at += in.size();
            stream.next_in = in.data();
            stream.avail_in = static_cast<uInt>(in.size());
        }
        stream.next_out = piece.data();
        stream.avail_out = static_cast<uInt>(piece.size());
        status = inflate(&stream, Z_NO_FLUSH);
        const uint64_t offset = at - stream.avail_in;
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            return packed.Damaged(offset, "btcd: the gzip stream is damaged");
        }
        Append(out, ByteSpan(piece).first(piece.size() - stream.avail_out));
        if (out.size() > kMaxUnpackedBytes) {
            return packed.Damaged(offset, "btcd: more than 512 MiB when unpacked");
        }
    }
    if (at - stream.avail_in != packed.Size()) {
        return packed.Damaged(at - stream.avail_in, "btcd: bytes follow the gzip stream");
    }
    out.shrink_to_fit();
    return HintsFile::InMemory(packed.GetPath(), std::move(out));
}

struct GzipPacker::Stream {
    z_stream z{};
};

GzipPacker::GzipPacker() : m_stream(std::make_unique<Stream>())
{
    CHECK(deflateInit2(&m_stream->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK);
}

GzipPacker::~GzipPacker() { deflateEnd(&m_stream->z); }

void GzipPacker::Add(ByteSpan in, bool last, Bytes& out)
{
    z_stream& z = m_stream->z;
    z.next_in = Input(in);
    z.avail_in = static_cast<uInt>(in.size());
    Bytes piece(kPiece);
    do {
        z.next_out = piece.data();
        z.avail_out = static_cast<uInt>(piece.size());
        CHECK(deflate(&z, last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
        Append(out, ByteSpan(piece).first(piece.size() - z.avail_out));
    } while (z.avail_out == 0);
}

} // namespace ibd
