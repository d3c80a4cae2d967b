// Which blocks may have their signatures verified in batches when a chain is connected: only those
// up to the block that is known to be valid, whatever -assumevalid says.
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

constexpr int kLength = 300;

/** For each height from 1, whether batches were allowed when the chain was connected once more.
 *  `known`: the height of the known block; 0: none. All scripts run. */
std::vector<bool> Allowed(const ChainParams& params, const std::vector<KitBlock>& blocks, int known)
{
    ChainManagerOptions options;
    if (known > 0) options.known_valid = blocks[size_t(known - 1)].hash;
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

TEST_CASE("signatures are verified in batches up to the known block alone")
{
    const ChainParams params = MakeChainParams(Network::kRegtest, {});
    const BlockKit kit(params);
    const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), kLength);
    for (const int known : {0, 1, 100, kLength}) {
        std::vector<bool> wanted(size_t(kLength), false);
        std::fill_n(wanted.begin(), known, true);
        CHECK(Allowed(params, blocks, known) == wanted);
    }
}

} // namespace ibd::test
