// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::projects {

/// The type of the values of a wire or of a field of the examples.
enum class Element { Real, Token };

} // namespace residua::projects
