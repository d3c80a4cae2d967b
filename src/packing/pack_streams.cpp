// See pack_streams.h.
#include "packing/pack_streams.h"

#include <algorithm>
#include <memory>

#include <zstd.h>
#include <zstd_errors.h>

namespace ibd {

namespace {

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/** Shorter streams are stored as they are: a frame of zstd has about 10 bytes of its own. */
constexpr size_t kFewest = 16;

/** Damage unless zstd lacked memory. */
Error ZstdError(size_t code, const char* what)
{
    const char* const why = ZSTD_getErrorName(code);
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) {
        return SystemError("zstd cannot {} a batch of blocks: {}", what, why);
    }
    return BadData("zstd cannot {} a batch of blocks: {}", what, why);
}

} // namespace

size_t StreamWriter::Size() const
{
    size_t size = 0;
    for (const Bytes& stream : m_streams) size += stream.size();
    return size;
}

void StreamWriter::Clear()
{
    for (Bytes& stream : m_streams) stream.clear();
}

Result<> StreamWriter::Store(int level, Bytes& out) const
{
    const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    if (!context) return SystemError("zstd cannot compress a batch of blocks: no memory");
    Writer writer(out);
    Bytes packed;
    for (const Bytes& stream : m_streams) {
        writer.VarInt(stream.size());
        if (stream.empty()) continue;
        size_t size = stream.size();
        if (size >= kFewest) {
            packed.resize(ZSTD_compressBound(size));
            const size_t got = ZSTD_compressCCtx(context.get(), packed.data(), packed.size(),
                                                 stream.data(), size, level);
            if (ZSTD_isError(got)) return ZstdError(got, "compress");
            size = std::min(size, got);
        }
        writer.VarInt(size);
        writer.Raw(ByteSpan(size < stream.size() ? packed : stream).first(size));
    }
    return {};
}

Result<> StreamReader::Load(Reader& in, size_t most)
{
    const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
    if (!context) return SystemError("zstd cannot decompress a batch of blocks: no memory");
    size_t room = most;
    for (size_t i = 0; i < kPackStreams; ++i) {
        const uint64_t size = in.VarInt();
        if (size > room) return BadData("streams of a batch of blocks exceed their bound");
        if (size == 0) continue;
        room -= size;
        const uint64_t stored = in.VarInt();
        if (stored > size) in.Fail();
        const ByteSpan bytes = in.Span(stored);
        if (!in.Ok()) return BadData("a batch of blocks is cut off");
        m_readers[i] = Reader(bytes);
        if (stored == size) continue;
        // Before anything is allocated for it: a bomb states another size than it has.
        if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) {
            return BadData("a stream of a batch of blocks has another size than stated");
        }
        m_unpacked[i].resize(size);
        const size_t got = ZSTD_decompressDCtx(context.get(), m_unpacked[i].data(), size,
                                               bytes.data(), bytes.size());
        if (ZSTD_isError(got)) return ZstdError(got, "decompress");
        if (got != size) return BadData("a stream of a batch of blocks is cut off");
        m_readers[i] = Reader(m_unpacked[i]);
    }
    return {};
}

bool StreamReader::Ok(bool end) const
{
    for (const Reader& reader : m_readers) {
        if (end ? !reader.AtEnd() : !reader.Ok()) return false;
    }
    return true;
}

} // namespace ibd
