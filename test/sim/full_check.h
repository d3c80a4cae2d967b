// FullCheck: a plain, complete validator for tests of the generator. Keeps every coin in a map and
// asks consensus/ and script/ about every rule. Not a node: one branch, no undo.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"
#include "primitives/block.h"

#include <map>

namespace ibd::sim {

struct CheckedCoin {
    Amount value = 0;
    Bytes script_pubkey;
    int height = 0;
    bool is_coinbase = false;
    uint64_t number = 0; //!< of the output in the chain, genesis included
};

class FullCheck : private Ancestry {
public:
    explicit FullCheck(const ChainParams& params) : m_params(params)
    {
        AddHeader(params.genesis.header);
    }

    /** Empty if the block is valid on the last one; else Core's reject reason. A failed block
     *  leaves this object useless. */
    std::string Connect(ByteSpan raw);

    const std::map<OutPoint, CheckedCoin>& Coins() const { return m_coins; }
    uint64_t Outputs() const { return m_outputs; }
    uint64_t Inputs() const { return m_inputs; }

private:
    int Height() const override { return static_cast<int>(m_headers.size()) - 1; }
    HeaderFacts At(int height) const override;
    BlockHash HashAt(int height) const override;

    void AddHeader(const BlockHeader& header);
    std::string CheckRules(const BlockView& block) const;
    std::string ConnectTx(const TxView& tx, int height, ScriptFlags flags, Amount& fees,
                          int64_t& sigops);
    std::string CheckSpends(const TxView& tx, const std::vector<CheckedCoin>& coins, int height,
                            ScriptFlags flags, Amount& fees, int64_t& sigops) const;
    std::string CheckScripts(const TxView& tx, const std::vector<CheckedCoin>& coins,
                             ScriptFlags flags) const;
    std::string AddOutputs(const TxView& tx, int height);

    const ChainParams& m_params;
    std::vector<BlockHeader> m_headers;
    std::vector<BlockHash> m_hashes;
    std::map<OutPoint, CheckedCoin> m_coins;
    uint64_t m_outputs = 1; // the genesis coinbase
    uint64_t m_inputs = 0;
    BlockHash m_connecting; //!< hash of the block in Connect()
};

} // namespace ibd::sim
