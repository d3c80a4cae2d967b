// SpanBlocks: reads the stored blocks of a span of heights once more and parses them without
// hashing. Their checksums prove that they are the bytes that the join read. A block that differs
// is read again; if it still differs, it is damaged now, or was damaged when it was joined: an
// error. BlockPlaces: the file positions of the blocks.
#pragma once

#include "join/height_ranges.h"
#include "primitives/plain_block.h"
#include "swiftsync/file_block_source.h"

#include <functional>

namespace ibd {

/** The file positions of the blocks of a branch, copied when it is made. The index may change
 *  afterwards, as long as no block moves. Immutable, any thread. Memory: 8 bytes a block. */
class BlockPlaces {
public:
    /** The positions of the blocks 1 to `terminal`. `place`: returns the position of a block;
     *  empty: its node has the position, and no thread may change the index during the call. */
    BlockPlaces(const HeaderNode& terminal, const std::function<FilePos(const HeaderNode&)>& place);

    /** Null if the block is not stored. */
    FilePos At(uint32_t height) const { return m_places[height]; }
    /** The lowest height that is not stored; 0 if all are. */
    uint32_t Missing() const;

private:
    std::vector<FilePos> m_places; //!< by height
};

/** One for each thread. Memory: a buffer for the largest block, and its arrays. */
class SpanBlocks {
public:
    /** `block`: valid during the call; the visitor may change it. */
    using Visit = std::function<Result<>(const HeaderNode& node, PlainBlock& block)>;
    using Wanted = std::function<bool(uint32_t height)>;

    /** `checksums`: CRC-32C by height, from 0. All must outlive it. */
    SpanBlocks(Env& env, const BlockStore& store, const ConsensusParams& params,
               const HeaderNode& terminal, const BlockPlaces& places,
               std::span<const uint32_t> checksums)
        : m_env(env), m_store(store), m_params(params), m_terminal(terminal), m_places(places),
          m_checksums(checksums)
    {
    }

    /** Calls `visit` for each wanted block of the span, from height 1 on, in the order of the
     *  files. Errors: those of `visit`, and system errors, among them a damaged block (not bad
     *  data, which would mean a damaged spill). Also bad data: the block is intact but differs from
     *  the one that was joined, so that one was damaged. */
    Result<> ForEach(HeightSpan span, const Wanted& wanted, const Visit& visit);
    Result<> ForEach(HeightSpan span, const Visit& visit)
    {
        return ForEach(
            span, [](uint32_t) { return true; }, visit);
    }

private:
    std::vector<PlannedBlock> Plan(HeightSpan span, const Wanted& wanted) const;
    Result<bool> Next(FileBlockSource& source, SuppliedBlock& block);
    bool IsSound(const SuppliedBlock& block) const;

    Env& m_env;
    const BlockStore& m_store;
    const ConsensusParams& m_params;
    const HeaderNode& m_terminal;
    const BlockPlaces& m_places;
    const std::span<const uint32_t> m_checksums;
    PlainBlock m_block;
    Bytes m_buffer; //!< buffer of the last source, reused by the next
};

} // namespace ibd
