// Reader of the container format: mapped, indexed by height, all checksums verified once when it is
// opened (a tenth of a second for mainnet), so that damage shows before any work is done and the
// hints id stands for the whole contents. Shared by all workers, immutable.
#pragma once

#include "swiftsync/hints.h"

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
    /** Checks header, index, groups, their checksums and all counts; what is left to Read() are
     *  the runs of zeros within a record. */
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
    Result<> CheckGroups() const;
    /** Adds the group's outputs to `outputs`. */
    Result<> CheckGroup(const Group& group, uint64_t& outputs) const;
    /** Start of record i within the group, or the group's length for i = blocks. */
    uint32_t RecordStart(const Group& group, uint32_t i) const;
    ByteSpan Record(const Group& group, uint32_t i) const;
    Error Damaged(uint64_t offset, std::string_view what) const;

    std::unique_ptr<MappedFile> m_file;
    ByteSpan m_data;
    ByteSpan m_index;
    size_t m_groups = 0;
};

} // namespace ibd
