// FakeChain: a chain for indexes, made of given blocks: header tree and block files, without coins.
// The test says which block is the tip, and at which block the coins on disk are.
#pragma once

#include "index/index_chain.h"
#include "sim/chain.h"
#include "storage/kv_store.h"
#include "storage/undo.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <fstream>
#include <map>

namespace ibd::test {

inline Env& TestEnv()
{
    static const std::unique_ptr<Env> env = MakePosixEnv();
    return *env;
}
inline Logger& TestLog()
{
    static const std::unique_ptr<Logger> log = MakeNullLogger();
    return *log;
}

inline Result<std::unique_ptr<KvStore>> OpenKv(const Path& folder, KvIoCheck before_io = nullptr)
{
    KvOptions options;
    options.directory = folder;
    options.cache_bytes = 1 << 20;
    options.before_io = std::move(before_io);
    return KvStore::Open(TestEnv(), TestLog(), std::move(options));
}

class FakeChain final : public IndexChain {
public:
    FakeChain(const ChainParams& params, const Path& folder) : m_headers(params)
    {
        BlockStoreOptions options;
        options.blocks_dir = folder;
        options.magic = params.magic;
        std::filesystem::create_directories(folder);
        m_blocks = Must(BlockStore::Open(TestEnv(), TestLog(), options));
        Add(params.genesis.raw);
    }

    /** Stores a block on a known one. */
    const HeaderNode* Add(ByteSpan raw) IBD_NO_THREAD_CHECK
    {
        BlockView view;
        Must(view.Parse(raw));
        HeaderNode* const node = m_headers.tree.Insert(view.Header(), view.Hash());
        REQUIRE(node != nullptr);
        const FilePos at = Must(
            m_blocks->WriteBlock(raw, static_cast<uint32_t>(node->height), view.Header().time));
        node->file = at.file;
        node->data_pos = at.offset;
        node->status |= kHaveData;
        node->tx_count = static_cast<uint32_t>(view.Txs().size());
        return node;
    }
    /** Adds the undo data of a stored block. */
    void AddUndo(const HeaderNode& of, const BlockUndo& undo) IBD_NO_THREAD_CHECK
    {
        HeaderNode* const node = m_headers.tree.Find(of.hash);
        const FilePos at = Must(m_blocks->WriteUndo(node->file, undo.Encode(), node->PrevHash(),
                                                    static_cast<uint32_t>(node->height)));
        node->undo_pos = at.offset;
        node->status |= kHaveUndo;
    }
    /** Forgets the data of a block, as pruning does. */
    void Prune(const HeaderNode& of) IBD_NO_THREAD_CHECK
    {
        HeaderNode* const node = m_headers.tree.Find(of.hash);
        node->status &= ~(kHaveData | kHaveUndo);
        m_pruned = true;
    }
    /** Damages a block on the disk, and finds that: it has no data until Restore(). */
    void Damage(const HeaderNode& of) IBD_NO_THREAD_CHECK
    {
        HeaderNode* const node = m_headers.tree.Find(of.hash);
        std::fstream file(m_blocks->BlockPath(node->file),
                          std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(node->data_pos);
        REQUIRE(file.write(std::string(BlockHeader::kSize, '\0').data(), BlockHeader::kSize));
        m_damaged.push_back({node->hash, {node->file, node->data_pos}});
        node->status &= ~kHaveData;
    }
    /** Stores a damaged block again, at another position. */
    void Restore(const HeaderNode& of, ByteSpan raw) IBD_NO_THREAD_CHECK
    {
        HeaderNode* const node = m_headers.tree.Find(of.hash);
        const FilePos at =
            Must(m_blocks->WriteBlock(raw, static_cast<uint32_t>(node->height), node->time));
        node->file = at.file;
        node->data_pos = at.offset;
        node->status |= kHaveData;
    }
    /** As after a restart. */
    void ForgetDamage() { m_damaged.clear(); }
    void SetTip(const HeaderNode* node)
    {
        const Lock lock(m_headers.mutex);
        m_headers.SetTip(m_headers.tree.Find(node->hash));
    }
    /** Sets a block's number of transactions up to it. */
    void CountTxs(const HeaderNode& of, uint64_t count) IBD_NO_THREAD_CHECK
    {
        m_headers.tree.Find(of.hash)->chain_tx_count = count;
    }
    void SetFlushed(const HeaderNode* node) { m_flushed = node; }
    /** Both. */
    void SetDurableTip(const HeaderNode* node)
    {
        SetTip(node);
        SetFlushed(node);
    }

    ChainReader Read() const override { return ChainReader(m_headers); }
    const BlockStore& Blocks() const override { return *m_blocks; }
    const HeaderNode* Flushed() const override { return m_flushed; }
    std::vector<DamagedBlock> Damaged(size_t known) const override
    {
        return {m_damaged.begin() + static_cast<std::ptrdiff_t>(known), m_damaged.end()};
    }
    bool HasPruned() const override { return m_pruned; }
    bool Interrupted() const override { return false; }

private:
    Headers m_headers;
    std::unique_ptr<BlockStore> m_blocks;
    std::atomic<const HeaderNode*> m_flushed = nullptr;
    bool m_pruned = false;
    std::vector<DamagedBlock> m_damaged;
};

/** Makes the undo data of blocks, given all blocks below. */
class UndoMaker {
public:
    BlockUndo Add(ByteSpan raw, int32_t height)
    {
        BlockView block;
        Must(block.Parse(raw));
        BlockUndo undo;
        for (const TxView& tx : block.Txs()) {
            for (uint32_t n = 0; n < tx.outputs.size(); ++n) {
                Coin& coin = m_coins[{tx.txid, n}];
                coin.value = tx.outputs[n].value;
                coin.height = static_cast<uint32_t>(height);
                coin.coinbase = tx.IsCoinbase();
                coin.script.Assign(tx.outputs[n].script_pubkey);
            }
        }
        for (const TxView& tx : block.Txs().subspan(1)) {
            TxUndo& spent = undo.txs.emplace_back();
            for (const InputView& input : tx.inputs) {
                spent.spent.push_back(m_coins.at(input.Prevout()));
            }
        }
        return undo;
    }

private:
    std::map<OutPoint, Coin> m_coins; //!< of all blocks so far, on any branch
};

/** All records of a database. */
inline std::map<Bytes, Bytes> RecordsOf(const KvStore& db)
{
    std::map<Bytes, Bytes> out;
    KvIterator it = db.NewIterator();
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
        out.emplace(Bytes(it.Key().begin(), it.Key().end()),
                    Bytes(it.Value().begin(), it.Value().end()));
    }
    Must(it.Status());
    return out;
}

/** Regtest blocks: a chain, and two branches on its end, the second one longer. */
struct Branches {
    std::vector<Bytes> common, a, b;

    explicit Branches(const ChainParams& params, int length = 115)
    {
        sim::ChainOptions options;
        options.blocks = length + 10;
        options.outputs_per_block = 20;
        sim::Chain chain(params, options);
        for (int i = 0; i < length; ++i) common.push_back(chain.Next().bytes);
        sim::Chain other = chain;
        other.Reseed(2);
        for (int i = 0; i < 3; ++i) a.push_back(chain.Next().bytes);
        for (int i = 0; i < 5; ++i) b.push_back(other.Next().bytes);
    }
};

} // namespace ibd::test
