// Reader of version 2 of the container: groups of up to 1,024 blocks that are decoded
// independently, entropy coded (gap_coder.h). All checksums are verified at opening. A group is
// decoded when one of its blocks is read. A few decoded groups are cached, because consecutive
// reads are usually of nearby blocks. Shared by all workers. Format: doc/formats/hints.md, section
// 2.
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
/** Bounds of a group: up to one block more than the closing limit, and 27 bits for each of its
 *  numbers. */
inline constexpr uint32_t kMaxGroupUnspent = kCloseGroupAtUnspent + kMaxHintedOutputs;
inline constexpr uint32_t kMaxGroup2Bytes = 4 * (kMaxGroupUnspent + kMaxBlocksPerGroup) + 16;

/** The smallest output has nine bytes, of four weight units each. */
inline constexpr uint64_t kMaxOutputsOfBlock = 4'000'000 / (4 * 9);
/** Whether a container that ends at `height` can have `size` bytes. */
constexpr bool CanBeContainer2(uint64_t height, uint64_t size)
{
    const uint64_t groups = (height + kMaxBlocksPerGroup - 1) / kMaxBlocksPerGroup;
    const uint64_t least = kContainer2HeaderSize + groups * (kContainer2EntrySize + 1);
    const uint64_t most_of_block = 4 * (kMaxOutputsOfBlock + 1) + 16 + kContainer2EntrySize;
    const uint64_t most = kContainer2HeaderSize + kMaxHintsIndexBytes + height * most_of_block;
    return size >= least && size <= most;
}

/** Most bytes of cached decoded groups, besides those in use. */
inline constexpr uint64_t kDecodedGroupBytes = 16 << 20;

/** A cache that drops the least recently used group. Any thread. */
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
    struct Group {
        uint32_t first_height;
        uint32_t blocks;
        uint64_t offset; //!< in the file
        uint32_t length;
        uint32_t unspent;
        std::array<uint8_t, kHintsChecksumSize> checksum;
    };

    static Result<std::unique_ptr<Hints>> Open(HintsFile file);
    /** Opens a file of which only the head exists: Read() is impossible, but the positions and
     *  checksums of its groups are known. `name`: for errors. */
    static Result<std::unique_ptr<Container2Hints>> OpenHead(const Path& name, Bytes head);

    Result<> Read(uint32_t height, BlockHints& out) const override;

    /** Contiguous from FirstGroupAt() on. */
    const std::vector<Group>& Groups() const { return m_groups; }
    uint64_t FirstGroupAt() const { return m_groups.front().offset; }
    /** Bytes of header, tables and index. */
    uint64_t HeadSize() const { return m_body_end - (IndexAt() - FirstGroupAt()); }
    uint64_t IndexAt() const { return m_groups.back().offset + m_groups.back().length; }
    /** End of the index; sections may follow. */
    uint64_t BodyEnd() const { return m_body_end; }
    /** Header, tables and index, concatenated: the first part sent to peers. */
    Result<Bytes> Head() const;
    /** `count` groups as stored in the file. */
    Result<Bytes> GroupBytes(size_t first, size_t count) const;

private:
    explicit Container2Hints(HintsFile file)
        : ContainerFile(std::move(file), HintsFormat::kContainer)
    {
    }
    Result<> ParseHeader(Opening& opening) override;
    /** Also reads the tables; the checksum covers them too. */
    Result<> ReadIndex(Opening& opening) override;
    Result<> CheckIndex(const Opening& opening) override;
    Result<> CheckGroups(Opening& opening) override;
    /** Sections are skipped, but must be complete. */
    Result<> CheckSections(uint64_t offset);
    Result<DecodedGroups::Group> Decoded(size_t number) const;

    std::vector<Group> m_groups;
    uint64_t m_body_end = 0;
    std::unique_ptr<const GapDecoder> m_decoder;
    mutable DecodedGroups m_decoded;
};

} // namespace ibd
