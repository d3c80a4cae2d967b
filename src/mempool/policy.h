// Policy on a transaction itself, beyond consensus: script templates, sizes, dust; and fee rates.
// Rules and reject reasons are Core's. Pure; any thread.
#pragma once

#include "consensus/limits.h"
#include "consensus/rule_result.h"
#include "primitives/tx_view.h"

#include <vector>

namespace ibd {

inline constexpr uint32_t kTrucVersion = 3; //!< BIP431: topologically restricted
inline constexpr int64_t kMaxStandardWeight = 400'000;
inline constexpr int64_t kMaxStandardSigOpsCost = 16'000; //!< a fifth of a block's
inline constexpr uint32_t kMinStrippedSize = 65;          //!< CVE-2017-12842
/** BIP125: an input with this sequence or a lower one signals that the transaction may be replaced.
 */
inline constexpr uint32_t kMostReplaceable = kSequenceFinal - 2;

struct PolicyOptions {
    bool require_standard = true; //!< false with -acceptnonstdtxn
    // Satoshi for 1,000 virtual bytes.
    Amount min_relay_fee = 100;   //!< -minrelaytxfee
    Amount incremental_fee = 100; //!< -incrementalrelayfee
    Amount dust_fee = 3'000;      //!< -dustrelayfee
    /** Total bytes of OP_RETURN outputs (-datacarrier, -datacarriersize). */
    uint32_t max_datacarrier = 100'000;
    bool permit_bare_multisig = true; //!< -permitbaremultisig
    uint32_t bytes_per_sigop = 20;    //!< -bytespersigop
};

/** Whether it signals replaceability (BIP125). Replacement does not depend on it. */
bool SignalsReplacement(const TxView& tx);

/** Fee of `size` bytes at `rate` satoshi for 1,000, rounded up. */
Amount FeeAt(Amount rate, int64_t size);

/** The weight, or more for many signature operations. */
int64_t AdjustedWeight(int64_t weight, int64_t sigop_cost, uint32_t bytes_per_sigop);
/** A quarter of the adjusted weight, rounded up. */
int64_t VirtualSize(int64_t adjusted_weight);

/** Least value of an output that is not dust; 0 for an unspendable one. */
Amount DustLimit(const OutputView& output, Amount dust_fee);
/** Indexes of the outputs that are dust. */
std::vector<uint32_t> DustOutputs(const TxView& tx, Amount dust_fee);

/** Version, weight, scripts of inputs and outputs, at most one output of dust. */
RuleResult CheckStandardTx(const TxView& tx, const PolicyOptions& policy);

} // namespace ibd
