// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/schema/describe_data.h"
#include "projects/schema/json_write.h"

#include <utility>

namespace residua::projects {
namespace {

EditGroup setParts(std::string title, const std::vector<MixturePart>& parts)
{
    return {std::move(title), {SetField{"/data/source/parts", {lineOf(toTree(parts))}}}};
}

/// Returns the last component of a path, ignoring slashes at its end.
std::string lastName(std::string path)
{
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    const std::size_t divider = path.rfind('/');
    return divider == std::string::npos || path.size() == 1 ? path : path.substr(divider + 1);
}

} // namespace

Edit addMixtureParts(const MixtureData& mixture, const std::vector<std::string>& paths)
{
    std::vector<MixturePart> parts = mixture.parts;
    double sum = 0;
    for (const MixturePart& part : mixture.parts) {
        sum += part.weight;
    }
    const double weight = mixture.parts.empty() ? 1.0 : sum / static_cast<double>(mixture.parts.size());
    for (const std::string& path : paths) {
        parts.push_back({.path = path, .weight = weight});
    }
    const bool one = paths.size() == 1;
    return setParts("Add " + (one ? lastName(paths.front()) : std::to_string(paths.size()) + " texts"), parts);
}

Edit removeMixturePart(const MixtureData& mixture, std::size_t index)
{
    std::vector<MixturePart> parts = mixture.parts;
    const std::string name = lastName(parts[index].path);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(index));
    return setParts("Remove " + (name.empty() ? "part " + std::to_string(index + 1) : name), parts);
}

} // namespace residua::projects
