// Reader and writer of swifthints files. The blocks' shapes are needed to read one, and within a
// group the blocks come in order: so the reader is no Hints, and the writer no HintsWriter. One
// thread. Memory: the reader's is a group, 64 KiB; the writer's some 20 MB (kWindowOutputs).
// Format: doc/formats/hints.md, section 8.
#pragma once

#include "hints/hints.h"
#include "hints/hints_file.h"
#include "hints/swifthints_model.h"
#include "util/file_appender.h"

namespace ibd {

/** One group, which decodes alone. */
class SwifthintsGroup {
public:
    /** From a group's bytes; their head must say how many they are. Null, or what is wrong. */
    const char* Start(Bytes bytes);
    /** The unspent outputs of its next block, of which there must be one, among all outputs. */
    void Take(BlockShape shape, std::vector<uint32_t>& unspent);
    uint32_t BlocksLeft() const { return m_left; }
    /** Once no block is left: null, or what is wrong. */
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
    /** Goes through the heads of all groups, which tell where the hints end. */
    static Result<std::unique_ptr<SwifthintsReader>> Open(HintsFile file);
    static Result<std::unique_ptr<SwifthintsReader>> Open(Env& env, const Path& path);

    /** Neither counts nor id are known. */
    const HintsInfo& Info() const { return m_info; }
    /** The hints of the next block, from the genesis block to the terminal one, given its shape.
     *  Bad data: the file is damaged, or these are other blocks than those it was made from. */
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
    uint32_t m_group_from = 0; //!< the group's first height
    uint64_t m_group_at = 0;   //!< its offset
    uint64_t m_next_group = 0;
};

class SwifthintsWriter {
public:
    explicit SwifthintsWriter(std::unique_ptr<WritableFile> file) : m_out(std::move(file)) {}

    /** Adds the next block, from the genesis block on; `unspent`: ascending, among all outputs. */
    Result<> Add(uint32_t height, BlockShape shape, std::span<const uint32_t> unspent);
    /** Completes and syncs the file. */
    Result<> Finish();

private:
    /** Blocks that come into the same group. */
    struct Piece {
        SwifthintsPiece sum;
        Bytes symbols; //!< of each output: twice its context, and 1 if it is unspent
    };

    bool FitsLast(const Piece& block) const;
    /** Writes the groups whose ends more blocks will hardly move, or all of them. */
    Result<> WriteGroups(bool all);
    /** Of these pieces of the window. */
    Result<> WriteGroup(size_t begin, size_t end);

    FileAppender m_out;
    std::vector<Piece> m_window;
    uint64_t m_window_cost = 0;
    uint64_t m_window_outputs = 0;
    uint32_t m_next_height = 0;
};

/** Whether the file is a row of groups from end to end. */
Result<bool> LooksLikeSwifthints(HintsFile file);

/** Whether the file's bytes tell swifthints, and no format that OpenHints() opens. */
Result<bool> IsSwifthints(Env& env, const Path& path);

} // namespace ibd
