// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/live_views.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/runs/shown_matrices.h"
#include "app/window/workspace.h"
#include "engine/api/matrix_name.h"

#include <utility>

namespace residua::app {

namespace {

editor::LiveValues liveOf(projects::MixPort port, const engine::Matrix& matrix, editor::LiveMeasure measure)
{
    editor::LiveValues live;
    live.port = port;
    live.mix = matrix.values;
    live.rows = matrix.rows;
    live.columns = matrix.columns;
    live.step = matrix.step;
    live.measure = measure;
    return live;
}

} // namespace

LiveViews::LiveViews(const DocumentSession& session, Workspace& workspace, QObject* parent)
    : QObject(parent), m_session(session), m_workspace(workspace)
{
    using visualizers::ShownRuns;
    const ShownRuns& runs = workspace.shownRuns();
    connect(&session, &DocumentSession::changed, this, &LiveViews::onDocumentChanged);
    connect(&runs, &ShownRuns::frontChanged, this, [this, &runs] {
        if (runs.front().empty()) {
            clear();
        }
    });
    connect(&runs, &ShownRuns::begun, this, [this, &runs](const std::string& key) {
        if (key == runs.front()) {
            m_topology = runs.find(key)->facts.topology;
        }
    });
    connect(&runs, &ShownRuns::added, this,
            [this, &runs](const std::string& key, const visualizers::RunNumbers& numbers) {
                if (key == runs.front()) {
                    show(numbers.matrices);
                }
            });
}

void LiveViews::onDocumentChanged()
{
    if (!m_session.isOpen()) {
        return;
    }
    const std::int64_t depth = m_session.project().network.depth();
    if (m_session.project().topology != m_topology || std::exchange(m_depth, depth) != depth) {
        clear(); // they are of another picture
    }
}

void LiveViews::show(const std::vector<engine::Matrix>& matrices)
{
    if (m_session.project().topology != m_topology) {
        return; // the wiring was edited while the run goes on
    }
    const std::vector<std::uint8_t> active = newestActive(matrices);
    editor::LiveValues layers;
    layers.active = active;
    m_live.take(layers, m_session.project());
    for (const auto& [kind, measure] : {std::pair(engine::matrix::kMix, editor::LiveMeasure::Mean),
                                        std::pair(engine::matrix::kSpread, editor::LiveMeasure::Spread)}) {
        for (const auto& [port, matrix] : newestByPort(matrices, kind)) {
            m_live.take(liveOf(port, *matrix, measure), m_session.project());
        }
    }
    publish();
}

void LiveViews::showFeature(int feature, const std::vector<engine::Matrix>& history)
{
    if (m_session.project().topology != m_topology) {
        return;
    }
    m_live.clear(editor::LiveMeasure::Feature);
    for (const auto& [port, matrix] : newestByPort(history)) {
        editor::LiveValues live = liveOf(port, *matrix, editor::LiveMeasure::Feature);
        live.feature = feature;
        m_live.take(live, m_session.project());
    }
    publish();
}

void LiveViews::clear()
{
    m_live.clear();
    publish();
}

void LiveViews::publish()
{
    const auto live = std::make_shared<const editor::LiveWeights>(m_live);
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setLive(live);
        canvas->refresh();
    }
    m_workspace.outlineModel().setLive(live);
}

} // namespace residua::app
