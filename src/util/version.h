// Names and numbers by which the programs identify themselves.
#pragma once

namespace ibd {

inline constexpr const char* kProjectName = "ibd-booster";
inline constexpr const char* kVersion = "0.1.0";
/** 10000 * major + 100 * minor + patch of the compatible version of Core: programs query it to know
 *  the available calls. Our own version is in the user agent and -version. */
inline constexpr int kCompatibleVersion = 310000;

} // namespace ibd
