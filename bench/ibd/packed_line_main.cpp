// ibd-packed-line REPEAT FILE...: the blocks in the files, REPEAT times as one chain, from a node
// to another over simulated lines, plain and packed. Prints for each line: seconds, bytes sent, and
// seconds of CPU of both nodes together, plain and packed. Simulated time has no time of
// processors, so this is added on the packing side: what a line saves and what it costs stand side
// by side.
#include "net/peer_support.h"
#include "packed_support.h"
#include "sim/all_blocks.h"
#include "sim/network.h"

namespace {

using namespace ibd;
using namespace ibd::test;

struct Line {
    const char* name;
    sim::LinkQuality quality;
};
constexpr Line kLines[] = {
    {"60 ms, 20 Mbit/s", {30'000, 2'500'000}},   {"60 ms, 5 Mbit/s", {30'000, 625'000}},
    {"60 ms, 100 Mbit/s", {30'000, 12'500'000}}, {"10 ms, 40 Mbit/s", {5'000, 5'000'000}},
    {"1 ms, 1 Gbit/s", {500, 125'000'000}},
};

struct Outcome {
    double seconds = 0;
    double cpu = 0;
    size_t bytes = 0;
};

Outcome Sync(const std::vector<Bytes>& blocks, const Line& line, int level)
{
    const int64_t cpu = CpuMicros();
    const ChainParams params = RegtestParams();
    PeerOptions options;
    options.pack_level = level;
    options.pack_percent = 100;
    sim::ServedChain served(params, blocks);
    TestChain chain(params);
    chain.downloading = true;
    sim::AcceptHeadersOf(blocks, chain);
    sim::AllBlocks all(chain, blocks);
    sim::Network network(int64_t{chain.BestHeader().time} + 1'000'000);
    sim::Host us(network, {params, chain, chain, chain}, options, 1);
    sim::Host them(network, {params, served, served, served}, options, 2);
    Outcome out;
    them.tamper = [&](const OutgoingMessage& message) {
        out.bytes += message.payload.size();
        return true;
    };
    us.Peers().DownloadInto(all, all);
    network.Tick(us, kSecond / 10);
    const int64_t begin = network.Now();
    network.Connect(us, them, ConnectionKind::kManual, "8.8.8.8:8333", line.quality);
    network.Tick(them, 5 * kSecond);
    while (!all.Done()) CHECK(network.Step() && network.Now() < begin + 3600 * kSecond);
    out.seconds = double(network.Now() - begin) / double(kSecond);
    out.cpu = double(CpuMicros() - cpu) / 1e6;
    return out;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        fmt::print(stderr, "usage: ibd-packed-line REPEAT FILE...\n");
        return 2;
    }
    std::vector<Bytes> bodies;
    for (int i = 2; i < argc; ++i) bodies.push_back(ReadFile(argv[i]));
    const auto blocks = sim::ChainOfBodies(RegtestParams(), bodies,
                                           bodies.size() * std::strtoul(argv[1], nullptr, 10));
    for (const Line& line : kLines) {
        const Outcome plain = Sync(blocks, line, 0);
        const Outcome packed = Sync(blocks, line, 1);
        fmt::print("{:20} plain {:7.2f} s {:10} bytes {:5.2f} s CPU, packed {:7.2f} s {:10} bytes "
                   "{:5.2f} s CPU, time {:.3f} bytes {:.3f}\n",
                   line.name, plain.seconds, plain.bytes, plain.cpu, packed.seconds, packed.bytes,
                   packed.cpu, packed.seconds / plain.seconds,
                   double(packed.bytes) / double(plain.bytes));
    }
    return 0;
}
