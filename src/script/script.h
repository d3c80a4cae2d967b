// Reads and builds scripts: iteration by opcode, signature operation counts, script templates,
// numbers. Scripts are plain bytes; this file does not run them. Pure; any thread.
#pragma once

#include "script/opcodes.h"
#include "util/bytes.h"

#include <optional>

namespace ibd {

inline constexpr size_t kMaxScriptElementSize = 520; //!< bytes pushed at once
inline constexpr size_t kMaxScriptSize = 10'000;     //!< bytes; longer scripts cannot be spent
inline constexpr int kMaxOpsPerScript = 201;         //!< non-push operations
inline constexpr int kMaxPubkeysPerMultisig = 20;
inline constexpr size_t kMaxStackSize = 1000; //!< stack and altstack together

/** Walks a script. Usage: while (it.Next()) { it.Op(), it.Data() }. Afterwards it.Failed() is true
 *  if a push exceeds the script. */
class ScriptIterator {
public:
    explicit ScriptIterator(ByteSpan script) : m_script(script) {}

    /** Moves to the next operation. False: the end, or a push that exceeds the script. */
    bool Next();
    uint8_t Op() const { return m_op; }
    /** Bytes pushed by this operation; empty if it is not a data push. */
    ByteSpan Data() const { return m_data; }
    /** Offset of this operation and of the one after it. */
    size_t Start() const { return m_start; }
    size_t End() const { return m_end; }
    bool Failed() const { return m_failed; }

private:
    ByteSpan m_script;
    ByteSpan m_data;
    size_t m_start = 0;
    size_t m_end = 0;
    uint8_t m_op = OP_INVALIDOPCODE;
    bool m_failed = false;
};

/** Whether the script has only complete pushes (opcodes up to OP_16; OP_RESERVED counts as one). */
bool IsPushOnly(ByteSpan script);

/** Number of signature operations: a CHECKSIG counts as 1; a CHECKMULTISIG as 20, or with
 *  `accurate` as the OP_1..OP_16 before it. Counting stops at an incomplete push. */
unsigned CountSigOps(ByteSpan script, bool accurate);
/** Reference for CountSigOps, over ScriptIterator. */
unsigned CountSigOpsSimple(ByteSpan script, bool accurate);
/** If `script_pubkey` is P2SH: accurate count of the redeem script, the last push of `script_sig`;
 *  0 if `script_sig` is not push-only. Otherwise: accurate count of `script_pubkey` itself. */
unsigned CountP2shSigOps(ByteSpan script_pubkey, ByteSpan script_sig);

struct WitnessProgram {
    int version = 0;  //!< 0..16
    ByteSpan program; //!< 2..40 bytes
};
/** BIP141: one version opcode and one direct push of 2 to 40 bytes. */
std::optional<WitnessProgram> ParseWitnessProgram(ByteSpan script);

bool IsPayToScriptHash(ByteSpan script); //!< BIP16
bool IsPayToAnchor(ByteSpan script);     //!< version 1, program 4e73

/** Whether the output can never be spent and so makes no coin: OP_RETURN first, or above 10,000
 *  bytes. */
inline bool IsUnspendable(ByteSpan script)
{
    return (!script.empty() && script[0] == OP_RETURN) || script.size() > kMaxScriptSize;
}

/** False: the data could have been pushed with a shorter operation than `op` (BIP62). */
bool IsMinimalPush(uint8_t op, ByteSpan data);

/** Appends the shortest length-prefixed push of `data` (not OP_1 and the like). */
void AppendPush(Bytes& script, ByteSpan data);
/** Appends a push of a number: OP_0, OP_1NEGATE, OP_1..OP_16, or its bytes. */
void AppendPushInt(Bytes& script, int64_t value);

/** 0..16 for OP_0, OP_1..OP_16; nothing for other opcodes. */
std::optional<int> SmallInt(uint8_t op);

/** The shortest little-endian form of a number with the sign in the top bit; empty for 0. */
class ScriptNum {
public:
    explicit ScriptNum(int64_t value);
    operator ByteSpan() const { return {m_bytes, m_size}; }

private:
    size_t m_size = 0;
    uint8_t m_bytes[9];
};
/** The bytes of ScriptNum(value), copied to a vector. */
Bytes EncodeScriptNum(int64_t value);
/** Nothing: longer than `max_size` (at most 8) or, with `require_minimal`, not the shortest form.
 */
std::optional<int64_t> DecodeScriptNum(ByteSpan bytes, bool require_minimal, size_t max_size = 4);
/** True unless all bytes are zero or only the sign bit is set. */
bool ScriptBool(ByteSpan bytes);

} // namespace ibd
