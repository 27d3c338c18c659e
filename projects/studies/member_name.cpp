// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/member_name.h"

#include <algorithm>

namespace residua::projects {
namespace {

constexpr std::string_view kDivider = " · ";

} // namespace

std::string textOf(const MemberName& name)
{
    return name.member.empty() ? name.project : name.project + std::string(kDivider) + name.member;
}

MemberName memberNameFrom(std::string_view text)
{
    const std::size_t end = std::min(text.find(kDivider), text.size());
    const std::size_t begin = std::min(end + kDivider.size(), text.size());
    return {std::string(text.substr(0, end)), std::string(text.substr(begin))};
}

} // namespace residua::projects
