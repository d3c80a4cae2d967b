// The linked version of libsecp256k1, shown by -version because consensus depends on it.
#pragma once

#include <string_view>

namespace ibd {

/** For example "0.7.2 of libbitcoinkernel-sys 0.4.1 (commit f27eff2051e4), static": its own
 *  version, the pinned package with its source, the kind of linking. Fixed when CMake configures.
 */
std::string_view Secp256k1Version();

} // namespace ibd
