// Submission of a transaction that another caller or a block takes during the check.
#include "rpc/calls_kit.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** sendrawtransaction with a function in place of the scripts. */
class SendKit : public CallsKit {
public:
    SendKit() : m_door(m_rules, calls.pool, calls.coins)
    {
        AddSendMethod(m_table, m_context, calls.net);
        m_table.EndWarmup();
    }
    /** The answer without quotation marks, or "-27: message". */
    std::string Send(const MutableTransaction& tx)
    {
        UniValue params(UniValue::VARR);
        params.push_back(ToHex(tx.Serialize()));
        params.push_back(0);
        try {
            return m_table.Execute("sendrawtransaction", params).get_str();
        } catch (const RpcError& error) {
            return fmt::format("{}: {}", static_cast<int>(error.code), error.message);
        }
    }
    MutableTransaction Spend(int height) const
    {
        return SpendTx({Block(height).Reward()}, {48 * kCoin, kCoin});
    }
    std::function<void()> in_scripts; //!< called once

private:
    RuleResult Run()
    {
        if (in_scripts) std::exchange(in_scripts, {})();
        return {};
    }

    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    const TxAcceptance m_rules{m_params.consensus,
                               {.require_standard = false},
                               nullptr,
                               [this](const CheckedTx&, VerificationCaches*) { return Run(); }};
    const TxSubmission m_door;
    PoolContext m_context{calls.chain, calls.pool, m_rules, m_door, calls.log};
    RpcTable m_table{TheEngine().GetEnv()};
};

} // namespace

TEST_CASE_METHOD(SendKit, "a transaction that is sent twice at once is taken twice")
{
    const MutableTransaction tx = Spend(1);
    in_scripts = [&] { CHECK(Send(tx) == tx.Id().ToHex()); };
    CHECK(Send(tx) == tx.Id().ToHex());
}

TEST_CASE_METHOD(SendKit, "a transaction that a block takes while it is sent is confirmed")
{
    const MutableTransaction tx = Spend(1);
    in_scripts = [&] {
        KitOptions options;
        options.txs = {tx};
        TheEngine().Process(Kit().Make(Block(kHeight), options).raw);
        Must(TheEngine().chain->ActivateBestChain());
    };
    CHECK(Send(tx) == "-27: Transaction outputs already in utxo set");
}

TEST_CASE_METHOD(SendKit, "another spend of the coin that comes during the check is an error")
{
    MutableTransaction other = Spend(1);
    other.outputs[0].value -= 2 * kCoin;
    in_scripts = [&] { CHECK(Send(other) == other.Id().ToHex()); };
    CHECK(Send(Spend(1)).starts_with("-26: insufficient fee"));
}
