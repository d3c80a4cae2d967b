// PSBTs in calls: as base64 and as JSON, field for field as Core prints them. Pure; any thread.
#pragma once

#include "psbt/analyze.h"
#include "rpc/json.h"
#include "rpc/method.h"
#include "script/address.h"

namespace ibd {

/** The argument that takes one. */
RpcArg PsbtArg();
/** A string argument; -22 in Core's words if it is no PSBT. */
Psbt ParsePsbt(const UniValue& base64);
std::string PsbtText(const Psbt& psbt);

/** The answer of decodepsbt. */
UniValue PsbtJson(const Psbt& psbt, const AddressPrefixes& prefixes);

/** The answer of analyzepsbt. */
UniValue PsbtAnalysisJson(const PsbtAnalysis& analysis);

} // namespace ibd
