// Syncs over simulated lines of given delay, speed and loss, with peers that are slow, silent or
// stop: the time of a sync compared with the time that the lines allow. One thread.
#pragma once

#include "sim/network.h"

namespace ibd::sim {

enum class Conduct {
    kHonest,
    kSilent, //!< sends no block
    kStops,  //!< sends nothing from a moment on, in the middle of a block
};

struct GridPeer {
    LinkQuality line;
    Conduct conduct = Conduct::kHonest;
};

/** A sync by a node that has the headers of a chain already. */
struct GridSync {
    std::string name;                //!< "order,rtt_ms,mbit,loss,bad,conduct"
    std::vector<GridPeer> peers;     //!< not empty
    size_t blocks = 0;               //!< of the chain; at most kLongestChain
    int64_t block_bytes = 1'000'000; //!< mean size; the sizes are from nearly 0 to twice of it
    int32_t window = 0;              //!< as of the serial engine; 0: any order, as the booster
    uint64_t seed = 1;
};
constexpr size_t kLongestChain = 20'000;
/** Bytes a second: above the rate at which the serial engine connects blocks (bench/README.md). A
 *  window is too short for lines that bring more. */
constexpr double kSerialRate = 250e6;

struct GridOutcome {
    double seconds = 0; //!< from the connections to the last block
    /** Seconds that the lines of the honest peers need together for the bytes of all blocks, or,
     *  with a window, those of kSerialRate if they are more. */
    double ideal = 0;
    double deviation = 0;  //!< standard deviation of the ideal: packets are lost at random
    size_t dropped = 0;    //!< honest peers that were disconnected
    size_t duplicates = 0; //!< blocks received again
};

/** Lines of all combinations of delay, speed and loss, with up to seven of eight peers that are
 *  slow, silent or stop; lines like those over Tor; and mixtures drawn from `seed`. `most`: blocks
 *  of the longest chain. */
std::vector<GridSync> LineGrid(uint64_t seed, size_t most = kLongestChain);
/** Simulates one. Fails (CHECK) if it takes 50 times the ideal and five minutes. */
GridOutcome RunGridSync(const GridSync& sync);
/** Seconds that a sync may take: 1.1 times the ideal; five round trips of the slowest honest line
 *  for the start (handshake, headers, the first block); and at the end the time after which others
 *  are asked for the last block of a silent peer (BlockDownloader::kHelpAfter). That is twice if
 *  peers stop: one that helps may do so. Losses may be more than the mean by three standard
 *  deviations. */
double AllowedSeconds(const GridSync& sync, const GridOutcome& outcome);

} // namespace ibd::sim
