// Precompiled for every file of a test (cmake/Precompiled.cmake): that of the modules, and Catch2
// without its CHECK, which is put aside for support/catch.h because util/check.h has one too.
#pragma once

#include "util/precompiled.h"

#include <catch2/catch.hpp>

#pragma push_macro("CHECK")
#undef CHECK
