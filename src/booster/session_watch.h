// SessionWatch: the access of other threads to a running session: to interrupt it and to read its
// progress. The session's parts register the running engine and supply here. Owned by SessionParts;
// any thread.
#pragma once

#include "booster/own_hints.h"
#include "booster/peer_block_source.h"
#include "booster/undo_run.h"
#include "swiftsync/engine.h"

namespace ibd {

class SessionWatch {
public:
    /** Hints that were tried and not used. */
    struct RefusedHints {
        Uint256 id;
        std::string file;
        int32_t height = 0; //!< of the terminal block
        std::string why;
    };

    SessionWatch(Env& env, OwnHints& maker, UndoRun& validation)
        : m_env(env), m_maker(maker), m_validation(validation)
    {
    }

    // For the session's thread.

    /** Runs the engine; its progress can be read until Release(). */
    Result<Verdict> Run(std::unique_ptr<SyncEngine> engine);
    /** Releases the engine's supply or hints; its progress remains available. */
    void Release();
    /** Sets the supply of the running engine, if blocks come from peers; null: no longer. */
    void ShowSupply(const PeerBlockSupply* supply);
    /** Sets the supply of blocks that are fetched again, so that Interrupt() can stop it; null:
     *  none. False: already interrupted. */
    bool SetMending(PeerBlockSupply* supply);
    /** Call it when the join for own hints begins. */
    void ShowJoin(const HeaderNode& terminal);
    /** Call it when blocks were refused before a fold. */
    void ShowRefusal(const HeaderNode& terminal, const std::string& reason);
    /** Sets the height of the best header during a wait for headers; -1: there is no wait. */
    void ShowHeaders(int32_t height);
    void ShowFullValidation(bool full);
    /** Sets the given hints; null: none. */
    void ShowHints(const Hints* hints);
    /** Call it when the given hints are dropped: releases their engine. */
    void DropHints(RefusedHints refused);
    /** Whether hints with this id were dropped. */
    bool WasDropped(const Uint256& hints_id) const;
    /** A short wait. False: interrupted. */
    bool Pause();

    // For any thread.

    bool IsInterrupted() const;
    void Interrupt();
    /** The data for getboosterinfo; nothing without hints. */
    std::optional<BoosterProgress> Progress() const;

private:
    void ReleaseHeld() IBD_REQUIRES(m_mutex);
    std::optional<BoosterProgress> ProgressHeld() const IBD_REQUIRES(m_mutex);
    BoosterProgress ProgressOfJoin() const IBD_REQUIRES(m_mutex);
    BoosterProgress ProgressOfRefused() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    OwnHints& m_maker;
    UndoRun& m_validation;
    mutable Mutex m_mutex;
    std::condition_variable_any m_stop;
    /** The running engine, or that of the last run. */
    std::unique_ptr<SyncEngine> m_engine IBD_GUARDED_BY(m_mutex);
    const PeerBlockSupply* m_supply IBD_GUARDED_BY(m_mutex) = nullptr;
    PeerBlockSupply* m_mending IBD_GUARDED_BY(m_mutex) = nullptr;
    /** Terminal block, and id, of the given hints. */
    std::optional<FoldProgress> m_given IBD_GUARDED_BY(m_mutex);
    /** Terminal block of its own hints. */
    std::optional<FoldProgress> m_joining IBD_GUARDED_BY(m_mutex);
    /** The progress of a released engine. */
    std::optional<BoosterProgress> m_last IBD_GUARDED_BY(m_mutex);
    std::vector<RefusedHints> m_refused IBD_GUARDED_BY(m_mutex);
    int32_t m_headers IBD_GUARDED_BY(m_mutex) = -1;
    bool m_full IBD_GUARDED_BY(m_mutex) = false; //!< full validation is requested
    bool m_interrupted IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
