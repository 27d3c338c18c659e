// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/data_endings.h"

namespace residua::projects {
namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool endsInOne(std::string_view name, std::string_view ending)
{
    return name.size() >= ending.size() &&
           std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower, lower);
}

} // namespace

std::string_view compressedEnding(std::string_view name)
{
    const auto found = std::ranges::find_if(kCompressedEndings, [&](auto ending) { return endsInOne(name, ending); });
    return found != kCompressedEndings.end() ? *found : std::string_view();
}

std::string_view withoutCompression(std::string_view name)
{
    name.remove_suffix(compressedEnding(name).size());
    return name;
}

bool endsIn(std::string_view name, std::span<const std::string_view> endings)
{
    return std::ranges::any_of(endings, [&](auto ending) { return endsInOne(withoutCompression(name), ending); });
}

} // namespace residua::projects
