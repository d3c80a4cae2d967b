// The rules for verifying a script, as bits of a mask. Values are Core's, as tests and tools show
// them. Plain constants; any thread.
#pragma once

#include <cstdint>

namespace ibd {

using ScriptFlags = uint32_t;

inline constexpr ScriptFlags kVerifyNone = 0;
inline constexpr ScriptFlags kVerifyP2sh = 1U << 0;        //!< BIP16
inline constexpr ScriptFlags kVerifyStrictEnc = 1U << 1;   //!< policy: defined hash types, keys
inline constexpr ScriptFlags kVerifyDerSig = 1U << 2;      //!< BIP66
inline constexpr ScriptFlags kVerifyLowS = 1U << 3;        //!< policy, BIP146
inline constexpr ScriptFlags kVerifyNullDummy = 1U << 4;   //!< BIP147
inline constexpr ScriptFlags kVerifySigPushOnly = 1U << 5; //!< policy, BIP62
inline constexpr ScriptFlags kVerifyMinimalData = 1U << 6; //!< policy, BIP62
inline constexpr ScriptFlags kVerifyDiscourageUpgradableNops = 1U << 7; //!< policy
inline constexpr ScriptFlags kVerifyCleanStack = 1U << 8;               //!< policy, BIP62
inline constexpr ScriptFlags kVerifyCltv = 1U << 9;                     //!< BIP65
inline constexpr ScriptFlags kVerifyCsv = 1U << 10;                     //!< BIP112
inline constexpr ScriptFlags kVerifyWitness = 1U << 11;                 //!< BIP141
inline constexpr ScriptFlags kVerifyDiscourageUpgradableWitnessProgram = 1U << 12; //!< policy
inline constexpr ScriptFlags kVerifyMinimalIf = 1U << 13; //!< policy (consensus in tapscript)
inline constexpr ScriptFlags kVerifyNullFail = 1U << 14;  //!< policy, BIP146
inline constexpr ScriptFlags kVerifyWitnessPubkeyType = 1U << 15; //!< policy, BIP143
inline constexpr ScriptFlags kVerifyConstScriptCode = 1U << 16;   //!< policy
inline constexpr ScriptFlags kVerifyTaproot = 1U << 17;           //!< BIP341, BIP342
inline constexpr ScriptFlags kVerifyDiscourageUpgradableTaprootVersion = 1U << 18; //!< policy
inline constexpr ScriptFlags kVerifyDiscourageOpSuccess = 1U << 19;                //!< policy
inline constexpr ScriptFlags kVerifyDiscourageUpgradablePubkeyType = 1U << 20;     //!< policy

} // namespace ibd
