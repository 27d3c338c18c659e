// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/runs/named_runs.h"
#include "engine/runs/results/layer_table.h"

#include <filesystem>

namespace residua::cli {

Exit runLayers(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path run = arguments.positional(0);
    const std::string tower = arguments.text("tower");
    const projects::Project project = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, projectOfRun(run, tower));
    std::vector<engine::LayerRow> layers = engine::layersOf(project);
    engine::readLayers(layers, run, arguments.integer("step"), tower);
    if (arguments.has("output")) {
        const std::string path = arguments.text("output");
        return deliver({path, engine::layersCsv(layers), "csv"},
                       "wrote " + path + ": " + countText(layers.size(), "layer"), {{"output", path}}, console);
    }
    std::vector<std::vector<std::string>> rows{{"layer", "block", "shape"}};
    nlohmann::json list = nlohmann::json::array();
    for (const engine::LayerColumn& column : engine::kLayerColumns) {
        rows.front().emplace_back(column.title);
    }
    for (const engine::LayerRow& layer : layers) {
        rows.push_back({layer.name, layer.block, layer.shape});
        nlohmann::json object{{"layer", layer.name}, {"block", layer.block}, {"shape", layer.shape}};
        for (const engine::LayerColumn& column : engine::kLayerColumns) {
            const double value = layer.*column.value;
            const bool isWhole = column.value == &engine::LayerRow::parameters;
            rows.back().push_back(isWhole && !std::isnan(value) ? groupedText(std::llround(value)) : cellOf(value));
            object[column.key] = std::isnan(value) ? nlohmann::json(nullptr) : nlohmann::json(value);
        }
        list.push_back(std::move(object));
    }
    console.line(console.table(rows));
    for (const engine::LayerColumn& column : engine::kLayerColumns) {
        console.line(std::string(column.title) + ": " + column.help);
    }
    console.value({{"run", run.string()}, {"layers", list}});
    return Exit::Ok;
}

} // namespace residua::cli
