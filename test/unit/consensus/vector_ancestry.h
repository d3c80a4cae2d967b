// A branch as a plain array, for rules that look back; and transactions built in a line.
#pragma once

#include "consensus/ancestry.h"
#include "primitives/transaction.h"
#include "support/testdata.h"
#include "util/endian.h"

#include <vector>

#include "support/catch.h"

namespace ibd::test {

class VectorAncestry final : public Ancestry {
public:
    std::vector<HeaderFacts> blocks;

    int Height() const override { return static_cast<int>(blocks.size()) - 1; }
    HeaderFacts At(int height) const override { return blocks.at(static_cast<size_t>(height)); }
    BlockHash HashAt(int height) const override
    {
        std::array<uint8_t, 32> hash{1};
        WriteLE32(hash.data() + 1, static_cast<uint32_t>(height));
        return BlockHash(hash);
    }
};

/** The first `count` blocks of another branch. */
class PrefixAncestry final : public Ancestry {
public:
    PrefixAncestry(const Ancestry& whole, int count) : m_whole(whole), m_count(count) {}
    int Height() const override { return m_count - 1; }
    HeaderFacts At(int height) const override { return m_whole.At(height); }
    BlockHash HashAt(int height) const override { return m_whole.HashAt(height); }

private:
    const Ancestry& m_whole;
    int m_count;
};

inline TransactionRef MakeTx(const MutableTransaction& tx)
{
    auto parsed = Transaction::Parse(tx.Serialize());
    INFO((parsed ? "" : parsed.Message()));
    REQUIRE(parsed);
    return parsed.Value();
}

inline OutPoint OutPointOf(uint8_t tag, uint32_t vout)
{
    return {Txid(std::array<uint8_t, 32>{tag}), vout};
}

/** One input, one output of 1 BTC. */
inline MutableTransaction SimpleTx()
{
    MutableTransaction tx;
    tx.inputs.push_back({OutPointOf(1, 0), {}, 0xffffffff, {}});
    tx.outputs.push_back({kCoin, {0x51}});
    return tx;
}

} // namespace ibd::test
