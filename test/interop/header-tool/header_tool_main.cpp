// ibd-header-tool: header chains without proof of work, and proof of work for single headers, for
// tests against Core (test/interop/test_retargets.py, signet_chain.py).
//
//   ibd-header-tool chain --network NAME --seed N --count N
//       a chain of random times from genesis on, whose bits are what our rules ask for: a line
//       "TIME BITS PROBE PERMITTED" for each header; PERMITTED is 1 if PROBE could follow the bits
//       of the header before by PermittedDifficultyTransition
//   ibd-header-tool mine       reads headers in hex, one a line; answers each with its nonce
#include "chain/header_tree.h"
#include "consensus/pow.h"
#include "sim/rng.h"
#include "util/hex.h"

#include <charconv>
#include <iostream>

#include <fmt/format.h>

namespace ibd::interop {

namespace {

/** Block times, in phases of one rate each, which last for hours: much too fast, much too slow, on
 *  target, or around the twenty minutes after which testnets allow the minimum difficulty. */
class Times {
public:
    Times(uint64_t seed, uint32_t start) : m_rng(seed), m_time(start) {}

    uint32_t Next()
    {
        static constexpr int64_t kPaces[] = {1, 30, 150, 300, 590, 600, 610, 900, 1201, 2400, 5000};
        if (m_left-- == 0) {
            m_pace = kPaces[m_rng() % std::size(kPaces)];
            m_left = 20 + m_rng() % 3000;
        }
        int64_t step = m_pace;
        switch (m_rng() % 16) {
        case 0: step = -static_cast<int64_t>(m_rng() % 7200); break; // before its parent
        case 1: step = 1198 + static_cast<int64_t>(m_rng() % 5); break;
        case 2: step = static_cast<int64_t>(m_rng() % 7200); break;
        default: break;
        }
        m_time = std::max<int64_t>(m_time + step, 1);
        return static_cast<uint32_t>(m_time);
    }
    sim::Rng& Chance() { return m_rng; }

private:
    sim::Rng m_rng;
    int64_t m_time;
    int64_t m_pace = 600;
    uint64_t m_left = 0;
};

/** Bits near the given ones: the same, easier or harder by a factor around 4, or any. */
uint32_t Probe(uint32_t bits, sim::Rng& rng)
{
    const auto mantissa = bits & 0x7fffff;
    const auto size = bits & 0xff000000;
    switch (rng() % 6) {
    case 0: return bits;
    case 1: return size | std::min<uint32_t>(mantissa * 4 + rng() % 3, 0x7fffff);
    case 2: return size | (mantissa / 4 + rng() % 3);
    case 3: return size | (mantissa + rng() % 3);
    case 4: return size + 0x01000000 * (rng() % 3) + (mantissa >> (8 * (rng() % 3)));
    default: return static_cast<uint32_t>(rng());
    }
}

void PrintChain(const ChainParams& params, uint64_t seed, uint64_t count)
{
    HeaderTree tree(params);
    const HeaderNode* tip = tree.Genesis();
    Times times(seed, tip->time);
    for (uint64_t i = 0; i < count; ++i) {
        BlockHeader header;
        header.prev_hash = tip->hash;
        header.time = times.Next();
        header.nonce = static_cast<uint32_t>(i);
        header.bits = GetNextWorkRequired(NodeAncestry(tip), header.time, params.consensus);
        const uint32_t probe = Probe(tip->bits, times.Chance());
        const bool permitted =
            PermittedDifficultyTransition(params.consensus, tip->height + 1, tip->bits, probe);
        fmt::print("{} {} {} {}\n", header.time, header.bits, probe, permitted ? 1 : 0);
        tip = tree.Insert(header, header.Hash());
    }
}

int Mine(const ConsensusParams& params)
{
    for (std::string line; std::getline(std::cin, line);) {
        const auto raw = FromHex(line);
        if (!raw || raw->size() != BlockHeader::kSize) return 2;
        BlockHeader header = BlockHeader::FromBytes(raw->data());
        while (!CheckProofOfWork(header.Hash(), header.bits, params)) ++header.nonce;
        std::cout << header.nonce << std::endl;
    }
    return 0;
}

uint64_t NumberOption(int argc, char** argv, std::string_view name, uint64_t value)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string_view text = argv[i + 1];
        if (argv[i] == name) std::from_chars(text.data(), text.data() + text.size(), value);
    }
    return value;
}

std::optional<Network> NetworkOption(int argc, char** argv)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        if (std::string_view(argv[i]) != "--network") continue;
        for (const Network network : {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                                      Network::kSignet, Network::kRegtest}) {
            if (MakeChainParams(network).name == argv[i + 1]) return network;
        }
    }
    return std::nullopt;
}

} // namespace

int Main(int argc, char** argv)
{
    const std::string_view command = argc > 1 ? argv[1] : "";
    const auto network = NetworkOption(argc, argv);
    if (command == "chain" && network) {
        PrintChain(MakeChainParams(*network), NumberOption(argc, argv, "--seed", 1),
                   NumberOption(argc, argv, "--count", 10'000));
        return 0;
    }
    // The loosest limit there is: the header's own bits decide.
    if (command == "mine") return Mine(MakeChainParams(Network::kRegtest).consensus);
    fmt::print(stderr, "usage: ibd-header-tool chain --network main|test|testnet4|signet|regtest "
                       "[--seed N] [--count N] | mine\n");
    return 2;
}

} // namespace ibd::interop

int main(int argc, char** argv) { return ibd::interop::Main(argc, argv); }
