// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report.h"

#include "app/report/html_text.h"
#include "engine/base/api/row_curves.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace residua::report {
namespace {

constexpr std::int64_t kMostColumns = kPageColours;

/// Returns what a tower, whose name is empty for the first one, has recorded under a name of engine::kRowCurves.
std::vector<engine::Matrix> recordedOf(const engine::RunReader& run, const std::string& tower, const char* kind)
{
    const engine::MatrixName name = engine::MatrixName::from(tower.empty() ? kind : tower + "." + kind);
    std::vector<engine::Matrix> recorded;
    for (const std::int64_t step : run.matrixSteps(name)) {
        auto matrix = run.matrix(name, step);
        if (matrix) {
            matrix->name = inTower(name);
        }
        if (matrix && engine::hasRowCurves(*matrix)) {
            recorded.push_back(std::move(*matrix));
        }
    }
    return recorded;
}

/// Returns the title of a figure of a tower, whose name is empty for the first one.
std::string titleOf(const engine::RowCurves& row, const std::string& tower)
{
    std::string title = row.title + (tower.empty() ? "" : " · " + tower);
    if (title.front() >= 'a' && title.front() <= 'z') {
        title.front() = static_cast<char>(title.front() - 'a' + 'A');
    }
    return *row.unit != 0 ? title + ", " + row.unit : title;
}

/// Returns the curve of one cell over the recorded matrices with the last one's width.
PlotCurve columnCurve(const std::vector<engine::Matrix>& recorded, std::int64_t row, std::int64_t column)
{
    PlotCurve curve;
    for (const engine::Matrix& matrix : recorded) {
        const bool known = matrix.columns == recorded.back().columns && !std::isnan(matrix.at(row, column));
        if (known) { // otherwise the layer was left out
            curve.points.append(static_cast<double>(matrix.step), matrix.at(row, column));
        }
    }
    return curve;
}

} // namespace

engine::MatrixName inTower(const engine::MatrixName& name)
{
    return engine::MatrixName(name.kind.substr(name.kind.find('.') + 1), name.port);
}

std::vector<PlotCurve> degreeErrors(const engine::RunReader& run)
{
    const std::vector<engine::Matrix> recorded = recordedOf(run, {}, engine::matrix::kDegreeErrors);
    std::vector<PlotCurve> curves;
    for (std::int64_t column = 0; !recorded.empty() && column < recorded.back().columns; ++column) {
        curves.push_back(columnCurve(recorded, 0, column));
    }
    return curves;
}

namespace {

/// Adds the figures of a tower, whose name is empty for the first one. `network` is null if it is unknown.
void addFigures(const engine::RunReader& run, const std::string& tower, const projects::Network* network,
                std::vector<PlotSpec>& figures)
{
    std::vector<engine::Matrix> recorded;
    const auto nameOf = [network](const engine::RowCurves& row, std::int64_t column, std::int64_t columns) {
        const bool isLayer =
            std::string_view(row.column) == "layer" && network != nullptr && network->depth() == columns;
        return row.column + (" " + (isLayer ? projects::layerName(network->stack(), column) : std::to_string(column)));
    };
    for (const engine::RowCurves& row : engine::kRowCurves) {
        if (row.row == 0) {
            recorded = recordedOf(run, tower, row.matrix);
        }
        if (recorded.empty()) {
            continue;
        }
        PlotSpec& spec =
            figures.emplace_back(PlotSpec{titleOf(row, tower), "step", *row.unit != 0 ? row.unit : "loss", {}});
        const std::int64_t columns = recorded.back().columns;
        const std::int64_t shown = std::min(columns, kMostColumns);
        for (std::int64_t i = 0; i < shown; ++i) {
            const std::int64_t column = shown < 2 ? 0 : i * (columns - 1) / (shown - 1);
            PlotCurve curve = columnCurve(recorded, row.row, column);
            curve.name = columns > 1 ? nameOf(row, column + 1, columns) : "";
            curve.colour = static_cast<std::size_t>(i);
            spec.curves.push_back(std::move(curve));
        }
    }
}

} // namespace

std::vector<PlotSpec> rowFigures(const engine::RunReader& run)
{
    std::vector<PlotSpec> figures;
    const auto project = run.project();
    addFigures(run, {}, project ? &project->network : nullptr, figures);
    for (std::size_t i = 0; project && i < project->towers.size(); ++i) {
        addFigures(run, project->towers[i].network.name, &project->towers[i].network, figures);
    }
    return figures;
}

} // namespace residua::report
