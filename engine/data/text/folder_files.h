// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The files below a folder, sorted.
struct FolderFiles {
    std::vector<std::filesystem::path> files;  ///< also links that lead nowhere
    std::vector<std::filesystem::path> hidden; ///< files and folders that isHiddenEntry() leaves out
    std::vector<std::filesystem::path> again;  ///< links to folders that were entered already
};

enum class LinkedFolders { Entered, LeftOut };

/// Returns the files below each of the folders, including those behind links to folders unless these are left out.
/// Enters each folder once, however many links lead to it, so a link to a parent folder ends. If a folder is reachable
/// with and without a link, its files have the names without the link. `root` counts as entered. Returns an error if
/// two of `folders` are the same, or if one cannot be listed. Any thread.
[[nodiscard]] Result<std::vector<FolderFiles>> filesBelow(std::span<const std::filesystem::path> folders,
                                                          const std::filesystem::path& root = {},
                                                          LinkedFolders linked = LinkedFolders::Entered);

/// Returns an error if a file that is held out is also a training file, under whatever path or link.
[[nodiscard]] Status refuseShared(const std::vector<std::filesystem::path>& training,
                                  const std::vector<std::filesystem::path>& heldOut);

/// A data set whose parts lie in one folder, as files or folders with the word of the part in their names: train or
/// training; val, valid, validation or dev; test, testing or t10k (MNIST). "data_batch" (CIFAR) is a name of a training
/// part. Each list is sorted.
struct NamedParts {
    std::vector<std::filesystem::path> training;
    std::vector<std::filesystem::path> validation;
    std::vector<std::filesystem::path> test;

    /// Returns the parts that are held out: those for validation, else those for tests.
    [[nodiscard]] const std::vector<std::filesystem::path>& heldOut() const
    {
        return validation.empty() ? test : validation;
    }
    /// Returns the parts as text: "train and val".
    [[nodiscard]] std::string text() const;
};

/// Returns the data sets in a folder that have a training part and another one. Names are compared in any case, and
/// without the numbers of shards. Names of the parts of one set differ only in the word. Empty if `folder` is not a
/// folder. A compressed file beside itself is left out.
[[nodiscard]] std::vector<NamedParts> partsIn(const std::filesystem::path& folder);
/// Returns the files or folders beside a training part that hold its data set's held-out part: "test.csv" beside
/// "train.csv". Empty if the data set has no held-out part, or if `path` is not a training part.
[[nodiscard]] std::vector<std::filesystem::path> heldOutBeside(const std::filesystem::path& path);
/// True if the name of a file or folder has the word of a training part.
[[nodiscard]] bool isTrainingPart(const std::filesystem::path& path);
/// Returns an error that names the parts if a path that is read as one set of training data has several.
[[nodiscard]] Status refuseParts(const std::filesystem::path& path, const std::string& wayOn);

} // namespace residua::engine
