// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/image_features.h"

#include "engine/compute/train/batches.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/maths/theory/frechet_distance.h"
#include "projects/base/text.h"
#include "projects/nodes/towers.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

constexpr std::int64_t kAtOnce = 64;

std::string sizeText(const projects::ImageSize& size)
{
    return std::to_string(size.channels) + " × " + std::to_string(size.height) + " × " + std::to_string(size.width);
}

/// Returns why a project's network has no features of the images of another one; Done if it has.
Status checkFeatures(const projects::Project& network, const projects::Project& images)
{
    const auto own = projects::imageSizeOf(network.data.source);
    const auto needed = *projects::imageSizeOf(images.data.source);
    if (!own || projects::sampleUseOf(network.network.objective) != projects::SampleUse::Classify) {
        return Error{"features", "the run \"" + network.name +
                                     "\" classifies no images: expected a run with the objective classification on "
                                     "images of " +
                                     sizeText(needed)};
    }
    if (own->channels != needed.channels || own->height != needed.height || own->width != needed.width) {
        return Error{"features", "the run \"" + network.name + "\" classifies images of " + sizeText(*own) +
                                     ", expected " + sizeText(needed) + ", the size of those that are made"};
    }
    const auto* const ownLatents = std::get_if<projects::LatentData>(&network.data.source);
    const auto* const latents = std::get_if<projects::LatentData>(&images.data.source);
    if ((ownLatents != nullptr) != (latents != nullptr) ||
        (latents != nullptr && ownLatents->scale != latents->scale)) {
        return Error{"features", "the run \"" + network.name +
                                     "\" reads other values; expected pictures for pictures, and latents of the same "
                                     "scale for latents"};
    }
    const projects::Augmentation& a = network.data.augmentation;
    const projects::Augmentation& b = images.data.augmentation;
    const bool alike = a.mean == b.mean && a.deviation == b.deviation && a.meanGreen == b.meanGreen &&
                       a.meanBlue == b.meanBlue && a.deviationGreen == b.deviationGreen &&
                       a.deviationBlue == b.deviationBlue;
    return alike ? Status(Done{})
                 : Error{"features", "the run \"" + network.name +
                                         "\" normalises pictures by another mean or deviation; expected those of the "
                                         "run that makes the images"};
}

} // namespace

Result<ImageFeatures> ImageFeatures::load(const RunRef& of, const projects::Project& images,
                                          const PreparationWatch& watch)
{
    Result<LoadedModel> model = loadModel(of, watch, LoadAs::WithFeatures);
    if (!model) {
        Error error = model.error();
        return Error{"features", error.text()};
    }
    RESIDUA_TRY(checkFeatures(model->parts.project, images));
    const std::filesystem::path named = (of.runDirectory / "").parent_path(); // also if it ends in a slash
    return ImageFeatures(*std::move(model), named.filename().string());
}

DenseMatrix ImageFeatures::of(std::span<const float> values)
{
    const at::NoGradGuard noGrad;
    const projects::Project& project = m_model.parts.project;
    const auto size = *projects::imageSizeOf(project.data.source);
    const std::int64_t each = size.channels * size.height * size.width;
    const std::int64_t count = std::ssize(values) / each;
    const std::string name = projects::valueOf(project.network, kFeatures);
    const Pass pass = passAfter(m_model.step);
    DenseMatrix features;
    for (std::int64_t first = 0; first < count; first += kAtOnce) {
        const std::int64_t rows = std::min(kAtOnce, count - first);
        const at::Tensor input =
            at::from_blob(const_cast<float*>(values.data()) + first * each, {rows, each}, at::kFloat)
                .to(m_model.parts.device, parameterType(project.training.precision), /*non_blocking=*/false,
                    /*copy=*/true);
        const at::Tensor found = m_model.parts.network->values(DeviceBatch{input, {}}, pass)
                                     .at(name)
                                     .to(at::kCPU, at::kDouble)
                                     .flatten(1)
                                     .contiguous();
        if (features.size() == 0) {
            features.resize(count, found.size(1));
            m_features = found.size(1);
        }
        std::copy_n(found.const_data_ptr<double>(), found.numel(), features.data() + first * features.cols());
    }
    return features;
}

Result<DenseMatrix> ImageFeatures::ofSplit(const Dataset& images, Split split, std::int64_t count)
{
    std::vector<float> values;
    std::size_t each = 1;
    for (std::int64_t index = 0; std::ssize(values) < count * static_cast<std::int64_t>(each); ++index) {
        Batch batch;
        RESIDUA_TRY(images.withoutNoise().fillSequential(batch, split, index, kAtOnce));
        if (batch.batch == 0) {
            break;
        }
        const std::vector<float>& read = batch.values<float>(0);
        each = read.size() / static_cast<std::size_t>(batch.batch);
        values.insert(values.end(), read.begin(), read.end());
    }
    values.resize(std::min(values.size(), static_cast<std::size_t>(count) * each));
    return of(values);
}

std::string ImageFeatures::text() const
{
    return std::to_string(m_features) + " features of the run " + m_run + " at step " + groupedText(m_model.step);
}

std::map<std::string, double> comparedFeatures(const DenseMatrix& real, const DenseMatrix& made)
{
    const PrecisionRecall within = precisionAndRecall(real.topRows(std::min(real.rows(), kMostNeighbours)),
                                                      made.topRows(std::min(made.rows(), kMostNeighbours)));
    return {
        {"frechet_distance", frechetDistance(real, made)}, {"precision", within.precision}, {"recall", within.recall}};
}

} // namespace residua::engine
