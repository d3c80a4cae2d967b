// Reader of the formats with consecutive records (record_codec.h). One scan decodes all records and
// keeps their positions (8 bytes a block). Therefore, if the file is changed later, hints may be
// wrong but no read leaves its bounds. Shared by all workers, immutable.
#pragma once

#include "hints/hints_file.h"
#include "hints/record_codec.h"

namespace ibd {

class RecordHints final : public Hints {
public:
    /** Opens a file of one of these formats; a file of btcd is given still packed. */
    static Result<std::unique_ptr<Hints>> Open(HintsFile file, HintsFormat format);

    Result<> Read(uint32_t height, BlockHints& out) const override;

private:
    static constexpr unsigned kOffsetBits = 39;
    struct Place {
        uint64_t offset : kOffsetBits;
        uint64_t kind : 1;
        uint64_t length : 24;
    };
    static_assert(kMaxRecordBytes < 1 << 24);
    struct IndexEntry {
        uint32_t height;
        bool kind;
    };
    class Window;

    RecordHints(HintsFile file, const RecordCodec& codec) : m_file(std::move(file)), m_codec(codec)
    {
    }
    Result<> Scan();
    Result<> ScanWithHeight(Window& window, uint8_t version);
    Result<> ScanLines(Window& window);
    Result<std::vector<IndexEntry>> ReadIndex(Window& window, uint32_t blocks);
    /** Reads the record at the window's start. */
    Result<> TakeRecord(Window& window, IndexEntry entry);
    /** `height`: the block, if the damage is in its data. */
    Error Damaged(uint64_t offset, std::optional<uint32_t> height, std::string_view what) const;

    HintsFile m_file;
    const RecordCodec& m_codec;
    std::vector<Place> m_places; //!< by height
    BlockHints m_scanned;
};

} // namespace ibd
