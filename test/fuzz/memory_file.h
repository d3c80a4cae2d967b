// A hints file in memory, for fuzz targets.
#pragma once

#include "hints/hints.h"
#include "hints/hints_file.h"

#include <algorithm>

namespace ibd::fuzz {

class Memory final : public ReadableFile {
public:
    explicit Memory(Bytes bytes) : m_bytes(std::move(bytes)) {}
    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        const size_t n = std::min<uint64_t>(out.size(), m_bytes.size() - offset);
        std::copy_n(m_bytes.begin() + static_cast<ptrdiff_t>(offset), n, out.begin());
        return n;
    }
    Result<uint64_t> Size() const override { return m_bytes.size(); }
    void WillNeed(uint64_t, uint64_t) const override {}
    void DontNeed(uint64_t, uint64_t) const override {}

private:
    const Bytes m_bytes;
};

inline HintsFile InMemory(Bytes bytes)
{
    const uint64_t size = bytes.size();
    return {"fuzz", std::make_unique<Memory>(std::move(bytes)), size};
}

/** Reads every block of a file that opened. */
inline void ReadAllHints(const Result<std::unique_ptr<Hints>>& hints)
{
    if (!hints) return;
    BlockHints block;
    for (uint32_t h = 1; h <= (*hints)->Info().terminal_height; ++h) {
        if (!(*hints)->Read(h, block)) continue;
        CHECK(std::is_sorted(block.unspent.begin(), block.unspent.end()));
        CHECK(block.unspent.empty() ||
              block.unspent.back() < block.outputs.value_or(kMaxHintedOutputs));
    }
}

} // namespace ibd::fuzz
