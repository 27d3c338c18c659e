// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/pictures/picture.h"
#include "projects/base/result.h"
#include "projects/model/picture_data.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// How the rows of a CSV of pictures are read; neither is Detect.
struct PictureColumns {
    projects::LabelColumn label = projects::LabelColumn::Last;
    projects::ValueRange range = projects::ValueRange::Byte;
};

/// Pictures with a label each, read on request.
struct PictureSet {
    std::vector<std::string> classes;         ///< by label; empty if the data number their classes without naming them
    std::vector<std::int64_t> labels;         ///< by picture
    std::vector<std::string> emptyClasses;    ///< folders of classes without pictures
    std::vector<std::string> notes;           ///< for the user: one sentence each
    std::vector<std::filesystem::path> files; ///< all that are read
    PictureForm form;                         ///< of pictures that are all of one form; else empty
    std::int64_t numbered = 0;                ///< the number of classes that the format has; 0 if it does not say
    std::int64_t firstNumber = 0;             ///< the format's number of the first named class
    std::string refusedNames;                 ///< why the file that maps numbers to names is not used; may be empty
    std::optional<PictureColumns> columns;    ///< of a CSV
    /// Returns a picture by its index. Returns an error that names the file if it cannot be read. Any thread.
    std::function<Result<Picture>(std::size_t index)> read;
};

/// The files of a folder of CIFAR or MNIST that are read, where it has both kinds: those for training, or those with
/// the word test or t10k in their names (by the first reading at the beginning of their names).
enum class PictureUse { Training, HeldOut };

/// The caller's knowledge about pictures.
struct PictureRequest {
    PictureUse use = PictureUse::Training;
    ReadingVersion reading = kNewestReading;
    projects::LabelColumn labelColumn = projects::LabelColumn::Detect;
    projects::ValueRange valueRange = projects::ValueRange::Detect;
    std::int64_t classes = 0; ///< the most different labels; 0: unknown
};

/// Opens the pictures at a path. The content decides how they are read:
/// - a folder with a folder of PNG, JPEG or WebP files for each class; classes are numbered in the order of their
/// names.
///   A folder whose folders are the parts of a data set is an error
/// - a file of CIFAR-10 or CIFAR-100 (fine labels) in the binary version, or a folder of such files. The file beside
///   them that names the classes (batches.meta.txt, fine_label_names.txt) is used if it has a name for each
/// - a file of MNIST's pictures, whose name contains images-idx3, with that of their labels (labels-idx1) beside it, or
///   a folder with one such pair for each use. A folder with several is an error that names them. EMNIST's file beside
///   them (emnist-letters-mapping.txt) names the classes by their characters
/// - CSV, with or without a header: the values of a square picture, grey or colour, behind or before the label. A
///   header decides which; else the column of whole numbers that differ and have no gaps or fit the number of classes;
///   else the last. Values are scaled to 0 … 255 from the smallest range of projects::ValueRange that holds all
/// Files of many pictures may be compressed. Files of folders are not opened before they are read. Errors name the
/// file, and the line or record.
[[nodiscard]] Result<PictureSet> openPictures(const std::filesystem::path& path, const PictureRequest& request = {},
                                              const PreparationWatch& watch = {});

/// Returns the source for pictures at a path, with the form and the number of classes that they have; nullopt if there
/// is no sign of pictures. Returns an error for pictures that no source reads, such as a folder of GIF files: it names
/// them and the way on. A folder's pictures are those in its folders of classes. Lists folders, and reads files of many
/// pictures.
[[nodiscard]] Result<std::optional<projects::PictureData>> picturesAt(const std::filesystem::path& path);

/// Returns the same for the files of CIFAR or MNIST in a folder. Reads each file of CIFAR once, and MNIST's training
/// files.
[[nodiscard]] Result<std::optional<projects::PictureData>> pictureRecordsIn(const std::filesystem::path& folder);

// The formats, for openPictures().
[[nodiscard]] Result<PictureSet> openClassFolders(const std::filesystem::path& path,
                                                  const PictureRequest& request = {});
[[nodiscard]] Result<PictureSet> openCifar(const std::vector<std::filesystem::path>& files,
                                           const PreparationWatch& watch, ReadingVersion reading = kNewestReading);
[[nodiscard]] Result<PictureSet> openIdx(const std::filesystem::path& pictures, const PreparationWatch& watch,
                                         ReadingVersion reading = kNewestReading);
[[nodiscard]] Result<PictureSet> openPictureCsv(const std::filesystem::path& path, const PictureRequest& request,
                                                const PreparationWatch& watch);
/// Returns a set of pictures of one form, one after another in `values`.
[[nodiscard]] PictureSet setOf(std::vector<std::uint8_t> values, const PictureForm& form,
                               std::vector<std::int64_t> labels, std::vector<std::filesystem::path> files);
/// True if records of CIFAR fill a file of so many bytes.
[[nodiscard]] bool mayBeCifar(std::uintmax_t bytes);
/// True if a file's content is records of CIFAR whose labels are all in range.
[[nodiscard]] bool isCifar(const std::vector<std::uint8_t>& content);
/// True if a file begins with the numbers of square pictures of at least 4 × 4 pixels, perhaps behind a header.
[[nodiscard]] bool looksLikePictureCsv(std::string_view head);
/// Returns the decompressed content of a file.
[[nodiscard]] Result<std::vector<std::uint8_t>> contentOf(const std::filesystem::path& path,
                                                          const PreparationWatch& watch);
/// Returns the kinds of the pictures below a folder that no source reads, as text: "1 BMP, 3 GIF".
[[nodiscard]] std::string unreadPicturesIn(const std::filesystem::path& folder);
/// Returns what a picture file is called by its name's ending: "GIF"; empty if that is of no picture.
[[nodiscard]] std::string pictureKindOf(const std::filesystem::path& path);

} // namespace residua::engine
