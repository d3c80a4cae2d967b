// Shared code of tests over published script vectors: flag names, scripts as words, and spends
// built around a script.
#pragma once

#include "primitives/transaction.h"
#include "script/verify.h"

namespace ibd::test {

/** Names and masks of all flags, as Core's vectors write them. */
struct FlagName {
    const char* name;
    ScriptFlags flag;
};
std::span<const FlagName> FlagNames();
inline constexpr int kFlagCount = 21;
inline constexpr ScriptFlags kAllFlags = (1U << kFlagCount) - 1;

/** "P2SH,WITNESS"; "NONE" and "" are no flags. Nothing for an unknown name. */
std::optional<ScriptFlags> ParseFlags(const std::string& text);

/** Without flags whose premise is missing: CLEANSTACK needs WITNESS, that and TAPROOT need P2SH. */
ScriptFlags TrimFlags(ScriptFlags flags);
/** With the premises of all flags. */
ScriptFlags FillFlags(ScriptFlags flags);

/** Core's notation: words, numbers, 'text', 0x raw bytes. Fails the test on anything else. */
Bytes ParseScriptWords(const std::string& text);

/** Verifies input `index` of `tx`, whose spent outputs are known all or not at all. */
ScriptError VerifyAt(const TxView& tx, size_t index, const SpentOutput& spent,
                     std::span<const SpentOutput> all, ScriptFlags flags);

/** An outpoint of an imagined transaction; a spend of `script` as its only output, built as Core's
 *  vectors assume. */
TransactionRef SpendOf(ByteSpan script, Amount value, ByteSpan script_sig,
                       std::vector<Bytes> witness);

} // namespace ibd::test
