// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/mix_port.h"

#include <algorithm>
#include <array>

namespace residua::projects {
namespace {

constexpr std::array<std::string_view, 6> kNames{"", "q", "k", "v", "residual", "final"};

} // namespace

std::string_view nameOf(MixPort port)
{
    return kNames[static_cast<std::size_t>(port)];
}

std::optional<MixPort> mixPortFrom(std::string_view name)
{
    const auto* const found = std::ranges::find(kNames, name);
    return found == kNames.end() ? std::nullopt : std::optional(static_cast<MixPort>(found - kNames.begin()));
}

std::vector<MixPort> portsOf(MixPorts ports)
{
    switch (ports) {
    case MixPorts::Input:
        return {MixPort::Input};
    case MixPorts::Qkv:
        return {MixPort::Query, MixPort::Key, MixPort::Value};
    case MixPorts::QkvResidual:
        break;
    }
    return {MixPort::Query, MixPort::Key, MixPort::Value, MixPort::Residual};
}

std::optional<std::size_t> mixFor(std::span<const MixPort> mixes, MixPort port)
{
    const auto own = std::ranges::find(mixes, port);
    if (own != mixes.end()) {
        return static_cast<std::size_t>(own - mixes.begin());
    }
    return mixes.size() == 1           ? std::optional<std::size_t>(0)
           : port == MixPort::Residual ? mixFor(mixes, MixPort::Query)
                                       : std::nullopt;
}

std::size_t residualPort(std::span<const std::string> ports)
{
    for (const MixPort port : {MixPort::Residual, MixPort::Query}) {
        if (const auto found = std::ranges::find(ports, nameOf(port)); found != ports.end()) {
            return static_cast<std::size_t>(found - ports.begin());
        }
    }
    return 0;
}

} // namespace residua::projects
