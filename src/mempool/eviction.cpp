// See eviction.h.
#include "mempool/eviction.h"

#include "consensus/limits.h"
#include "mempool/chunks.h"

#include <algorithm>

namespace ibd {

Amount Trim(TxPool& pool)
{
    const size_t most = pool.Limits().max_bytes;
    if (pool.MemoryUsage() <= most) return 0;
    Amount best = 0;
    std::vector<Chunk> chunks = ChunksByRate(pool);
    // From the back each chunk comes before the chunks that it depends on.
    while (pool.MemoryUsage() > most && !chunks.empty()) {
        const Chunk& worst = chunks.back();
        best = std::max(best, worst.sum.fee * 1'000 * kWitnessScaleFactor / worst.sum.size);
        for (auto tx = worst.txs.rbegin(); tx != worst.txs.rend(); ++tx) {
            pool.RemoveWithDescendants(Txid((*tx)->Id()));
        }
        chunks.pop_back();
    }
    return best;
}

} // namespace ibd
