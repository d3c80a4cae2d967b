// Views of a transaction inside serialized bytes: the form that rules, scripts and engines use.
// Views own nothing; bytes and arrays belong to a BlockView or a Transaction, which must outlive
// the view.
#pragma once

#include "primitives/uint256.h"

#include <cstdint>
#include <span>

namespace ibd {

/** Smallest unit of value: 1/100,000,000 BTC. */
using Amount = int64_t;
inline constexpr Amount kCoin = 100'000'000;
inline constexpr Amount kMaxMoney = 21'000'000 * kCoin;
constexpr bool MoneyRange(Amount a) { return a >= 0 && a <= kMaxMoney; }

/** Identifies one output of one transaction. */
struct OutPoint {
    static constexpr uint32_t kNullIndex = 0xffffffff;

    Txid txid;
    uint32_t vout = kNullIndex;

    bool IsNull() const { return vout == kNullIndex && txid.IsNull(); }
    auto operator<=>(const OutPoint&) const = default;
};

struct InputView {
    const uint8_t* prevout_bytes = nullptr; //!< 36 bytes: txid, vout little-endian
    ByteSpan script_sig;
    uint32_t sequence = 0;
    uint32_t witness_items = 0; //!< number of stack items in `witness`
    ByteSpan witness;           //!< the items, each CompactSize length then bytes; no item count

    OutPoint Prevout() const;
    /** Whether Prevout().vout is that of a null outpoint, which no output can have. */
    bool HasNullIndex() const;
    /** Prevout().IsNull(), as in the single input of a coinbase. */
    bool SpendsNothing() const { return HasNullIndex() && Prevout().IsNull(); }
};

struct OutputView {
    Amount value = 0;
    ByteSpan script_pubkey;
};

struct TxView {
    uint32_t version = 0;
    uint32_t lock_time = 0;
    std::span<const InputView> inputs;
    std::span<const OutputView> outputs;
    ByteSpan raw;               //!< the serialization, with witness if it has one
    bool has_witness = false;   //!< raw is in the extended (BIP144) form
    uint32_t stripped_size = 0; //!< bytes without witness, marker and flag
    Txid txid;                  //!< computed once when parsed

    bool IsCoinbase() const { return inputs.size() == 1 && inputs[0].SpendsNothing(); }
    /** BIP141 weight: 3 * stripped size + total size. */
    int64_t Weight() const { return 3 * int64_t{stripped_size} + int64_t(raw.size()); }
    /** Hash with witness (BIP141); the txid without one. Computed at each call. */
    Wtxid WitnessHash() const;
};

/** Calls `visit(ByteSpan item)` for each witness stack item of an input, in order. */
template <typename Visitor>
void ForEachWitnessItem(const InputView& input, Visitor visit);

/** The parts of the txid preimage inside `raw`, in order: version, inputs and outputs, lock time.
 *  Without witness it is `raw` itself. Total length is stripped_size. */
struct TxidPreimage {
    ByteSpan parts[3];
};
TxidPreimage GetTxidPreimage(const TxView& tx);

} // namespace ibd

#include "primitives/tx_view_impl.h"
