// ScriptError: why a script failed, with Core's distinctions. Plain values.
#pragma once

namespace ibd {

enum class ScriptError {
    kOk,
    kUnknownError,
    kEvalFalse,
    kOpReturn,

    // Sizes and counts.
    kScriptSize,
    kPushSize,
    kOpCount,
    kStackSize,
    kSigCount,
    kPubkeyCount,

    // The VERIFY family.
    kVerify,
    kEqualVerify,
    kCheckMultisigVerify,
    kCheckSigVerify,
    kNumEqualVerify,

    // Operations and structure.
    kBadOpcode,
    kDisabledOpcode,
    kInvalidStackOperation,
    kInvalidAltstackOperation,
    kUnbalancedConditional,
    kScriptNum,

    // BIP65, BIP112.
    kNegativeLocktime,
    kUnsatisfiedLocktime,

    // Malleability (BIP62, BIP66, BIP146, BIP147).
    kSigHashType,
    kSigDer,
    kMinimalData,
    kSigPushOnly,
    kSigHighS,
    kSigNullDummy,
    kPubkeyType,
    kCleanStack,
    kMinimalIf,
    kSigNullFail,

    // Reserved for soft forks.
    kDiscourageUpgradableNops,
    kDiscourageUpgradableWitnessProgram,
    kDiscourageUpgradableTaprootVersion,
    kDiscourageOpSuccess,
    kDiscourageUpgradablePubkeyType,

    // BIP141, BIP143.
    kWitnessProgramWrongLength,
    kWitnessProgramWitnessEmpty,
    kWitnessProgramMismatch,
    kWitnessMalleated,
    kWitnessMalleatedP2sh,
    kWitnessUnexpected,
    kWitnessPubkeyType,

    // BIP340 to BIP342.
    kSchnorrSigSize,
    kSchnorrSigHashType,
    kSchnorrSig,
    kTaprootWrongControlSize,
    kTapscriptValidationWeight,
    kTapscriptCheckMultisig,
    kTapscriptMinimalIf,
    kTapscriptEmptyPubkey,

    // Constant script code.
    kOpCodeSeparator,
    kSigFindAndDelete,
};

/** The name in Core's test vectors, e.g. "EVAL_FALSE"; "OK" for kOk. */
const char* ScriptErrorName(ScriptError error);
/** The text in reject reasons and RPC answers. */
const char* ScriptErrorText(ScriptError error);

} // namespace ibd
