// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/latent_dataset.h"

#include "engine/base/files/safetensors_header.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/tokens/numpy_array.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Element = LatentDataset::Element;

constexpr const char* kLatents = "latents";
constexpr const char* kLabels = "labels";

/// An array of a file, of any type.
struct StoredArray {
    std::string type; ///< "F32", "I64", "U8": as in safetensors
    std::vector<std::int64_t> shape;
    ByteRange bytes;
    std::string place;
};

std::size_t sizeOf(Element element)
{
    return element == Element::F64 ? 8 : element == Element::F32 ? 4 : 2;
}

std::optional<Element> elementFrom(const std::string& type)
{
    static const std::map<std::string, Element> kTypes{
        {"F16", Element::F16}, {"BF16", Element::Bf16}, {"F32", Element::F32}, {"F64", Element::F64}};
    const auto found = kTypes.find(type);
    return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

float halfFrom(std::uint16_t bits)
{
    const int exponent = bits >> 10U & 0x1FU;
    const auto mantissa = static_cast<float>(bits & 0x3FFU);
    const float size = exponent == 0x1F ? (mantissa == 0 ? INFINITY : NAN)
                       : exponent == 0  ? std::ldexp(mantissa, -24)
                                        : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000U) != 0 ? -size : size;
}

template <class Stored>
Stored readAs(const std::byte* at)
{
    Stored value;
    std::memcpy(&value, at, sizeof(Stored));
    return value;
}

double valueAt(const std::byte* at, Element element)
{
    switch (element) {
    case Element::F16:
        return halfFrom(readAs<std::uint16_t>(at));
    case Element::Bf16:
        return std::bit_cast<float>(std::uint32_t{readAs<std::uint16_t>(at)} << 16U);
    case Element::F32:
        return readAs<float>(at);
    case Element::F64:
        return readAs<double>(at);
    }
    return 0;
}

/// Returns the arrays of a safetensors file by name.
Result<std::map<std::string, StoredArray>> arraysOfFile(const fs::path& path)
{
    InputFile file = RESIDUA_TRY(InputFile::open(path));
    const SafetensorsHeader header = RESIDUA_TRY(readSafetensorsHeader(file));
    const Bytes bytes = bytesOfFile(std::move(file));
    std::map<std::string, StoredArray> arrays;
    for (const auto& [name, tensor] : header.tensors) {
        arrays[name] = {
            typeText(tensor), tensor.shape, {bytes, tensor.begin, tensor.bytes}, path.string() + " · " + name};
    }
    return arrays;
}

/// Returns the arrays in files NAME.npy of a folder by name.
Result<std::map<std::string, StoredArray>> arraysInFolder(const fs::path& folder)
{
    static const std::map<std::string, std::string> kTypes{{"<f2", "F16"}, {"<f4", "F32"}, {"<f8", "F64"},
                                                           {"<i8", "I64"}, {"<i4", "I32"}, {"|u1", "U8"}};
    std::map<std::string, StoredArray> arrays;
    for (const char* const name : {kLatents, kLabels}) {
        const fs::path path = folder / (std::string(name) + ".npy");
        if (!isThere(path)) {
            continue;
        }
        InputFile file = RESIDUA_TRY(InputFile::open(path));
        const NumpyArray array = RESIDUA_TRY(readNumpy(bytesOfFile(std::move(file)), path.string()));
        if (array.isColumnMajor) {
            return Error{path.string(), "is a NumPy array in Fortran's order, expected rows one after another"};
        }
        const auto type = kTypes.find(array.type);
        arrays[name] = {type == kTypes.end() ? array.type : type->second, array.shape, array.bytes, path.string()};
    }
    return arrays;
}

/// Checks that the array has all bytes of its shape, each element of `size` bytes.
Status checkBytes(const StoredArray& array, std::size_t size)
{
    double bytes = static_cast<double>(size);
    for (const std::int64_t dim : array.shape) {
        bytes *= static_cast<double>(dim);
    }
    return bytes == static_cast<double>(array.bytes.size)
               ? Status(Done{})
               : Error{array.place, "holds " + std::to_string(array.bytes.size) + " bytes, expected " +
                                        numberText(bytes) + " of its shape " + shapeText(array.shape) +
                                        " (truncated?)"};
}

/// Returns the labels of `count` latents, each below `classes` if the project gives their number.
Result<std::vector<std::int64_t>> labelsFrom(const StoredArray& array, std::int64_t count,
                                             std::optional<std::int64_t> classes)
{
    const std::size_t size = array.type == "I64" ? 8 : array.type == "I32" ? 4 : array.type == "U8" ? 1 : 0;
    if (size == 0) {
        return Error{array.place, "is of type " + array.type + ", expected whole numbers: I64, I32 or U8"};
    }
    if (array.shape != std::vector{count}) {
        return Error{array.place, "has the shape " + shapeText(array.shape) + ", expected " +
                                      shapeText(std::vector{count}) + ": a label for each latent"};
    }
    RESIDUA_TRY(checkBytes(array, size));
    std::vector<std::byte> bytes(array.bytes.size);
    RESIDUA_TRY(array.bytes.source->read(array.bytes.begin, bytes));
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < bytes.size(); i += size) {
        const std::byte* const at = bytes.data() + i;
        const std::int64_t label = size == 8   ? readAs<std::int64_t>(at)
                                   : size == 4 ? readAs<std::int32_t>(at)
                                               : readAs<std::uint8_t>(at);
        const std::int64_t most = classes.value_or(std::numeric_limits<std::int32_t>::max()) - 1;
        if (label < 0 || label > most) {
            return Error{array.place, "has the label " + std::to_string(label) + " at row " + std::to_string(i / size) +
                                          ", expected 0 to " + std::to_string(most) +
                                          (classes ? ", which the number of classes in the project allows" : "")};
        }
        labels.push_back(label);
    }
    return labels;
}

/// Returns the arrays of a file or a folder, which has latents.
Result<std::map<std::string, StoredArray>> arraysAt(const fs::path& path)
{
    auto arrays = RESIDUA_TRY(isFolder(path) ? arraysInFolder(path) : arraysOfFile(path));
    if (!arrays.contains(kLatents)) {
        return Error{path.string(),
                     "has no array \"latents\", expected a safetensors file with the tensors latents and "
                     "labels, or a folder with latents.npy and labels.npy"};
    }
    return arrays;
}

/// Opens a file or a folder. Adds a note if it has no labels.
Result<LatentDataset::Part> partAt(const fs::path& path, const projects::LatentData& source,
                                   std::vector<std::string>& notes)
{
    const auto arrays = RESIDUA_TRY(arraysAt(path));
    const StoredArray& array = arrays.at(kLatents);
    const std::optional<Element> element = elementFrom(array.type);
    if (!element) {
        return Error{array.place, "is of type " + array.type + ", expected F32, F16, BF16 or F64"};
    }
    const bool fits = array.shape.size() == 4 && array.shape[0] > 0 && array.shape[1] == source.channels &&
                      array.shape[2] == source.height && array.shape[3] == source.width;
    if (!fits) {
        return Error{array.place, "has the shape " + shapeText(array.shape) + ", expected [examples, " +
                                      std::to_string(source.channels) + ", " + std::to_string(source.height) + ", " +
                                      std::to_string(source.width) +
                                      "], the channels, height and width of the project"};
    }
    RESIDUA_TRY(checkBytes(array, sizeOf(*element)));
    LatentDataset::Part part{array.bytes, *element, {}, array.place};
    const auto labels = arrays.find(kLabels);
    if (labels == arrays.end()) {
        notes.push_back(path.string() + " has no labels: all latents are of class 0");
        part.labels.assign(static_cast<std::size_t>(array.shape[0]), 0);
        return part;
    }
    part.labels = RESIDUA_TRY(labelsFrom(labels->second, array.shape[0], source.classes));
    return part;
}

} // namespace

Result<std::optional<projects::LatentData>> latentsAt(const fs::path& path)
{
    if (isFolder(path) ? !isThere(path / (std::string(kLatents) + ".npy")) : path.extension() != ".safetensors") {
        return std::optional<projects::LatentData>();
    }
    const auto arrays = RESIDUA_TRY(arraysAt(path));
    const StoredArray& array = arrays.at(kLatents);
    if (array.shape.size() != 4) {
        return Error{array.place,
                     "has the shape " + shapeText(array.shape) + ", expected [examples, channels, height, width]"};
    }
    projects::LatentData found{.path = path.string(),
                               .validationPath = {},
                               .height = array.shape[2],
                               .width = array.shape[3],
                               .channels = array.shape[1],
                               .classes = 1};
    if (const auto labels = arrays.find(kLabels); labels != arrays.end()) {
        for (const std::int64_t label : RESIDUA_TRY(labelsFrom(labels->second, array.shape[0], std::nullopt))) {
            found.classes = std::max(found.classes, label + 1);
        }
    }
    return std::optional(std::move(found));
}

Result<std::unique_ptr<Dataset>> LatentDataset::open(const projects::LatentData& source,
                                                     const projects::Project& project, const fs::path& projectDirectory,
                                                     const Reading& reading)
{
    std::unique_ptr<LatentDataset> dataset(new LatentDataset(projects::examplesOf(project.data)));
    dataset->m_scale = source.scale;
    for (const std::string& path : {source.path, source.validationPath}) {
        if (path.empty()) {
            continue;
        }
        Part part = RESIDUA_TRY(partAt(projectDirectory / path, source, dataset->m_notes));
        const double validation = source.validationPath.empty() ? project.data.validationFraction : 0.0;
        const std::vector<Split> splits =
            dataset->m_parts.empty()
                ? splitsOf(part.labels, validation, project.data.testFraction, project.seeds.data, reading.version)
                : std::vector<Split>(part.labels.size(), Split::Validation);
        for (std::size_t i = 0; i < splits.size(); ++i) {
            dataset->m_rows[static_cast<std::size_t>(splits[i])].push_back({dataset->m_parts.size(), i});
        }
        dataset->m_parts.push_back(std::move(part));
    }
    if (dataset->rowsOf(Split::Train).empty()) {
        return Error{(projectDirectory / source.path).string(), "no latent is left to train on"};
    }
    return std::unique_ptr<Dataset>(std::move(dataset));
}

std::int64_t LatentDataset::size(Split split) const
{
    return std::ssize(rowsOf(split));
}

Status LatentDataset::fillRows(Batch& batch, const std::vector<Row>& rows) const
{
    const auto values = static_cast<std::size_t>(m_schema.input().shape.features());
    batch.batch = std::ssize(rows);
    batch.time = 0;
    std::vector<std::int64_t>& labels = batch.values<std::int64_t>(1); // first, as a new one makes references invalid
    std::vector<float>& inputs = batch.values<float>(0);
    labels.resize(rows.size());
    inputs.resize(rows.size() * values);
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Part& part = m_parts[rows[i].part];
        const std::size_t size = sizeOf(part.element);
        bytes.resize(values * size);
        RESIDUA_TRY(part.bytes.source->read(part.bytes.begin + rows[i].index * bytes.size(), bytes));
        for (std::size_t k = 0; k < values; ++k) {
            const auto value = static_cast<float>(m_scale * valueAt(bytes.data() + k * size, part.element));
            if (!std::isfinite(value)) {
                return Error{part.place, "has a value at row " + std::to_string(rows[i].index) +
                                             " that is not finite, or not when it is scaled"};
            }
            inputs[i * values + k] = value;
        }
        labels[i] = part.labels[rows[i].index];
    }
    return Done{};
}

Status LatentDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const std::vector<Row>& all = rowsOf(split);
    std::vector<Row> rows;
    for (std::int64_t draw = index * count; draw < (index + 1) * count; ++draw) {
        rows.push_back(all[static_cast<std::size_t>(shuffledRow(draw, std::ssize(all), split, seed))]);
    }
    return fillRows(batch, rows);
}

Status LatentDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const std::vector<Row>& all = rowsOf(split);
    const std::int64_t first = std::min(index * count, std::ssize(all));
    const std::int64_t end = std::min(first + count, std::ssize(all));
    return fillRows(batch, {all.begin() + first, all.begin() + end});
}

} // namespace residua::engine
