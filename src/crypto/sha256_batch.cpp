// See sha256_batch.h.
#include "crypto/sha256_batch.h"

#include "crypto/sha256_backends.h"
#include "crypto/sha256_internal.h"
#include "util/check.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

enum class Rounds { kOnce, kTwice };

/** Walks one message, and, if it is hashed twice, then the digest of it, block by block. */
class HashLane {
public:
    /** Starts a message; the last digest will go to `out`. */
    void Start(const HashMessage& message, Rounds rounds, Hash32* out, Sha256State& state)
    {
        m_pieces = {message.head, message.body, message.tail};
        m_rounds = rounds;
        m_out = out;
        m_size = message.head.size() + message.body.size() + message.tail.size();
        m_blocks = (m_size + 9 + 63) / 64;
        m_next = 0;
        m_is_digest = false;
        state = kSha256Initial;
    }

    /** Address of the next block; `run` = how many blocks lie there one after the other. */
    const uint8_t* Next(size_t& run)
    {
        run = 1;
        if (m_is_digest) return m_scratch;
        size_t offset = m_next * 64;
        for (const ByteSpan piece : m_pieces) {
            if (offset < piece.size()) {
                const size_t whole = (piece.size() - offset) / 64;
                if (whole == 0) break;
                run = whole;
                return piece.data() + offset;
            }
            offset -= piece.size();
        }
        FillScratch();
        return m_scratch;
    }

    /** Moves on after `blocks` blocks were absorbed. True when the message is done. */
    bool Advance(size_t blocks, Sha256State& state)
    {
        m_next += blocks;
        if (!m_is_digest && m_next < m_blocks) return false;
        if (!m_is_digest && m_rounds == Rounds::kTwice) {
            BeginDigest(state);
            return false;
        }
        sha256::StateToBytes(state, m_out->data());
        return true;
    }

private:
    /** Builds a block that is not in one piece: end of a piece, start of the next, padding. */
    void FillScratch()
    {
        std::memset(m_scratch, 0, sizeof m_scratch);
        const size_t begin = m_next * 64;
        size_t piece_begin = 0;
        for (const ByteSpan piece : m_pieces) {
            const size_t from = std::max(begin, piece_begin);
            const size_t to = std::min(begin + 64, piece_begin + piece.size());
            if (from < to) {
                std::memcpy(m_scratch + (from - begin), piece.data() + (from - piece_begin),
                            to - from);
            }
            piece_begin += piece.size();
        }
        if (m_size >= begin && m_size - begin < 64) m_scratch[m_size - begin] = 0x80;
        if (m_next + 1 == m_blocks) WriteBE64(m_scratch + 56, uint64_t{m_size} * 8);
    }

    void BeginDigest(Sha256State& state)
    {
        sha256::StateToBytes(state, m_scratch);
        m_scratch[32] = 0x80;
        std::memset(m_scratch + 33, 0, 29);
        m_scratch[62] = sha256::kDigestBits >> 8;
        m_scratch[63] = sha256::kDigestBits & 0xff;
        m_is_digest = true;
        state = kSha256Initial;
    }

    std::array<ByteSpan, 3> m_pieces;
    Rounds m_rounds = Rounds::kTwice;
    Hash32* m_out = nullptr;
    size_t m_size = 0;
    size_t m_blocks = 0;
    size_t m_next = 0;
    bool m_is_digest = false;
    uint8_t m_scratch[64];
};

/** Keeps every lane of a backend busy with messages until none is left. */
class LaneScheduler {
public:
    LaneScheduler(const Sha256Backend& backend, std::span<const HashMessage> messages,
                  Rounds rounds, Hash32* out)
        : m_backend(backend), m_messages(messages), m_rounds(rounds), m_out(out)
    {
        CHECK(backend.lanes <= kSha256MaxLanes);
    }

    void Run()
    {
        while (m_active < m_backend.lanes && StartNext(m_active)) ++m_active;
        // With half of the lanes idle, one message at a time is no slower.
        while (m_active * 2 > m_backend.lanes) Step();
        for (size_t lane = 0; lane < m_active; ++lane) FinishAlone(lane);
    }

private:
    bool StartNext(size_t lane)
    {
        if (m_taken == m_messages.size()) return false;
        m_lanes[lane].Start(m_messages[m_taken], m_rounds, m_out + m_taken, m_states[lane]);
        ++m_taken;
        return true;
    }

    void Step()
    {
        const uint8_t* data[kSha256MaxLanes];
        size_t run = std::numeric_limits<size_t>::max();
        for (size_t lane = 0; lane < m_active; ++lane) {
            size_t lane_run;
            data[lane] = m_lanes[lane].Next(lane_run);
            run = std::min(run, lane_run);
        }
        for (size_t lane = m_active; lane < m_backend.lanes; ++lane) data[lane] = data[0];
        m_backend.lanes_transform(m_states.data(), data, run);
        for (size_t lane = m_active; lane-- > 0;) {
            if (m_lanes[lane].Advance(run, m_states[lane]) && !StartNext(lane)) Retire(lane);
        }
    }

    /** Moves the last active lane into the place of a finished one. */
    void Retire(size_t lane)
    {
        --m_active;
        if (lane == m_active) return;
        m_lanes[lane] = m_lanes[m_active];
        m_states[lane] = m_states[m_active];
    }

    // By the backend of streams: those of vectors have no better way for a single message.
    void FinishAlone(size_t lane)
    {
        size_t run;
        do {
            const uint8_t* data = m_lanes[lane].Next(run);
            Sha256StreamBackend().transform(m_states[lane], data, run);
        } while (!m_lanes[lane].Advance(run, m_states[lane]));
    }

    const Sha256Backend& m_backend;
    std::span<const HashMessage> m_messages;
    const Rounds m_rounds;
    Hash32* m_out;
    size_t m_taken = 0;
    size_t m_active = 0;
    std::array<HashLane, kSha256MaxLanes> m_lanes;
    std::array<Sha256State, kSha256MaxLanes> m_states{};
};

} // namespace

void HashOutpoints(const Sha256State& salted_midstate, const uint8_t* messages, size_t stride,
                   size_t count, Hash32* out)
{
    Sha256BatchBackend().outpoints(salted_midstate, messages, stride, count, out);
}

void HashOutpointsPortable(const Sha256State& salted_midstate, const uint8_t* messages,
                           size_t stride, size_t count, Hash32* out)
{
    sha256::PortableBackend().outpoints(salted_midstate, messages, stride, count, out);
}

void Sha256dMany64(const uint8_t* messages, size_t count, Hash32* out)
{
    Sha256BatchBackend().double64(messages, count, out);
}

void Sha256dManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                     Hash32* out)
{
    LaneScheduler(backend, messages, Rounds::kTwice, out).Run();
}

void Sha256dMany(std::span<const HashMessage> messages, Hash32* out)
{
    Sha256dManyWith(Sha256BatchBackend(), messages, out);
}

void Sha256ManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                    Hash32* out)
{
    LaneScheduler(backend, messages, Rounds::kOnce, out).Run();
}

void Sha256Many(std::span<const HashMessage> messages, Hash32* out)
{
    Sha256ManyWith(Sha256BatchBackend(), messages, out);
}

} // namespace ibd
