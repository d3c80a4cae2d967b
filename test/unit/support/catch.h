// Catch2 for tests. The last include of a file: from here on CHECK is Catch2's and no longer that
// of util/check.h, which the headers above use.
#include <catch2/catch.hpp>

// Restores the CHECK of a precompiled Catch2 (precompiled.h). Without precompilation gcc ignores
// the pragma, and clang, for which nothing is precompiled, would warn.
#ifndef __clang__
#pragma pop_macro("CHECK")
#endif
