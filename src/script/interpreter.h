// The script interpreter: runs one script over a stack. Consensus code: every limit and the order
// of the checks matter. Pure; any thread. BIPs 16, 65, 66, 112, 141, 143, 147, 341, 342.
#pragma once

#include "script/script_error.h"
#include "script/script_stack.h"
#include "script/sighash.h"
#include "script/signature_checker.h"
#include "script/verify_flags.h"

namespace ibd {

/** The state of a tapscript between its signature checks. */
struct TapscriptState {
    TaprootContext context;
    int64_t weight_left = 0; //!< BIP342 budget, weight units
};

/** Runs `script` on `stack`. kOk: it ran to its end, with anything on the stack, which may refer to
 *  bytes of `script` (see StackItem). `tapscript` is used only with SigVersion::kTapscript and may
 *  be null otherwise. */
ScriptError EvalScript(ScriptStack& stack, ByteSpan script, ScriptFlags flags,
                       const SignatureChecker& checker, SigVersion version,
                       TapscriptState* tapscript = nullptr);

/** Removes `pattern` wherever it is at the start of an operation of `script`, also repeated
 *  directly behind (the original signature hash rule); returns the number of matches. `kept`
 *  becomes the script without them if there are any; `script` may be inside `kept`. Linear in the
 *  script if the pattern is a whole operation. */
int FindAndDelete(ByteSpan script, ByteSpan pattern, Bytes& kept);

} // namespace ibd
