// Which of those who called us makes room for another, when all slots are taken. An attacker who
// wants every slot must be better than everybody else at several things at once that are hard to
// feign. Rules and numbers are Bitcoin Core's. Pure.
#pragma once

#include "net/peer_link.h"

#include <optional>
#include <vector>

namespace ibd {

struct EvictionCandidate {
    PeerId id = -1;
    int64_t connected = 0;     //!< seconds since 1970
    int64_t ping_shortest = 0; //!< microseconds; the highest number if none is known
    int64_t last_block = 0;    //!< seconds since 1970, when it last brought us a new one
    int64_t last_tx = 0;       //!< likewise
    bool relevant_services = false;
    bool relays_txs = false;
    bool bloom_filter = false;
    uint64_t group = 0; //!< its network group under a secret key
    bool prefer_evict = false;
    bool is_local = false;
    AddressNetwork network = AddressNetwork::kUnroutable; //!< by which it is connected
    bool noban = false;
    bool inbound = true;
};

/** Nothing: all are protected. */
std::optional<PeerId> SelectToEvict(std::vector<EvictionCandidate> candidates);

/** Takes away half of them, by what protects the rest: first some of the networks where few are,
 *  up to a quarter of all, then who is connected for longest. For tests apart. */
void ProtectByNetworkAndAge(std::vector<EvictionCandidate>& candidates);

} // namespace ibd
