// BlockAssembler: makes templates of the next block. Owned by the node; any thread. Takes
// transactions of the pool by falling fee rate, with their ancestors.
#pragma once

#include "consensus/limits.h"
#include "mempool/tx_pool.h"
#include "mining/block_template.h"
#include "util/log.h"
#include "validation/chain_manager.h"

namespace ibd {

inline constexpr uint64_t kDefaultReservedWeight = 8'000;
/** Header, count of transactions and a small coinbase. */
inline constexpr uint64_t kLeastReservedWeight = 2'000;
/** Cost of signature operations reserved for outputs that miners add to the coinbase. */
inline constexpr int kReservedSigOpsCost = 400;

struct AssemblerOptions {
    Amount min_fee_rate = 1; //!< -blockmintxfee, satoshi for 1,000 virtual bytes
    uint64_t reserved_weight = kDefaultReservedWeight; //!< -blockreservedweight
    uint64_t max_weight = kMaxBlockWeight;             //!< -blockmaxweight, including
                                                       //!< reserved_weight
    std::optional<int32_t> version;                    //!< -blockversion, on regtest only
};

class BlockAssembler {
public:
    enum class Fill {
        kFromPool,
        kNot, //!< only a coinbase
    };

    /** Totals of the last template. */
    struct Last {
        uint64_t weight = 0; //!< including the weight reserved for header and coinbase
        size_t txs = 0;      //!< without the coinbase
    };

    BlockAssembler(Env& env, Logger& log, const TxPool& pool, AssemblerOptions options)
        : m_env(env), m_log(log), m_pool(pool), m_options(options)
    {
    }

    /** A block on the tip, which must exist; its coinbase pays fees and subsidy to `script`. Tests
     *  the block on the coins, so call it on the thread that changes the chain. */
    Result<BlockTemplate> Assemble(ChainManager& chain, ByteSpan script,
                                   Fill fill = Fill::kFromPool);

    const AssemblerOptions& Options() const { return m_options; }
    std::optional<Last> LastMade() const;

private:
    int32_t VersionAfter(const HeaderNode& tip, const ConsensusParams& params);
    void TakeFromPool(BlockTemplate& block) IBD_EXCLUDES(m_pool.mutex);
    BlockHeader NextHeader(const HeaderNode& tip, const ConsensusParams& params);

    Env& m_env;
    Logger& m_log;
    const TxPool& m_pool;
    const AssemblerOptions m_options;
    mutable Mutex m_mutex;
    VersionBitsCache m_version_bits IBD_GUARDED_BY(m_mutex);
    std::optional<Last> m_last IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
