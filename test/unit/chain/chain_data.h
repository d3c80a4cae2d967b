// Real headers and blocks for the tests of this module.
#pragma once

#include "chain/header_tree.h"
#include "primitives/block.h"
#include "primitives/serialize.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <map>
#include <string>
#include <vector>

#include "support/catch.h"

namespace ibd::test {

/** A clock after every block of the test data. */
inline constexpr int64_t kLateClock = 1'900'000'000;

/** Trees point at their parameters, so these live as long as the process. */
inline const ChainParams& ParamsOf(Network network)
{
    static std::map<Network, ChainParams> all;
    const auto it = all.find(network);
    if (it != all.end()) return it->second;
    return all.emplace(network, MakeChainParams(network)).first->second;
}

/** 80-byte headers one after the other. */
inline std::vector<BlockHeader> HeadersFrom(const Bytes& bytes)
{
    REQUIRE(bytes.size() % BlockHeader::kSize == 0);
    std::vector<BlockHeader> headers;
    for (size_t i = 0; i < bytes.size(); i += BlockHeader::kSize) {
        headers.push_back(BlockHeader::FromBytes(bytes.data() + i));
    }
    return headers;
}

inline std::vector<std::string> LinesOf(const Bytes& text)
{
    std::vector<std::string> lines(1);
    for (const uint8_t c : text) {
        if (c == '\n') {
            lines.emplace_back();
        } else if (c != '\r') {
            lines.back().push_back(static_cast<char>(c));
        }
    }
    if (lines.back().empty()) lines.pop_back();
    return lines;
}

/** Blocks framed as in blk files: magic, length, bytes; until zeros or a cut-off record. */
inline std::vector<Bytes> BlocksFrom(const Bytes& file)
{
    std::vector<Bytes> blocks;
    Reader reader(file);
    while (reader.Remaining() > 8 && reader.U32() != 0) {
        const ByteSpan block = reader.Span(reader.U32());
        if (!reader.Ok()) break;
        blocks.emplace_back(block.begin(), block.end());
    }
    return blocks;
}

/** Accepts and returns the node; fails the test on a violation. */
inline HeaderNode* MustAccept(HeaderTree& tree, const BlockHeader& header)
{
    HeaderNode* node = nullptr;
    const RuleResult bad = tree.Accept(header, kLateClock, &node);
    INFO((bad ? bad->ToString() : ""));
    REQUIRE(!bad);
    REQUIRE(node);
    return node;
}

/** An invented header on `prev` without proof of work, so only Insert() accepts it. */
inline BlockHeader FakeHeader(const BlockHash& prev, uint32_t time, uint32_t nonce,
                              uint32_t bits = 0x207fffff)
{
    BlockHeader header;
    header.version = 0x20000000;
    header.prev_hash = prev;
    header.time = time;
    header.bits = bits;
    header.nonce = nonce;
    return header;
}

/** Inserts a made-up child. */
inline HeaderNode* Grow(HeaderTree& tree, const HeaderNode* prev, uint32_t nonce = 0,
                        uint32_t bits = 0x207fffff)
{
    const BlockHeader header = FakeHeader(prev->hash, prev->time + 600, nonce, bits);
    return tree.Insert(header, header.Hash());
}

} // namespace ibd::test
