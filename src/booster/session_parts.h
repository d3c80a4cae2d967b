// SessionParts: the objects, options and state that all parts of a BoosterSession share, held once.
// Owned by BoosterSession. Members are used on the session's thread, unless they say otherwise.
#pragma once

#include "booster/hints_choice.h"
#include "booster/hints_gate.h"
#include "booster/kept_work.h"
#include "booster/own_hints.h"
#include "booster/session_watch.h"
#include "booster/suspect_hints.h"
#include "booster/trust_log.h"
#include "booster/undo_run.h"
#include "util/found.h"

namespace ibd {

struct SessionOptions {
    BoosterOptions booster = {}; //!< complete, with the paths of the chainstate and the progress
                                 //!< object
    OwnHintsOptions own = {};    //!< used for own hints, if none are given
    HintsChoice hints = {};
    BlockHash assume_valid = {}; //!< of hints in a folder, those that end there are preferred
    Path net_dir = {};           //!< the network's data directory
    int32_t stop_at = 0;         //!< -stopatheight; 0: never
    /** Time to wait for a peer that sends spent coins; more after work was begun with them. */
    int64_t wait_micros = 0;
};

/** Callbacks into the node; each may be empty. */
struct SessionHooks {
    /** Called before work that may take hours; possibly several times. */
    std::function<void()> started = {};
    std::function<void(const std::string& status)> set_status = {};
    /** Starts the network if it is not running; null: the user has disabled it. */
    std::function<BlockFetcher*(ChainManager& chain)> start_fetcher = {};
    /** Fetches hints from peers; returns no path if there are none. */
    std::function<Found<Path>(ChainManager& chain)> fetch_hints = {};
    /** A run has ended. More runs may follow after kSerial. */
    std::function<void(VerdictKind end)> ended = {};
    /** Called with the hints that the session made, after they are proven right and before they are
     *  removed. */
    std::function<void(const Hints& hints, const BlockHash& terminal)> own_hints_proven = {};
};

struct SessionParts {
    SessionParts(Env& e, Logger& l, const ChainParams& p, SessionOptions o);

    Env& env;
    Logger& log;
    const ChainParams& params;
    const SessionOptions options;
    SessionHooks hooks;
    ChainManager* chain = nullptr; //!< set by BoosterSession::Attach()
    const KeptWork kept;
    OwnHints maker;
    UndoRun undo;       //!< makes undo data
    UndoRun validation; //!< full validation from blocks alone
    SuspectHints suspects;
    TrustLog trust;
    SessionWatch watch;           //!< any thread
    std::unique_ptr<Hints> hints; //!< given
    bool discards = false;        //!< blocks are folded but not stored (-prune)
    bool lacks_headers = false;   //!< reason of the last Refuse()

    const BoosterOptions& Booster() const { return options.booster; }
    const BlockStore& Blocks() const { return chain->Blocks(); }
    Path BlocksDir() const { return Blocks().BlockPath(0).parent_path(); }
    BlockFetcher* StartFetcher() const
    {
        return hooks.start_fetcher ? hooks.start_fetcher(*chain) : nullptr;
    }
    /** Call it before work that may take hours. */
    void Begin(const char* status = "Building the chainstate with the IBD Booster…") const;
    bool IsAsked() const { return options.own.mode == OwnHintsOptions::Mode::kAsked; }
    /** Whether undo data is made after the node has begun to serve calls. */
    bool MakesUndoLater() const
    {
        return options.own.undo != UndoWanted::kNo && !options.own.undo_first;
    }
    /** The error of a node that cannot continue without the booster. */
    Error Refuse(const HintsStanding& standing);
    /** The consequence of a failure, for the log. */
    const char* FallbackText() const;
};

} // namespace ibd
