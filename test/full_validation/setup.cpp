// See setup.h.
#include "setup.h"

#include "hints/hints_writer.h"
#include "swiftsync/file_block_source.h"

namespace ibd::test {

namespace {

/** The honest record for an input that spends nothing. */
Coin NoSuchCoin() { return {1'000, ScriptBytes(Bytes{0x51}), 1, false}; }

Coins ReadAll(CoinsDb& db)
{
    Coins out;
    auto cursor = db.Cursor();
    for (cursor.Seek(OutPoint{Txid(), 0}); cursor.Valid(); cursor.Next()) {
        out[cursor.Key()] = Must(cursor.Value());
    }
    Must(cursor.Status());
    return out;
}

sim::ChainOptions SimOptions(const FullSetup::Options& options)
{
    sim::ChainOptions out;
    out.seed = options.seed;
    out.blocks = options.blocks + 2;
    out.outputs_per_block = options.outputs_per_block;
    out.signed_spends = options.signed_spends;
    return out;
}

/** Keeps why the first of the blocks failed. */
class FirstFailure final : public ChainObserver {
public:
    void BlockChecked(const BlockHash&, const RuleResult& result) override
    {
        if (result && reason.empty()) reason = result->ToString();
    }
    std::string reason;
};

} // namespace

BlockUndo ApplyBlock(ByteSpan raw, int height, Coins& coins)
{
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    Coins made; // all outputs of the block
    for (const TxView& tx : view.Txs()) {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            const OutputView& output = tx.outputs[i];
            if (IsUnspendable(output.script_pubkey)) continue;
            made[{tx.txid, i}] = {output.value, ScriptBytes(output.script_pubkey),
                                  static_cast<uint32_t>(height), tx.IsCoinbase()};
        }
    }
    coins.insert(made.begin(), made.end());
    BlockUndo undo;
    for (size_t t = 1; t < view.Txs().size(); ++t) {
        TxUndo& spent = undo.txs.emplace_back();
        for (const InputView& input : view.Txs()[t].inputs) {
            const auto found = coins.find(input.Prevout());
            spent.spent.push_back(found == coins.end() ? NoSuchCoin() : found->second);
            if (found != coins.end()) coins.erase(found);
        }
    }
    return undo;
}

FullSetup::FullSetup(const Options& options)
    : m_sim(m_params, SimOptions(options)), m_serial(m_params, m_dir.Get() / "serial")
{
    m_serial.chain->SetScriptChecker(&m_scripts);
    m_serial.Start();
    std::filesystem::create_directories(m_dir.Get() / "blocks");
    BlockStoreOptions store;
    store.blocks_dir = m_dir.Get() / "blocks";
    store.magic = m_params.magic;
    store.max_file_size = 64 << 10;
    store.block_chunk = 16 << 10;
    store.undo_chunk = 4 << 10;
    m_store = Must(BlockStore::Open(*m_env, *m_log, store));
    m_tip = m_tree.Genesis();
    for (int h = 1; h <= options.blocks; ++h) {
        m_blocks.push_back(m_sim.Next().bytes);
        Must(m_serial.chain->ProcessBlock(m_blocks.back()));
        REQUIRE(m_serial.chain->Tip()->height == h);
        m_undo.push_back(Must(m_serial.chain->ReadUndo(*m_serial.chain->Tip())));
        REQUIRE(ApplyBlock(m_blocks.back(), h, m_coins) == m_undo.back());
        m_tip = AddBlock(m_blocks.back(), m_undo.back());
    }
    for (int i = 0; i < 2; ++i) m_next.push_back(m_sim.Next().bytes);
}

DraftBlock FullSetup::NextDraft() { return DraftBlock::Of(m_next[0]); }
DraftBlock FullSetup::DraftAfterNext() { return DraftBlock::Of(m_next[1]); }

HeaderNode* FullSetup::AddBlock(ByteSpan raw, const BlockUndo& undo)
{
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    HeaderNode* node = m_tree.Insert(header, header.Hash());
    REQUIRE(node);
    const auto height = static_cast<uint32_t>(node->height);
    const FilePos pos = Must(m_store->WriteBlock(raw, height, header.time));
    node->file = pos.file;
    node->data_pos = pos.offset;
    node->status |= kHaveData;
    PutUndo(*node, undo);
    return node;
}

void FullSetup::PutUndoBytes(HeaderNode& node, ByteSpan undo)
{
    node.undo_pos = Must(m_store->WriteUndo(node.file, undo, node.PrevHash(),
                                            static_cast<uint32_t>(node.height)))
                        .offset;
    node.status |= kHaveUndo;
}

SerialVerdict FullSetup::Serial(const std::vector<Bytes>& on_top)
{
    FirstFailure failure;
    m_serial.chain->SetObserver(&failure);
    SerialVerdict verdict;
    for (const Bytes& raw : on_top) {
        const BlockOutcome outcome = Must(m_serial.chain->ProcessBlock(raw));
        if (outcome.violation && failure.reason.empty()) {
            failure.reason = outcome.violation->ToString();
        }
    }
    m_serial.chain->SetObserver(nullptr);
    const BlockHash last = BlockHeader::FromBytes(on_top.back().data()).Hash();
    verdict.valid = m_serial.chain->Tip()->hash == last;
    verdict.reason = failure.reason;
    REQUIRE(verdict.valid == verdict.reason.empty());
    if (m_serial.chain->Tip()->height > Height()) {
        Must(m_serial.chain->InvalidateBlock(*m_serial.chain->Tip()->Ancestor(Height() + 1)));
    }
    REQUIRE(m_serial.chain->Tip()->hash == TipHash());
    return verdict;
}

Coins FullSetup::SerialCoins()
{
    Must(m_serial.chain->Flush(FlushMode::kAlways));
    return ReadAll(m_serial.chain->CoinsDatabase());
}

void FullSetup::WriteHints(const std::vector<Bytes>& on_top, const BlockHash& tip)
{
    auto writer = Must(MakeContainerWriter(*m_env, HintsPath(), m_params.magic));
    uint32_t height = 0;
    for (const auto* blocks : {&std::as_const(m_blocks), &on_top}) {
        for (const Bytes& raw : *blocks) {
            BlockView view;
            REQUIRE(view.Parse(raw).Ok());
            std::vector<uint32_t> unspent;
            uint32_t counted = 0;
            for (const TxView& tx : view.Txs()) {
                for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
                    if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
                    if (m_expected.contains({tx.txid, i})) unspent.push_back(counted);
                    ++counted;
                }
            }
            Must(writer->Add(++height, counted, unspent));
        }
    }
    Must(writer->Finish(tip));
}

namespace {

/** Hands out stored blocks with the coins of their undo records, as a peer would claim them. */
class ClaimSupply final : public BlockSupply {
public:
    ClaimSupply(Env& env, const BlockStore& store, const HeaderNode& tip)
        : m_store(store), m_blocks(env, store, tip, PlanOrder::OfChain())
    {
    }
    Result<> Begin(const std::function<bool(int32_t height)>& folded) override
    {
        return m_blocks.Begin(folded);
    }
    std::unique_ptr<BlockSource> MakeSource() override
    {
        return std::make_unique<Source>(m_store, m_blocks.MakeSource());
    }
    void Stop() override { m_blocks.Stop(); }
    size_t BlocksToFold() const override { return m_blocks.BlocksToFold(); }
    uint64_t EstimatedBytes() const override { return m_blocks.EstimatedBytes(); }

private:
    class Source final : public BlockSource {
    public:
        Source(const BlockStore& store, std::unique_ptr<BlockSource> blocks)
            : m_store(store), m_blocks(std::move(blocks))
        {
        }
        Result<bool> Next(SuppliedBlock& out) override
        {
            IBD_ASSIGN_OR_RETURN(const bool more, m_blocks->Next(out));
            if (!more) return false;
            const HeaderNode& node = *out.node;
            IBD_ASSIGN_OR_RETURN(
                BlockUndo undo, m_store.ReadBlockUndo({node.file, node.undo_pos}, node.PrevHash()));
            m_coins = undo.TakeCoins();
            out.spent_coins = &m_coins;
            out.indexed = false;
            return true;
        }
        Result<> Keep(const SuppliedBlock&, const BlockView&) override { return {}; }
        Result<bool> Reject(const SuppliedBlock&, const RuleViolation& why) override
        {
            CHECK(why.kind == RuleViolation::Kind::kSpentCoins);
            return false;
        }
        Result<> Sync() override { return {}; }

    private:
        const BlockStore& m_store;
        const std::unique_ptr<BlockSource> m_blocks;
        std::vector<Coin> m_coins;
    };

    const BlockStore& m_store;
    FileBlockSupply m_blocks;
};

} // namespace

Result<Verdict> FullSetup::Full(const std::vector<Bytes>& on_top,
                                const std::function<void(std::vector<BlockUndo>&)>& change,
                                std::function<void(BoosterOptions&)> tune)
{
    m_expected = m_coins;
    std::vector<BlockUndo> undo;
    int height = Height();
    for (const Bytes& raw : on_top) undo.push_back(ApplyBlock(raw, ++height, m_expected));
    if (change) change(undo);
    const HeaderNode* tip = m_tip;
    for (size_t i = 0; i < on_top.size(); ++i) tip = AddBlock(on_top[i], undo[i]);
    WriteHints(on_top, tip->hash);
    BoosterOptions options;
    options.full_validation = true;
    options.known_height = AnyKnownHeight();
    options.directory = Booster();
    options.chainstate = Chainstate();
    options.background = false;
    if (tune) tune(options);
    const auto hints = Must(OpenHints(*m_env, HintsPath()));
    if (!options.coins_supplied) {
        return SyncEngine(*m_env, *m_log, m_params, *tip, *m_store, *hints, options).Run();
    }
    ClaimSupply supply(*m_env, *m_store, *tip);
    return SyncEngine(*m_env, *m_log, m_params, *tip, *m_store, supply, *hints, options).Run();
}

UndoOptions FullSetup::RebuildOptions(UndoChecks checks) const
{
    UndoOptions options;
    options.join.directory = m_dir.Get() / "undo";
    options.join.background = false;
    options.checks = checks;
    options.known_height = AnyKnownHeight();
    return options;
}

Result<JoinVerdict> FullSetup::RebuildIn(Env& env, const std::vector<Bytes>& on_top,
                                         const UndoOptions& options, UndoConsumer& consumer)
{
    const HeaderNode* tip = m_tip;
    for (const Bytes& raw : on_top) tip = AddBlock(raw, {}); // none of it is looked at
    FileBlockSupply supply(*m_env, *m_store, *tip, PlanOrder::OfChain());
    const std::atomic<bool> stop = false;
    UndoRebuild rebuild(env, *m_log, m_params, *tip, *m_store, supply, options, stop);
    return rebuild.Run(consumer);
}

Result<JoinVerdict> FullSetup::RebuildLast(const UndoOptions& options, UndoConsumer& consumer,
                                           std::optional<FoundCoins> found)
{
    FileBlockSupply supply(*m_env, *m_store, *m_tip, PlanOrder::OfChain());
    const std::atomic<bool> stop = false;
    UndoRebuild rebuild(*m_env, *m_log, m_params, *m_tip, *m_store, supply, options, stop);
    return rebuild.RunLast(consumer, std::move(found));
}

std::optional<FoundCoins> FullSetup::FindWhileFolding(const UndoOptions& undo)
{
    std::optional<FoundCoins> found;
    const std::atomic<bool> stop = false;
    FoldSearch search(
        *m_env, *m_log, m_params, *m_tip, static_cast<uint32_t>(undo.first_height), *m_store,
        [](const HeaderNode& node) {
            return FilePos{node.file, node.data_pos};
        },
        undo.join, stop, [&](std::optional<FoundCoins> all) { found = std::move(all); });
    const auto fold = [&](BoosterOptions& options) {
        options.full_validation = false;
        options.threads = undo.join.threads;
        options.background = undo.join.background;
        options.observers = {&search};
    };
    CHECK(Must(Full({}, nullptr, fold)).kind == VerdictKind::kDone);
    Reset();
    return found;
}

Result<JoinVerdict> FullSetup::KeepPairs(const UndoOptions& options)
{
    FileBlockSupply supply(*m_env, *m_store, *m_tip, PlanOrder::OfChain());
    const std::atomic<bool> stop = false;
    JoinOptions join = options.join;
    join.pairs = true;
    return SpendJoin(*m_env, *m_log, m_params, *m_tip, supply, join, stop).Run({});
}

Coins FullSetup::Published() const
{
    CoinsDbOptions options;
    options.directory = Chainstate();
    const auto db = Must(CoinsDb::Open(*m_env, *m_log, options));
    return ReadAll(*db);
}

void FullSetup::Reset()
{
    std::filesystem::remove_all(Chainstate());
    std::filesystem::remove_all(Booster());
}

} // namespace ibd::test
