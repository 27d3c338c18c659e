// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/coefficients.h"

#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/parameter_name.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::DepthMix;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kMostNumbers = 1 << 30; ///< 4 GiB of matrices

double numberAt(const StoredTensor& tensor, std::size_t index)
{
    const std::byte* const bytes = tensor.bytes.data() + index * static_cast<std::size_t>(bytesOf(tensor.type));
    const auto read = [bytes](auto number) {
        std::memcpy(&number, bytes, sizeof number);
        return number;
    };
    switch (tensor.type) {
    case StoredType::F64:
        return read(double());
    case StoredType::F32:
        return read(float());
    case StoredType::Bf16:
        return std::bit_cast<float>(std::uint32_t{read(std::uint16_t())} << 16);
    case StoredType::F16:
    case StoredType::I64:
    case StoredType::I32:
    case StoredType::U8:
    case StoredType::Bool:
    case StoredType::Other:
        break;
    }
    return kNone;
}

/// The learned numbers of a DepthMix, by term and feature.
struct Learned {
    projects::DepthPlan plan;
    projects::MixNumbers coefficients;
    std::int64_t step = 0;
};

/// Returns how many numbers the matrices of both kinds have, with all ports and features. A mix with few weights but a
/// distant reader is small in the file only.
double numbersOf(const Learned& learned)
{
    const auto rows = static_cast<double>(learned.plan.readers.back().target);
    return 2 * rows * rows * static_cast<double>(learned.plan.ports.size()) *
           static_cast<double>(learned.coefficients.features);
}

/// Adds one tensor per port. Builds a matrix per feature first, so that names and cells are those of recorded matrices.
void addTensors(std::vector<CoefficientTensor>& tensors, const std::string& kind, const Learned& learned,
                const projects::MixNumbers& values)
{
    const std::size_t first = tensors.size();
    const auto features = static_cast<std::size_t>(values.features);
    std::vector<float> numbers(learned.plan.terms.size());
    for (std::int64_t f = 0; f < values.features; ++f) {
        for (std::size_t t = 0; t < numbers.size(); ++t) {
            numbers[t] = static_cast<float>(values.at(t, f));
        }
        std::vector<Matrix> matrices;
        addMatrices(matrices, kind, learned.plan, numbers, learned.step);
        for (std::size_t m = 0; m < matrices.size(); ++m) {
            const Matrix& matrix = matrices[m];
            if (f == 0) {
                tensors.push_back({matrix.name, matrix.step, matrix.rows, matrix.columns, values.features, {}});
                tensors.back().values.resize(matrix.values.size() * features);
            }
            for (std::size_t cell = 0; cell < matrix.values.size(); ++cell) {
                tensors[first + m].values[cell * features + static_cast<std::size_t>(f)] = matrix.values[cell];
            }
        }
    }
}

/// Reduces the features of each cell to one number.
template <class Reduce>
Matrix reduced(const CoefficientTensor& tensor, const Reduce& reduce)
{
    Matrix matrix{tensor.name, tensor.step, tensor.rows, tensor.columns, {}};
    const auto count = static_cast<std::size_t>(tensor.features);
    for (std::size_t begin = 0; begin < tensor.values.size(); begin += count) {
        matrix.values.push_back(reduce(std::span(tensor.values).subspan(begin, count)));
    }
    return matrix;
}

double meanOf(std::span<const float> values)
{
    double sum = 0;
    for (const float value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

void sortForReading(std::vector<Matrix>& matrices)
{
    std::ranges::sort(matrices, {}, &Matrix::name);
}

std::vector<MatrixName> recordedNames(const RunReader& reader)
{
    std::vector<MatrixName> names = reader.matrixNames();
    std::erase_if(names, [](const MatrixName& name) { return !name.isOfShortcuts(); });
    return names;
}

/// Returns the steps with any recorded matrix, ascending.
std::vector<std::int64_t> recordedSteps(const RunReader& reader)
{
    std::vector<std::int64_t> steps;
    for (const MatrixName& name : recordedNames(reader)) {
        const std::vector<std::int64_t> of = reader.matrixSteps(name);
        steps.insert(steps.end(), of.begin(), of.end());
    }
    std::ranges::sort(steps);
    const auto repeated = std::ranges::unique(steps);
    steps.erase(repeated.begin(), repeated.end());
    return steps;
}

/// Returns the recorded matrices at a step, except for damaged ones; if none is left, returns the error.
Result<std::vector<Matrix>> recordedAt(const RunReader& reader, std::int64_t step)
{
    std::vector<Matrix> matrices;
    for (const MatrixName& name : recordedNames(reader)) {
        if (auto matrix = reader.matrix(name, step)) {
            matrices.push_back(*std::move(matrix));
        }
    }
    if (const auto faults = reader.faults(); matrices.empty() && !faults.empty()) {
        return faults.front();
    }
    sortForReading(matrices);
    return matrices;
}

std::vector<Matrix> viewsOf(const std::vector<CoefficientTensor>& tensors, std::optional<std::int64_t> feature)
{
    std::vector<Matrix> matrices;
    for (const CoefficientTensor& tensor : tensors) {
        matrices.push_back(feature ? tensor.feature(*feature) : tensor.mean());
        if (!feature && tensor.features > 1 && tensor.name.kind == matrix::kMix) {
            matrices.push_back(tensor.spread());
        }
    }
    sortForReading(matrices);
    return matrices;
}

/// Returns a text such as "recorded are 0, 10, 20 … 500".
std::string listed(const std::vector<std::int64_t>& steps)
{
    std::string text;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool shown = i < 3 || i + 1 == steps.size();
        text += !shown ? ""
                       : (i == 0                                      ? ""
                          : steps.size() > 4 && i + 1 == steps.size() ? " … "
                                                                      : ", ") +
                             std::to_string(steps[i]);
    }
    return text;
}

} // namespace

Matrix CoefficientTensor::mean() const
{
    return reduced(*this, [](std::span<const float> all) { return static_cast<float>(meanOf(all)); });
}

Matrix CoefficientTensor::spread() const
{
    Matrix matrix = reduced(*this, [](std::span<const float> all) {
        const double mean = meanOf(all);
        double sum = 0;
        for (const float value : all) {
            sum += (value - mean) * (value - mean);
        }
        return static_cast<float>(std::sqrt(sum / static_cast<double>(all.size())));
    });
    matrix.name.kind = matrix::kSpread;
    return matrix;
}

Matrix CoefficientTensor::feature(std::int64_t feature) const
{
    return reduced(*this, [feature](std::span<const float> all) { return all[static_cast<std::size_t>(feature)]; });
}

Result<std::vector<CoefficientTensor>> checkpointCoefficients(const fs::path& run, std::optional<std::int64_t> step)
{
    const auto project = readRunProject(run);
    const auto checkpoint =
        RESIDUA_TRY(project ? loadCheckpoint(run, step, nullptr) : Result<LoadedCheckpoint>(project.error()));
    const auto* const mix = std::get_if<DepthMix>(&project->stack().topology.wiring);
    const auto stored = checkpoint.model.tensors().find(projects::kTopologyCoefficient);
    if (mix == nullptr || stored == checkpoint.model.tensors().end()) {
        return Error{run.string(), "its topology, " + project->stack().topology.preset +
                                       ", learns no weight for each shortcut that a checkpoint could hold"};
    }
    Learned learned;
    learned.step = checkpoint.state.step;
    learned.plan = projects::planOf(*mix, project->network.depth());
    const std::vector<std::int64_t>& shape = stored->second.shape;
    learned.coefficients.features = shape.size() == 2 ? shape[1] : 1;
    const bool shares = projects::sharesMix(project->stack());
    const auto terms = static_cast<std::int64_t>(shares ? projects::sharedTerms(project->stack()).size()
                                                        : projects::learnedTerms(*mix, learned.plan).size());
    const bool fits =
        (shape.size() == 1 || shape.size() == 2) && learned.coefficients.features > 0 && terms > 0 && shape[0] == terms;
    if (!fits) {
        return Error{run.string(), std::string("the checkpoint's ") + projects::kTopologyCoefficient +
                                       " does not fit the topology of the run's project"};
    }
    if (const double numbers = numbersOf(learned); numbers > kMostNumbers) {
        return Error{run.string(), std::string("the checkpoint's ") + projects::kTopologyCoefficient +
                                       " makes matrices of " + scaledText(numbers, Prefixes::Decimal, {}) +
                                       " numbers, expected at most " + scaledText(kMostNumbers, Prefixes::Decimal, {}) +
                                       ": its recorded matrices have the means of the features"};
    }
    const auto count = static_cast<std::size_t>(terms * learned.coefficients.features);
    for (std::size_t i = 0; i < count; ++i) {
        learned.coefficients.values.push_back(numberAt(stored->second, i));
    }
    learned.coefficients = *projects::coefficientsOf(project->stack(), learned.plan, std::move(learned.coefficients));
    std::vector<CoefficientTensor> tensors;
    addTensors(tensors, matrix::kMix, learned, projects::appliedWeights(*mix, learned.plan, learned.coefficients));
    addTensors(tensors, matrix::kCoefficient, learned, learned.coefficients);
    return tensors;
}

Result<std::vector<Matrix>> coefficientsAt(const fs::path& run, std::optional<std::int64_t> step,
                                           std::optional<std::int64_t> feature)
{
    const auto reader = RESIDUA_TRY(RunReader::open(run));
    const std::vector<std::int64_t> recorded = recordedSteps(reader);
    if (!feature && !recorded.empty() && (!step || std::ranges::binary_search(recorded, *step))) {
        return recordedAt(reader, step.value_or(recorded.back()));
    }
    const auto tensors = checkpointCoefficients(run, step);
    if (!tensors) {
        const std::string steps = recorded.empty() ? "" : "; recorded are the steps " + listed(recorded);
        return Error{tensors.error().place, tensors.error().message + (feature ? "" : steps)};
    }
    const std::int64_t features = tensors->empty() ? 1 : tensors->front().features;
    if (feature && (*feature < 0 || *feature >= features)) {
        return Error{"feature", "got " + std::to_string(*feature) + ", expected 0 to " + std::to_string(features - 1) +
                                    (features == 1 ? ": one weight serves all features" : "")};
    }
    return viewsOf(*tensors, feature);
}

Result<std::vector<Matrix>> featureHistory(const fs::path& run, std::int64_t feature, std::int64_t after)
{
    const std::vector<std::int64_t> steps = checkpointSteps(run);
    if (steps.empty()) {
        return Error{run.string(), "has no checkpoint, which alone holds the weights of single features"};
    }
    std::vector<Matrix> history;
    for (auto step = std::ranges::upper_bound(steps, after); step != steps.end(); ++step) {
        auto matrices = RESIDUA_TRY(coefficientsAt(run, *step, feature));
        std::erase_if(matrices, [](const Matrix& matrix) { return matrix.name.kind != matrix::kMix; });
        std::ranges::move(matrices, std::back_inserter(history));
    }
    return history;
}

Result<std::vector<Matrix>> firstCoefficients(const fs::path& run)
{
    const auto reader = RESIDUA_TRY(RunReader::open(run));
    const std::vector<std::int64_t> recorded = recordedSteps(reader);
    if (recorded.empty()) {
        return Error{run.string(), "has recorded no coefficients"};
    }
    return recordedAt(reader, recorded.front());
}

Result<Matrix> difference(const Matrix& a, const Matrix& b)
{
    if (a.rows != b.rows || a.columns != b.columns) {
        const auto size = [](const Matrix& m) { return std::to_string(m.rows) + " × " + std::to_string(m.columns); };
        return Error{a.name.text(), "is " + size(a) + ", what it is compared with " + size(b)};
    }
    Matrix result = a;
    std::ranges::transform(a.values, b.values, result.values.begin(), std::minus<>());
    return result;
}

bool isEverywhere(const Matrix& matrix, double value)
{
    constexpr double kRounding = 1e-6;
    return std::ranges::none_of(matrix.values, [value](float cell) { return std::abs(cell - value) > kRounding; });
}

Matrix logOfRowMaximum(const Matrix& matrix)
{
    Matrix result = matrix;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto cells =
            std::span(result.values)
                .subspan(static_cast<std::size_t>(row * matrix.columns), static_cast<std::size_t>(matrix.columns));
        float largest = 0;
        for (const float cell : cells) {
            largest = std::fmax(largest, cell);
        }
        std::ranges::transform(cells, cells.begin(),
                               [largest](float cell) { return cell > 0 ? std::log(cell / largest) : kNone; });
    }
    return result;
}

std::string coefficientsCsv(const std::vector<Matrix>& matrices)
{
    std::ostringstream text;
    text.precision(9); // enough digits for every bit of a float
    text << "matrix,step,target,source,value\n";
    for (const Matrix& matrix : matrices) {
        const std::string name = csvField(matrix.name.text());
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            for (std::int64_t column = 0; column < matrix.columns; ++column) {
                if (const float value = matrix.at(row, column); !std::isnan(value)) {
                    text << name << ',' << matrix.step << ',' << row + 1 << ',' << column << ',' << value << '\n';
                }
            }
        }
    }
    return text.str();
}

Status exportCoefficients(const fs::path& path, const std::vector<Matrix>& matrices,
                          const std::vector<CoefficientTensor>& tensors)
{
    if (path.extension() == ".csv") {
        return writeOutput(path, coefficientsCsv(matrices));
    }
    if (path.extension() != ".safetensors") {
        return Error{path.string(), "expected a name that ends in .csv or .safetensors"};
    }
    std::map<std::string, StoredTensor> stored;
    for (const Matrix& matrix : matrices) {
        stored[matrix.name.text()] = {
            StoredType::F32, {matrix.rows, matrix.columns}, std::as_bytes(std::span(matrix.values))};
    }
    for (const CoefficientTensor& tensor : tensors) {
        stored[tensor.name.text() + ".features"] = {
            StoredType::F32, {tensor.rows, tensor.columns, tensor.features}, std::as_bytes(std::span(tensor.values))};
    }
    const std::int64_t step = matrices.empty() ? 0 : matrices.front().step;
    return writeSafetensors(path, stored, {{"step", std::to_string(step)}});
}

} // namespace residua::engine
