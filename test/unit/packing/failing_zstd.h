// Lets a function of zstd fail as if memory were short. For programs that are linked with --wrap
// for it (test/unit/CMakeLists.txt). One thread.
#pragma once

namespace ibd::test {

enum class ZstdCall { kCreateCompressor, kCompress, kCreateDecompressor, kDecompress };

/** While this exists, calls of this kind fail. */
class FailingZstd {
public:
    explicit FailingZstd(ZstdCall call);
    ~FailingZstd();
    FailingZstd(const FailingZstd&) = delete;
    FailingZstd& operator=(const FailingZstd&) = delete;
};

} // namespace ibd::test
