// Reader of the original per-block bitmap: mapped, with an offset kept for every 32nd block (about
// 250 KB for a million blocks) that one linear scan collects. Shared by all workers, immutable.
#pragma once

#include "swiftsync/hints.h"

namespace ibd {

class BitmapHints final : public Hints {
public:
    /** Scans the file once: structure, padding bits, counts and the digest that identifies it. */
    static Result<std::unique_ptr<Hints>> Open(const Path& path, std::unique_ptr<MappedFile> file);

    Result<> Read(uint32_t height, BlockHints& out) const override;

private:
    static constexpr uint32_t kStride = 32;

    explicit BitmapHints(std::unique_ptr<MappedFile> file) : m_file(std::move(file)) {}
    Result<> Scan();
    Error Damaged(uint64_t offset, std::string_view what) const;

    std::unique_ptr<MappedFile> m_file;
    ByteSpan m_data;
    std::vector<uint64_t> m_offsets; //!< of the blocks at heights 0, 32, 64, ...
};

} // namespace ibd
