// Names and numbers by which the programs identify themselves.
#pragma once

namespace ibd {

inline constexpr const char* kProjectName = "ibd-booster";
inline constexpr const char* kVersion = "0.1.0";
/** 10000 * major + 100 * minor + patch of the version of Core that this one stands in for: programs
 *  ask for it to know what calls there are. The own number is in the user agent and -version. */
inline constexpr int kCompatibleVersion = 310000;

} // namespace ibd
