// Which chain is active after any sequence of headers, blocks, invalidateblock, reconsiderblock,
// preciousblock and restarts, against a model that looks at every block every time: the tip is the
// block of most work that is linked and not failed, and among equals the one received first.
#include "block_kit.h"
#include "fixture.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ibd::test {

namespace {

/** A block as the model knows it; its work is its height, as all have the same target. */
struct ModelBlock {
    KitBlock block;
    int parent = -1;  //!< index; genesis is the first
    bool bad = false; //!< breaks a rule, found when it is connected
    bool stored = false;
    bool linked = false; //!< stored, and so is all below
    bool failed = false;
    int sequence = 1;
};

class Model {
public:
    explicit Model(const KitBlock& genesis)
    {
        blocks.push_back({genesis, -1, false, true, true, false, 0});
    }

    bool IsAncestor(int below, int above) const
    {
        while (above > below) above = blocks[size_t(above)].parent; // parents come first
        return above == below;
    }

    void Store(int index)
    {
        blocks[size_t(index)].stored = true;
        m_arrivals.push_back(index);
        if (!blocks[size_t(blocks[size_t(index)].parent)].linked) return;
        std::vector<int> linked{index};
        for (size_t i = 0; i < linked.size(); ++i) {
            ModelBlock& at = blocks[size_t(linked[i])];
            at.linked = true;
            at.sequence = m_next_sequence++;
            for (const int child : m_arrivals) {
                const ModelBlock& other = blocks[size_t(child)];
                if (other.parent == linked[i] && !other.linked) linked.push_back(child);
            }
        }
    }

    void Fail(int index)
    {
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (IsAncestor(index, int(i))) blocks[i].failed = true;
        }
    }

    void Reconsider(int index)
    {
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (IsAncestor(index, int(i)) || IsAncestor(int(i), index)) blocks[i].failed = false;
        }
    }

    void Precious(int index)
    {
        const int best = blocks[size_t(tip)].block.height;
        if (blocks[size_t(index)].block.height < best) return;
        if (best > m_precious_work) m_next_precious = -1;
        m_precious_work = best;
        blocks[size_t(index)].sequence = m_next_precious--;
    }

    void Activate()
    {
        while (true) {
            const int best = Best();
            int bad = -1;
            for (int at = best; !IsAncestor(at, tip); at = blocks[size_t(at)].parent) {
                if (blocks[size_t(at)].bad) bad = at;
            }
            if (bad < 0) {
                tip = best;
                return;
            }
            Fail(bad);
        }
    }

    void Restart()
    {
        for (size_t i = 0; i < blocks.size(); ++i) {
            blocks[i].sequence = IsAncestor(int(i), tip) ? 0 : 1;
        }
        m_next_sequence = 2;
        m_next_precious = -1;
        m_precious_work = 0;
    }

    std::vector<ModelBlock> blocks;
    int tip = 0;

private:
    int Best() const
    {
        int best = 0;
        const auto rank = [&](int index) {
            const ModelBlock& b = blocks[size_t(index)];
            return std::tuple(-b.block.height, b.sequence, b.block.hash);
        };
        for (size_t i = 1; i < blocks.size(); ++i) {
            const bool usable = blocks[i].linked && !blocks[i].failed;
            if (usable && rank(int(i)) < rank(best)) best = int(i);
        }
        return best;
    }

    std::vector<int> m_arrivals; //!< stored blocks, in order
    int m_next_sequence = 2;
    int m_next_precious = -1;
    int m_precious_work = 0;
};

/** The engine and the model, given the same. */
class Both {
public:
    explicit Both(const ChainParams& params)
        : m_params(params), m_kit(params), m_model(m_kit.Genesis())
    {
        Open();
    }

    void Step()
    {
        const size_t kind = TestRng()() % 100;
        const int any = Any();
        if (kind < 40) {
            NewBlock(TestRng()() % 10 == 0, true);
        } else if (kind < 50) {
            NewBlock(TestRng()() % 10 == 0, false); // its header only
        } else if (kind < 68) {
            Deliver(any);
        } else if (kind < 79) {
            if (any == 0) return;
            Must(m_engine->chain->InvalidateBlock(*Node(any)));
            m_model.Fail(any);
            m_model.Activate();
        } else if (kind < 89) {
            Must(m_engine->chain->ReconsiderBlock(*Node(any)));
            m_model.Reconsider(any);
            m_model.Activate();
        } else if (kind < 98) {
            Must(m_engine->chain->PreciousBlock(*Node(any)));
            const bool counts = Height(any) >= Height(m_model.tip);
            m_model.Precious(any);
            if (counts) m_model.Activate();
        } else {
            Must(m_engine->chain->Flush(FlushMode::kAlways));
            if (TestRng()() % 2 == 0) UnmarkChildren();
            Open();
            m_model.Restart();
            m_model.Activate();
        }
        Compare();
    }

    void Finish()
    {
        CHECK(m_engine->Dump().size() == size_t(Height(m_model.tip)));
        CHECK(Must(VerifyChain(*m_engine->chain, 4, 0)));
    }
    int Height(int index) const { return m_model.blocks[size_t(index)].block.height; }
    int Tip() const { return m_model.tip; }

    size_t unmarked = 0; //!< records of blocks on top of failed ones, at restarts

private:
    void Open()
    {
        m_engine.reset();
        m_engine = std::make_unique<Engine>(m_params, m_dir.Get() / "data");
        m_engine->Start();
    }

    /** In the database only failed blocks are marked, not their descendants, as Core may leave it.
     */
    void UnmarkChildren()
    {
        std::map<BlockHash, BlockIndexRecord> records;
        BlockIndexDb& db = m_engine->IndexDb();
        Must(db.LoadBlocks([&](const BlockHash& hash, const BlockIndexRecord& record) {
            records.emplace(hash, record);
            return Result<>();
        }));
        std::vector<std::pair<BlockHash, BlockIndexRecord>> changed;
        for (const auto& [hash, record] : records) {
            const auto parent = records.find(record.header.prev_hash);
            if (parent == records.end() || (parent->second.status & kFailedMask) == 0) continue;
            if ((record.status & kFailedChild) == 0) continue;
            changed.emplace_back(hash, record).second.status &= ~uint32_t{kFailedChild};
            ++unmarked;
        }
        Must(db.Write({{}, m_engine->Blocks().LastFile(), changed}));
    }

    /** Recent blocks more often. */
    int Any() const
    {
        const size_t count = m_model.blocks.size();
        const size_t back = std::min<size_t>(count, TestRng()() % 3 == 0 ? count : 8);
        return int(count - 1 - TestRng()() % back);
    }
    HeaderNode* Node(int index) const
    {
        return m_engine->Node(m_model.blocks[size_t(index)].block.hash);
    }

    void NewBlock(bool bad, bool with_data)
    {
        const int parent = TestRng()() % 2 == 0 ? m_model.tip : Any();
        const ModelBlock& below = m_model.blocks[size_t(parent)];
        if (below.failed) return;
        KitOptions options;
        options.salt = ++m_salt;
        if (bad) options.reward = 51 * kCoin;
        const KitBlock block = m_kit.Make(below.block, options);
        REQUIRE(!m_engine->chain->AcceptHeader(BlockHeader::FromBytes(block.raw.data())));
        m_model.blocks.push_back({block, parent, bad});
        if (with_data) Deliver(int(m_model.blocks.size()) - 1);
    }

    void Deliver(int index)
    {
        const ModelBlock& wanted = m_model.blocks[size_t(index)];
        const BlockOutcome outcome = m_engine->Process(wanted.block.raw);
        if (wanted.failed) {
            REQUIRE(outcome.violation);
            CHECK(outcome.violation->reason == "duplicate-invalid");
            return;
        }
        REQUIRE(!outcome.violation);
        CHECK(outcome.is_new == !wanted.stored);
        if (!wanted.stored) m_model.Store(index);
        m_model.Activate();
    }

    void Compare() const
    {
        REQUIRE(m_engine->chain->Tip() == Node(m_model.tip));
        int highest = 0; // without failure: the best header is one of these
        for (size_t i = 0; i < m_model.blocks.size(); ++i) {
            const ModelBlock& block = m_model.blocks[i];
            const HeaderNode* node = Node(int(i));
            REQUIRE(node->Failed() == block.failed);
            REQUIRE(node->HaveChainTxs() == block.linked);
            if (!block.failed) highest = std::max(highest, block.block.height);
        }
        const HeaderNode* best = m_engine->chain->Read().Tree().BestHeader();
        REQUIRE(!best->Failed());
        REQUIRE(best->height == highest);
    }

    const ChainParams& m_params;
    const BlockKit m_kit;
    const TempDir m_dir;
    Model m_model;
    std::unique_ptr<Engine> m_engine;
    uint32_t m_salt = 0;
};

} // namespace

TEST_CASE("the active chain is the model's after any sequence of calls")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    int reorganisations = 0;
    size_t unmarked = 0;
    for (int round = 0; round < 12; ++round) {
        Both both(params);
        for (int step = 0; step < 250; ++step) {
            const int before = both.Tip();
            both.Step();
            reorganisations +=
                both.Tip() != before && both.Height(both.Tip()) <= both.Height(before);
        }
        both.Finish();
        unmarked += both.unmarked;
    }
    CHECK(unmarked > 20);
    CHECK(reorganisations > 60);
}

} // namespace ibd::test
