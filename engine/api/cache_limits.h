// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::engine {

/// The size limit of one of the user's caches. The environment variable `variable` gives it in MiB (0 disables the
/// cache); `mebibytes` is the default.
struct CacheLimit {
    const char* variable = "";
    std::uint64_t mebibytes = 0;

    [[nodiscard]] constexpr std::uint64_t bytes() const { return mebibytes << 20U; }
};

// The caches of data files' hashes, fitted low-rank factors and tokenised texts. Pages of resources/help name the last
// two variables.
inline constexpr CacheLimit kDigestCache{"RESIDUA_DIGESTS_MIB", 1};
inline constexpr CacheLimit kFitCache{"RESIDUA_FITS_MIB", 1024};
inline constexpr CacheLimit kTokenCache{"RESIDUA_TOKENS_MIB", 8192};

} // namespace residua::engine
