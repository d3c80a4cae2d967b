// ibd-point-reads: random point reads of a chainstate as the booster writes it, against the same
// coins in a LevelDB filled through its own interface and compacted as a whole; same options, one
// run. See bench/README.md.
#include "ibd/command_line.h"
#include "script/coin.h"
#include "sim/rng.h"
#include "storage/chainstate_builder.h"
#include "storage/coins_db.h"

#include <algorithm>
#include <ctime>

namespace ibd::bench {

namespace {

constexpr const char* kHelp = R"(Usage: ibd-point-reads --work DIR [options]
  --work DIR        folder for databases; what this program puts there is removed before and after
  --chainstate DIR  written by the booster; without it one is made
  --coins N         coins of the one that is made (default 2,500,000)
  --reads N         reads of each kind and round (default 200,000)
  --rounds N        default 5; the median counts
)";

Options ReadOptions(int argc, char** argv)
{
    Options options = ParseOptions(argc, argv, 1,
                                   {{"--work", ""},
                                    {"--chainstate", ""},
                                    {"--coins", "2500000"},
                                    {"--reads", "200000"},
                                    {"--rounds", "5"}},
                                   kHelp);
    if (options["--work"].empty()) Fail(kHelp);
    return options;
}

class PointReads {
public:
    explicit PointReads(Options options)
        : m_options(std::move(options)), m_work(m_options["--work"]),
          m_built(m_options["--chainstate"].empty() ? m_work / "built"
                                                    : Path(m_options["--chainstate"])),
          m_compacted(m_work / "compacted")
    {
    }

    void Run()
    {
        Clean();
        if (m_options["--chainstate"].empty()) Build();
        CopyAndSample();
        const auto built = Open(m_built, false);
        const auto compacted = Open(m_compacted, false);
        for (const bool there : {true, false}) Measure(*built, *compacted, there);
    }

    void Clean()
    {
        Require(m_env->RemoveAll(m_work / "built"));
        Require(m_env->RemoveAll(m_compacted));
    }

private:
    uint64_t Number(const char* option) { return std::stoull(m_options[option]); }

    OutPoint RandomOutPoint()
    {
        OutPoint outpoint;
        outpoint.vout = 0;
        for (size_t i = 0; i < 32; i += 8) WriteLE64(outpoint.txid.data() + i, m_rng());
        return outpoint;
    }

    std::unique_ptr<CoinsDb> Open(const Path& directory, bool wipe)
    {
        CoinsDbOptions options;
        options.directory = directory;
        options.cache_bytes = 8 << 20; // the node's, by default
        options.wipe = wipe;
        return Require(CoinsDb::Open(*m_env, *m_log, options));
    }

    /** Usual coins under random ids. */
    void Build()
    {
        std::vector<OutPoint> outpoints(Number("--coins"));
        for (OutPoint& outpoint : outpoints) outpoint = RandomOutPoint();
        std::sort(outpoints.begin(), outpoints.end(), [](const OutPoint& a, const OutPoint& b) {
            return std::memcmp(a.txid.data(), b.txid.data(), 32) < 0;
        });
        ChainstateBuilderOptions options;
        options.chainstate = m_built;
        Require(m_env->CreateDirectories(m_work));
        const auto builder = Require(ChainstateBuilder::Create(*m_env, options));
        const auto writer = builder->NewWriter();
        Bytes script = {0x00, 0x14};
        script.resize(22, 0x5a);
        Bytes coin;
        for (const OutPoint& outpoint : outpoints) {
            coin.clear();
            const uint64_t some = m_rng();
            AppendCoin(coin, static_cast<Amount>(some % 10'000'000), script,
                       static_cast<uint32_t>(some >> 45), false);
            Require(writer->Add(CoinKey(outpoint).Span(), coin));
        }
        BlockHash best;
        best.data()[0] = 1;
        Require(builder->Publish(Require(writer->Finish()), best));
    }

    /** Copies all coins to a database that is then compacted, and
     *  picks those to be read. */
    void CopyAndSample()
    {
        const auto from = Open(m_built, false);
        const auto to = Open(m_compacted, true);
        CoinsCursor cursor = from->Cursor();
        CoinsWriter writer = Require(to->StartWrite(Require(from->BestBlock())));
        const uint64_t wanted = Number("--reads");
        uint64_t coins = 0;
        for (; cursor.Valid(); cursor.Next(), ++coins) {
            writer.PutRaw(cursor.Key(), cursor.RawValue());
            if (m_there.size() < wanted) {
                m_there.push_back(cursor.Key());
            } else if (const uint64_t at = m_rng() % (coins + 1); at < wanted) {
                m_there[at] = cursor.Key();
            }
        }
        Require(cursor.Status());
        Require(writer.Commit());
        to->CompactRange();
        for (uint64_t i = 0; i < wanted; ++i) m_missing.push_back(RandomOutPoint());
        fmt::print("{} coins, {} of them read in each round\n", coins, m_there.size());
    }

    /** Nanoseconds of CPU a read: all is in the page cache, and the machine may be shared. */
    double Read(const CoinsDb& db, const std::vector<OutPoint>& outpoints, bool there)
    {
        const std::clock_t start = std::clock();
        for (const OutPoint& outpoint : outpoints) {
            CHECK(Require(db.Get(outpoint)).has_value() == there);
        }
        const auto ticks = static_cast<double>(std::clock() - start);
        return ticks * 1e9 / CLOCKS_PER_SEC / static_cast<double>(outpoints.size());
    }

    void Measure(const CoinsDb& built, const CoinsDb& compacted, bool there)
    {
        std::vector<OutPoint>& outpoints = there ? m_there : m_missing;
        std::vector<double> times[2];
        for (uint64_t round = 0; round <= Number("--rounds"); ++round) {
            std::shuffle(outpoints.begin(), outpoints.end(), m_rng);
            for (const size_t which : {round % 2, 1 - round % 2}) {
                const double time = Read(which == 0 ? built : compacted, outpoints, there);
                if (round > 0) times[which].push_back(time); // the first fills the page cache
            }
        }
        for (auto& t : times) std::nth_element(t.begin(), t.begin() + t.size() / 2, t.end());
        const double ours = times[0][times[0].size() / 2];
        const double theirs = times[1][times[1].size() / 2];
        fmt::print("{:8} booster's {:7.0f} ns, compacted {:7.0f} ns, ratio {:.3f}\n",
                   there ? "existing" : "missing", ours, theirs, ours / theirs);
    }

    Options m_options;
    const Path m_work;
    const Path m_built;
    const Path m_compacted;
    const std::unique_ptr<Env> m_env = MakePosixEnv();
    const std::unique_ptr<Logger> m_log = MakeNullLogger();
    sim::Rng m_rng{1};
    std::vector<OutPoint> m_there;
    std::vector<OutPoint> m_missing;
};

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    ibd::bench::PointReads bench(ibd::bench::ReadOptions(argc, argv));
    bench.Run();
    bench.Clean();
    return 0;
}
