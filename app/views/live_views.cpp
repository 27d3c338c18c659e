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

/// The wiring with every shortcut as the others.
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
           withoutShortcuts(run->facts.topology.wiring) == withoutShortcuts(project.topology.wiring);
}

/// An edit of a wiring that the weights are of, or back to it.
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

void LiveViews::update()
{
    m_fits = fits();
    m_live.clear();
    if (m_fits) {
        for (const auto& matrix : m_matrices.framesShown()) {
            const engine::MatrixName& name = matrix->name;
            editor::LiveValues values;
            values.port = name.port;
            values.step = matrix->step;
            if (const auto measure = measureOf(name.kind)) {
                values.mix = matrix->values;
                values.rows = matrix->rows;
                values.columns = matrix->columns;
                values.measure = *measure;
                values.feature = m_matrices.feature().value_or(0);
            } else if (name.kind == engine::matrix::kActive) {
                values.active = matrix->values;
            }
            m_live.take(values, m_matrices.frames().scale(name));
        }
    }
    const auto live = std::make_shared<const editor::LiveWeights>(m_live);
    const auto drawn = m_rowShares ? std::make_shared<const editor::LiveWeights>(m_live.rowShares()) : live;
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setLive(drawn);
        canvas->refresh();
    }
    m_workspace.outlineModel().setLive(live);
}

} // namespace residua::app
