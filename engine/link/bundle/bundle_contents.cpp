// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/bundle_contents.h"

#include <numeric>

namespace residua::engine {

std::int64_t BundleContents::bytes() const
{
    return std::accumulate(files.begin(), files.end(), std::int64_t{0},
                           [](std::int64_t sum, const BundledFile& file) { return sum + file.bytes; });
}

} // namespace residua::engine
