// Precompiled for every file of src/ and bench/ (cmake/Precompiled.cmake). Files must neither
// include it nor rely on it: it has only system headers that many files include.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
