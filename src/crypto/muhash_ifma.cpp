// The products of muhash_lanes.h with AVX-512 IFMA.
#include "crypto/muhash_products.h"

#if defined(__x86_64__)
#include "crypto/lanes_ifma.h"

#include "crypto/muhash_lanes.h"

namespace ibd {

MuHashProducts IfmaMuHashProducts() { return lanes::HasIfma() ? lanes::MultiplyElements : nullptr; }

} // namespace ibd
#else
ibd::MuHashProducts ibd::IfmaMuHashProducts() { return nullptr; }
#endif
