// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/live_views.h"

#include "app/canvas/canvas_widget.h"
#include "app/canvas/shown_weights.h"
#include "app/document/document_session.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/matrix_name.h"
#include "projects/diff/diff.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace residua::app {

namespace {

/// Returns the double with the fewest digits that is this float: 0.1 and not 0.10000000149.
double asWritten(float value)
{
    return QString::number(value, 'g', QLocale::FloatingPointShortest).toDouble();
}

QString titleOfPreset(const std::string& name)
{
    const std::vector<projects::TopologyPreset> presets = projects::topologyPresets(1);
    const auto preset = std::ranges::find(presets, name, &projects::TopologyPreset::name);
    return QString::fromStdString(preset == presets.end() ? name : preset->title);
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
    connect(&workspace.shownEffects(), &visualizers::ShownEffects::changed, this, &LiveViews::update);
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

QString LiveViews::absence() const
{
    const visualizers::ShownRuns& runs = m_workspace.shownRuns();
    const visualizers::ShownRuns::Run* run = runs.find(runs.front());
    const auto isOfShortcuts = [](const engine::MatrixName& name) { return name.isOfShortcuts(); };
    if (run == nullptr || !m_session.isOpen() || m_fits ||
        std::ranges::none_of(m_matrices.frames().names(), isOfShortcuts)) {
        return {};
    }
    const std::int64_t layers = m_session.project().network.depth();
    const QString name = runs.labelOf(run->key);
    if (run->facts.layers != layers) {
        return tr("The weights of %1 are not drawn: it has %2 layers, the project %3.")
            .arg(name)
            .arg(run->facts.layers)
            .arg(layers);
    }
    const std::string& theirs = run->facts.topology.preset;
    const std::string& ours = m_session.project().stack().topology.preset;
    return theirs == ours ? tr("The weights of %1 are not drawn: its wiring differs from the project's.").arg(name)
                          : tr("The weights of %1 are not drawn: it is wired as %2, the project as %3.")
                                .arg(name, titleOfPreset(theirs), titleOfPreset(ours));
}

/// Returns what the heatmap says of the canvases: the reason why they draw no weights, or that shortcuts differ.
QString LiveViews::remark() const
{
    const visualizers::ShownRuns& runs = m_workspace.shownRuns();
    const visualizers::ShownRuns::Run* run = runs.find(runs.front());
    if (!m_fits || !m_matrices.any()) {
        return absence();
    }
    const projects::Project& project = m_session.project();
    if (run->facts.topology.wiring == project.stack().topology.wiring) {
        return {};
    }
    return tr("The project has other shortcuts than %1: it is wired as %2.")
        .arg(runs.labelOf(run->key),
             QString::fromStdString(projects::wiringName(project.stack().topology, project.network)));
}

/// Called after an edit, which may lead to or from a wiring that the weights belong to, or change the reason.
void LiveViews::onDocumentChanged()
{
    const bool fit = fits();
    if (fit && m_fits) {
        m_workspace.shownMatrices().setRemark(remark());
    } else {
        update();
    }
}

std::map<projects::Shortcut, projects::ShortcutState>
LiveViews::frozenAsShown(const std::set<projects::Shortcut>& shortcuts) const
{
    std::map<projects::Shortcut, projects::ShortcutState> states;
    const std::optional<std::int64_t> step = m_matrices.step();
    if (!m_fits || !step || !fits()) {
        return states;
    }
    const auto& mix = std::get<projects::DepthMix>(m_session.project().stack().topology.wiring);
    const bool isOneNumber = !traitsOf(mix.weight).isPerFeature && mix.ports == projects::MixPorts::Input &&
                             mix.gate.kind == projects::GateKind::None;
    const engine::MatrixName name = engine::matrix::kCoefficient;
    const visualizers::HeatmapFrames& frames = m_matrices.frames();
    if (isOneNumber && frames.count(name) == 0) {
        return states;
    }
    for (const projects::Shortcut& shortcut : shortcuts) {
        if (!isOneNumber) {
            states.emplace(shortcut, projects::ShortcutState::frozenAsLearned());
            continue;
        }
        const engine::Matrix& learned = frames.frame(name, frames.indexAt(name, *step));
        const bool isInside = shortcut.target <= learned.rows && shortcut.source < learned.columns;
        const float value = isInside ? learned.at(shortcut.target - 1, shortcut.source) : std::nanf("");
        if (std::isfinite(value)) {
            states.emplace(shortcut, projects::ShortcutState::frozenAt(asWritten(value)));
        }
    }
    return states;
}

void LiveViews::setColours(Colours colours)
{
    m_colours = colours;
    update();
}

/// Copies the effects of shortcuts of the run in front.
void LiveViews::takeEffects(editor::LiveWeights& live) const
{
    const visualizers::ShownEffects& effects = m_workspace.shownEffects();
    const engine::KeptEffects* const measured = effects.ofShortcuts();
    if (measured == nullptr || effects.run() != m_workspace.shownRuns().front()) {
        return;
    }
    std::map<projects::Shortcut, editor::LiveEffect> known;
    for (const engine::KnockoutRow& row : measured->measured.rows) {
        known[{row.first, row.reader}] = {row.rise, row.error};
    }
    live.setEffects(std::move(known), measured->measured.step);
}

editor::LiveWeights LiveViews::drawn() const
{
    const bool asRecorded = m_matrices.valueOf(engine::matrix::kMix) == visualizers::CellValue::Weight;
    const bool shares = m_colours == Colours::RowShares && (asRecorded || !m_matrices.isValueChosen());
    const bool effects = m_colours == Colours::Effects && m_recorded.hasEffects();
    return effects ? m_recorded.byEffect() : shares ? m_recorded.rowShares() : m_live;
}

void LiveViews::update()
{
    m_fits = fits();
    m_live.clear();
    m_recorded = m_live;
    if (m_fits && m_matrices.any()) {
        const auto asRecorded = [](const std::string& /*kind*/) { return visualizers::CellValue::Weight; };
        takeFrames(m_matrices, m_matrices.framesShown(), m_live);
        takeFrames(m_matrices, m_matrices.frames().shownAt(*m_matrices.step(), asRecorded), m_recorded);
    } else {
        m_live.setAbsence(absence().toStdString());
    }
    if (m_fits) {
        takeEffects(m_live);
        takeEffects(m_recorded);
    }
    const auto onCanvases = std::make_shared<const editor::LiveWeights>(drawn());
    m_workspace.shownMatrices().setRemark(remark());
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setLive(onCanvases);
        canvas->refresh();
    }
    m_workspace.outlineModel().setLive(std::make_shared<const editor::LiveWeights>(m_recorded));
}

} // namespace residua::app
