// Checking and connecting a block: the input edits the bytes of a valid block on a chain of mature
// coins; proof of work and merkle root are taken for good. A refused block leaves the coins as they
// were; an accepted one, disconnected with its undo data read back, does too.
#include "consensus/block_check.h"
#include "crypto/ripemd160.h"
#include "script/script.h"
#include "validation/block_kit.h"
#include "validation/connect_block.h"
#include "validation/script_threads.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** No coins at all. */
class Nothing final : public CoinsReader {
public:
    Found<Coin> Read(const OutPoint&) const override { return std::optional<Coin>(); }
    bool IsInMemory(const OutPoint&) const override { return false; }
};

class Ground {
public:
    Ground()
        : m_params(MakeChainParams(Network::kRegtest)), m_tree(m_params),
          m_coins(m_nothing, OutPointHasher({1, 2}))
    {
        const BlockKit kit(m_params);
        const std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), 104);
        for (const KitBlock& block : blocks) Connect(block);
        m_template = MakeTemplate(kit, blocks).raw;
    }

    void Try(const uint8_t* data, size_t size)
    {
        const Bytes block = Edited(data, size);
        BlockView view;
        if (!view.Parse(block)) return;
        BlockCheckOptions options;
        options.check_pow = false;
        options.check_merkle_root = false;
        if (CheckBlock(view, m_params.consensus, options)) return;
        if (ContextualCheckBlock(view, NodeAncestry(m_tip), m_params.consensus)) return;
        HeaderNode node;
        node.prev = m_tip;
        node.height = m_tip->height + 1;
        node.time = view.Header().time;
        node.hash = view.Hash();
        CoinsCache overlay(m_coins, OutPointHasher({3, 4}));
        BlockUndo undo;
        const auto verdict = ConnectBlock(view, node, m_params, overlay, &m_scripts, undo, nullptr);
        CHECK(verdict.Ok());
        if (!*verdict) Disconnect(view, node, undo, overlay);
        overlay.ForEachChange([&](const OutPoint& name, const Coin* coin) {
            const auto before = m_coins.Read(name);
            CHECK(before.Ok());
            CHECK(before->has_value() == (coin != nullptr));
            if (coin) CHECK(*coin == **before);
        });
    }

private:
    void Connect(const KitBlock& block)
    {
        BlockView view;
        CHECK(view.Parse(block.raw));
        m_tip = m_tree.Insert(view.Header(), block.hash);
        BlockUndo undo;
        const auto verdict =
            ConnectBlock(view, *m_tip, m_params, m_coins, &m_scripts, undo, nullptr);
        CHECK(verdict.Ok() && !*verdict);
    }

    /** Spends of several kinds, one of them inside the block. */
    static KitBlock MakeTemplate(const BlockKit& kit, const std::vector<KitBlock>& blocks)
    {
        const Bytes redeem = {OP_1};
        Bytes script = {OP_HASH160, 20};
        Append(script, Hash160(redeem));
        script.push_back(OP_EQUAL);
        KitOptions options;
        options.txs.push_back(SpendTx({blocks[0].Reward()}, {kCoin, 2 * kCoin, 40 * kCoin}));
        options.txs[0].outputs[1].script_pubkey = script;
        const Txid first = options.txs[0].Id();
        options.txs.push_back(SpendTx({{first, 0}, {first, 1}, blocks[1].Reward()}, {5 * kCoin}));
        AppendPush(options.txs[1].inputs[1].script_sig, redeem);
        options.txs.push_back(SpendTx({blocks[2].Reward()}, {kCoin, 0}));
        options.txs[2].inputs[0].sequence = 3;
        return kit.Make(blocks.back(), options);
    }

    Bytes Edited(const uint8_t* data, size_t size) const
    {
        Bytes block = m_template;
        for (size_t i = 0; i + 3 < size && i < 400; i += 4) {
            const size_t at = (data[i + 1] | size_t{data[i + 2]} << 8) % block.size();
            const auto where = block.begin() + static_cast<ptrdiff_t>(at);
            switch (data[i] % 4) {
            case 0: block[at] ^= data[i + 3]; break;
            case 1: block[at] = data[i + 3]; break;
            case 2:
                if (block.size() > BlockHeader::kSize + 1) block.erase(where);
                break;
            case 3: block.insert(where, data[i + 3]); break;
            }
        }
        return block;
    }

    void Disconnect(const BlockView& view, const HeaderNode& node, const BlockUndo& undo,
                    CoinsCache& overlay) const
    {
        auto stored = BlockUndo::Decode(undo.Encode());
        CHECK(stored.Ok());
        CHECK(*stored == undo);
        const auto verdict = DisconnectBlock(view, node, m_params, std::move(*stored), overlay);
        CHECK(verdict.Ok());
        CHECK(*verdict == DisconnectVerdict::kClean);
    }

    const ChainParams m_params;
    const Nothing m_nothing;
    HeaderTree m_tree;
    CoinsCache m_coins;
    ScriptThreads m_scripts{0};
    HeaderNode* m_tip = nullptr;
    Bytes m_template;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Ground ground;
    ground.Try(data, size);
    return 0;
}
