// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pictures/picture.h"
#include "projects/model/picture_data.h"

#include <cstdint>
#include <span>

namespace residua::engine {

/// Writes the values of a picture, normalised to (v / 255 − mean) / deviation of their channel, into `out` of
/// form.values() numbers in the order [channels, height, width].
void normalise(const Picture& picture, const projects::Augmentation& augmentation, std::span<float> out);

/// Changes a training picture by the draws that `key` selects: pads it with black on each side and crops a part of its
/// own size at a drawn place, then mirrors it with probability one half, each if the augmentation says so.
void augment(Picture& picture, const projects::Augmentation& augmentation, std::uint64_t key);

} // namespace residua::engine
