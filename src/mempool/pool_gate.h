// PoolGate: whether the pool may be changed. The thread that changes the chain closes it before a
// reorganisation and opens it when pool and coins agree again. While it is closed, only that thread
// changes the contents of the pool. So it may read the pool without the pool's mutex, and takes the
// mutex only for the moments of a change: readers of the pool do not wait for it. Taken before the
// chain's state lock.
#pragma once

#include "util/check.h"
#include "util/mutex.h"

#include <condition_variable>

namespace ibd {

class PoolGate {
public:
    /** Permission to change the pool. Construction waits while the gate is closed. Hold it only for
     *  moments. */
    class Pass {
    public:
        explicit Pass(PoolGate& gate) : m_gate(gate) { m_gate.Enter(); }
        ~Pass() { m_gate.Leave(); }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

    private:
        PoolGate& m_gate;
    };

    /** Waits until no pass is left. */
    void Close()
    {
        const Lock lock(m_mutex);
        CHECK(!m_closed);
        m_closed = true;
        while (m_passes > 0) m_changed.wait(m_mutex);
    }
    void Open()
    {
        const Lock lock(m_mutex);
        CHECK(m_closed);
        m_closed = false;
        m_changed.notify_all();
    }
    bool IsClosed() const
    {
        const Lock lock(m_mutex);
        return m_closed;
    }

private:
    void Enter()
    {
        const Lock lock(m_mutex);
        while (m_closed) m_changed.wait(m_mutex);
        ++m_passes;
    }
    void Leave()
    {
        const Lock lock(m_mutex);
        if (--m_passes == 0) m_changed.notify_all();
    }

    mutable Mutex m_mutex; //!< a leaf
    std::condition_variable_any m_changed;
    bool m_closed IBD_GUARDED_BY(m_mutex) = false;
    size_t m_passes IBD_GUARDED_BY(m_mutex) = 0;
};

} // namespace ibd
