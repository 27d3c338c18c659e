// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/picture_processor.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/huggingface/config_keys.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

constexpr std::int64_t kBilinear = 2; ///< of Pillow's filters

/// Returns three numbers: those of a list of one or three, or a number three times.
std::array<double, 3> threeOf(Keys& keys, std::string_view key, double otherwise)
{
    const JsonValue* const value = keys.find(key);
    const auto* const list = value == nullptr ? nullptr : std::get_if<JsonArray>(&value->data);
    if (list == nullptr) {
        const double number = keys.real(key, otherwise);
        return {number, number, number};
    }
    std::array<double, 3> numbers{otherwise, otherwise, otherwise};
    if (list->size() != 1 && list->size() != 3) {
        keys.fail(key, "got a list of " + std::to_string(list->size()) + ", expected 1 or 3 numbers");
        return numbers;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const JsonValue& each = (*list)[list->size() == 1 ? 0 : i];
        const auto* const whole = std::get_if<std::int64_t>(&each.data);
        const auto* const real = std::get_if<double>(&each.data);
        if (whole == nullptr && real == nullptr) {
            keys.fail(key, "got " + nameOfValue(each) + ", expected a number");
            return numbers;
        }
        numbers[i] = whole != nullptr ? static_cast<double>(*whole) : *real;
    }
    return numbers;
}

/// Takes means and deviations, which are of values that are rescaled by another factor than 1/255.
void takeNormalisation(Keys& keys, Augmentation& augmentation, std::vector<std::string>& notes)
{
    const double factor = keys.flag("do_rescale", true) ? keys.real("rescale_factor", 1.0 / 255) : 1.0;
    const bool normalises = keys.flag("do_normalize", true);
    std::array<double, 3> means = threeOf(keys, "image_mean", 0.5);
    std::array<double, 3> deviations = threeOf(keys, "image_std", 0.5);
    for (std::size_t i = 0; i < 3; ++i) {
        means[i] = normalises ? means[i] / (255 * factor) : 0;
        deviations[i] = (normalises ? deviations[i] : 1) / (255 * factor);
        if (!(means[i] >= 0 && means[i] <= 1 && deviations[i] > 0 && deviations[i] <= 1)) {
            notes.push_back("its normalisation is not taken: the mean " + numberText(means[i]) + " or the deviation " +
                            numberText(deviations[i]) + " is not from 0 to 1");
            return;
        }
    }
    augmentation.mean = means[0];
    augmentation.deviation = deviations[0];
    const bool grey = means[0] == means[1] && means[0] == means[2];
    augmentation.meanGreen = grey ? -1 : means[1];
    augmentation.meanBlue = grey ? -1 : means[2];
    const bool equal = deviations[0] == deviations[1] && deviations[0] == deviations[2];
    augmentation.deviationGreen = equal ? 0 : deviations[1];
    augmentation.deviationBlue = equal ? 0 : deviations[2];
}

/// Returns the height and width under a key, or those of its shortest edge.
std::optional<std::pair<std::int64_t, std::int64_t>> sizeIn(Keys& keys, std::string_view key, bool& shortest)
{
    const JsonValue* const value = keys.find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!std::holds_alternative<JsonObject>(value->data)) {
        return keys.sides(key, 1);
    }
    Keys inner = keys.object(key);
    shortest = inner.find("shortest_edge") != nullptr;
    const auto size = shortest ? std::pair(inner.size("shortest_edge"), inner.size("shortest_edge"))
                               : std::pair(inner.size("height", 1), inner.size("width", 1));
    keys.take(inner);
    return size;
}

std::string sizeText(const std::pair<std::int64_t, std::int64_t>& size)
{
    return std::to_string(size.first) + " × " + std::to_string(size.second);
}

void takeSize(Keys& keys, PictureData& pictures, std::vector<std::string>& notes)
{
    const std::pair wanted(pictures.height, pictures.width);
    bool shortest = false;
    bool ignored = false;
    const auto size = sizeIn(keys, "size", shortest);
    const bool crops = keys.flag("do_center_crop", false);
    const auto crop = crops ? sizeIn(keys, "crop_size", ignored) : std::nullopt;
    pictures.fit = shortest || crops ? PictureFit::Crop : PictureFit::Stretch;
    if (!keys.flag("do_resize", true)) {
        notes.push_back("do_resize is false, and pictures are brought to " + sizeText(wanted) + " all the same");
        return;
    }
    if (size && *size != wanted) {
        notes.push_back("pictures are brought to " + sizeText(wanted) + ", which the network reads, and not to " +
                        sizeText(*size) + (crops ? " before the crop" : ""));
    } else if (crop && *crop != wanted) {
        notes.push_back("pictures are cropped to " + sizeText(wanted) + ", which the network reads, and not to " +
                        sizeText(*crop));
    }
    const JsonValue* const filter = keys.find("resample");
    const auto* const number = filter == nullptr ? nullptr : std::get_if<std::int64_t>(&filter->data);
    if (filter != nullptr && (number == nullptr || *number != kBilinear)) {
        notes.push_back("resample is not 2: pictures are scaled bilinearly here");
    }
}

JsonValue inLine(const std::vector<double>& numbers)
{
    JsonArray list;
    for (const double number : numbers) {
        list.push_back({number, JsonLayout::Inline});
    }
    return {std::move(list), JsonLayout::Inline};
}

/// Puts the file's name before each note.
void nameFile(std::vector<std::string>& notes)
{
    for (std::string& note : notes) {
        note = std::string(kPictureProcessorFile) + ": " + note;
    }
}

} // namespace

Result<std::vector<std::string>> readPictureProcessor(std::string_view text, const std::string& place, Project& project)
{
    auto* const pictures = std::get_if<PictureData>(&project.data.source);
    const Result<JsonValue> json = parseJson(text);
    if (!json || pictures == nullptr || !std::holds_alternative<JsonObject>(json->data)) {
        return Error{place, json ? "is not a JSON object of the processor of pictures" : json.error().message};
    }
    Keys keys(*json, place, kPictureProcessorFile);
    std::vector<std::string> notes;
    takeNormalisation(keys, project.data.augmentation, notes);
    takeSize(keys, *pictures, notes);
    if (keys.error()) {
        return *keys.error();
    }
    for (const std::string& key : keys.unread()) {
        const JsonValue* const value = keys.find(key);
        const auto* const set = std::get_if<bool>(&value->data);
        if (key.starts_with("do_") && key != "do_convert_rgb" && set != nullptr && *set) {
            notes.push_back(key + " is not done here");
        }
    }
    nameFile(notes);
    return notes;
}

WrittenProcessor pictureProcessorOf(const Project& project)
{
    const auto* const files = std::get_if<PictureData>(&project.data.source);
    const auto [channels, height, width] = imageSizeOf(project.data.source).value_or(ImageSize{});
    const bool grey = files != nullptr && channels == 1;
    const Augmentation& of = project.data.augmentation;
    const auto whole = [](std::int64_t value) { return JsonValue{value, JsonLayout::Lines}; };
    const auto flag = [](bool value) { return JsonValue{value, JsonLayout::Lines}; };
    const auto numbers = [grey](double first, double second, double third) {
        return inLine(grey ? std::vector{first} : std::vector{first, second, third});
    };
    const JsonValue form{JsonObject{{"height", whole(height)}, {"width", whole(width)}}, JsonLayout::Lines};
    WrittenProcessor written;
    const bool covers = files != nullptr && files->fit == PictureFit::Crop;
    const bool crops = covers && height == width;
    if (covers && !crops) {
        written.notes.push_back("stretches pictures to " + sizeText({height, width}) +
                                ": transformers covers and crops to squares alone; give it pictures of that form");
    }
    if (grey) {
        written.notes.emplace_back("expects grey pictures: transformers makes no picture grey");
    }
    JsonObject processor;
    if (crops) {
        processor.push_back({"crop_size", form});
        processor.push_back({"do_center_crop", flag(true)});
    }
    processor.push_back({"do_convert_rgb", flag(!grey)});
    processor.push_back({"do_normalize", flag(true)});
    processor.push_back({"do_rescale", flag(true)});
    processor.push_back({"do_resize", flag(true)});
    processor.push_back({"image_mean", numbers(of.mean, of.meanGreen < 0 ? of.mean : of.meanGreen,
                                               of.meanBlue < 0 ? of.mean : of.meanBlue)});
    processor.push_back(
        {"image_processor_type", {std::string(crops ? "CLIPImageProcessor" : "ViTImageProcessor"), JsonLayout::Lines}});
    processor.push_back({"image_std", numbers(of.deviation, of.deviationGreen > 0 ? of.deviationGreen : of.deviation,
                                              of.deviationBlue > 0 ? of.deviationBlue : of.deviation)});
    processor.push_back({"resample", whole(kBilinear)});
    processor.push_back({"rescale_factor", {1.0 / 255, JsonLayout::Lines}});
    processor.push_back(
        {"size", crops ? JsonValue{JsonObject{{"shortest_edge", whole(height)}}, JsonLayout::Lines} : form});
    written.text = printJson({std::move(processor), JsonLayout::Lines});
    nameFile(written.notes);
    return written;
}

} // namespace residua::projects
