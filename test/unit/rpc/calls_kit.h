// All calls of the node over a regtest chain made by hand, without a node: for tests of arguments,
// errors and answers. Scripts are not run, so that blocks can spend kAnyone.
#pragma once

#include "rpc/standalone_calls.h"
#include "support/temp_dir.h"
#include "validation/block_kit.h"
#include "validation/fixture.h"

namespace ibd::test {

class CallsKit {
public:
    static constexpr int kHeight = 110; //!< the first coinbases are mature

    CallsKit()
    {
        m_engine.Start();
        m_blocks = m_kit.MakeChain(m_kit.Genesis(), kHeight);
        for (const KitBlock& block : m_blocks) m_engine.Process(block.raw);
        Must(m_engine.chain->ActivateBestChain());
        calls.chain.chain = m_engine.chain;
        calls.chain.net_dir = m_dir.Get();
        calls.chain.import_done = true;
        calls.control.mock_time = &mock_time;
        calls.table.EndWarmup();
    }

    UniValue Execute(const std::string& method, const UniValue& params)
    {
        return calls.table.Execute(method, params);
    }
    /** `params`: a JSON array or object. */
    UniValue Call(const std::string& method, const std::string& params = "[]")
    {
        return Execute(method, Parse(params));
    }
    /** The answer as text, or "-8: message". */
    std::string Outcome(const std::string& method, const UniValue& params)
    {
        try {
            return Execute(method, params).write();
        } catch (const RpcError& error) {
            return fmt::format("{}: {}", static_cast<int>(error.code), error.message);
        }
    }
    std::string Outcome(const std::string& method, const std::string& params = "[]")
    {
        return Outcome(method, Parse(params));
    }
    static UniValue Parse(const std::string& json)
    {
        UniValue value;
        INFO(json);
        REQUIRE(value.read(json));
        return value;
    }

    /** From height 1. */
    const KitBlock& Block(int height) const { return m_blocks.at(static_cast<size_t>(height) - 1); }
    const BlockKit& Kit() const { return m_kit; }
    Engine& TheEngine() { return m_engine; }
    std::string Tip() { return Block(kHeight).hash.ToHex(); }
    static std::vector<std::string> Names(const RpcTable& table)
    {
        std::vector<std::string> names;
        const UniValue rows = table.Conversions();
        for (const UniValue& row : rows.getValues()) {
            if (names.empty() || names.back() != row[0].get_str())
                names.push_back(row[0].get_str());
        }
        return names;
    }

private:
    const TempDir m_dir;
    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    const BlockKit m_kit{m_params};
    Engine m_engine{m_params, m_dir / "regtest"};
    std::vector<KitBlock> m_blocks;

public:
    std::atomic<int64_t> mock_time{0};
    StandaloneCalls calls{m_engine.GetEnv(), m_params};
};

} // namespace ibd::test
