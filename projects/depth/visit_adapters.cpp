// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/visit_adapters.h"

#include "projects/base/text.h"

#include <cstddef>
#include <iterator>

namespace residua::projects {

std::optional<AdapterName> adapterFrom(std::string_view name)
{
    constexpr std::string_view kVisit = "visit";
    const std::string_view factor = lastOf(name);
    const std::string_view visit = ownerOf(name);
    const std::string_view word = ownerOf(visit);
    const auto number = numberFrom<std::int64_t>(lastOf(visit));
    if ((factor != kAdapterU && factor != kAdapterV) || lastOf(word) != kVisit || !number || ownerOf(word).empty()) {
        return std::nullopt;
    }
    return AdapterName{std::string(ownerOf(word)) + ".weight", *number, factor == kAdapterU};
}

std::vector<std::int64_t> usersOf(const Stack& stack, const ParameterName& name)
{
    const auto adapter = adapterFrom(name.rest);
    std::vector<std::int64_t> visits = stack.visitsOf(name.layer);
    return adapter && adapter->visit >= 1 && adapter->visit <= std::ssize(visits)
               ? std::vector{visits[static_cast<std::size_t>(adapter->visit - 1)]}
               : visits;
}

} // namespace residua::projects
