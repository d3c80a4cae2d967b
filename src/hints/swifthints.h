// Reader and writer of swifthints files. Reading needs the shapes of the blocks, and each group's
// blocks in order; therefore the reader is not a Hints, and the writer is not a HintsWriter. One
// thread. Memory: a group, 64 KiB, for the reader; some 20 MB (kWindowOutputs) for the writer.
// Format: doc/formats/hints.md, section 8.
#pragma once

#include "hints/hints.h"
#include "hints/hints_file.h"
#include "hints/swifthints_model.h"
#include "util/file_appender.h"

namespace ibd {

/** One group, which is decoded alone. */
class SwifthintsGroup {
public:
    /** Starts with a group's bytes, whose head must state their number. Null, or the error. */
    const char* Start(Bytes bytes);
    /** The unspent outputs of the next block, indexed among all outputs. There must be a next
     *  block. */
    void Take(BlockShape shape, std::vector<uint32_t>& unspent);
    uint32_t BlocksLeft() const { return m_left; }
    /** Call it when no block is left: null, or the error. */
    const char* Finish() const;

private:
    bool TakeOne(uint32_t context);

    Bytes m_bytes;
    size_t m_at = 0;
    uint32_t m_state = 0;
    uint32_t m_left = 0;
    bool m_cut_off = false;
    std::array<uint8_t, kSwifthintsContexts> m_probabilities{};
};

class SwifthintsReader {
public:
    /** Reads the heads of all groups to find the end of the hints. */
    static Result<std::unique_ptr<SwifthintsReader>> Open(HintsFile file);
    static Result<std::unique_ptr<SwifthintsReader>> Open(Env& env, const Path& path);

    /** Counts and id are unknown. */
    const HintsInfo& Info() const { return m_info; }
    /** The hints of the next block, from genesis to the terminal block, given its shape. Bad data:
     *  the file is damaged, or was made from other blocks. */
    Result<> Next(BlockShape shape, BlockHints& out);

private:
    explicit SwifthintsReader(HintsFile file) : m_file(std::move(file)) {}
    Result<> Scan();
    Result<SwifthintsHead> HeadAt(uint64_t offset) const;
    Result<> StartGroup();
    Error Damaged(std::string_view what) const;

    HintsFile m_file;
    HintsInfo m_info;
    SwifthintsGroup m_group;
    uint32_t m_height = 0;     //!< of the next block
    uint32_t m_group_from = 0; //!< first height of the group
    uint64_t m_group_at = 0;   //!< offset of the group
    uint64_t m_next_group = 0;
};

class SwifthintsWriter {
public:
    explicit SwifthintsWriter(std::unique_ptr<WritableFile> file) : m_out(std::move(file)) {}

    /** Adds the next block, from genesis on; `unspent`: ascending, among all outputs. */
    Result<> Add(uint32_t height, BlockShape shape, std::span<const uint32_t> unspent);
    /** Completes and syncs the file. */
    Result<> Finish();

private:
    /** Blocks that stay in the same group. */
    struct Piece {
        SwifthintsPiece sum;
        Bytes symbols; //!< for each output twice its context, plus 1 if it is unspent
    };

    bool FitsLast(const Piece& block) const;
    /** Writes the groups whose ends will probably not be changed by later blocks; or all groups. */
    Result<> WriteGroups(bool all);
    /** Writes the group that consists of these pieces of the window. */
    Result<> WriteGroup(size_t begin, size_t end);

    FileAppender m_out;
    std::vector<Piece> m_window;
    uint64_t m_window_cost = 0;
    uint64_t m_window_outputs = 0;
    uint32_t m_next_height = 0;
};

/** Whether the whole file is a sequence of groups. */
Result<bool> LooksLikeSwifthints(HintsFile file);

/** Whether the file is swifthints, and of no format that OpenHints() opens. */
Result<bool> IsSwifthints(Env& env, const Path& path);

} // namespace ibd
