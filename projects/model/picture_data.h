// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace residua::projects {

/// The largest height and width of a picture that enters a network.
inline constexpr std::int64_t kMostSide = 4096;

/// The column of a CSV of pictures that holds the label.
enum class LabelColumn { Detect, First, Last };
/// The range of the values of a CSV of pictures, which becomes 0 to 255.
enum class ValueRange { Detect, Unit, Sixteen, Byte, SignedUnit, SignedByte };
/// How a picture of another form becomes the input's form.
enum class PictureFit {
    Crop,    ///< scaled to cover it, and the centre cropped
    Stretch, ///< each side scaled by itself
};

/// Pictures with a label each: a folder for each class, CIFAR, MNIST, or CSV. They are scaled and cropped to one form.
struct PictureData {
    std::string path;
    std::string validationPath; ///< if empty, a fraction of the pictures is used for validation
    std::int64_t height = 32;
    std::int64_t width = 32;
    std::int64_t channels = 3; ///< 1: grey; 3: colour
    std::int64_t classes = 10; ///< at least the number of different labels
    PictureFit fit = PictureFit::Crop;
    LabelColumn labelColumn = LabelColumn::Detect;
    ValueRange valueRange = ValueRange::Detect;
    bool skipBad = false; ///< leaves out pictures that cannot be read and classes without pictures
    bool operator==(const PictureData&) const = default;
};

/// The classes of DrawnPictures.
inline constexpr std::int64_t kDrawnClasses = 10;

/// Generated colour pictures of two parts each. The class is the pair of parts.
struct DrawnPictures {
    std::int64_t size = 32;      ///< height and width
    std::int64_t samples = 5000; ///< for training; held-out ones are drawn in addition
    double noise = 0.1;          ///< standard deviation, where the range of values is 1
    bool operator==(const DrawnPictures&) const = default;
};

/// Values between a picture and its code, such as the latents of an autoencoder, made by the user. `path` is a
/// safetensors file with the tensors "latents" [examples, channels, height, width] and "labels" [examples], or a folder
/// with latents.npy and labels.npy. Without labels all examples are of class 0.
struct LatentData {
    std::string path;
    std::string validationPath; ///< if empty, a fraction of the examples is used for validation
    std::int64_t height = 32;
    std::int64_t width = 32;
    std::int64_t channels = 4;
    std::int64_t classes = 1000; ///< above every label
    double scale = 0.18215;      ///< multiplies each value
    bool operator==(const LatentData&) const = default;
};

/// The normalisation of all pictures, and the random changes of those for training. Each picture that is drawn has its
/// own changes, which its place in the order of the examples determines; a step has one share of mixup.
struct Augmentation {
    double leastArea = 1;        ///< share of a picture's area that a part drawn of it has at least; 1: all of it
    std::int64_t padding = 0;    ///< black pixels added on each side before a part of the picture's size is cropped
    bool flip = false;           ///< mirrors half of the pictures left to right
    std::int64_t operations = 0; ///< N of RandAugment: operations applied to each picture
    double magnitude = 10;       ///< M of RandAugment: their strength, in tenths of the usual range
    double mixup = 0;       ///< α of mixup: each picture is mixed with another by a share from Beta(α, α); 0: not
    double mean = 0.5;      ///< subtracted from each value, where the range is 1; of red in colour pictures
    double deviation = 0.5; ///< divides each value after that
    double meanGreen = -1;  ///< the same of the other colours; −1: `mean`
    double meanBlue = -1;
    double deviationGreen = 0; ///< 0: `deviation`
    double deviationBlue = 0;
    bool operator==(const Augmentation&) const = default;
};

} // namespace residua::projects
