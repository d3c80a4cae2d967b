#include "header_shim.h"

#include <chain.h>
#include <kernel/chainparams.h>
#include <pow.h>
#include <primitives/block.h>

#include <deque>
#include <memory>
#include <string>

struct OracleHeaders {
    std::unique_ptr<const CChainParams> params;
    std::deque<CBlockIndex> chain; // whose addresses stay
};

namespace {

std::unique_ptr<const CChainParams> ParamsOf(const std::string& network)
{
    if (network == "main") return CChainParams::Main();
    if (network == "testnet3") return CChainParams::TestNet();
    if (network == "testnet4") return CChainParams::TestNet4();
    if (network == "signet") return CChainParams::SigNet();
    if (network == "regtest") return CChainParams::RegTest();
    return nullptr;
}

} // namespace

OracleHeaders* oracle_headers_new(const char* network)
{
    auto params = ParamsOf(network);
    if (!params) return nullptr;
    auto* headers = new OracleHeaders{std::move(params), {}};
    headers->chain.emplace_back(headers->params->GenesisBlock());
    return headers;
}

void oracle_headers_free(OracleHeaders* headers) { delete headers; }

uint32_t oracle_headers_next(const OracleHeaders* headers, uint32_t time)
{
    CBlockHeader next;
    next.nTime = time;
    return GetNextWorkRequired(&headers->chain.back(), &next, headers->params->GetConsensus());
}

int oracle_headers_permitted(const OracleHeaders* headers, uint32_t bits)
{
    const CBlockIndex& last = headers->chain.back();
    return PermittedDifficultyTransition(headers->params->GetConsensus(), last.nHeight + 1,
                                         last.nBits, bits);
}

void oracle_headers_add(OracleHeaders* headers, uint32_t time, uint32_t bits)
{
    CBlockHeader header;
    header.nTime = time;
    header.nBits = bits;
    CBlockIndex& prev = headers->chain.back();
    CBlockIndex& added = headers->chain.emplace_back(header);
    added.pprev = &prev;
    added.nHeight = prev.nHeight + 1;
    added.BuildSkip();
}
