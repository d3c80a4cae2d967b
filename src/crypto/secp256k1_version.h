// Which libsecp256k1 this program was linked with: consensus depends on it, so -version names it.
#pragma once

#include <string_view>

namespace ibd {

/** As "0.7.2 of libbitcoinkernel-sys 0.4.1 (commit f27eff2051e4), static": its own version, the
 *  pinned package that carries its source, how it is linked. Fixed when CMake configures. */
std::string_view Secp256k1Version();

} // namespace ibd
