// Reader of the container format: mapped, indexed by height, one checksum per group that is
// verified when the group is first touched. Shared by all workers; the only thing that changes
// after Open is one flag per group, set without a lock (two workers may check the same group).
#pragma once

#include "swiftsync/hints.h"

#include <atomic>

namespace ibd {

inline constexpr std::array<uint8_t, 8> kHintsMagic = {'i', 'b', 'd', 'h', 'i', 'n', 't', 's'};
inline constexpr uint16_t kHintsVersion = 1;
inline constexpr uint16_t kHintsCodingRice = 1;
inline constexpr size_t kHintsHeaderSize = 128;
inline constexpr size_t kHintsIndexEntrySize = 32;
inline constexpr uint32_t kMaxBlocksPerGroup = 1024;
inline constexpr uint32_t kCloseGroupAtUnspent = 32'768;

class ContainerHints final : public Hints {
public:
    /** Checks header, index and their checksum; the groups are checked when first read. */
    static Result<std::unique_ptr<Hints>> Open(const Path& path, std::unique_ptr<MappedFile> file);

    Result<> Read(uint32_t height, BlockHints& out) const override;

private:
    struct Group {
        uint32_t first_height;
        uint32_t blocks;
        uint64_t offset; //!< in the file
        uint32_t length;
        uint32_t unspent;
        const uint8_t* checksum; //!< 8 bytes
    };

    explicit ContainerHints(std::unique_ptr<MappedFile> file) : m_file(std::move(file)) {}
    Result<> ParseHeader();
    Result<> ParseIndex();
    Group GroupAt(size_t number) const;
    /** Number of the group that holds `height`. */
    size_t FindGroup(uint32_t height) const;
    Result<> CheckGroup(const Group& group) const;
    /** Start of record i within the group, or the group's length for i = blocks. */
    uint32_t RecordStart(const Group& group, uint32_t i) const;
    ByteSpan Record(const Group& group, uint32_t i) const;
    Error Damaged(uint64_t offset, std::string_view what) const;

    std::unique_ptr<MappedFile> m_file;
    ByteSpan m_data;
    ByteSpan m_index;
    size_t m_groups = 0;
    mutable std::vector<std::atomic<bool>> m_checked;
};

} // namespace ibd
