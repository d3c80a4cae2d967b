// See params_deployments.h.
#include "consensus/params_deployments.h"

#include "util/check.h"

namespace ibd {

std::string_view DeploymentName(BuriedDeployment deployment)
{
    switch (deployment) {
    case BuriedDeployment::kHeightInCoinbase: return "bip34";
    case BuriedDeployment::kDerSig: return "bip66";
    case BuriedDeployment::kCltv: return "bip65";
    case BuriedDeployment::kCsv: return "csv";
    case BuriedDeployment::kSegwit: return "segwit";
    }
    CHECK(false);
}

std::string_view DeploymentName(DeploymentId deployment)
{
    return deployment == DeploymentId::kTestDummy ? "testdummy" : "taproot";
}

std::optional<BuriedDeployment> BuriedDeploymentFromName(std::string_view name)
{
    using enum BuriedDeployment;
    if (name == "dersig") return kDerSig;
    if (name == "cltv") return kCltv;
    for (const auto deployment : {kHeightInCoinbase, kCsv, kSegwit}) {
        if (DeploymentName(deployment) == name) return deployment;
    }
    return {};
}

std::optional<DeploymentId> DeploymentFromName(std::string_view name)
{
    for (const auto deployment : {DeploymentId::kTestDummy, DeploymentId::kTaproot}) {
        if (DeploymentName(deployment) == name) return deployment;
    }
    return {};
}

} // namespace ibd
