// UTXO snapshot files of version 2, as dumptxoutset writes and loadtxoutset reads them. Streaming:
// memory is one buffer plus the coins of one transaction. One thread at a time.
// Format: doc/formats/snapshot.md.
#pragma once

#include "script/coin.h"
#include "util/file_appender.h"

#include <array>
#include <memory>
#include <optional>

namespace ibd {

struct SnapshotHeader {
    static constexpr size_t kSize = 51;
    static constexpr uint16_t kVersion = 2;

    std::array<uint8_t, 4> magic{}; //!< network magic, in wire order
    BlockHash base;                 //!< the block after which these were the coins
    uint64_t coins = 0;

    Bytes Encode() const;
    static Result<SnapshotHeader> Decode(ByteSpan bytes, const Path& path);
};

class SnapshotReader {
public:
    /** Opens the file and reads its header. The network is the caller's to compare. */
    static Result<std::unique_ptr<SnapshotReader>> Open(Env& env, const Path& path);

    const SnapshotHeader& Header() const { return m_header; }
    /** The next coin; false after the last, where the file must end. Errors name the offset. */
    Result<bool> Next(OutPoint& outpoint, Coin& coin);
    uint64_t Offset() const { return m_window_start + m_pos; }
    /** Between two coins: where Next() goes on. */
    struct Place {
        uint64_t offset = SnapshotHeader::kSize;
        uint64_t coins = 0;      //!< before it
        uint64_t left_in_tx = 0; //!< coins of the transaction that are yet to come
        Txid txid;               //!< of that transaction
    };
    Place Where() const { return {Offset(), m_read, m_left_in_tx, m_txid}; }
    /** To what Where() said of the same file. */
    void GoTo(const Place& place);

private:
    SnapshotReader(std::unique_ptr<ReadableFile> file, Path path, uint64_t size);
    Result<> Fill(size_t wanted);
    ByteSpan Window() const { return ByteSpan(m_buffer).subspan(m_pos, m_filled - m_pos); }
    Error Bad(std::string_view what) const;

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
};

class SnapshotWriter {
public:
    /** Starts the file; the count in the header is set by Finish(). */
    static Result<std::unique_ptr<SnapshotWriter>>
    Create(Env& env, const Path& path, const std::array<uint8_t, 4>& magic, const BlockHash& base);
    /** On a pipe, which takes no count afterwards: `header` is complete. */
    static Result<std::unique_ptr<SnapshotWriter>> CreateOnPipe(std::unique_ptr<WritableFile> pipe,
                                                                const SnapshotHeader& header);
    /** Coins come in the order of the chainstate; those of one transaction follow each other. */
    Result<> Add(const OutPoint& outpoint, const Coin& coin);
    /** As Add, of a value in chainstate form. */
    Result<> AddRaw(const OutPoint& outpoint, ByteSpan value);
    /** Writes the rest and the header, syncs; the file is complete on success. */
    Result<SnapshotHeader> Finish();

private:
    SnapshotWriter(std::unique_ptr<WritableFile> file, uint64_t offset, SnapshotHeader header);
    Result<> CloseTx();

    FileAppender m_out;
    SnapshotHeader m_header;             //!< of the coins so far
    std::optional<uint64_t> m_announced; //!< coins in the header that is written already
    Bytes m_tx;              //!< coins of the open transaction
    uint64_t m_tx_coins = 0; //!< how many
    Txid m_txid;
    Bytes m_value;
};

} // namespace ibd
