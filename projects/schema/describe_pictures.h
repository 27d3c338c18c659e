// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct Choices<ValueRange> {
    static constexpr Choice all[] = {{"detect", "detect"},   {"0..1", "0 to 1"},   {"0..16", "0 to 16"},
                                     {"0..255", "0 to 255"}, {"-1..1", "-1 to 1"}, {"-128..127", "-128 to 127"}};
};
template <>
struct Choices<PictureFit> {
    static constexpr Choice all[] = {{"crop", "cover and crop"}, {"stretch", "stretch"}};
};
template <>
struct Fields<PictureData> {
    static bool isSheet(const PictureData& pictures) { return endsIn(pictures.path, kSheetEndings); }

    static constexpr void visit(auto&& v)
    {
        v({"path",
           "files",
           "A folder with a folder of PNG, JPEG or WebP files for each class, or files of CIFAR, MNIST or CSV; a "
           "relative path starts at the project.",
           {.form = TextForm::Path}},
          &PictureData::path);
        v({"validation_path",
           "validation files",
           "Pictures to validate on; empty: split off from the first.",
           {.form = TextForm::Path}},
          &PictureData::validationPath);
        v({"height",
           "height",
           "Height that pictures are brought to.",
           {.unit = "pixels", .range = Range::within(1, kMostSide), .paper = "224 (ViT)"}},
          &PictureData::height);
        v({"width",
           "width",
           "Width that pictures are brought to.",
           {.unit = "pixels", .range = Range::within(1, kMostSide), .paper = "224 (ViT)"}},
          &PictureData::width);
        v({"channels", "channels", "Values of a pixel: 1 for grey, 3 for colour.", {.range = Range::within(1, 3)}},
          &PictureData::channels);
        v({"classes",
           "classes",
           "Outputs of the head; at least the number of different labels.",
           {.unit = "classes", .range = Range::within(2, 1'000'000), .paper = "1000 (ImageNet-1k)"}},
          &PictureData::classes);
        v({"fit", "fit",
           "How a picture of another form gets this one: crop covers it and crops the centre; stretch scales each side "
           "by itself."},
          &PictureData::fit);
        v({"label_column",
           "label column",
           "Which column of a CSV holds the label; detect goes by the header and the values of the training part.",
           {.where = when<isSheet>}},
          &PictureData::labelColumn);
        v({"value_range",
           "value range",
           "The range of the values of a CSV, which becomes black to white; detect goes by the training part.",
           {.where = when<isSheet>}},
          &PictureData::valueRange);
        v({"skip_bad", "skip bad pictures", "Leaves out pictures that cannot be read, and counts them."},
          &PictureData::skipBad);
    }
};
template <>
struct Fields<DrawnPictures> {
    static constexpr void visit(auto&& v)
    {
        v({"size", "size", "Height and width of a picture.", {.unit = "pixels", .range = Range::within(8, kMostSide)}},
          &DrawnPictures::size);
        v({"samples",
           "samples",
           "Pictures for training; held-out ones are drawn in addition.",
           {.unit = "samples", .range = Range::within(1, 100'000'000)}},
          &DrawnPictures::samples);
        v({"noise",
           "noise",
           "Standard deviation of the noise of each value, where the range of values is 1.",
           {.range = Range::within(0, 10)}},
          &DrawnPictures::noise);
    }
};
template <>
struct Fields<LatentData> {
    static constexpr void visit(auto&& v)
    {
        v({"path",
           "files",
           "A safetensors file with the tensors latents and labels, or a folder with latents.npy and labels.npy; a "
           "relative path starts at the project.",
           {.form = TextForm::Path}},
          &LatentData::path);
        v({"validation_path",
           "validation files",
           "Latents to validate on; empty: split off from the first.",
           {.form = TextForm::Path}},
          &LatentData::validationPath);
        v({"height",
           "height",
           "Rows of a latent.",
           {.range = Range::within(1, kMostSide), .paper = "32 (DiT, 256 pixels)"}},
          &LatentData::height);
        v({"width",
           "width",
           "Columns of a latent.",
           {.range = Range::within(1, kMostSide), .paper = "32 (DiT, 256 pixels)"}},
          &LatentData::width);
        v({"channels",
           "channels",
           "Values at each row and column.",
           {.range = Range::within(1, 4096), .paper = "4 (DiT)"}},
          &LatentData::channels);
        v({"classes",
           "classes",
           "Number of classes; above every label.",
           {.unit = "classes", .range = Range::within(1, 1'000'000), .paper = "1000 (ImageNet-1k)"}},
          &LatentData::classes);
        v({"scale",
           "scale",
           "Multiplies each value, so that their deviation is about 1.",
           {.range = Range::halfOpenLow(0, 1e6), .paper = "0.18215 (DiT)"}},
          &LatentData::scale);
    }
};
template <>
struct Fields<Augmentation> {
    static bool isUsed(const Project& project);
    static bool isAltered(const Project& project);  ///< by RandAugment
    static bool hasColours(const Project& project); ///< true if pictures have three channels

    static constexpr void visit(auto&& v)
    {
        v({"least_area",
           "least area",
           "Training pictures are parts drawn at random with at least this share of the area, stretched to the input's "
           "form; 1: the whole pictures.",
           {.range = Range::halfOpenLow(0, 1),
            .paper = "0.05 (ViT-S/16)",
            .group = "augmentation",
            .where = when<isUsed>}},
          &Augmentation::leastArea);
        v({"padding",
           "padding",
           "Black pixels added on each side of a training picture before a random part of its size is cropped.",
           {.unit = "pixels", .range = Range::within(0, kMostSide), .where = when<isUsed>}},
          &Augmentation::padding);
        v({"flip", "flip", "Mirrors half of the training pictures left to right.", {.where = when<isUsed>}},
          &Augmentation::flip);
        v({"operations",
           "operations",
           "Random operations of RandAugment that are applied to each training picture.",
           {.range = Range::within(0, 16), .paper = "2 (ViT-S/16)", .where = when<isUsed>}},
          &Augmentation::operations);
        v({"magnitude",
           "magnitude",
           "Strength of RandAugment's operations.",
           {.range = Range::within(0, 30), .paper = "10 (ViT-S/16)", .where = when<isAltered>}},
          &Augmentation::magnitude);
        v({"mixup",
           "mixup",
           "Each training picture and its label are mixed with another's by a share drawn from Beta(α, α); 0: not "
           "mixed.",
           {.unit = "α", .range = Range::within(0, 100), .paper = "0.2 (ViT-S/16)", .where = when<isUsed>}},
          &Augmentation::mixup);
        v({"mean",
           "mean",
           "Subtracted from each value of a picture, where the range of values is 1; of colour pictures from red.",
           {.range = Range::within(0, 1), .paper = "0.5 (ViT)", .where = when<isUsed>}},
          &Augmentation::mean);
        v({"deviation",
           "deviation",
           "Divides each value of a picture after that; of colour pictures red.",
           {.range = Range::halfOpenLow(0, 1), .paper = "0.5 (ViT)", .where = when<isUsed>}},
          &Augmentation::deviation);
        v({"mean_green",
           "mean of green",
           "Subtracted from the green values of a colour picture; -1: the mean.",
           {.range = Range::within(-1, 1), .where = when<hasColours>}},
          &Augmentation::meanGreen);
        v({"mean_blue",
           "mean of blue",
           "Subtracted from the blue values of a colour picture; -1: the mean.",
           {.range = Range::within(-1, 1), .where = when<hasColours>}},
          &Augmentation::meanBlue);
        v({"deviation_green",
           "deviation of green",
           "Divides the green values of a colour picture after that; 0: the deviation.",
           {.range = Range::within(0, 1), .where = when<hasColours>}},
          &Augmentation::deviationGreen);
        v({"deviation_blue",
           "deviation of blue",
           "Divides the blue values of a colour picture after that; 0: the deviation.",
           {.range = Range::within(0, 1), .where = when<hasColours>}},
          &Augmentation::deviationBlue);
    }
};

} // namespace residua::projects
