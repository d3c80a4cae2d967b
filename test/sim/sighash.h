// The messages of input signatures, computed plainly from a MutableTransaction: the original
// scheme, BIP143 and BIP341. Written for the generator and independent of the script module, so
// that signed chains test the interpreter's code. Pure; any thread.
#pragma once

#include "crypto/sha256.h"
#include "primitives/transaction.h"

namespace ibd::sim {

inline constexpr uint8_t kSighashDefault = 0; //!< taproot only: as ALL
inline constexpr uint8_t kSighashAll = 1;
inline constexpr uint8_t kSighashNone = 2;
inline constexpr uint8_t kSighashSingle = 3;
inline constexpr uint8_t kSighashAnyoneCanPay = 0x80;

/** The output that an input spends. */
struct Prevout {
    Amount value = 0;
    ByteSpan script_pubkey;
};

/** `code` must hold no OP_CODESEPARATOR. */
Hash32 LegacySighash(const MutableTransaction& tx, size_t input, ByteSpan code, uint32_t type);

Hash32 SegwitV0Sighash(const MutableTransaction& tx, size_t input, ByteSpan code, Amount value,
                       uint32_t type);

/** `leaf` empty: spend by key. `spent` holds one entry for each input. SINGLE needs an output of
 *  the same index. */
Hash32 TaprootSighash(const MutableTransaction& tx, size_t input, const std::vector<Prevout>& spent,
                      ByteSpan leaf, uint8_t type);

} // namespace ibd::sim
