// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

#include <variant>

namespace residua::projects {

/// True if the prompt for a model of this data is the path of a picture.
[[nodiscard]] inline bool promptsArePictures(const DataSource& data)
{
    return std::holds_alternative<PictureData>(data.source) || std::holds_alternative<DrawnPictures>(data.source);
}

} // namespace residua::projects
