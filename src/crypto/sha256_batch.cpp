// See sha256_batch.h.
#include "crypto/sha256_batch.h"

#include "crypto/sha256_backends.h"
#include "crypto/sha256_internal.h"
#include "util/check.h"

#include <algorithm>

namespace ibd {

namespace {

/** Walks one message block by block. */
class HashLane {
public:
    /** Starts a message; its digest goes to `out`. */
    void Start(const HashMessage& message, Hash32* out)
    {
        m_pieces = {message.head, message.body, message.tail};
        m_out = out;
        m_size = message.head.size() + message.body.size() + message.tail.size();
        m_blocks = (m_size + 9 + 63) / 64;
        m_next = 0;
        Find();
    }

    /** Address of the next block, and the number (at least one) of adjacent blocks there. */
    const uint8_t* At() const { return m_at; }
    size_t Run() const { return m_run; }
    Hash32& Out() const { return *m_out; }

    /** Moves on after `blocks` blocks, at most Run(), were absorbed. True: the message ends. */
    bool Advance(size_t blocks)
    {
        m_next += blocks;
        m_run -= blocks;
        m_at += blocks * 64;
        if (m_run > 0) return false;
        if (m_next == m_blocks) return true;
        Find();
        return false;
    }

private:
    void Find()
    {
        size_t offset = m_next * 64;
        for (const ByteSpan piece : m_pieces) {
            if (offset < piece.size()) {
                m_run = (piece.size() - offset) / 64;
                m_at = piece.data() + offset;
                if (m_run > 0) return;
                break;
            }
            offset -= piece.size();
        }
        FillScratch();
        m_run = 1;
        m_at = m_scratch;
    }

    /** Builds a block from several parts: end of a piece, start of the next, padding. */
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

    std::array<ByteSpan, 3> m_pieces;
    Hash32* m_out = nullptr;
    size_t m_size = 0;
    size_t m_blocks = 0;
    size_t m_next = 0;
    const uint8_t* m_at = nullptr;
    size_t m_run = 0;
    uint8_t m_scratch[64];
};

/** Keeps all lanes of a backend busy until no message is left. */
class LaneScheduler {
public:
    LaneScheduler(const Sha256Backend& backend, std::span<const HashMessage> messages, Hash32* out)
        : m_backend(backend), m_messages(messages), m_out(out)
    {
        CHECK(backend.lanes <= kSha256MaxLanes);
        for (size_t i = 0; i < kSha256MaxLanes; ++i) m_lanes[i] = &m_walks[i];
    }

    void Run()
    {
        while (m_active < m_backend.lanes && StartNext(m_active)) ++m_active;
        // With three quarters of the lanes idle, one message at a time is as fast.
        while (m_active * 4 > m_backend.lanes) Step();
        for (size_t lane = 0; lane < m_active; ++lane) FinishAlone(lane);
    }

private:
    bool StartNext(size_t lane)
    {
        if (m_taken == m_messages.size()) return false;
        m_lanes[lane]->Start(m_messages[m_taken], m_out + m_taken);
        m_fresh |= uint32_t{1} << lane;
        ++m_taken;
        return true;
    }

    void Step()
    {
        const uint8_t* data[kSha256MaxLanes];
        size_t run = m_lanes[0]->Run();
        for (size_t lane = 0; lane < m_active; ++lane) {
            data[lane] = m_lanes[lane]->At();
            run = std::min(run, m_lanes[lane]->Run());
        }
        for (size_t lane = m_active; lane < m_backend.lanes; ++lane) data[lane] = data[0];
        m_backend.lanes_transform(m_states.data(), m_fresh, data, run);
        m_fresh = 0;
        for (size_t lane = m_active; lane-- > 0;) {
            if (!m_lanes[lane]->Advance(run)) continue;
            sha256::StateToBytes(State(lane), m_lanes[lane]->Out().data());
            if (!StartNext(lane)) Retire(lane);
        }
    }

    /** Moves the last active lane into the place of a finished one. */
    void Retire(size_t lane)
    {
        --m_active;
        if (lane == m_active) return;
        std::swap(m_lanes[lane], m_lanes[m_active]);
        for (size_t i = 0; i < 8; ++i) Word(lane, i) = Word(m_active, i);
        const uint32_t last_is_fresh = m_fresh >> m_active & 1;
        m_fresh = (m_fresh ^ last_is_fresh << m_active) | last_is_fresh << lane;
    }

    // Uses the stream backend, as vector backends are no better for a single message.
    void FinishAlone(size_t lane)
    {
        HashLane& message = *m_lanes[lane];
        Sha256State state = (m_fresh >> lane & 1) != 0 ? kSha256Initial : State(lane);
        size_t run;
        do {
            run = message.Run();
            Sha256StreamBackend().transform(state, message.At(), run);
        } while (!message.Advance(run));
        sha256::StateToBytes(state, message.Out().data());
    }

    uint32_t& Word(size_t lane, size_t number)
    {
        return m_states[number * m_backend.word_stride + lane * m_backend.lane_stride];
    }

    Sha256State State(size_t lane)
    {
        Sha256State state;
        for (size_t i = 0; i < state.size(); ++i) state[i] = Word(lane, i);
        return state;
    }

    const Sha256Backend& m_backend;
    std::span<const HashMessage> m_messages;
    Hash32* m_out;
    size_t m_taken = 0;
    size_t m_active = 0;
    uint32_t m_fresh = 0; //!< bits of lanes that have absorbed no block
    std::array<HashLane, kSha256MaxLanes> m_walks;
    std::array<HashLane*, kSha256MaxLanes> m_lanes; //!< by number; a lane may point into itself, so
                                                    //!< it does not move
    alignas(64) std::array<uint32_t, 8 * kSha256MaxLanes> m_states{};
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
    Sha256ManyWith(backend, messages, out);
    const size_t rest = messages.size() % backend.lanes;
    const size_t alone = rest * 4 > backend.lanes ? 0 : rest;
    backend.digests(out, messages.size() - alone);
    Sha256StreamBackend().digests(out + messages.size() - alone, alone);
}

void Sha256dMany(std::span<const HashMessage> messages, Hash32* out)
{
    Sha256dManyWith(Sha256BatchBackend(), messages, out);
}

void Sha256ManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                    Hash32* out)
{
    LaneScheduler(backend, messages, out).Run();
}

void Sha256Many(std::span<const HashMessage> messages, Hash32* out)
{
    Sha256ManyWith(Sha256BatchBackend(), messages, out);
}

} // namespace ibd
