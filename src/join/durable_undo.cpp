// See durable_undo.h.
#include "join/durable_undo.h"

namespace ibd {

Result<> DurableUndo::Take(const HeaderNode& node, const UndoRecord& undo)
{
    IBD_RETURN_IF_ERROR(m_sink.Put(node, undo));
    m_height = node.height;
    m_bytes += undo.Size();
    return IsDue() ? Begin() : Result<>();
}

/** While the thread is busy the limits are larger, but still finite. */
bool DurableUndo::IsDue() const
{
    if (m_busy) return m_bytes >= 2 * m_limits.bytes;
    return m_bytes >= m_limits.bytes || m_env.MonotonicMicros() - m_since >= m_limits.micros;
}

Result<> DurableUndo::Begin()
{
    IBD_RETURN_IF_ERROR(Wait());
    m_bytes = 0;
    m_since = m_env.MonotonicMicros();
    m_busy = true;
    m_thread = NamedThread("undo-durable", [this, height = m_height] {
        m_made = m_sink.MakeDurable(height);
        m_busy = false;
    });
    return {};
}

Result<> DurableUndo::Wait()
{
    m_thread.Join();
    return std::exchange(m_made, {});
}

Result<> DurableUndo::End()
{
    IBD_RETURN_IF_ERROR(Wait());
    m_bytes = 0;
    return m_sink.MakeDurable(m_height);
}

} // namespace ibd
