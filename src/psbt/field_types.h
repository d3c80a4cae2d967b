// The type bytes of PSBT fields (BIP174, 370, 371, 373). Plain constants.
#pragma once

#include <array>
#include <cstdint>

namespace ibd {

/** The start of every PSBT. */
inline constexpr std::array<uint8_t, 5> kPsbtMagic = {'p', 's', 'b', 't', 0xff};

/** In any of the maps. */
inline constexpr uint8_t kPsbtProprietary = 0xfc;

namespace psbt_global {
inline constexpr uint8_t kUnsignedTx = 0x00;
inline constexpr uint8_t kXpub = 0x01;
inline constexpr uint8_t kTxVersion = 0x02;
inline constexpr uint8_t kFallbackLockTime = 0x03;
inline constexpr uint8_t kInputCount = 0x04;
inline constexpr uint8_t kOutputCount = 0x05;
inline constexpr uint8_t kModifiable = 0x06;
inline constexpr uint8_t kVersion = 0xfb;
} // namespace psbt_global

namespace psbt_in {
inline constexpr uint8_t kNonWitnessUtxo = 0x00;
inline constexpr uint8_t kWitnessUtxo = 0x01;
inline constexpr uint8_t kPartialSignature = 0x02;
inline constexpr uint8_t kSighashType = 0x03;
inline constexpr uint8_t kRedeemScript = 0x04;
inline constexpr uint8_t kWitnessScript = 0x05;
inline constexpr uint8_t kKeyOrigin = 0x06;
inline constexpr uint8_t kFinalScriptSig = 0x07;
inline constexpr uint8_t kFinalWitness = 0x08;
inline constexpr uint8_t kRipemd160 = 0x0a;
inline constexpr uint8_t kSha256 = 0x0b;
inline constexpr uint8_t kHash160 = 0x0c;
inline constexpr uint8_t kHash256 = 0x0d;
inline constexpr uint8_t kPreviousTxid = 0x0e;
inline constexpr uint8_t kOutputIndex = 0x0f;
inline constexpr uint8_t kSequence = 0x10;
inline constexpr uint8_t kTimeLock = 0x11;
inline constexpr uint8_t kHeightLock = 0x12;
inline constexpr uint8_t kTaprootSignature = 0x13;
inline constexpr uint8_t kTaprootScriptSignature = 0x14;
inline constexpr uint8_t kTaprootLeaf = 0x15;
inline constexpr uint8_t kTaprootOrigin = 0x16;
inline constexpr uint8_t kTaprootInternalKey = 0x17;
inline constexpr uint8_t kTaprootRoot = 0x18;
inline constexpr uint8_t kMusigParticipants = 0x1a;
inline constexpr uint8_t kMusigNonce = 0x1b;
inline constexpr uint8_t kMusigSignature = 0x1c;
} // namespace psbt_in

namespace psbt_out {
inline constexpr uint8_t kRedeemScript = 0x00;
inline constexpr uint8_t kWitnessScript = 0x01;
inline constexpr uint8_t kKeyOrigin = 0x02;
inline constexpr uint8_t kAmount = 0x03;
inline constexpr uint8_t kScript = 0x04;
inline constexpr uint8_t kTaprootInternalKey = 0x05;
inline constexpr uint8_t kTaprootTree = 0x06;
inline constexpr uint8_t kTaprootOrigin = 0x07;
inline constexpr uint8_t kMusigParticipants = 0x08;
} // namespace psbt_out

} // namespace ibd
