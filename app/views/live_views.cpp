// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/live_views.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/workspace/workspace.h"
#include "engine/api/matrix_name.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace residua::app {

namespace {

using editor::LiveMeasure;

std::optional<LiveMeasure> measureOf(std::string_view kind)
{
    return kind == engine::matrix::kMix       ? std::optional(LiveMeasure::Mean)
           : kind == engine::matrix::kSpread  ? std::optional(LiveMeasure::Spread)
           : kind == engine::matrix::kFeature ? std::optional(LiveMeasure::Feature)
                                              : std::nullopt;
}

/// Returns the wiring without individual states of shortcuts.
projects::Wiring withoutShortcuts(projects::Wiring wiring)
{
    if (auto* mix = std::get_if<projects::DepthMix>(&wiring)) {
        mix->sources = {};
        mix->states.clear();
    }
    return wiring;
}

} // namespace

LiveViews::LiveViews(const DocumentSession& session, Workspace& workspace, QObject* parent)
    : QObject(parent), m_session(session), m_workspace(workspace), m_matrices(workspace.shownMatrices())
{
    connect(&session, &DocumentSession::changed, this, &LiveViews::onDocumentChanged);
    connect(&m_matrices, &visualizers::ShownMatrices::changed, this, &LiveViews::update);
}

bool LiveViews::fits() const
{
    const visualizers::ShownRuns& runs = m_workspace.shownRuns();
    const visualizers::ShownRuns::Run* run = runs.find(runs.front());
    if (run == nullptr || !m_session.isOpen()) {
        return false;
    }
    const projects::Project& project = m_session.project();
    return run->facts.layers == project.network.depth() &&
           withoutShortcuts(run->facts.topology.wiring) == withoutShortcuts(project.stack().topology.wiring);
}

/// Called after an edit, which may lead to or from a wiring that the weights belong to.
void LiveViews::onDocumentChanged()
{
    if (fits() != m_fits) {
        update();
    }
}

void LiveViews::setRowShares(bool shown)
{
    m_rowShares = shown;
    update();
}

void LiveViews::take(const std::vector<visualizers::HeatmapFrames::Shown>& frames, editor::LiveWeights& live) const
{
    for (const auto& [matrix, shades, scale, fromStart] : frames) {
        editor::LiveValues values;
        values.port = matrix.name.port;
        values.step = matrix.step;
        if (const auto measure = measureOf(matrix.name.kind)) {
            values.mix = matrix.values;
            values.rows = matrix.rows;
            values.columns = matrix.columns;
            values.measure = *measure;
            values.feature = m_matrices.feature().value_or(0);
            if (fromStart) {
                values.shades = shades;
            }
            if (measure == LiveMeasure::Mean) {
                values.title = m_matrices.valueTitle().toStdString();
            }
        } else if (matrix.name.kind == engine::matrix::kActive) {
            values.active = matrix.values;
        }
        live.take(values, scale);
    }
}

void LiveViews::update()
{
    m_fits = fits();
    m_live.clear();
    if (m_fits) {
        take(m_matrices.framesShown(), m_live);
    }
    const bool asRecorded = m_matrices.value() == visualizers::CellValue::Weight;
    const auto drawn =
        std::make_shared<const editor::LiveWeights>(m_rowShares && asRecorded ? m_live.rowShares() : m_live);
    auto live = drawn;
    if (m_fits && !asRecorded) { // the outline shows the weights themselves
        editor::LiveWeights recorded;
        take(m_matrices.frames().shownAt(m_matrices.step().value_or(0), visualizers::CellValue::Weight), recorded);
        live = std::make_shared<const editor::LiveWeights>(std::move(recorded));
    } else if (m_rowShares) {
        live = std::make_shared<const editor::LiveWeights>(m_live);
    }
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setLive(drawn);
        canvas->refresh();
    }
    m_workspace.outlineModel().setLive(live);
}

} // namespace residua::app
