// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/pictures/picture.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// Pictures with a label each, read on request.
struct PictureSet {
    std::vector<std::string> classes;      ///< by label; empty if the data number their classes without naming them
    std::vector<std::int64_t> labels;      ///< by picture
    std::vector<std::string> emptyClasses; ///< folders of classes without pictures
    std::vector<std::string> notes;        ///< for the user: one sentence each
    /// Returns a picture by its index. Returns an error that names the file if it cannot be read. Any thread.
    std::function<Result<Picture>(std::size_t index)> read;
};

/// The files of a folder of CIFAR or MNIST that are read, where it has both kinds: those for training, or those whose
/// names begin with test or t10k.
enum class PictureUse { Training, HeldOut };

/// Opens the pictures at a path. The content decides how they are read:
/// - a folder with a folder of PNG, JPEG or WebP files for each class; classes are numbered in the order of their names
/// - a file of CIFAR-10 or CIFAR-100 (fine labels) in the binary version, or a folder of such files
/// - a folder with a file of MNIST's pictures, whose name contains images-idx3, and that of their labels (labels-idx1)
/// - CSV without a header: the values of a square picture, grey or colour, then the label (scikit-learn's digits).
///   Values up to 1, 16 or 255 are scaled to 0 … 255, by the largest of all
/// Files of many pictures may be compressed. Files of folders are not opened before they are read. Errors name the
/// file, and the line or record.
[[nodiscard]] Result<PictureSet> openPictures(const std::filesystem::path& path, PictureUse use = PictureUse::Training,
                                              const PreparationWatch& watch = {});

// The formats, for openPictures().
[[nodiscard]] Result<PictureSet> openClassFolders(const std::filesystem::path& path);
[[nodiscard]] Result<PictureSet> openCifar(const std::vector<std::filesystem::path>& files,
                                           const PreparationWatch& watch);
[[nodiscard]] Result<PictureSet> openIdx(const std::filesystem::path& pictures, const PreparationWatch& watch);
[[nodiscard]] Result<PictureSet> openPictureCsv(const std::filesystem::path& path, const PreparationWatch& watch);
/// Returns the decompressed content of a file.
[[nodiscard]] Result<std::vector<std::uint8_t>> contentOf(const std::filesystem::path& path,
                                                          const PreparationWatch& watch);

} // namespace residua::engine
