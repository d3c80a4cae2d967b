// Reader of version 2 of the container: groups of up to 1,024 blocks that decode alone, entropy
// coded (gap_coder.h). All checksums are verified when it is opened; a group is decoded when one of
// its blocks is asked for, and some decoded groups are kept, since blocks that are asked for one
// after another lie near each other. Shared by all workers. Format: doc/formats/hints.md,
// section 2.
#pragma once

#include "hints/container_head.h"
#include "hints/gap_coder.h"
#include "util/mutex.h"

#include <list>

namespace ibd {

inline constexpr uint16_t kHintsVersion2 = 2;
inline constexpr uint16_t kHintsCodingGaps = 2;
inline constexpr size_t kContainer2HeaderSize = 96;
inline constexpr size_t kContainer2EntrySize = 18;

/** What decoded groups take in memory at most, beside those in use. */
inline constexpr uint64_t kDecodedGroupBytes = 16 << 20;

/** Least recently used out. Any thread. */
class DecodedGroups {
public:
    using Group = std::shared_ptr<const GroupHints>;

    Group Find(size_t number);
    void Keep(size_t number, Group group);

private:
    Mutex m_mutex;
    std::list<std::pair<size_t, Group>> m_groups IBD_GUARDED_BY(m_mutex); //!< last used first
    uint64_t m_bytes IBD_GUARDED_BY(m_mutex) = 0;
};

class Container2Hints final : public ContainerFile {
public:
    static Result<std::unique_ptr<Hints>> Open(HintsFile file);

    Result<> Read(uint32_t height, BlockHints& out) const override;

private:
    friend ContainerFile;

    struct Group {
        uint32_t first_height;
        uint32_t blocks;
        uint64_t offset; //!< in the file
        uint32_t length;
        uint32_t unspent;
    };
    struct Opening {
        std::array<uint8_t, kContainer2HeaderSize> header;
        Bytes tables;
        Bytes index;
        uint64_t index_at = 0;
    };

    explicit Container2Hints(HintsFile file)
        : ContainerFile(std::move(file), HintsFormat::kContainer)
    {
    }
    Result<> ParseHeader(Opening& opening);
    /** Tables and index, and the checksum over both and the header. */
    Result<> ReadIndex(Opening& opening);
    Result<> CheckIndex(const Opening& opening);
    Result<> CheckGroups(const Opening& opening);
    /** Sections are passed over, but must be whole. */
    Result<> CheckSections(uint64_t offset);
    Result<DecodedGroups::Group> Decoded(size_t number) const;

    std::vector<Group> m_groups;
    std::unique_ptr<const GapDecoder> m_decoder;
    mutable DecodedGroups m_decoded;
};

} // namespace ibd
