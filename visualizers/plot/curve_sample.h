// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QPixmap>

#include <cstddef>

namespace residua::visualizers {

/// Returns a square in the colour of a curve for lists of runs, with gaps if its lines have dashes (curvePen).
[[nodiscard]] QPixmap curveSample(std::size_t colour, resources::Theme theme);

} // namespace residua::visualizers
