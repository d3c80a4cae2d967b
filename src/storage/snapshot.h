// UTXO snapshot files of version 2, the format of dumptxoutset and loadtxoutset. Streaming: memory
// is one buffer plus the coins of one transaction. One thread at a time. Format:
// doc/formats/snapshot.md.
#pragma once

#include "script/coin.h"
#include "util/file_appender.h"

#include <array>
#include <memory>
#include <optional>

namespace ibd {

/** The fault of a snapshot, for callers that report it in other words. */
enum class SnapshotFault {
    kNone,
    kMagic,    //!< not a snapshot
    kVersion,  //!< of an unknown version
    kFormat,   //!< truncated or malformed
    kCount,    //!< a transaction has more coins than are left
    kHeight,   //!< a coin's height is above the snapshot's
    kValue,    //!< a coin's amount is
    kLeftOver, //!< bytes follow the last coin
};

struct SnapshotHeader {
    static constexpr size_t kSize = 51;
    static constexpr uint16_t kVersion = 2;

    std::array<uint8_t, 4> magic{}; //!< network magic, in wire order
    BlockHash base;                 //!< the block that the coins were at
    uint64_t coins = 0;

    Bytes Encode() const;
    struct Parsed;
    /** Reads a header from the start of a file. */
    static Parsed Parse(ByteSpan bytes);
    static Result<SnapshotHeader> Decode(ByteSpan bytes, const Path& path);
};

/** Fields before a fault are set. */
struct SnapshotHeader::Parsed {
    SnapshotHeader header;
    uint16_t version = 0;
    SnapshotFault fault = SnapshotFault::kNone;
    bool has_network = false; //!< its magic is there
};

class SnapshotReader {
public:
    /** Opens the file and reads its header. The caller must check the network. */
    static Result<std::unique_ptr<SnapshotReader>> Open(Env& env, const Path& path);

    const SnapshotHeader& Header() const { return m_header; }
    /** The next coin; false after the last, where the file must end. Errors name the offset. */
    Result<bool> Next(OutPoint& outpoint, Coin& coin);
    uint64_t Offset() const { return m_window_start + m_pos; }
    /** Coins read so far. */
    uint64_t Count() const { return m_read; }
    /** From now on Next() rejects coins that no chain up to this height can have, as Core does:
     *  coins of higher blocks, and output indexes above what fits into a block. */
    void Restrict(uint32_t max_height)
    {
        m_max_height = max_height;
        m_max_index = kMaxSerializedSize;
    }
    /** The fault that Next() found; kNone: none, or Next() failed because of the disk. */
    SnapshotFault Fault() const { return m_fault; }
    /** A position between two coins, to continue Next() from. */
    struct Place {
        uint64_t offset = SnapshotHeader::kSize;
        uint64_t coins = 0;      //!< before it
        uint64_t left_in_tx = 0; //!< remaining coins of the transaction
        Txid txid;               //!< of that transaction
    };
    Place Where() const { return {Offset(), m_read, m_left_in_tx, m_txid}; }
    /** Moves to a position that Where() returned for the same file. */
    void GoTo(const Place& place);

private:
    SnapshotReader(std::unique_ptr<ReadableFile> file, Path path, uint64_t size);
    Result<> Fill(size_t wanted);
    Result<> OpenTx();
    ByteSpan Window() const { return ByteSpan(m_buffer).subspan(m_pos, m_filled - m_pos); }
    Error Bad(SnapshotFault fault, std::string_view what);

    std::unique_ptr<ReadableFile> m_file;
    const Path m_path;
    const uint64_t m_size;
    SnapshotHeader m_header;
    Bytes m_buffer;
    size_t m_filled = 0;
    size_t m_pos = 0;
    uint64_t m_window_start = 0; //!< file offset of m_buffer[0]
    uint64_t m_read = 0;
    uint64_t m_left_in_tx = 0;
    Txid m_txid;
    uint32_t m_max_height = UINT32_MAX;
    uint64_t m_max_index = OutPoint::kNullIndex - 1;
    SnapshotFault m_fault = SnapshotFault::kNone;
};

class SnapshotWriter {
public:
    /** Creates the file; Finish() sets the count in the header. */
    static Result<std::unique_ptr<SnapshotWriter>>
    Create(Env& env, const Path& path, const std::array<uint8_t, 4>& magic, const BlockHash& base);
    /** Writes to a pipe, whose header cannot be changed later: `header` must be complete. */
    static Result<std::unique_ptr<SnapshotWriter>> CreateOnPipe(std::unique_ptr<WritableFile> pipe,
                                                                const SnapshotHeader& header);
    /** Adds a coin. Coins are added in the order of the chainstate, those of one transaction
     *  together. */
    Result<> Add(const OutPoint& outpoint, const Coin& coin);
    /** Writes the rest and the header, syncs; the file is complete on success. */
    Result<SnapshotHeader> Finish();

private:
    SnapshotWriter(std::unique_ptr<WritableFile> file, uint64_t offset, SnapshotHeader header);
    Result<> CloseTx();

    FileAppender m_out;
    SnapshotHeader m_header;             //!< for the coins so far
    std::optional<uint64_t> m_announced; //!< number of coins in the header, if that already
    Bytes m_tx;                          //!< coins of the current transaction
    uint64_t m_tx_coins = 0; //!< their number
    Txid m_txid;
};

} // namespace ibd
