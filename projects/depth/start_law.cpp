// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/stream_start.h"

#include <array>
#include <cstddef>

namespace residua::projects {
namespace {

/// In the order of MixInit.
constexpr std::array<StartLaw, 4> kStartLaws{{
    {[](const DepthReader&, std::int64_t) { return 1.0; }, "1.0", false, false},
    {[](const DepthReader&, std::int64_t) { return 0.0; }, "0.0", false, false},
    {[](const DepthReader& reader, std::int64_t source) { return source == reader.sources.back() ? 1.0 : 0.0; },
     "float(i == SOURCES[j][-1])"},
    {[](const DepthReader& reader, std::int64_t) { return 1.0 / static_cast<double>(reader.target); }, "1 / j", true,
     false},
}};
static_assert(static_cast<std::size_t>(MixInit::Reciprocal) + 1 == kStartLaws.size());

} // namespace

const StartLaw& startLaw(MixInit init)
{
    return kStartLaws[static_cast<std::size_t>(init)];
}

} // namespace residua::projects
