// See undo_handover.h.
#include "join/undo_handover.h"

#include <algorithm>

namespace ibd {

namespace {

uint64_t SizeOf(const UndoSpan& span)
{
    return span.bytes.size() + span.records.size() * sizeof(UndoSpan::Record);
}

uint64_t Capacity(const UndoSpan& span)
{
    return span.bytes.capacity() + span.records.capacity() * sizeof(UndoSpan::Record);
}

} // namespace

bool UndoSpan::IsScattered() const
{
    return std::any_of(records.begin(), records.end(),
                       [](const Record& record) { return record.scattered != nullptr; });
}

void UndoHandover::Begin(uint32_t height)
{
    const Lock lock(m_mutex);
    CHECK(m_waiting.empty());
    m_turn = height;
}

bool UndoHandover::AwaitTurn(uint32_t height)
{
    const Lock lock(m_mutex);
    while (!m_ended && m_turn < height) m_turned.wait(m_mutex);
    return !m_ended;
}

Result<bool> UndoHandover::Give(UndoSpan span)
{
    CHECK(span.span.Blocks() > 0);
    {
        const Lock lock(m_mutex);
        if (m_ended) return false;
        if (Keep(span)) return true;
        if (m_ended) return false;
    }
    // Only one span is due, so no other thread passes on records now.
    while (true) {
        IBD_RETURN_IF_ERROR(HandOn(span));
        const Lock lock(m_mutex);
        if (!EndTurn(span)) return false;
        const auto next = m_waiting.find(m_turn);
        if (next == m_waiting.end()) return true;
        span = std::move(next->second);
        m_waiting_bytes -= SizeOf(span);
        m_waiting.erase(next);
    }
}

/** Queues the span if it is not due. The lowest remaining span is always due, so one thread always
 *  makes progress. */
bool UndoHandover::Keep(UndoSpan& span)
{
    const uint64_t size = SizeOf(span);
    const bool may_wait = !span.IsScattered();
    while (!m_ended && m_turn < span.span.first) {
        if (may_wait && (m_waiting_bytes == 0 || m_waiting_bytes + size <= m_most_bytes)) {
            m_waiting_bytes += size;
            m_waiting.emplace(span.span.first, std::move(span));
            return true;
        }
        m_turned.wait(m_mutex);
    }
    return false;
}

/** Passes on the blocks of the span below any that breaks a rule. */
Result<> UndoHandover::HandOn(const UndoSpan& span)
{
    const size_t first = span.span.end - span.records.size();
    for (size_t i = 0; i < span.records.size(); ++i) {
        if (span.broken && span.broken->height <= static_cast<int32_t>(first + i)) break;
        const UndoSpan::Record& record = span.records[i];
        const ByteSpan whole = ByteSpan(span.bytes).subspan(record.begin, record.size);
        const std::span<const ByteSpan> pieces =
            record.scattered ? record.scattered->pieces : std::span(&whole, 1);
        const Result<> taken = m_consumer.Take(*record.node, {pieces, record.checksum});
        // Bad data would mean a damaged spill.
        if (!taken) return Error{taken.Message(), Error::Kind::kSystem};
        m_handed_on.fetch_add(1, std::memory_order_relaxed);
    }
    return {};
}

/** Ends the span's turn; its buffers may be reused. False: no further span may follow. */
bool UndoHandover::EndTurn(UndoSpan& span)
{
    m_turn = span.span.end;
    m_broken = std::move(span.broken);
    if (m_broken) m_ended = true;
    m_turned.notify_all();
    KeepBuffers(span);
    return !m_ended;
}

/** Keeps the buffers for Spare() while the memory bound allows it. */
void UndoHandover::KeepBuffers(UndoSpan& span)
{
    const uint64_t size = Capacity(span);
    if (m_waiting_bytes + m_spare_bytes + size > m_most_bytes) return;
    span.bytes.clear();
    span.records.clear();
    span.broken.reset();
    m_spare_bytes += size;
    m_spare.push_back(std::move(span));
}

UndoSpan UndoHandover::Spare()
{
    const Lock lock(m_mutex);
    if (m_spare.empty()) return {};
    UndoSpan spare = std::move(m_spare.back());
    m_spare.pop_back();
    m_spare_bytes -= Capacity(spare);
    return spare;
}

void UndoHandover::End()
{
    const Lock lock(m_mutex);
    m_ended = true;
    m_turned.notify_all();
}

std::optional<BrokenRule> UndoHandover::Broken() const
{
    const Lock lock(m_mutex);
    return m_broken;
}

} // namespace ibd
