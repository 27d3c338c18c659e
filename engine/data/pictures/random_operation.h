// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/pictures/picture.h"
#include "projects/base/random.h"

#include <cstdint>

namespace residua::engine {

/// The operations of RandAugment (Cubuk et al., 2020), in the order of big_vision's list.
enum class PictureOperation {
    AutoContrast, ///< spreads each channel over 0 to 255
    Equalize,     ///< makes all values of a channel equally frequent
    Invert,
    Rotate,     ///< by `amount` degrees about the centre
    Posterize,  ///< keeps the upper `amount` bits
    Solarize,   ///< inverts values from `amount` on
    Colour,     ///< away from grey by the factor `amount`
    Contrast,   ///< away from the mean grey by the factor `amount`
    Brightness, ///< multiplies by `amount`
    Sharpness,  ///< away from the smoothed picture by the factor `amount`
    ShearX,     ///< moves row y by `amount` · y
    ShearY,     ///< moves column x by `amount` · x
    TranslateX, ///< moves by `amount` pixels
    TranslateY,
    Cutout,      ///< makes a square of 2 · `amount` pixels grey, centred at `row` and `column`
    SolarizeAdd, ///< adds `amount` to values below 128
    Count,       ///< the number of operations
};

/// An operation with its numbers. Pixels from outside the picture, and those cut out, are grey (128).
struct AppliedOperation {
    PictureOperation operation = PictureOperation::Invert;
    double amount = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
};

/// Draws one of the operations with equal probability, the sign of a move, and the place of a square. The amount
/// follows from `magnitude`. The usual maximum, 10, means 30 degrees, 4 bits, 256, the factor 1.9, a shear of 0.3, and
/// for 224 pixels a move by 100 and a square of 80. Lengths are in proportion to the picture's side.
[[nodiscard]] AppliedOperation drawOperation(const PictureForm& form, double magnitude, RandomStream& random);

void apply(Picture& picture, const AppliedOperation& operation);

} // namespace residua::engine
