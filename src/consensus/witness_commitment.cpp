// See witness_commitment.h.
#include "consensus/witness_commitment.h"

#include "crypto/sha256.h"

#include <algorithm>

namespace ibd {

Uint256 WitnessCommitmentHash(const Uint256& witness_root, ByteSpan reserved)
{
    Bytes preimage;
    Append(preimage, witness_root.Span());
    Append(preimage, reserved);
    return Uint256(Sha256d(preimage));
}

Bytes WitnessCommitmentScript(const Uint256& witness_root, ByteSpan reserved)
{
    Bytes script(kCommitmentTag.begin(), kCommitmentTag.end());
    Append(script, WitnessCommitmentHash(witness_root, reserved).Span());
    return script;
}

int WitnessCommitmentIndex(const TxView& coinbase)
{
    for (size_t i = coinbase.outputs.size(); i-- > 0;) {
        const ByteSpan script = coinbase.outputs[i].script_pubkey;
        if (script.size() >= kCommitmentScriptSize &&
            std::equal(kCommitmentTag.begin(), kCommitmentTag.end(), script.begin())) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

} // namespace ibd
