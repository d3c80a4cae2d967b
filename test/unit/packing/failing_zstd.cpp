// See failing_zstd.h. Linked with --wrap: __real_ is the library's function.
#include "packing/failing_zstd.h"

#include <optional>
#include <zstd.h>
#include <zstd_errors.h>

namespace ibd::test {

namespace {

std::optional<ZstdCall> g_failing;

const size_t kNoMemory = static_cast<size_t>(-ZSTD_error_memory_allocation);

} // namespace

FailingZstd::FailingZstd(ZstdCall call) { g_failing = call; }
FailingZstd::~FailingZstd() { g_failing.reset(); }

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
ZSTD_CCtx* __real_ZSTD_createCCtx();
ZSTD_DCtx* __real_ZSTD_createDCtx();
size_t __real_ZSTD_compressCCtx(ZSTD_CCtx* context, void* to, size_t room, const void* from,
                                size_t size, int level);
size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx* context, void* to, size_t room, const void* from,
                                  size_t size);

ZSTD_CCtx* __wrap_ZSTD_createCCtx()
{
    return g_failing == ZstdCall::kCreateCompressor ? nullptr : __real_ZSTD_createCCtx();
}

ZSTD_DCtx* __wrap_ZSTD_createDCtx()
{
    return g_failing == ZstdCall::kCreateDecompressor ? nullptr : __real_ZSTD_createDCtx();
}

size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx* context, void* to, size_t room, const void* from,
                                size_t size, int level)
{
    if (g_failing == ZstdCall::kCompress) return kNoMemory;
    return __real_ZSTD_compressCCtx(context, to, room, from, size, level);
}

size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx* context, void* to, size_t room, const void* from,
                                  size_t size)
{
    if (g_failing == ZstdCall::kDecompress) return kNoMemory;
    return __real_ZSTD_decompressDCtx(context, to, room, from, size);
}
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"

} // namespace ibd::test
