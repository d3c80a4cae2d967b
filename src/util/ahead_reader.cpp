// See ahead_reader.h.
#include "util/ahead_reader.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ibd {

namespace {

uint64_t AlignDown(uint64_t offset) { return offset - offset % kUncachedAlign; }
uint64_t AlignUp(uint64_t offset) { return AlignDown(offset + kUncachedAlign - 1); }

} // namespace

void UncachedUse::GiveUp(const Error& why)
{
    if (!m_allowed.exchange(false) || !m_log) return;
    m_log->Info("Block files are read through the system's cache from now on: {}", why.message);
}

AheadFile::AheadFile(std::unique_ptr<ReadableFile> file)
    : m_file(std::move(file)), m_reads(dynamic_cast<const UncachedReads*>(m_file.get()))
{
}

bool AheadFile::IsCold(uint64_t begin, uint64_t end) const
{
    return m_reads && !m_reads->IsCached(begin, end - begin);
}

Result<const UncachedFile*> AheadFile::Uncached()
{
    CHECK(m_reads);
    if (!m_uncached) {
        IBD_ASSIGN_OR_RETURN(m_uncached, m_reads->OpenUncached());
    }
    return m_uncached.get();
}

void AheadReader::AlignedDelete::operator()(uint8_t* memory) const
{
    ::operator delete(memory, std::align_val_t(kUncachedAlign));
}

AheadReader::~AheadReader()
{
    {
        const Lock lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    m_thread.Join();
}

void AheadReader::Announce(const std::shared_ptr<AheadFile>& file, uint64_t begin, uint64_t end)
{
    m_cold = false;
    uint64_t plain = begin; // start of the part that is read through the cache
    const auto advise = [&](uint64_t upto) {
        if (plain < upto) file->Plain().WillNeed(plain, upto - plain);
    };
    while (begin < end) {
        const uint64_t cut = std::min(AlignDown(begin) + kPieceBytes, end);
        if (m_use.Allowed() && AnnouncePiece(file, begin, cut)) {
            advise(begin);
            plain = cut;
            m_cold = true;
        }
        begin = cut;
    }
    advise(end);
}

/** False: read the bytes through the cache. */
bool AheadReader::AnnouncePiece(const std::shared_ptr<AheadFile>& file, uint64_t begin,
                                uint64_t end)
{
    if (!file->IsCold(begin, end)) return false;
    const auto uncached = file->Uncached();
    if (!uncached) {
        m_use.GiveUp(uncached.GetError());
        return false;
    }
    if (m_memory.empty()) Start();
    m_ahead += end - begin;
    {
        const Lock lock(m_mutex);
        m_pieces.push_back({.file = file, .uncached = *uncached, .begin = begin, .end = end});
    }
    m_changed.notify_all();
    return true;
}

void AheadReader::Start()
{
    constexpr auto kAlign = std::align_val_t(kUncachedAlign);
    {
        const Lock lock(m_mutex);
        for (size_t i = 0; i < kPieces; ++i) {
            m_memory.emplace_back(static_cast<uint8_t*>(::operator new(kPieceBytes, kAlign)));
            m_free.push_back(m_memory.back().get());
        }
    }
    m_thread = NamedThread("readahead", [this] { Work(); });
}

Result<size_t> AheadReader::ReadAt(const AheadFile& file, uint64_t offset, MutableByteSpan out)
{
    size_t done = 0;
    while (done < out.size()) {
        const uint64_t at = offset + done;
        const Place place = Find(file, at);
        if (const Piece* piece = place.piece) {
            const size_t part = std::min<uint64_t>(piece->end - at, out.size() - done);
            std::memcpy(&out[done], piece->bytes + (at - AlignDown(piece->begin)), part);
            done += part;
            continue;
        }
        const size_t wanted = std::min<uint64_t>(place.until - at, out.size() - done);
        IBD_ASSIGN_OR_RETURN(const size_t got, file.Plain().ReadAt(at, out.subspan(done, wanted)));
        done += got;
        if (got < wanted) break;
    }
    return done;
}

/** Waits for the piece that has the offset, and drops the pieces before it. */
AheadReader::Place AheadReader::Find(const AheadFile& file, uint64_t offset)
{
    const Lock lock(m_mutex);
    const auto found = std::find_if(m_pieces.begin(), m_pieces.end(), [&](const Piece& piece) {
        return piece.file.get() == &file && piece.end > offset;
    });
    if (found == m_pieces.end()) {
        // Passed pieces of this file are useless now; those of other files may still be needed.
        while (!m_pieces.empty() && m_pieces.front().file.get() == &file) DropFirst(1);
        return {};
    }
    if (found->begin > offset) return {.until = found->begin};
    DropFirst(static_cast<size_t>(found - m_pieces.begin()));
    const Piece& piece = m_pieces.front();
    while (piece.state == State::kWanted || piece.state == State::kReading) m_changed.wait(m_mutex);
    if (piece.state == State::kFailed) return {.until = piece.end};
    return {.piece = &piece};
}

void AheadReader::DropFirst(size_t count)
{
    for (; count > 0; --count) {
        Piece& piece = m_pieces.front();
        while (piece.state == State::kReading) m_changed.wait(m_mutex);
        if (piece.bytes) m_free.push_back(piece.bytes);
        m_ahead -= piece.end - piece.begin;
        m_pieces.pop_front();
        m_changed.notify_all();
    }
}

void AheadReader::Work()
{
    for (;;) {
        Piece* piece = nullptr;
        {
            const Lock lock(m_mutex);
            while (!m_stopping && !(piece = NextWanted())) m_changed.wait(m_mutex);
            if (m_stopping) return;
        }
        const bool read = Fill(*piece);
        {
            const Lock lock(m_mutex);
            piece->state = read ? State::kRead : State::kFailed;
        }
        m_changed.notify_all();
    }
}

/** The first piece that is not read yet, with memory for it; null: there is none for now. */
AheadReader::Piece* AheadReader::NextWanted()
{
    if (m_free.empty()) return nullptr;
    const auto piece = std::ranges::find(m_pieces, State::kWanted, &Piece::state);
    if (piece == m_pieces.end()) return nullptr;
    piece->state = State::kReading;
    piece->bytes = m_free.back();
    m_free.pop_back();
    return &*piece;
}

/** Called without the lock: a piece that is being read is not moved. False: read it through the
 *  cache. */
bool AheadReader::Fill(const Piece& piece) const
{
    if (!m_use.Allowed()) return false;
    const uint64_t from = AlignDown(piece.begin);
    const MutableByteSpan room(piece.bytes, AlignUp(piece.end) - from);
    const Result<size_t> got = piece.uncached->ReadOnce(from, room);
    if (!got) {
        m_use.GiveUp(got.GetError());
        return false;
    }
    if (from + *got >= piece.end) return true;
    // Either the end of the file, because the length of the last block is estimated; or the disk
    // returned less.
    const Result<uint64_t> size = piece.file->Plain().Size();
    if (size && from + *got < *size) {
        m_use.GiveUp(SystemError("a read around the cache brought {} of {} bytes", *got,
                                 std::min(room.size(), static_cast<size_t>(*size - from))));
    }
    return false;
}

} // namespace ibd
