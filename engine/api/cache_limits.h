// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::engine {

/// How much one of the user's caches may hold. The environment's `variable` says it in MiB, 0 that nothing is kept;
/// without the variable it is `mebibytes`.
struct CacheLimit {
    const char* variable = "";
    std::uint64_t mebibytes = 0;

    [[nodiscard]] constexpr std::uint64_t bytes() const { return mebibytes << 20U; }
};

// The hashes of data files, fitted low-rank factors, tokenised texts. The pages of resources/help name the last two.
inline constexpr CacheLimit kDigestCache{"RESIDUA_DIGESTS_MIB", 1};
inline constexpr CacheLimit kFitCache{"RESIDUA_FITS_MIB", 1024};
inline constexpr CacheLimit kTokenCache{"RESIDUA_TOKENS_MIB", 8192};

} // namespace residua::engine
