// Boost's big integers, and the field and the order of secp256k1 in them.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace ibd::test {

using Big = boost::multiprecision::cpp_int;

inline const Big kP("0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f");
inline const Big kN("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");

} // namespace ibd::test
