// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/pass.h"

namespace residua::engine {
namespace {

/// The finaliser of splitmix64: neighbouring steps get unrelated keys.
std::uint64_t mixed(std::uint64_t value)
{
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31U);
}

} // namespace

RandomStreams::RandomStreams(std::int64_t seed, std::int64_t step)
    : m_key(mixed(mixed(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(step)))
{
}

} // namespace residua::engine
