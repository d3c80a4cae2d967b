// ContainerFile: the common part of both versions of the container: magic, start of the header,
// steps of opening a file, checksums of eight bytes. Formats: doc/formats/hints.md, sections 1 and
// 2.
#pragma once

#include "crypto/sha256.h"
#include "hints/hints.h"
#include "hints/hints_file.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

inline constexpr std::array<uint8_t, 8> kHintsMagic = {'i', 'b', 'd', 'h', 'i', 'n', 't', 's'};
inline constexpr uint32_t kMaxBlocksPerGroup = 1024;
inline constexpr uint32_t kCloseGroupAtUnspent = 32'768;

/** Offsets of the first fields of both headers. */
namespace container_head {
inline constexpr size_t kVersionAt = 8;
inline constexpr size_t kCodingAt = 10;
inline constexpr size_t kNetworkAt = 12;
inline constexpr size_t kHeightAt = 16;
inline constexpr size_t kGroupsAt = 20;
inline constexpr size_t kHashAt = 24;
} // namespace container_head

/** A checksum is the first bytes of a SHA-256. */
inline constexpr size_t kHintsChecksumSize = 8;
inline bool SameChecksum(const Hash32& digest, const uint8_t* stored)
{
    return std::equal(digest.begin(), digest.begin() + kHintsChecksumSize, stored);
}

/** Bounds memory; real files are far smaller. */
inline constexpr uint64_t kMaxHintsIndexBytes = 64 << 20;

class ContainerFile : public Hints {
protected:
    ContainerFile(HintsFile file, HintsFormat format) : m_file(std::move(file))
    {
        m_info.path = m_file.GetPath();
        m_info.format = format;
    }

    /** Data needed only while opening. */
    struct Opening {
        Bytes header;
        Bytes tables; //!< of version 2
        Bytes index;
        uint64_t index_at = 0;
        uint64_t outputs = 0; //!< of version 1: of the groups checked so far
        Bytes group;          //!< one group's bytes
    };

    // The steps of opening a file, in order.
    virtual Result<> ParseHeader(Opening& opening) = 0;
    /** Also checks the checksum over header and index. */
    virtual Result<> ReadIndex(Opening& opening) = 0;
    virtual Result<> CheckIndex(const Opening& opening) = 0;
    virtual Result<> CheckGroups(Opening& opening) = 0;

    /** All steps but that of the groups, which may be absent. */
    Result<> CheckHead(Opening& opening)
    {
        IBD_RETURN_IF_ERROR(ParseHeader(opening));
        IBD_RETURN_IF_ERROR(ReadIndex(opening));
        return CheckIndex(opening);
    }

    Result<> CheckAll()
    {
        Opening opening;
        IBD_RETURN_IF_ERROR(CheckHead(opening));
        return CheckGroups(opening);
    }

    Result<> ReadHeader(Opening& opening, size_t size)
    {
        if (m_file.Size() < size) return Damaged(m_file.Size(), "the file is cut off");
        opening.header.resize(size);
        return m_file.Read(0, opening.header);
    }

    /** Parses the fields from the coding to the terminal block's hash. */
    Result<> ParseHead(const uint8_t* header, uint16_t coding)
    {
        using namespace container_head;
        if (ReadLE16(header + kCodingAt) != coding) return Damaged(kCodingAt, "unknown coding");
        m_info.terminal_height = ReadLE32(header + kHeightAt);
        m_info.terminal_hash = BlockHash::FromBytes(header + kHashAt);
        m_info.network_magic.emplace();
        std::copy_n(header + kNetworkAt, 4, m_info.network_magic->begin());
        m_info.file_size = m_file.Size();
        return {};
    }

    Result<> CheckTerminalHeight() const
    {
        using namespace container_head;
        if (m_info.terminal_height == 0) return Damaged(kHeightAt, "the terminal height is zero");
        if (m_info.terminal_height <= kMaxHintedHeight) return {};
        return Damaged(kHeightAt, "the terminal height is impossible");
    }

    /** `height`, `offset`: after the last group. */
    Result<> CheckGroupsEnd(uint64_t height, uint64_t offset, uint64_t index_at) const
    {
        if (height != uint64_t{m_info.terminal_height} + 1) {
            return Damaged(container_head::kHeightAt,
                           "the groups do not end at the terminal height");
        }
        if (offset == index_at) return {};
        return Damaged(offset, "bytes lie between the groups and the index");
    }

    /** Reads a group and checks its checksum. */
    template <typename Group>
    Result<> ReadGroup(const Group& group, const uint8_t* checksum, Bytes& out) const
    {
        out.resize(group.length);
        IBD_RETURN_IF_ERROR(m_file.Read(group.offset, out));
        if (SameChecksum(Sha256Of(out), checksum)) return {};
        return Damaged(group.offset, fmt::format("the checksum of the group at height {} is wrong",
                                                 group.first_height));
    }

    Error Damaged(uint64_t offset, std::string_view what) const
    {
        return m_file.Damaged(offset, what);
    }

    HintsFile m_file;
};

} // namespace ibd
