// Names and numbers by which the programs identify themselves.
#pragma once

namespace ibd {

inline constexpr const char* kProjectName = "ibd-booster";
inline constexpr const char* kVersion = "0.1.0";
inline constexpr int kVersionNumber = 100; //!< 10000 * major + 100 * minor + patch
inline constexpr const char* kUserAgent = "/ibd-booster:0.1.0/";
inline constexpr int kProtocolVersion = 70016;

} // namespace ibd
