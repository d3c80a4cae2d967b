// See script_error.h.
#include "script/script_error.h"

namespace ibd {

namespace {

struct Words {
    ScriptError error;
    const char* name;
    const char* text;
};

// The texts are part of the interface: other programs read them in reject reasons.
constexpr Words kWords[] = {
    {ScriptError::kOk, "OK", "No error"},
    {ScriptError::kUnknownError, "UNKNOWN_ERROR", "unknown error"},
    {ScriptError::kEvalFalse, "EVAL_FALSE",
     "Script evaluated without error but finished with a false/empty top stack element"},
    {ScriptError::kOpReturn, "OP_RETURN", "OP_RETURN was encountered"},
    {ScriptError::kScriptSize, "SCRIPT_SIZE", "Script is too big"},
    {ScriptError::kPushSize, "PUSH_SIZE", "Push value size limit exceeded"},
    {ScriptError::kOpCount, "OP_COUNT", "Operation limit exceeded"},
    {ScriptError::kStackSize, "STACK_SIZE", "Stack size limit exceeded"},
    {ScriptError::kSigCount, "SIG_COUNT", "Signature count negative or greater than pubkey count"},
    {ScriptError::kPubkeyCount, "PUBKEY_COUNT", "Pubkey count negative or limit exceeded"},
    {ScriptError::kVerify, "VERIFY", "Script failed an OP_VERIFY operation"},
    {ScriptError::kEqualVerify, "EQUALVERIFY", "Script failed an OP_EQUALVERIFY operation"},
    {ScriptError::kCheckMultisigVerify, "CHECKMULTISIGVERIFY",
     "Script failed an OP_CHECKMULTISIGVERIFY operation"},
    {ScriptError::kCheckSigVerify, "CHECKSIGVERIFY",
     "Script failed an OP_CHECKSIGVERIFY operation"},
    {ScriptError::kNumEqualVerify, "NUMEQUALVERIFY",
     "Script failed an OP_NUMEQUALVERIFY operation"},
    {ScriptError::kBadOpcode, "BAD_OPCODE", "Opcode missing or not understood"},
    {ScriptError::kDisabledOpcode, "DISABLED_OPCODE", "Attempted to use a disabled opcode"},
    {ScriptError::kInvalidStackOperation, "INVALID_STACK_OPERATION",
     "Operation not valid with the current stack size"},
    {ScriptError::kInvalidAltstackOperation, "INVALID_ALTSTACK_OPERATION",
     "Operation not valid with the current altstack size"},
    {ScriptError::kUnbalancedConditional, "UNBALANCED_CONDITIONAL", "Invalid OP_IF construction"},
    {ScriptError::kScriptNum, "SCRIPTNUM", "Script number overflowed or is non-minimally encoded"},
    {ScriptError::kNegativeLocktime, "NEGATIVE_LOCKTIME", "Negative locktime"},
    {ScriptError::kUnsatisfiedLocktime, "UNSATISFIED_LOCKTIME",
     "Locktime requirement not satisfied"},
    {ScriptError::kSigHashType, "SIG_HASHTYPE", "Signature hash type missing or not understood"},
    {ScriptError::kSigDer, "SIG_DER", "Non-canonical DER signature"},
    {ScriptError::kMinimalData, "MINIMALDATA", "Data push larger than necessary"},
    {ScriptError::kSigPushOnly, "SIG_PUSHONLY", "Only push operators allowed in signatures"},
    {ScriptError::kSigHighS, "SIG_HIGH_S",
     "Non-canonical signature: S value is unnecessarily high"},
    {ScriptError::kSigNullDummy, "SIG_NULLDUMMY", "Dummy CHECKMULTISIG argument must be zero"},
    {ScriptError::kPubkeyType, "PUBKEYTYPE", "Public key is neither compressed or uncompressed"},
    {ScriptError::kCleanStack, "CLEANSTACK", "Stack size must be exactly one after execution"},
    {ScriptError::kMinimalIf, "MINIMALIF", "OP_IF/NOTIF argument must be minimal"},
    {ScriptError::kSigNullFail, "NULLFAIL",
     "Signature must be zero for failed CHECK(MULTI)SIG operation"},
    {ScriptError::kDiscourageUpgradableNops, "DISCOURAGE_UPGRADABLE_NOPS",
     "NOPx reserved for soft-fork upgrades"},
    {ScriptError::kDiscourageUpgradableWitnessProgram, "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM",
     "Witness version reserved for soft-fork upgrades"},
    {ScriptError::kDiscourageUpgradableTaprootVersion, "DISCOURAGE_UPGRADABLE_TAPROOT_VERSION",
     "Taproot version reserved for soft-fork upgrades"},
    {ScriptError::kDiscourageOpSuccess, "DISCOURAGE_OP_SUCCESS",
     "OP_SUCCESSx reserved for soft-fork upgrades"},
    {ScriptError::kDiscourageUpgradablePubkeyType, "DISCOURAGE_UPGRADABLE_PUBKEYTYPE",
     "Public key version reserved for soft-fork upgrades"},
    {ScriptError::kWitnessProgramWrongLength, "WITNESS_PROGRAM_WRONG_LENGTH",
     "Witness program has incorrect length"},
    {ScriptError::kWitnessProgramWitnessEmpty, "WITNESS_PROGRAM_WITNESS_EMPTY",
     "Witness program was passed an empty witness"},
    {ScriptError::kWitnessProgramMismatch, "WITNESS_PROGRAM_MISMATCH",
     "Witness program hash mismatch"},
    {ScriptError::kWitnessMalleated, "WITNESS_MALLEATED", "Witness requires empty scriptSig"},
    {ScriptError::kWitnessMalleatedP2sh, "WITNESS_MALLEATED_P2SH",
     "Witness requires only-redeemscript scriptSig"},
    {ScriptError::kWitnessUnexpected, "WITNESS_UNEXPECTED",
     "Witness provided for non-witness script"},
    {ScriptError::kWitnessPubkeyType, "WITNESS_PUBKEYTYPE", "Using non-compressed keys in segwit"},
    {ScriptError::kSchnorrSigSize, "SCHNORR_SIG_SIZE", "Invalid Schnorr signature size"},
    {ScriptError::kSchnorrSigHashType, "SCHNORR_SIG_HASHTYPE",
     "Invalid Schnorr signature hash type"},
    {ScriptError::kSchnorrSig, "SCHNORR_SIG", "Invalid Schnorr signature"},
    {ScriptError::kTaprootWrongControlSize, "TAPROOT_WRONG_CONTROL_SIZE",
     "Invalid Taproot control block size"},
    {ScriptError::kTapscriptValidationWeight, "TAPSCRIPT_VALIDATION_WEIGHT",
     "Too much signature validation relative to witness weight"},
    {ScriptError::kTapscriptCheckMultisig, "TAPSCRIPT_CHECKMULTISIG",
     "OP_CHECKMULTISIG(VERIFY) is not available in tapscript"},
    {ScriptError::kTapscriptMinimalIf, "TAPSCRIPT_MINIMALIF",
     "OP_IF/NOTIF argument must be minimal in tapscript"},
    {ScriptError::kTapscriptEmptyPubkey, "TAPSCRIPT_EMPTY_PUBKEY", "Empty public key in tapscript"},
    {ScriptError::kOpCodeSeparator, "OP_CODESEPARATOR",
     "Using OP_CODESEPARATOR in non-witness script"},
    {ScriptError::kSigFindAndDelete, "SIG_FINDANDDELETE", "Signature is found in scriptCode"},
};

const Words& WordsOf(ScriptError error)
{
    for (const Words& words : kWords) {
        if (words.error == error) return words;
    }
    return kWords[1];
}

} // namespace

const char* ScriptErrorName(ScriptError error) { return WordsOf(error).name; }
const char* ScriptErrorText(ScriptError error) { return WordsOf(error).text; }

} // namespace ibd
