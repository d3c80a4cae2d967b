// See snapshot_marks.h.
#include "validation/snapshot_marks.h"

namespace ibd {

void SnapshotMarks::Assume(const HeaderNode& base)
{
    const Lock lock(m_tree.headers.mutex);
    m_tree.index.AssumeWitnesses(*m_tree.headers.tree.Find(base.hash));
}

void SnapshotMarks::Trust()
{
    const Lock lock(m_tree.headers.mutex);
    m_tree.snapshot_base = nullptr;
    m_tree.historical_tip = nullptr;
}

void SnapshotMarks::Disown(const HeaderNode& base)
{
    const Lock lock(m_tree.headers.mutex);
    HeaderTree& tree = m_tree.headers.tree;
    HeaderNode& own = *tree.Find(base.hash);
    if (!own.Failed()) m_tree.index.ClearFailure(&own); // and that of the blocks above
    m_tree.warnings.ForgetReconsidered();
    for (size_t i = 0; i < tree.Size(); ++i) {
        HeaderNode& node = *tree.NodeAt(i);
        const bool above = node.height > own.height && node.Ancestor(own.height) == &own;
        if (above && node.HasUndo()) m_tree.index.ForgetUndo(node);
    }
}

} // namespace ibd
