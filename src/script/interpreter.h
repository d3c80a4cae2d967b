// The script interpreter: runs one script over a stack. Consensus code: every limit and the order
// of the checks matter. Pure; any thread. BIPs 16, 65, 66, 112, 141, 143, 147, 341, 342.
#pragma once

#include "script/script_error.h"
#include "script/sighash.h"
#include "script/signature_checker.h"
#include "script/verify_flags.h"

#include <vector>

namespace ibd {

using ScriptStack = std::vector<Bytes>;

/** What a tapscript carries from one signature check to the next. */
struct TapscriptState {
    TaprootContext context;
    int64_t weight_left = 0; //!< BIP342 budget, weight units
};

/** Runs `script` on `stack`. kOk says that it ran to its end, not that it left true on the stack.
 *  `tapscript` is used under SigVersion::kTapscript alone and may be null otherwise. */
ScriptError EvalScript(ScriptStack& stack, ByteSpan script, ScriptFlags flags,
                       const SignatureChecker& checker, SigVersion version,
                       TapscriptState* tapscript = nullptr);

/** Looks for the bytes `pattern` wherever an operation of `script` starts, and where it was found
 *  again directly behind; returns how often it was there. If it was, `kept` becomes the script
 *  without (the original signature hash rule); `script` may lie in `kept`. Linear in the script
 *  when the pattern is a whole operation. */
int FindAndDelete(ByteSpan script, ByteSpan pattern, Bytes& kept);

} // namespace ibd
