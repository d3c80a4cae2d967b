// The standard templates of output scripts. Pure; any thread.
#pragma once

#include "script/script.h"

#include <vector>

namespace ibd {

enum class ScriptKind {
    kNonStandard,
    kPubkey,
    kPubkeyHash,
    kScriptHash,
    kMultisig,
    kNullData,
    kWitnessV0KeyHash,
    kWitnessV0ScriptHash,
    kTaproot,
    kAnchor,
    kWitnessUnknown,
};

struct ScriptTemplate {
    ScriptKind kind = ScriptKind::kNonStandard;
    int required = 0; //!< multisig: signatures needed
    int version = 0;  //!< witness programs
    /** Views into the script: the key, the hash, the keys of multisig, the program. */
    std::vector<ByteSpan> parts;
};

/** The template according to Core's Solver: keys by length and prefix only, multisig of 1 to 20
 *  keys, OP_RETURN followed by pushes only. */
ScriptTemplate ClassifyScript(ByteSpan script);

/** Names in RPC answers: "pubkeyhash", "witness_v1_taproot", "nonstandard", ... */
const char* ScriptKindName(ScriptKind kind);

/** 33 bytes starting with 02 or 03, or 65 starting with 04, 06 or 07. */
bool HasPubkeyShape(ByteSpan key);

/** Pay to public key hash (20 bytes): DUP HASH160 <hash> EQUALVERIFY CHECKSIG. */
Bytes PubkeyHashScript(ByteSpan hash);

/** Pay to script hash (20 bytes, BIP16): HASH160 <hash> EQUAL. */
Bytes ScriptHashScript(ByteSpan hash);

/** A witness program (BIP141): version 0 to 16, then a push of the program, 2 to 40 bytes. */
Bytes WitnessProgramScript(int version, ByteSpan program);

} // namespace ibd
