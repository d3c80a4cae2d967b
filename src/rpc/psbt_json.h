// PSBTs in calls: base64 and JSON, field for field as in Core. Pure; any thread.
#pragma once

#include "jsonrpc/json.h"
#include "jsonrpc/method.h"
#include "keys/address.h"
#include "psbt/analyze.h"

namespace ibd {

/** An argument for a PSBT. */
RpcArg PsbtArg();
/** Parses a string argument; -22 in Core's words if it is not a PSBT. */
Psbt ParsePsbt(const UniValue& base64);
std::string PsbtText(const Psbt& psbt);

/** The answer of decodepsbt. */
UniValue PsbtJson(const Psbt& psbt, const AddressPrefixes& prefixes);

/** The answer of analyzepsbt. */
UniValue PsbtAnalysisJson(const PsbtAnalysis& analysis);

} // namespace ibd
