// -reindex with hints: for any content of the block files, a single pass over the blocks leaves the
// same coins and the same index as two passes, record for record.
#include "booster/booster_session.h"
#include "booster/write_hints.h"
#include "sim/chain.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

#include <algorithm>
#include <fstream>
#include <regex>

namespace ibd::test {

namespace {

constexpr int kHintsHeight = 130;
constexpr int kTail = 2100; // buries the hints by more than two weeks

/** A chain with two stale branches behind each other; `all` in the order of making. */
struct Blocks {
    std::vector<Bytes> all;  //!< the first is genesis
    std::vector<Bytes> best; //!< by height
    BlockHash hints_hash;
    std::vector<std::vector<uint8_t>> unspent; //!< by height
};

Blocks MakeBlocks(const ChainParams& params, uint64_t seed)
{
    sim::ChainOptions options;
    options.seed = seed;
    options.blocks = kHintsHeight;
    options.outputs_per_block = 25;
    sim::Chain chain(params, options);
    Blocks out;
    out.best.push_back(chain.Genesis().bytes);
    out.all = out.best;
    while (chain.Height() < kHintsHeight + kTail) {
        const int height = chain.Height();
        if (height == 40 || height == 125 || height == 1000) {
            sim::Chain stale = chain;
            stale.Reseed(seed + 7);
            for (int k = 0; k < 4; ++k) out.all.push_back(stale.NextEmpty().bytes);
        }
        out.best.push_back((height < kHintsHeight ? chain.Next() : chain.NextEmpty()).bytes);
        out.all.push_back(out.best.back());
        if (chain.Height() == kHintsHeight) {
            out.hints_hash = chain.TipHash();
            for (int h = 0; h <= kHintsHeight; ++h) {
                out.unspent.push_back(chain.GetTruth().UnspentOfBlock(h, true));
            }
        }
    }
    return out;
}

Bytes Frame(const ChainParams& params, ByteSpan raw)
{
    Bytes frame(params.magic.begin(), params.magic.end());
    Writer(frame).U32(static_cast<uint32_t>(raw.size()));
    Append(frame, raw);
    return frame;
}

BlockHash HashOf(const Bytes& raw) { return BlockHeader::FromBytes(raw.data()).Hash(); }

KitBlock AsKitBlock(const Bytes& raw, int height)
{
    const BlockHeader header = BlockHeader::FromBytes(raw.data());
    KitBlock block;
    block.hash = header.Hash();
    block.height = height;
    block.time = header.time;
    return block;
}

/** Other contents that a directory of block files may have besides good blocks, each with a low
 *  probability. */
class Mess {
public:
    Mess(const ChainParams& params, const Blocks& blocks)
        : m_params(params), m_kit(params), m_blocks(blocks)
    {
    }

    Bytes Some()
    {
        switch (TestRng()() % 12) {
        case 0: return RandomBytes(TestRng()() % 300);
        case 1: return {m_params.magic.begin(), m_params.magic.end()}; // no frame behind it
        case 2: return Frame(m_params, Bytes(100, 0xee));              // a frame that is no block
        case 3: return Frame(m_params, Any());                         // once more
        case 4: return Frame(m_params, Mutated());
        case 5: return Frame(m_params, CutOff());
        case 6: return Frame(m_params, WithBlockInside(CutOff()));
        case 7: return Frame(m_params, WithBlockInside(BadHeader()));
        case 8: return WithChild(Invalid());
        case 9: return WithChild(BadHeader());
        case 10: return Frame(m_params, WithBlockInside(Orphan()));
        default: return Bytes(TestRng()() % 5000);
        }
    }

private:
    const Bytes& Any() const { return m_blocks.all[TestRng()() % m_blocks.all.size()]; }
    KitBlock Parent() const
    {
        const auto height = TestRng()() % m_blocks.best.size();
        return AsKitBlock(m_blocks.best[height], static_cast<int>(height));
    }
    /** The header of a block, followed by transactions that it does not commit to. */
    Bytes Mutated() const
    {
        Bytes raw = Any();
        raw[raw.size() - 1] ^= 1;
        return raw;
    }
    /** A good header, but the bytes after it cannot be parsed. */
    Bytes CutOff() const
    {
        Bytes raw = Any();
        raw.resize(BlockHeader::kSize + TestRng()() % (raw.size() - BlockHeader::kSize));
        return raw;
    }
    Bytes BadHeader() const
    {
        KitOptions options;
        options.salt = static_cast<uint32_t>(TestRng()() % 1000);
        options.version = 1;
        return m_kit.Make(Parent(), options).raw;
    }
    Bytes Orphan() const
    {
        KitOptions options;
        options.change_header = [](BlockHeader& header) { header.prev_hash = header.merkle_root; };
        return m_kit.Make(Parent(), options).raw;
    }
    Bytes Invalid() const
    {
        KitOptions options;
        options.salt = static_cast<uint32_t>(TestRng()() % 1000);
        options.txs = {SpendTx({{Txid(), 7}}, {-1})};
        return m_kit.Make(Parent(), options).raw;
    }
    Bytes WithChild(const Bytes& raw) const
    {
        const BlockHeader header = BlockHeader::FromBytes(raw.data());
        const auto parent =
            std::find_if(m_blocks.best.begin(), m_blocks.best.end(),
                         [&](const Bytes& block) { return HashOf(block) == header.prev_hash; });
        const int height = static_cast<int>(parent - m_blocks.best.begin()) + 1;
        Bytes out = Frame(m_params, raw);
        KitBlock child = m_kit.Make(AsKitBlock(raw, height));
        Append(out, Frame(m_params, child.raw));
        return out;
    }
    /** With whole frames behind the block, which only a search inside its frame finds. */
    Bytes WithBlockInside(Bytes raw) const
    {
        for (uint64_t n = TestRng()() % 3; n > 0; --n) Append(raw, Frame(m_params, Any()));
        Append(raw, RandomBytes(TestRng()() % 30));
        return raw;
    }

    const ChainParams& m_params;
    const BlockKit m_kit;
    const Blocks& m_blocks;
};

struct Disorder {
    size_t window = 1; //!< number of blocks within which they are shuffled
    int files = 1;
    uint32_t mess_of = 0; //!< one block of so many has something odd before it; 0: none
    bool torn = false;
    int lost = 0; //!< height of a block that is nowhere; 0: all are there
    /** One block of so many has a sound header over a damaged body, and no other copy; 0: none. */
    uint32_t damaged_of = 0;
};

/** Parsable or not. */
void DamageBody(Bytes& raw) { raw[TestRng()() % 2 ? raw.size() - 1 : BlockHeader::kSize] ^= 0x81; }

/** Makes a data directory that holds block files and nothing else. */
void WriteFiles(const Path& base, const ChainParams& params, const Blocks& blocks,
                const Disorder& disorder)
{
    const Path folder = base / params.sub_folder / "blocks";
    auto& rng = TestRng();
    std::vector<Bytes> order = blocks.all;
    if (disorder.lost > 0) {
        std::erase(order, blocks.best[static_cast<size_t>(disorder.lost)]);
    }
    for (size_t i = 0; i < order.size(); i += disorder.window) {
        const size_t end = std::min(order.size(), i + disorder.window);
        std::shuffle(order.begin() + static_cast<ptrdiff_t>(i),
                     order.begin() + static_cast<ptrdiff_t>(end), rng);
    }
    Mess mess(params, blocks);
    std::filesystem::create_directories(folder);
    const size_t files = static_cast<size_t>(disorder.files);
    for (size_t f = 0; f < files; ++f) {
        Bytes file;
        for (size_t i = order.size() * f / files; i < order.size() * (f + 1) / files; ++i) {
            if (disorder.mess_of && rng() % disorder.mess_of == 0) Append(file, mess.Some());
            Bytes raw = order[i];
            if (disorder.damaged_of && rng() % disorder.damaged_of == 0) DamageBody(raw);
            if (disorder.mess_of && rng() % 20 == 0) Append(raw, RandomBytes(rng() % 99));
            Append(file, Frame(params, raw));
        }
        if (disorder.torn) {
            Append(file, Frame(params, order[0]));
            file.resize(file.size() - order[0].size() / 2);
        }
        file.resize(file.size() + rng() % 3 * 10'000); // as a node allocates ahead
        std::ofstream out(folder / fmt::format("blk{:05}.dat", f * 2), std::ios::binary);
        out.write(reinterpret_cast<const char*>(file.data()),
                  static_cast<std::streamsize>(file.size()));
        REQUIRE(out.good());
    }
}

using Records = std::map<Bytes, Bytes>;

Records Dump(BlockIndexDb& index)
{
    Records out;
    KvIterator at = index.Kv().NewIterator();
    const Bytes own(ObfuscationRecordKey().begin(), ObfuscationRecordKey().end());
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
        const Bytes key(at.Key().begin(), at.Key().end());
        if (key != own) out.emplace(key, Bytes(at.Value().begin(), at.Value().end()));
    }
    Must(at.Status());
    return out;
}

/** State without a record that decides between branches. */
std::map<BlockHash, std::tuple<uint32_t, uint64_t, int32_t>> Nodes(const HeaderTree& tree)
{
    std::map<BlockHash, std::tuple<uint32_t, uint64_t, int32_t>> out;
    for (size_t i = 0; i < tree.Size(); ++i) {
        const HeaderNode& node = *tree.NodeAt(i);
        out[node.hash] = {node.status, node.chain_tx_count, node.sequence_id};
    }
    return out;
}

/** The second engine and its objects for one pass. */
struct OnePass {
    OnePass(Engine& e, const ChainParams& params, const Path& hints, const Path& folder)
        : engine(e), survey(params),
          booster(e.GetEnv(), e.GetLog(), params, {.booster = Options(e, folder)})
    {
        Must(booster.OpenHints({hints, {}, {}}));
        booster.Attach(*e.chain);
    }
    static BoosterOptions Options(Engine& engine, const Path& folder)
    {
        BoosterOptions options;
        options.threads = 2;
        options.directory = folder;
        options.chainstate = engine.Dir().Chainstate();
        options.checkpoint_bytes = 20'000;
        return options;
    }

    void Read()
    {
        Must(survey.Take(engine.GetEnv(), engine.GetLog(), engine.Blocks(), engine.interrupt));
        REQUIRE(Must(booster.TakeSurvey(survey)));
    }
    /** Returns its message about missing blocks; empty: none. */
    std::string Index()
    {
        std::string said;
        BlockImporter importer = engine.Importer();
        importer.TellBreakIn(said);
        Must(importer.Reindex(survey));
        return said;
    }

    Engine& engine;
    BlockSurvey survey;
    BoosterSession booster;
};

ChainManagerOptions Trust(const Blocks& blocks)
{
    ChainManagerOptions options;
    options.assume_valid = blocks.hints_hash;
    return options;
}

std::string IndexInTwo(Engine& engine)
{
    std::string said;
    BlockImporter importer = engine.Importer();
    importer.TellBreakIn(said);
    Must(importer.Reindex());
    return said;
}

/** Requires that each parent reported as missing is missing. True: there is one. */
bool CheckSaid(const Engine& engine, const std::string& said)
{
    static const std::regex parent("the parent ([0-9a-f]{64}) of the block");
    std::smatch found;
    if (!std::regex_search(said, found, parent)) return false;
    INFO(said);
    const auto hash = BlockHash::FromHex(found[1].str());
    REQUIRE(hash);
    CHECK_FALSE(engine.chain->Read().Find(*hash));
    return true;
}

void Finish(Engine& engine)
{
    Must(engine.chain->StoreGenesis());
    Must(engine.chain->Flush(FlushMode::kAlways));
}

} // namespace

TEST_CASE("one reading of the blocks indexes and folds them: no block is read again")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Blocks blocks = MakeBlocks(params, TestRng()());
    for (const size_t window : {size_t{1}, size_t{30}, size_t{4000}}) {
        const TempDir dir;
        const Path hints = dir / "hints";
        WriteHints(hints, params, blocks.unspent, blocks.hints_hash);
        WriteFiles(dir / "one", params, blocks, {.window = window, .files = 3});
        std::filesystem::copy(dir / "one", dir / "two", std::filesystem::copy_options::recursive);
        Engine one(params, dir / "one", Trust(blocks));
        Engine two(params, dir / "two", Trust(blocks));
        OnePass pass(one, params, hints, dir / "booster");
        pass.Read();
        const Path hidden = dir / "hidden";
        std::filesystem::rename(one.Dir().Blocks(), hidden);
        CHECK(pass.Index().empty());
        std::filesystem::rename(hidden, one.Dir().Blocks());
        REQUIRE(pass.booster.Progress()->fold.blocks == kHintsHeight);
        Must(two.Importer().Reindex());
        Finish(one);
        Finish(two);
        REQUIRE(Dump(one.IndexDb()) == Dump(two.IndexDb()));
        REQUIRE(Nodes(one.chain->Read().Tree()) == Nodes(two.chain->Read().Tree()));
        // The run that gives the verdict continues from the folded blocks.
        const auto outcome = Must(pass.booster.Run());
        REQUIRE(outcome == VerdictKind::kDone);
        REQUIRE(pass.booster.Progress()->fold.resumed_blocks == kHintsHeight);
        one.Start();
        two.Start();
        REQUIRE(one.chain->Tip()->height == kHintsHeight + kTail);
        REQUIRE((one.Dump() == two.Dump()));
    }
}

TEST_CASE("whatever lies in the block files, one pass and two leave the same index")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Blocks blocks = MakeBlocks(params, TestRng()());
    auto& rng = TestRng();
    int built = 0;
    int named = 0;
    for (int round = 0; round < 24; ++round) {
        Disorder disorder;
        disorder.window = round % 3 ? 1 + rng() % 200 : 1;
        disorder.files = 1 + static_cast<int>(rng() % 4);
        disorder.mess_of = round < 4 ? 0 : 2 + static_cast<uint32_t>(rng() % 40);
        disorder.torn = rng() % 2;
        if (round % 6 == 3) disorder.damaged_of = 2 + static_cast<uint32_t>(rng() % 500);
        if (round % 6 == 5) disorder.lost = 1 + static_cast<int>(rng() % (kHintsHeight + kTail));
        CAPTURE(round, disorder.window, disorder.files, disorder.mess_of, disorder.torn,
                disorder.lost, disorder.damaged_of);
        const TempDir dir;
        WriteHints(dir / "hints", params, blocks.unspent, blocks.hints_hash);
        WriteFiles(dir / "one", params, blocks, disorder);
        std::filesystem::copy(dir / "one", dir / "two", std::filesystem::copy_options::recursive);
        Engine one(params, dir / "one", Trust(blocks));
        Engine two(params, dir / "two", Trust(blocks));
        OnePass pass(one, params, dir / "hints", dir / "booster");
        pass.Read();
        const std::string said = pass.Index();
        named += CheckSaid(one, said);
        const std::string said_by_two = IndexInTwo(two);
        (void)CheckSaid(two, said_by_two);
        const std::regex folder("/(one|two)/");
        CHECK(std::regex_replace(said, folder, "/") ==
              std::regex_replace(said_by_two, folder, "/"));
        Finish(one);
        Finish(two);
        REQUIRE(Nodes(one.chain->Read().Tree()) == Nodes(two.chain->Read().Tree()));
        REQUIRE(Dump(one.IndexDb()) == Dump(two.IndexDb()));
        const auto outcome = pass.booster.Run();
        INFO((outcome ? "" : outcome.Message()));
        CHECK((outcome || disorder.mess_of || disorder.lost || disorder.damaged_of));
        if (outcome) {
            REQUIRE(*outcome == VerdictKind::kDone);
            ++built;
        }
        one.Start();
        two.Start();
        REQUIRE(one.chain->Tip()->hash == two.chain->Tip()->hash);
        REQUIRE((one.Dump() == two.Dump()));
    }
    REQUIRE(built > 12);
    CHECK(named >= 2); // where a block is lost
}

} // namespace ibd::test
