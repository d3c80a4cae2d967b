// BlockFiles: writes blocks as Bitcoin Core's blk*.dat files, tidily, or with irregularities that
// an import must handle. One thread; memory is the shuffle window and a write buffer of 4 MiB.
#pragma once

#include "primitives/block.h"
#include "sim/rng.h"
#include "util/env.h"

#include <optional>

namespace ibd::sim {

struct BlockFileOptions {
    uint64_t seed = 1;
    /** Blocks held back and written in random order; 0 keeps the order. */
    size_t shuffle_window = 0;
    /** Obfuscate with a random key, written to xor.dat. */
    bool obfuscate = false;
    /** Extend the last file with zeros to a multiple of 16 MiB, as a running node leaves it. */
    bool preallocate = false;
    /** End the last file in the middle of a record. */
    bool torn_tail = false;
    uint64_t max_file_size = 128 << 20; //!< bytes; a larger block gets a file of its own
};

class BlockFiles {
public:
    /** Creates the folder `blocks`; an error if it has blk00000.dat. `env` outlives the object. */
    static Result<BlockFiles> Create(Env& env, const Path& blocks, std::array<uint8_t, 4> magic,
                                     const BlockFileOptions& options);

    /** Writes the block at once, before those held back. */
    Result<> Add(ByteSpan block);
    /** Writes the block now or later, depending on the shuffle. */
    Result<> AddShuffled(Bytes block);
    /** Writes the held-back blocks and the tail, and syncs. No call may follow. */
    Result<> Finish();

    uint64_t BytesWritten() const { return m_total; }
    uint32_t Files() const { return m_next_file; }

private:
    BlockFiles(Env& env, Path blocks, std::array<uint8_t, 4> magic, const BlockFileOptions& options)
        : m_env(&env), m_blocks(std::move(blocks)), m_magic(magic), m_options(options),
          m_rng(options.seed ^ 0x66696c65)
    {
    }
    Result<> OpenNext();
    Result<> Flush();
    Result<> CloseFile();
    void Put(ByteSpan bytes);

    Env* m_env;
    Path m_blocks;
    std::array<uint8_t, 4> m_magic;
    BlockFileOptions m_options;
    Rng m_rng;
    std::array<uint8_t, 8> m_key{};
    std::vector<Bytes> m_held;
    std::unique_ptr<WritableFile> m_file;
    uint32_t m_next_file = 0;
    uint64_t m_flushed = 0; //!< bytes of the current file on disk
    Bytes m_buffer;         //!< the bytes after them, already obfuscated
    uint64_t m_total = 0;
};

} // namespace ibd::sim
