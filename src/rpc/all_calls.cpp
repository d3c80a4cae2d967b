// See all_calls.h.
#include "rpc/all_calls.h"
#include "rpc/util_calls.h"

namespace ibd {

void AddAllCalls(RpcTable& table, const CallContexts& contexts)
{
    AddControlMethods(table, contexts.control);

    ChainContext& chain = contexts.chain;
    TxPool& pool = contexts.pool.pool;
    AddChainInfoMethods(table, chain);
    AddDeploymentMethods(table, chain);
    AddBlockMethods(table, chain);
    AddCoinsMethods(table, chain, pool);
    AddSnapshotMethods(table, chain);
    AddScanMethods(table, chain);
    AddDescriptorMethods(table, chain);
    AddDescriptorActivityMethod(table, chain, pool);
    AddTransactionMethods(table, chain, pool);
    AddTxProofMethods(table, chain);
    AddChainControlMethods(table, chain);
    AddIndexMethods(table, chain);
    AddBlockFilterMethods(table, chain);
    AddBoosterMethods(table, chain, contexts.booster, contexts.overall,
                      contexts.signature_verifier);
    AddHintsMethods(table, chain, contexts.pool.log, contexts.hints_join, contexts.hints_made);

    AddMempoolMethods(table, contexts.pool);
    AddMempoolClusterMethods(table, contexts.pool);
    AddPrioritiseMethods(table, contexts.pool);
    AddMempoolFileMethods(table, contexts.pool);
    AddSendMethod(table, contexts.pool, contexts.net);
    AddSubmitPackageMethod(table, contexts.pool);
    AddTestAcceptMethod(table, contexts.pool);
    AddSpenderMethod(table, contexts.pool);
    AddFeeMethods(table, contexts.pool);

    AddMiningMethods(table, contexts.mining);
    AddBlockTemplateMethods(table, contexts.mining);
    AddGenerateMethods(table, contexts.mining);

    AddAddressMethods(table, chain);
    AddMessageMethods(table, chain);
    AddDecodeScriptMethod(table, chain);
    AddRawTransactionMethods(table, contexts.pool);
    AddPsbtMethods(table, chain);
    AddPsbtSigningMethods(table, contexts.pool);

    AddNetworkMethods(table, contexts.net);
    AddPeerMethods(table, contexts.net);
    AddNodeMethods(table, contexts.net);
    AddBanMethods(table, contexts.net);
    AddPeerAddressMethods(table, contexts.net);
    AddTxRelayMethods(table, contexts.net);
    AddPrivateBroadcastMethods(table, contexts.net);

    AddZmqMethods(table, contexts.zmq);
}

} // namespace ibd
