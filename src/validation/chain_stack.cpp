// See chain_stack.h.
#include "validation/chain_stack.h"

namespace ibd {

namespace {

ChainStackOptions WithFolders(ChainStackOptions options, const ChainParams& params,
                              const DataDir& dir)
{
    options.index.directory = dir.BlockIndex();
    options.blocks.blocks_dir = dir.Blocks();
    options.blocks.magic = params.magic;
    options.coins.directory = dir.Chainstate();
    return options;
}

} // namespace

ChainStack::ChainStack(Env& env, Logger& log, const ChainParams& params, const DataDir& dir,
                       ChainStackOptions options, const std::atomic<bool>& interrupt)
    : m_env(env), m_log(log), m_params(params), m_dir(dir),
      m_options(WithFolders(std::move(options), params, dir)), m_interrupt(interrupt)
{
}

Result<> ChainStack::OpenIndex()
{
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_options.index.directory.parent_path()));
    IBD_ASSIGN_OR_RETURN(m_index, BlockIndexDb::Open(m_env, m_log, m_options.index));
    IBD_ASSIGN_OR_RETURN(m_files, m_index->LoadFiles());
    return {};
}

Result<> ChainStack::OpenBlocks()
{
    IBD_ASSIGN_OR_RETURN(m_blocks,
                         BlockStore::Open(m_env, m_log, m_options.blocks, std::move(m_files)));
    m_chain = std::make_unique<ChainManager>(
        m_params, ChainStores{m_env, m_log, *m_blocks, *m_index}, m_options.manager, m_interrupt);
    m_chain->SetScriptChecker(m_options.checker);
    m_chain->SetObserver(m_options.observer);
    return {};
}

Result<std::unique_ptr<CoinsDb>> ChainStack::OpenCoins(bool wipe)
{
    // Resolved now: the booster may have replaced the folder, and a link may have a new target.
    CoinsDbOptions options = m_options.coins;
    options.directory = m_dir.Chainstate();
    options.wipe = wipe;
    return CoinsDb::Open(m_env, m_log, options);
}

Result<std::unique_ptr<ChainStack>> OpenChain(Env& env, Logger& log, const ChainParams& params,
                                              const DataDir& dir, ChainStackOptions options,
                                              const std::atomic<bool>& interrupt)
{
    const bool wipe = options.coins.wipe;
    auto stack = std::make_unique<ChainStack>(env, log, params, dir, std::move(options), interrupt);
    IBD_RETURN_IF_ERROR(stack->OpenIndex());
    IBD_RETURN_IF_ERROR(stack->OpenBlocks());
    IBD_RETURN_IF_ERROR(stack->Chain().LoadIndex());
    IBD_RETURN_IF_ERROR(stack->Chain().StoreGenesis());
    IBD_ASSIGN_OR_RETURN(auto coins, stack->OpenCoins(wipe));
    IBD_RETURN_IF_ERROR(stack->Chain().AttachCoins(std::move(coins)));
    return stack;
}

} // namespace ibd
