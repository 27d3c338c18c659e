// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from picture.h, because decoders do not change pictures at random.

#include "engine/data/pictures/picture.h"
#include "projects/model/picture_data.h"

#include <cstdint>
#include <span>

namespace residua::engine {

/// Writes the values of a picture, normalised to (v / 255 − mean) / deviation of their channel, into `out` of
/// form.values() numbers in the order [channels, height, width].
void normalise(const Picture& picture, const projects::Augmentation& augmentation, std::span<float> out);

/// Returns the picture that normalise() made these values of. Values are rounded, and limited to 0 to 255.
[[nodiscard]] Picture shownAgain(std::span<const float> values, const PictureForm& form,
                                 const projects::Augmentation& augmentation);

/// Returns a part of a training picture that `key` selects, stretched to the form: at least `leastArea` (above 0) of
/// its area, and width to height from 3/4 to 4/3 (Inception's crop). The whole picture if ten parts drawn do not fit in
/// it.
[[nodiscard]] Picture randomPart(Picture picture, double leastArea, const PictureForm& form, std::uint64_t key,
                                 ReadingVersion reading = kNewestReading);

/// Changes a training picture by the draws that `key` selects: pads it with black on each side and crops a part of its
/// own size at a drawn place, then mirrors it with probability one half, then applies the operations of RandAugment,
/// each if the augmentation says so.
void augment(Picture& picture, const projects::Augmentation& augmentation, std::uint64_t key);

/// Draws min(λ, 1 − λ) for λ from Beta(alpha, alpha): the share of the other example in a mixture. alpha > 0.
[[nodiscard]] double mixedShare(double alpha, std::uint64_t key);
/// Mixes an example with another one of the same size: it keeps 1 − share of itself.
void mixWith(std::span<float> example, std::span<const float> other, double share);

} // namespace residua::engine
