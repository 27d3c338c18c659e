// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/layer_table.h"

#include "engine/base/api/row_curves.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_names.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <variant>

namespace residua::engine {
namespace {

/// Returns the matrix at the last step up to `step`.
std::optional<Matrix> matrixUpTo(const RunReader& reader, const MatrixName& name, std::optional<std::int64_t> step)
{
    const std::vector<std::int64_t> steps = reader.matrixSteps(name);
    const auto after = step ? std::ranges::upper_bound(steps, *step) : steps.end();
    if (after == steps.begin()) {
        return std::nullopt;
    }
    Result<Matrix> matrix = reader.matrix(name, *(after - 1));
    return matrix ? std::optional(*std::move(matrix)) : std::nullopt;
}

/// Returns the root of the sum of squares of the layer's columns, which are one for each layer or for each half.
double normOfLayer(const Matrix& matrix, std::int64_t row, std::int64_t layer, std::int64_t layers)
{
    const std::int64_t perLayer = matrix.columns / layers;
    double squares = 0;
    for (std::int64_t part = 0; part < perLayer; ++part) {
        const double value = matrix.at(row, (layer - 1) * perLayer + part);
        squares += value * value; // NaN if a half is unknown
    }
    return std::sqrt(squares);
}

void readNorms(std::vector<LayerRow>& layers, const std::optional<Matrix>& matrix, std::int64_t row,
               double LayerRow::*value)
{
    const auto count = static_cast<std::int64_t>(layers.size());
    if (!matrix || matrix->rows <= row || matrix->columns < count || matrix->columns % count != 0) {
        return;
    }
    for (LayerRow& layer : layers) {
        layer.*value = normOfLayer(*matrix, row, layer.layer, count);
    }
}

/// Adds the magnitudes of one port's weights. Row j − 1 of the matrix is reader j, column i is stack entry i.
void addWeights(std::vector<LayerRow>& layers, const Matrix& weights, const projects::DepthMix& mix,
                std::int64_t perLayer)
{
    const auto add = [](double& sum, double weight) {
        if (!std::isnan(weight)) {
            sum = (std::isnan(sum) ? 0 : sum) + std::abs(weight);
        }
    };
    for (LayerRow& layer : layers) {
        std::int64_t counted = -1; // modules may share an entry, which is read once
        for (std::int64_t module = projects::firstModule(layer.layer, perLayer);
             module <= projects::lastModule(layer.layer, perLayer); ++module) {
            for (std::int64_t source = 0; module <= weights.rows && source < weights.columns; ++source) {
                add(layer.weightIn, weights.at(module - 1, source));
            }
            const std::int64_t entry = projects::stackEntryOf(mix, module);
            for (std::int64_t row = 0; entry < weights.columns && entry != counted && row < weights.rows; ++row) {
                add(layer.weightOut, weights.at(row, entry));
            }
            counted = entry;
        }
    }
}

void readWeights(std::vector<LayerRow>& layers, const RunReader& reader, const projects::Project& project,
                 std::optional<std::int64_t> step, const std::string& kind)
{
    const auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return;
    }
    double ports = 0;
    for (const MatrixName& name : reader.matrixNames()) {
        const auto weights = name.kind == kind ? matrixUpTo(reader, name, step) : std::nullopt;
        if (weights) {
            ++ports;
            addWeights(layers, *weights, *mix, projects::modulesPerLayer(project));
        }
    }
    for (LayerRow& layer : layers) {
        layer.weightIn /= std::max(ports, 1.0);
        layer.weightOut /= std::max(ports, 1.0);
    }
}

void readKnockouts(std::vector<LayerRow>& layers, const std::filesystem::path& run, const std::string& tower)
{
    const Result<std::vector<KeptEffects>> all = readEffects(run);
    for (const KeptEffects& kept : all ? *all : std::vector<KeptEffects>()) { // the last one counts
        for (const KnockoutRow& row : kept.key.by == projects::KnockoutBy::Layer && kept.key.tower == tower
                                          ? kept.measured.rows
                                          : std::vector<KnockoutRow>()) {
            const auto found = std::ranges::find(layers, row.first, &LayerRow::layer);
            if (found != layers.end()) {
                found->effect = row.rise;
            }
        }
    }
}

} // namespace

std::vector<LayerRow> layersOf(const projects::Project& project)
{
    const Result<projects::CostReport> cost = projects::costOf(project);
    const std::string shape = projects::stackShapeOf(project).text();
    std::vector<LayerRow> layers;
    for (std::int64_t number = 1; number <= project.network.depth(); ++number) {
        const projects::Block* const block = project.network.blockOfLayer(number);
        LayerRow row;
        row.layer = number;
        row.name = projects::layerName(project.stack(), number);
        row.block = block != nullptr ? block->name : std::string();
        row.shape = shape;
        if (cost && static_cast<std::size_t>(number) <= cost->layers.size()) {
            const projects::Cost& own = cost->layers[static_cast<std::size_t>(number) - 1];
            row.parameters = static_cast<double>(own.parameters);
            row.flops = own.forwardFlops;
        }
        layers.push_back(std::move(row));
    }
    return layers;
}

void readLayers(std::vector<LayerRow>& layers, const std::filesystem::path& run, std::optional<std::int64_t> step,
                const std::string& tower)
{
    const Result<RunReader> reader = RunReader::open(run);
    Result<projects::Project> project = reader ? reader->project() : Result<projects::Project>(reader.error());
    const Result<std::size_t> index =
        project ? projects::chosenTower(*project, tower) : Result<std::size_t>(project.error());
    if (!index) {
        return;
    }
    project = projects::viewOf(*std::move(project), *index);
    if (layers.empty() || project->network.depth() != static_cast<std::int64_t>(layers.size())) {
        return;
    }
    const std::string scope = *index == 0 ? "" : tower + ".";
    readNorms(layers, matrixUpTo(*reader, MatrixName{scope + matrix::kLayerMagnitudes}, step),
              rowNumber(LayerMagnitude::Branch), &LayerRow::output);
    readNorms(layers, matrixUpTo(*reader, MatrixName{scope + matrix::kLayerGradients}, step), 0, &LayerRow::gradient);
    readWeights(layers, *reader, *project, step, scope + matrix::kMix);
    readKnockouts(layers, run, *index == 0 ? std::string() : tower);
}

std::string layersCsv(const std::vector<LayerRow>& layers)
{
    std::ostringstream csv;
    csv << "layer,block,shape";
    for (const LayerColumn& column : kLayerColumns) {
        csv << ',' << column.key;
    }
    csv << '\n';
    for (const LayerRow& layer : layers) {
        csv << layer.name << ',' << csvField(layer.block) << ',' << csvField(layer.shape);
        for (const LayerColumn& column : kLayerColumns) {
            const double value = layer.*column.value;
            csv << ',' << (std::isnan(value) ? "" : numberText(value));
        }
        csv << '\n';
    }
    return csv.str();
}

} // namespace residua::engine
