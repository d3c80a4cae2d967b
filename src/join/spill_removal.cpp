// See spill_removal.h.
#include "join/spill_removal.h"

namespace ibd {

Result<> SpillRemoval::Begin(std::vector<Path> files)
{
    if (!m_background) return Remove(files);
    m_thread = NamedThread("join-remove",
                           [this, removing = std::move(files)] { m_removed = Remove(removing); });
    return {};
}

Result<> SpillRemoval::Wait()
{
    m_thread.Join();
    return std::exchange(m_removed, {});
}

Result<> SpillRemoval::Remove(const std::vector<Path>& files)
{
    for (const Path& file : files) IBD_RETURN_IF_ERROR(m_env.Remove(file));
    return {};
}

} // namespace ibd
