// Names and parameters of soft-fork deployments: buried ones (a height) and BIP9 ones (version
// bits). Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace ibd {

/** Deployments with a fixed activation height. */
enum class BuriedDeployment { kHeightInCoinbase, kDerSig, kCltv, kCsv, kSegwit };

/** Deployments decided by version bits (BIP9). */
enum class DeploymentId { kTestDummy, kTaproot };
inline constexpr size_t kDeploymentCount = 2;

struct Bip9Deployment {
    static constexpr int64_t kNoTimeout = std::numeric_limits<int64_t>::max();
    static constexpr int64_t kAlwaysActive = -1;
    static constexpr int64_t kNeverActive = -2;

    int bit = 28;                      //!< 0..28, of the block version
    int64_t start_time = kNeverActive; //!< median time past, seconds since 1970
    int64_t timeout = kNeverActive;    //!< median time past, seconds since 1970
    int min_activation_height = 0;     //!< locked in until then (BIP341 "speedy trial")
    int threshold = 1815;              //!< signalling blocks in a period that lock it in
    int period = 2016;                 //!< blocks
};

/** Name in getdeploymentinfo: bip34, bip66, bip65, csv, segwit. */
std::string_view DeploymentName(BuriedDeployment deployment);
/** Name in getdeploymentinfo: testdummy, taproot. */
std::string_view DeploymentName(DeploymentId deployment);
/** From the name in -testactivationheight: bip34, dersig, cltv, csv, segwit. */
std::optional<BuriedDeployment> BuriedDeploymentFromName(std::string_view name);
std::optional<DeploymentId> DeploymentFromName(std::string_view name);

} // namespace ibd
