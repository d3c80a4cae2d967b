// See block_intake.h.
#include "validation/block_intake.h"

#include <algorithm>

namespace ibd {

BlockIntake::BlockIntake(ChainManager& chain, ChainThread& thread,
                         std::function<void(const Error&)> fatal, std::function<void()> news)
    : m_chain(chain), m_thread(thread), m_fatal(std::move(fatal)), m_news(std::move(news)),
      m_storing("blockstore", [this] { Work(); })
{
}

bool BlockIntake::Fits(size_t bytes) const
{
    return m_held.empty() || (m_held.size() < kMaxBlocks && m_bytes + bytes <= kMaxBytes);
}

bool BlockIntake::HasRoom(size_t bytes) const
{
    const Lock lock(m_mutex);
    return Fits(bytes);
}

bool BlockIntake::Put(Block&& block)
{
    const Lock lock(m_mutex);
    if (!Fits(block.raw.size())) return false;
    if (!m_held.emplace(block.node, block.raw.size()).second) return true;
    m_bytes += block.raw.size();
    ++m_busy[block.source];
    m_waiting.push_back(std::move(block));
    m_filled.notify_one();
    return true;
}

bool BlockIntake::Holds(const HeaderNode& node) const
{
    const Lock lock(m_mutex);
    return m_held.contains(&node) ||
           std::any_of(m_refused.begin(), m_refused.end(),
                       [&node](const Refused& refused) { return refused.node == &node; });
}

bool BlockIntake::IsBusyWith(int64_t source) const
{
    const Lock lock(m_mutex);
    Settle();
    return m_busy.contains(source);
}

std::vector<BlockIntake::Refused> BlockIntake::TakeRefused()
{
    const Lock lock(m_mutex);
    return std::exchange(m_refused, {});
}

std::vector<BlockIntake::Taken> BlockIntake::TakeTaken()
{
    const Lock lock(m_mutex);
    return std::exchange(m_taken, {});
}

/** Entries are dropped if the owner does not collect them. */
void BlockIntake::Tell(const Taken& taken)
{
    if (m_taken.size() < kMaxNotes) m_taken.push_back(taken);
}

/** Releases sources whose blocks the chain's thread has handled. */
void BlockIntake::Settle() const
{
    const uint64_t served = m_thread.Served();
    while (!m_stored.empty() && m_stored.front().ticket <= served) {
        Release(m_stored.front().source);
        m_stored.pop_front();
    }
}

void BlockIntake::Release(int64_t source) const
{
    const auto found = m_busy.find(source);
    if (--found->second == 0) m_busy.erase(found);
}

void BlockIntake::Checked(const BlockHash& hash, const RuleResult& verdict)
{
    const Lock lock(m_mutex);
    const auto found = m_notes.find(hash);
    if (found == m_notes.end()) return;
    Report(found->second, verdict);
    m_notes.erase(found);
}

void BlockIntake::Report(const Note& note, const RuleResult& verdict)
{
    if (verdict) {
        m_refused.push_back({note.node, note.source, *verdict, note.via_compact, note.bytes});
    } else {
        Tell({note.node, note.source, true});
    }
}

/** Called before the block is stored, because it may be connected at once. False: a copy of the
 *  block is stored and waits for its verdict, which is about the sender of that copy. */
bool BlockIntake::Remember(const Note& note)
{
    const Lock lock(m_mutex);
    if (!m_notes.emplace(note.node->hash, note).second) return false;
    m_note_order.push_back(note.node->hash);
    // Bounds the notes: blocks of branches that are never connected get no verdict.
    while (m_note_order.size() > kMaxNotes) {
        m_notes.erase(m_note_order.front());
        m_note_order.pop_front();
    }
    return true;
}

/** False: the intake is stopping. */
bool BlockIntake::WaitForBlock(Block& out)
{
    const Lock lock(m_mutex);
    while (!m_stopping && m_waiting.empty()) m_filled.wait(m_mutex);
    if (m_stopping) return false;
    out = std::move(m_waiting.front());
    m_waiting.pop_front();
    return true;
}

void BlockIntake::Take(Block block)
{
    const size_t bytes = block.raw.size();
    const Note note{block.node, block.source, block.via_compact, bytes};
    const bool first = Remember(note);
    const Result<BlockOutcome> outcome = m_chain.TakeBlock(std::move(block.raw));
    if (!outcome) m_fatal(outcome.GetError());
    const bool stored = outcome && outcome->is_new;
    const uint64_t ticket = stored ? m_thread.ActivateSoon() : 0;
    const Lock lock(m_mutex);
    // The chain reports no verdict on bytes that cannot be parsed, nor on a stored block.
    const bool unreported = outcome && !stored && (!first || m_notes.erase(note.node->hash) > 0);
    if (unreported && outcome->violation) Report(note, outcome->violation);
    m_bytes -= bytes;
    m_held.erase(block.node);
    if (stored) {
        Tell({block.node, block.source, false});
        m_stored.push_back({ticket, block.source});
    } else {
        Release(block.source);
    }
}

void BlockIntake::Work()
{
    Block block;
    while (WaitForBlock(block)) {
        Take(std::move(block));
        m_news();
    }
}

void BlockIntake::Stop()
{
    {
        const Lock lock(m_mutex);
        m_stopping = true;
        m_filled.notify_all();
    }
    m_storing.Join();
}

} // namespace ibd
