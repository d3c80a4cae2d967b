// Sizes of hints files and what reading them costs, on hints of an invented chain
// (test/sim/hints_model.h). Usage: bench_hints [--once | BLOCKS [FOLDER]]. BLOCKS, 20,000 unless
// given, of a chain with mainnet's mixture; files are left in FOLDER where it is given. The last
// row is the estimated size under a strong adaptive model (hints_mixing.h).
#include "bench_support.h"
#include "hints/hints_writer.h"
#include "hints/swifthints.h"
#include "hints_mixing.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace ibd::bench {

namespace {

constexpr std::array<uint8_t, 4> kMagic = {0xf9, 0xbe, 0xb4, 0xd9};
constexpr std::array kFormats = {HintsFormat::kContainer,   HintsFormat::kContainer1,
                                 HintsFormat::kBitmap,      HintsFormat::kIndexed,
                                 HintsFormat::kBip456Crate, HintsFormat::kBtcd,
                                 HintsFormat::kGaps};

class Files {
public:
    Files(Path folder, uint32_t blocks) : m_folder(std::move(folder)), m_blocks(blocks)
    {
        std::filesystem::create_directories(m_folder);
    }

    void Write(HintsFormat format)
    {
        const Path path = m_folder / NameOf(format);
        auto writer = StartHintsFile(*m_env, path, {format, kMagic, m_blocks});
        CHECK(writer.Ok());
        sim::HintsModel model(1, m_blocks);
        sim::HintedBlock block;
        if (FirstHeight(format) == 0) CHECK((*writer)->Add(0, 1, {}).Ok());
        m_outputs = m_unspent = 0;
        for (uint32_t h = 1; h <= m_blocks; ++h) {
            model.Next(block);
            m_outputs += block.outputs;
            m_unspent += block.unspent.size();
            CHECK((*writer)->Add(h, block.outputs, block.unspent).Ok());
        }
        CHECK((*writer)->Finish({}).Ok());
    }

    /** Only its size: the cost of reading it is mostly that of its blocks. */
    void WriteSwifthints()
    {
        const Path path = m_folder / NameOf(HintsFormat::kSwifthints);
        auto file = m_env->OpenWrite(path, true);
        CHECK(file.Ok());
        SwifthintsWriter writer(std::move(*file));
        sim::HintsModel model(1, m_blocks);
        sim::HintedBlock block;
        CHECK(writer.Add(0, std::array<uint32_t, 1>{1}, {}).Ok());
        for (uint32_t h = 1; h <= m_blocks; ++h) {
            model.Next(block);
            CHECK(writer.Add(h, block.shape, block.unspent).Ok());
        }
        CHECK(writer.Finish().Ok());
        fmt::print("swifthints: {} bytes\n", std::filesystem::file_size(path));
    }

    void Read(HintsFormat format, const Runner& runner)
    {
        const auto hints = OpenHints(*m_env, m_folder / NameOf(format), format);
        CHECK(hints.Ok());
        const uint64_t size = (*hints)->Info().file_size;
        fmt::print("{}: {} bytes, {:.3f} bits for each of {} unspent of {} outputs\n",
                   NameOf(format), size, 8.0 * double(size) / double(m_unspent), m_unspent,
                   m_outputs);
        runner.Run("  read in order, per 1,000 outputs", double(m_outputs) / 1000, [&] {
            BlockHints block;
            for (uint32_t h = 1; h <= m_blocks; ++h) CHECK((*hints)->Read(h, block).Ok());
            Keep(block);
        });
        sim::Rng rng(1);
        runner.Run("  read a block anywhere", 1, [&] {
            BlockHints block;
            const auto height = static_cast<uint32_t>(1 + rng.Below(m_blocks));
            CHECK((*hints)->Read(height, block).Ok());
            Keep(block);
        });
    }

    void Estimate() const
    {
        HintsMixing mixing;
        sim::HintsModel model(1, m_blocks);
        sim::HintedBlock block;
        for (uint32_t h = 1; h <= m_blocks; ++h) {
            model.Next(block);
            mixing.Add(block);
        }
        fmt::print("context mixing, an estimate: {:.0f} bytes, {:.3f} bits for each unspent\n",
                   mixing.Bytes(), 8 * mixing.Bytes() / double(m_unspent));
    }

private:
    const std::unique_ptr<Env> m_env = MakePosixEnv();
    const Path m_folder;
    const uint32_t m_blocks;
    uint64_t m_outputs = 0;
    uint64_t m_unspent = 0;
};

void Run(int argc, char** argv)
{
    const Runner runner(argc, argv);
    const long given = argc > 1 ? std::atol(argv[1]) : 20'000;
    const bool keep = argc > 2;
    const Path folder =
        keep ? Path(argv[2])
             : std::filesystem::temp_directory_path() / fmt::format("hints-bench-{}", ::getpid());
    {
        Files files(folder, given > 0 ? static_cast<uint32_t>(given) : 500);
        for (const HintsFormat format : kFormats) files.Write(format);
        files.WriteSwifthints();
        for (const HintsFormat format : kFormats) files.Read(format, runner);
        files.Estimate();
    }
    if (!keep) std::filesystem::remove_all(folder);
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    ibd::bench::Run(argc, argv);
    return 0;
}
