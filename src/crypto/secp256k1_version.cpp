// See secp256k1_version.h.
#include "crypto/secp256k1_version.h"

namespace ibd {

std::string_view Secp256k1Version() { return IBD_SECP256K1_DESCRIPTION; }

} // namespace ibd
