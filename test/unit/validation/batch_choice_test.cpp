// Which blocks may have their signatures verified in batches when a chain is connected: only those
// below the block that the program's own parameters assume valid, whatever -assumevalid says.
#include "block_kit.h"
#include "fixture.h"

namespace ibd::test {

namespace {

/** Accepts every script and notes for each block whether batches were allowed. */
class NotesBatches final : public ScriptChecker {
public:
    void Batch(bool allowed) override { m_allowed = allowed; }
    void Begin(ScriptFlags) override { blocks.push_back(m_allowed); }
    void Add(const TxView&, std::span<const Coin>) override {}
    RuleResult Finish() override { return std::nullopt; }

    std::vector<bool> blocks; //!< in the order in which they were connected

private:
    bool m_allowed = false;
};

constexpr int kLength = 2'200;
constexpr int kTwoWeeks = 2'016; //!< blocks of ten minutes

/** For each height from 1, whether batches were allowed when the chain was connected once more.
 *  `known`: the height that the parameters assume valid; 0: none. */
std::vector<bool> Allowed(const ChainParams& regtest, const std::vector<KitBlock>& blocks,
                          int known, ChainManagerOptions options)
{
    ChainParams params = regtest;
    if (known > 0) params.consensus.assume_valid = blocks[size_t(known - 1)].hash;
    const TempDir dir;
    Engine engine(params, dir.Get(), options);
    engine.Start();
    for (const KitBlock& block : blocks) REQUIRE_FALSE(engine.Process(block.raw).violation);
    // Once more, with all headers there.
    Must(engine.chain->InvalidateBlock(*engine.Node(blocks[0].hash)));
    REQUIRE(engine.chain->Tip()->height == 0);
    NotesBatches notes;
    engine.chain->SetScriptChecker(&notes);
    Must(engine.chain->ReconsiderBlock(*engine.Node(blocks[0].hash)));
    REQUIRE(engine.chain->Tip()->height == kLength);
    REQUIRE(notes.blocks.size() == size_t(kLength));
    return notes.blocks;
}

} // namespace

TEST_CASE("signatures are verified in batches below the built-in assumed-valid block alone")
{
    const ChainParams params = MakeChainParams(Network::kRegtest, {});
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kLength);
    const ChainManagerOptions all_scripts; // -assumevalid=0
    const auto up_to = [](int height) {
        std::vector<bool> out(size_t(kLength), false);
        std::fill_n(out.begin(), height, true);
        return out;
    };
    CHECK(Allowed(params, blocks, 0, all_scripts) == up_to(0));
    CHECK(Allowed(params, blocks, 100, all_scripts) == up_to(100));
    // Two weeks of work lie above.
    CHECK(Allowed(params, blocks, 1'000, all_scripts) == up_to(kLength - kTwoWeeks - 1));
}

} // namespace ibd::test
