// Selects the inbound peer to evict when all slots are taken. To take all slots, an attacker must
// surpass all other peers in several properties that are hard to fake. Rules and numbers are
// Bitcoin Core's. Pure.
#pragma once

#include "net/peer/peer_link.h"

#include <optional>
#include <vector>

namespace ibd {

struct EvictionCandidate {
    PeerId id = -1;
    int64_t connected = 0;     //!< seconds since 1970
    int64_t ping_shortest = 0; //!< microseconds; the maximum if unknown
    int64_t last_block = 0;    //!< seconds since 1970, of its last new block for us
    int64_t last_tx = 0;       //!< seconds since 1970
    bool relevant_services = false;
    bool relays_txs = false;
    bool bloom_filter = false;
    uint64_t group = 0; //!< its network group, hashed with a secret key
    bool prefer_evict = false;
    bool is_local = false;
    AddressNetwork network = AddressNetwork::kUnroutable; //!< of its connection
    bool noban = false;
    bool inbound = true;
};

/** Nothing: all are protected. */
std::optional<PeerId> SelectToEvict(std::vector<EvictionCandidate> candidates);

/** Removes half of the candidates, which are thereby protected: first some on networks with few
 *  peers, up to a quarter of all, then the peers connected for longest. Public for tests. */
void ProtectByNetworkAndAge(std::vector<EvictionCandidate>& candidates);

} // namespace ibd
