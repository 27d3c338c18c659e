// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string>

namespace residua::tests {

/// A text as Qt's checks print it.
inline QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

} // namespace residua::tests
