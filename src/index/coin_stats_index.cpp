// See coin_stats_index.h.
#include "index/coin_stats_index.h"

#include "consensus/script_flags.h"
#include "crypto/muhash_batch.h"
#include "index/height_records.h"
#include "script/coin_stats.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr uint8_t kMuHashKey[] = {'M'};

/** The change of the coins by a block. */
struct CoinChange final : PreparedBlock {
    MuHash3072 coins; //!< its denominator is one
    // Differences, modulo 2^64.
    uint64_t outputs = 0;
    uint64_t bogo_size = 0;
    BlockAmounts sums;
};

/** Calls `made(coin bytes, script)` and `spent(coin bytes, script)` for the coins of a block. */
template <typename Made, typename Spent>
void ForEachCoin(const IndexedBlock& block, const ConsensusParams& params, Made made, Spent spent)
{
    const auto height = static_cast<uint32_t>(block.place.height);
    if (height == 0) return;
    const auto txs = block.view->Txs();
    Bytes bytes;
    Writer out(bytes);
    for (size_t i = 0; i < txs.size(); ++i) {
        if (i == 0 && IsBip30Unspendable(block.place.height, block.place.hash, params)) continue;
        for (uint32_t n = 0; n < txs[i].outputs.size(); ++n) {
            const OutputView& output = txs[i].outputs[n];
            if (IsUnspendable(output.script_pubkey)) continue;
            bytes.clear();
            WriteHashedCoin(out, {txs[i].txid, n}, height, i == 0, output.value,
                            output.script_pubkey);
            made(bytes, output.script_pubkey);
        }
        if (i == 0) continue;
        const std::vector<Coin>& coins = block.undo->txs[i - 1].spent;
        for (size_t n = 0; n < coins.size(); ++n) {
            const Coin& coin = coins[n];
            bytes.clear();
            WriteHashedCoin(out, txs[i].inputs[n].Prevout(), coin);
            spent(bytes, coin.script);
        }
    }
}

/** The same set with a denominator of one, as Core stores it. */
MuHash3072 Normalised(const MuHash3072& set)
{
    const MuHash3072::Serialized bytes = set.Serialize();
    Num3072::Serialized part;
    std::copy_n(bytes.begin(), part.size(), part.begin());
    Num3072 numerator(part);
    std::copy_n(bytes.begin() + part.size(), part.size(), part.begin());
    numerator *= Num3072(part).Inverse();
    MuHash3072::Serialized out{};
    std::ranges::copy(numerator.ToBytes(), out.begin());
    out[part.size()] = 1;
    return MuHash3072::Deserialize(out);
}

/** The hash of a normalised set, without another division. */
Uint256 HashOf(const MuHash3072& set)
{
    const MuHash3072::Serialized bytes = set.Serialize();
    return Uint256(Sha256Of(ByteSpan(bytes).first(Num3072::kByteSize)));
}

} // namespace

Bytes CoinTotals::Encode() const
{
    Bytes bytes;
    Writer out(bytes);
    out.Hash(muhash);
    out.U64(outputs);
    out.U64(bogo_size);
    out.I64(total);
    out.I64(subsidy);
    out.Hash(prevouts.ToUint256());
    out.Hash(others.ToUint256());
    out.Hash(coinbase.ToUint256());
    out.I64(genesis);
    out.I64(repeated);
    out.I64(scripts);
    out.I64(unclaimed);
    return bytes;
}

std::optional<CoinTotals> CoinTotals::Decode(ByteSpan bytes)
{
    Reader in(bytes);
    CoinTotals out;
    out.muhash = in.Hash();
    out.outputs = in.U64();
    out.bogo_size = in.U64();
    out.total = in.I64();
    out.subsidy = in.I64();
    out.prevouts = Arith256::FromUint256(in.Hash());
    out.others = Arith256::FromUint256(in.Hash());
    out.coinbase = Arith256::FromUint256(in.Hash());
    out.genesis = in.I64();
    out.repeated = in.I64();
    out.scripts = in.I64();
    out.unclaimed = in.I64();
    if (!in.AtEnd()) return std::nullopt;
    return out;
}

Error CoinStatsIndex::Corrupted() const
{
    return BadData("Cannot read current {} state; index may be corrupted", Name());
}

Found<CoinTotals> CoinStatsIndex::FindTotals(int32_t height, const BlockHash& block) const
{
    IBD_ASSIGN_OR_RETURN(const auto value, FindRecord(Db(), height, block));
    if (!value) return std::nullopt;
    const auto totals = CoinTotals::Decode(*value);
    if (totals) return totals;
    return BadData("database {}: the record of block {} is malformed", Db().Directory().string(),
                   block.ToHex());
}

Result<> CoinStatsIndex::Load(const HeaderNode* best)
{
    IBD_ASSIGN_OR_RETURN(const auto value, Db().Get(kMuHashKey));
    if (value) {
        MuHash3072::Serialized bytes{};
        if (value->size() != bytes.size()) return Corrupted();
        std::ranges::copy(*value, bytes.begin());
        m_coins = Normalised(MuHash3072::Deserialize(bytes));
    }
    if (!best) return {};
    IBD_ASSIGN_OR_RETURN(const auto totals, Find(*best));
    if (!totals || totals->muhash != HashOf(m_coins)) return Corrupted();
    m_totals = *totals;
    return {};
}

// The inverse of the spent coins is the slowest step, so it is computed here, in parallel.
std::unique_ptr<PreparedBlock> CoinStatsIndex::Prepare(const IndexedBlock& block) const
{
    auto out = std::make_unique<CoinChange>();
    MuHashBatch coins;
    ForEachCoin(
        block, m_params,
        [&](const Bytes& coin, ByteSpan script) {
            coins.Insert(coin);
            ++out->outputs;
            out->bogo_size += BogoSize(script);
        },
        [&](const Bytes& coin, ByteSpan script) {
            coins.Remove(coin);
            --out->outputs;
            out->bogo_size -= BogoSize(script);
        });
    out->coins = Normalised(coins.Take());
    out->sums = AmountsOf(*block.view, block.place.height, block.undo, m_params);
    return out;
}

Result<> CoinStatsIndex::Connect(KvBatch& batch, const IndexedBlock& block)
{
    const auto& change = static_cast<const CoinChange&>(*block.prepared);
    CoinTotals next = m_totals;
    next.outputs += change.outputs;
    next.bogo_size += change.bogo_size;
    const BlockAmounts& sums = change.sums;
    next.total += sums.coinbase + sums.others - sums.prevouts;
    next.subsidy += sums.subsidy;
    next.prevouts += Arith256(static_cast<uint64_t>(sums.prevouts));
    next.others += Arith256(static_cast<uint64_t>(sums.others));
    next.coinbase += Arith256(static_cast<uint64_t>(sums.coinbase));
    next.genesis += sums.genesis;
    next.repeated += sums.repeated;
    next.scripts += sums.scripts;
    next.unclaimed += sums.unclaimed;
    m_coins *= change.coins;
    next.muhash = HashOf(m_coins);
    m_totals = next;
    PutAtHeight(batch, block.place.height, block.place.hash, m_totals.Encode());
    return {};
}

Result<> CoinStatsIndex::Disconnect(KvBatch& batch, const IndexedBlock& block)
{
    const StoredBlock& place = block.place;
    IBD_RETURN_IF_ERROR(KeepByHash(Db(), batch, place.height));
    IBD_ASSIGN_OR_RETURN(
        const CoinTotals below,
        RequireRecord(FindTotals(place.height - 1, place.prev_hash), Db(), place.prev_hash));
    const std::unique_ptr<PreparedBlock> change = Prepare(block);
    m_coins /= static_cast<const CoinChange&>(*change).coins;
    m_coins = Normalised(m_coins);
    m_totals = below;
    if (m_totals.muhash != HashOf(m_coins)) return Corrupted();
    return {};
}

Result<> CoinStatsIndex::Save(KvBatch& batch)
{
    batch.Put(kMuHashKey, m_coins.Serialize());
    return {};
}

} // namespace ibd
