// ChainObserver: the interface to code that follows the chain. ChainNews: reports of the parts of
// the ChainManager, to the log and to the observer.
#pragma once

#include "chain/header_node.h"
#include "consensus/rule_result.h"
#include "util/log.h"
#include "validation/chain_warnings.h"

namespace ibd {

/** Observes the chain; copies the data and returns quickly. Called on the thread that changes the
 *  chain, under the state lock except in a reorganisation. BlockChecked() may also come from a
 *  thread that submits a block; it and warnings may come without the state lock. */
class ChainObserver {
public:
    virtual ~ChainObserver() = default;
    virtual void BlockConnected(const HeaderNode&, const BlockView&) {}
    virtual void BlockDisconnected(const HeaderNode&, const BlockView&) {}
    // The next three calls are about a reorganisation or InvalidateBlock(). They may take time,
    // because only the activation lock is held.
    /** Blocks are about to be disconnected. TipReached() follows in any case. */
    virtual void TipLeft() {}
    /** InvalidateBlock() has disconnected `blocks` blocks so far, and the coins are at `node`. */
    virtual void SteppedBack(const HeaderNode& /*node*/, int /*blocks*/) {}
    /** The coins are at the new tip, which other threads cannot see yet. Null: a step failed, and
     *  the node must stop. */
    virtual void TipReached(const HeaderNode*) {}

    virtual void TipChanged(const HeaderNode&) {}
    /** The verdict on a submitted or connected block. */
    virtual void BlockChecked(const BlockHash&, const RuleResult&) {}
    /** A new warning; `text` is for the user. */
    virtual void WarningSet(NodeWarning, const std::string& /*text*/) {}
    virtual void WarningCleared(NodeWarning) {}
};

/** Owned by the ChainManager; set the observer before the chain changes, then any thread. */
class ChainNews {
public:
    explicit ChainNews(Logger& log) : m_log(log) {}

    /** Null: none. */
    void SetObserver(ChainObserver* observer) { m_observer = observer; }

    void Connected(const HeaderNode& node, const BlockView& block) const
    {
        if (m_observer) m_observer->BlockConnected(node, block);
    }
    void Disconnected(const HeaderNode& node, const BlockView& block) const
    {
        if (m_observer) m_observer->BlockDisconnected(node, block);
    }
    void Left() const
    {
        if (m_observer) m_observer->TipLeft();
    }
    void SteppedBack(const HeaderNode& node, int blocks) const
    {
        if (m_observer) m_observer->SteppedBack(node, blocks);
    }
    void Reached(const HeaderNode* node) const
    {
        if (m_observer) m_observer->TipReached(node);
    }
    void Tip(const HeaderNode& node) const
    {
        if (m_observer) m_observer->TipChanged(node);
    }
    void Checked(const BlockHash& hash, const RuleResult& verdict) const
    {
        if (m_observer) m_observer->BlockChecked(hash, verdict);
    }
    /** Starts and ends of warnings; starts are logged. */
    void Warnings(const std::vector<ChainWarnings::News>& news) const
    {
        for (const auto& [warning, text] : news) {
            if (!text.empty()) m_log.Warning("{}", text);
            if (!m_observer) continue;
            text.empty() ? m_observer->WarningCleared(warning)
                         : m_observer->WarningSet(warning, text);
        }
    }

private:
    Logger& m_log;
    ChainObserver* m_observer = nullptr;
};

} // namespace ibd
