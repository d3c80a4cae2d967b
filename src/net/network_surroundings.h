// PeerNetworkSurroundings: the objects outside of net that PeerNetwork uses. Made by node.
#pragma once

#include "net/network_options.h"
#include "net/peer/peer_chain.h"
#include "util/warnings.h"

#include <functional>

namespace ibd {

class FilterProvider;
class HintsProvider;
class PeerPool;

/** They outlive PeerNetwork. */
struct PeerNetworkSurroundings {
    Env& env;
    Logger& log;
    const ChainParams& params;
    PeerChain& chain; //!< called on net-msg, like the two below
    HeaderSink& headers;
    BlockProvider& blocks;
    std::function<int64_t()> now; //!< microseconds since 1970, possibly mocked; any thread
    /** The bans changed and must be saved; net-msg. May be empty. */
    std::function<void(const std::map<Subnet, BanEntry>&)> save_bans;
    NodeWarnings* warnings = nullptr; //!< may be null
    HintsProvider* hints = nullptr;   //!< hints offered to peers; net-msg; may be null
    PeerPool* pool = nullptr;         //!< net-msg; null: transactions are not relayed
    FilterProvider* filters = nullptr; //!< net-msg; null: there are no block filters
};

} // namespace ibd
