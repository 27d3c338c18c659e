// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/pictures/picture_set.h"
#include "engine/data/sets/class_numbers.h"
#include "projects/base/result.h"
#include "projects/model/picture_data.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The pictures for training and, if the source has a path for them, for validation. Labels are numbers of classes.
struct NumberedPictures {
    std::vector<PictureSet> sets;
    std::vector<std::string> training; ///< the labels of its pictures, each once
    std::vector<std::string> heldOut;
    ClassNumbers classes;
};

/// Opens the pictures of a source and numbers their classes, without decoding files of single pictures. Errors name the
/// file or folder.
[[nodiscard]] Result<NumberedPictures> numberedPictures(const projects::PictureData& source,
                                                        const std::filesystem::path& projectDirectory,
                                                        const Reading& reading, const PreparationWatch& watch);
/// Returns the number of classes that a new network for these pictures needs. Errors are those of opening them.
[[nodiscard]] Result<std::int64_t> countClasses(const projects::PictureData& source,
                                                const std::filesystem::path& projectDirectory,
                                                const PreparationWatch& watch);
/// Returns the labels of these pictures, each once. Errors are those of opening them.
[[nodiscard]] Result<std::vector<std::string>> labelsIn(const projects::PictureData& source,
                                                        const std::filesystem::path& projectDirectory,
                                                        const PreparationWatch& watch);
/// Finds the pictures and numbers their labels as open() does, with the same errors. Decodes the first of each class.
[[nodiscard]] Status checkReadable(const projects::PictureData& source, const std::filesystem::path& projectDirectory,
                                   const PreparationWatch& watch);

} // namespace residua::engine
