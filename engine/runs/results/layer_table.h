// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// An executed layer with its numbers; NaN if they are unknown. Halves of a layer that a run records separately are
/// taken together.
struct LayerRow {
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

    std::int64_t layer = 0; ///< from 1
    std::string name;       ///< "3", or "3@2" for the second visit of a loop to stored layer 3
    std::string block;
    std::string shape; ///< of its output: "[batch, time, 64]"
    double parameters = kUnknown;
    double flops = kUnknown;     ///< of a forward pass, per token or sample
    double output = kUnknown;    ///< root mean square of its branch
    double gradient = kUnknown;  ///< norm of the gradient of its parameters
    double weightIn = kUnknown;  ///< sum of the magnitudes of the weights that it reads with, a mean over its ports
    double weightOut = kUnknown; ///< the same of the weights that read its stack entry
    double effect = kUnknown;    ///< rise of the loss without it
};

/// A column of numbers.
struct LayerColumn {
    const char* key; ///< in CSV and JSON
    const char* title;
    const char* help;
    double LayerRow::*value;
};
inline constexpr LayerColumn kLayerColumns[] = {
    {"parameters", "Parameters", "Parameters of the layer, without the topology's", &LayerRow::parameters},
    {"forward_flop", "FLOP", "FLOP of a forward pass, per token or sample", &LayerRow::flops},
    {"output_rms", "Output", "Root mean square of the branch that the layer computes", &LayerRow::output},
    {"gradient_norm", "Gradient", "Norm of the gradient of the layer's parameters", &LayerRow::gradient},
    {"weight_in", "Weight in", "Sum of the magnitudes of the weights of what the layer reads", &LayerRow::weightIn},
    {"weight_out", "Weight out", "Sum of the magnitudes of the weights with which others read the layer",
     &LayerRow::weightOut},
    {"knockout_rise", "Knock-out", "Rise of the loss without the layer, by the last knock-out of layers",
     &LayerRow::effect},
};

/// Returns the layers of the project, or of the first tower of a view, with their costs; the other numbers are unknown.
/// Pure; any thread.
[[nodiscard]] std::vector<LayerRow> layersOf(const projects::Project& project);
/// Sets what the run has recorded of a tower at the last step up to `step` (nullopt: the newest one). `tower` is its
/// name; empty for the first. Norms are recorded of the first one only. Does nothing if the run has no such tower, or
/// another number of layers, or cannot be read. Blocking; any thread.
void readLayers(std::vector<LayerRow>& layers, const std::filesystem::path& run, std::optional<std::int64_t> step,
                const std::string& tower = {});
/// Returns one line for each layer, below the keys of the columns. Unknown numbers are empty.
[[nodiscard]] std::string layersCsv(const std::vector<LayerRow>& layers);

} // namespace residua::engine
