// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string>
#include <string_view>

namespace residua::tests {

/// A text as Qt's checks print it.
inline QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

inline bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

} // namespace residua::tests
