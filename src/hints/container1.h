// Reader of the container format, which is indexed by height. All checksums are verified once at
// opening (a tenth of a second for mainnet), so that damage is found before any work, and the hints
// id identifies the whole contents. The position of each record is kept in memory (8 bytes a
// block). If the file is changed later, hints may be wrong, but every read stays within its bounds.
// Shared by all workers, immutable.
#pragma once

#include "hints/container_head.h"

namespace ibd {

inline constexpr uint16_t kHintsVersion = 1;
inline constexpr uint16_t kHintsCodingRice = 1;
inline constexpr size_t kHintsHeaderSize = 128;
inline constexpr size_t kHintsIndexEntrySize = 32;
/** Bounds the memory for a hostile file; a real group has about 100 KB. */
inline constexpr uint32_t kMaxGroupBytes = 64 << 20;

class ContainerHints final : public ContainerFile {
public:
    /** Checks header, index, groups, their checksums and all counts. The runs of zeros within a
     *  record are checked by Read(). */
    static Result<std::unique_ptr<Hints>> Open(HintsFile file);

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

    explicit ContainerHints(HintsFile file)
        : ContainerFile(std::move(file), HintsFormat::kContainer1)
    {
    }
    Result<> ParseHeader(Opening& opening) override;
    Result<> ReadIndex(Opening& opening) override;
    Result<> CheckIndex(const Opening& opening) override;
    static Group GroupAt(const Opening& opening, size_t number);
    Result<> CheckGroups(Opening& opening) override;
    Result<> CheckGroup(const Group& group, Opening& opening);
    /** Adds the group's records to m_records. */
    Result<> CheckRecords(const Group& group, Opening& opening);

    /** The position of a record in the file. */
    struct Place {
        uint64_t offset : 38;
        uint64_t length : 26;
    };
    static_assert(kMaxGroupBytes <= 1 << 26);
    std::vector<Place> m_records; //!< of blocks 1, 2, ...
};

} // namespace ibd
