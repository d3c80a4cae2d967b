// ChainView: what readers see while the chain changes.
#include "block_kit.h"
#include "fixture.h"

#include "support/catch.h"

#include <thread>

namespace ibd::test {

namespace {

/** Reads the tip until it is stopped, and counts inconsistent readings. */
class TipReader {
public:
    TipReader(const ChainView& view, const std::map<BlockHash, Bytes>& blocks)
        : m_view(view), m_blocks(blocks), m_thread([this] { Read(); })
    {
    }
    int End()
    {
        m_end = true;
        m_thread.join();
        return m_wrong;
    }

private:
    void Read()
    {
        int32_t last = -1;
        while (!m_end) {
            const HeaderNode* const tip = m_view.Tip();
            const TipInfo now = m_view.Current();
            if (!tip) continue;
            const auto raw = m_view.ReadBlock(*tip);
            const auto known = m_blocks.find(tip->hash);
            // All blocks have the same work: a higher one is a better one.
            const bool right = known != m_blocks.end() && raw && *raw == known->second &&
                               tip->height >= last && now.height >= tip->height &&
                               m_view.IsStored(tip->hash) && !m_view.HasHoles();
            if (!right) ++m_wrong;
            last = tip->height;
        }
    }

    const ChainView& m_view;
    const std::map<BlockHash, Bytes>& m_blocks;
    std::atomic<bool> m_end = false;
    int m_wrong = 0;
    std::thread m_thread;
};

} // namespace

TEST_CASE("readers of a view see stored tips only, each at least as good as the one before")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    std::vector<KitBlock> chain = {kit.Genesis()};
    std::map<BlockHash, Bytes> blocks = {{chain[0].hash, params.genesis.raw}};
    std::vector<std::vector<KitBlock>> branches;
    for (uint32_t salt = 1; salt <= 6; ++salt) { // each forks somewhere and becomes the best
        const size_t fork = TestRng()() % chain.size();
        const int count = static_cast<int>(chain.size() - fork + TestRng()() % 3);
        branches.push_back(kit.MakeChain(chain[fork], count, salt));
        chain.resize(fork + 1);
        for (const KitBlock& block : branches.back()) {
            chain.push_back(block);
            blocks[block.hash] = block.raw;
        }
    }
    TipReader a(*engine.chain, blocks);
    TipReader b(*engine.chain, blocks);
    for (const auto& branch : branches) {
        for (const KitBlock& block : branch) engine.Process(block.raw);
    }
    CHECK(a.End() == 0);
    CHECK(b.End() == 0);
    const ChainView& view = *engine.chain;
    CHECK(view.Current() == TipInfo{chain.back().hash, chain.back().height});
    CHECK(view.Tip()->hash == chain.back().hash);
    CHECK_FALSE(view.IsStored(BlockHash()));
}

TEST_CASE("a view has a hole where a stored block has no stored parent")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    const std::vector<KitBlock> chain = kit.MakeChain(kit.Genesis(), 3);
    const ChainView& view = *engine.chain;
    BlockView block;
    Must(block.Parse(chain[0].raw));
    const HeaderNode* node = nullptr;
    REQUIRE_FALSE(engine.chain->AcceptHeader(block.Header(), &node));
    CHECK_FALSE(view.HasHoles());
    CHECK_FALSE(view.ReadBlock(*node));
    CHECK(view.Where(*node).data.IsNull());
    engine.Process(chain[1].raw);
    CHECK(view.HasHoles());
    CHECK(view.Current().height == 0);
    engine.Process(chain[0].raw);
    CHECK_FALSE(view.HasHoles());
    CHECK(view.Current().height == 2);
    CHECK(Must(view.ReadBlock(*node)) == chain[0].raw);
    CHECK_FALSE(view.Where(*node).undo.IsNull());
    CHECK_FALSE(view.LastWithoutData());
}

} // namespace ibd::test
