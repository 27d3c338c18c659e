// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/analysis.h"

#include "app/document/document_session.h"
#include "projects/nodes/towers.h"

namespace residua::app {

Analysis::Analysis(const DocumentSession& session, QObject* parent) : QObject(parent), m_session(session)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &Analysis::update);
    connect(&session, &DocumentSession::changed, &m_soon, qOverload<>(&QTimer::start));
    connect(&session, &DocumentSession::opened, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_data, &DataCheck::changed, &m_soon, qOverload<>(&QTimer::start));
}

void Analysis::setDevice(projects::DeviceKind device)
{
    if (device != m_device) {
        m_device = device;
        m_soon.start();
    }
}

void Analysis::update()
{
    m_soon.stop();
    m_problems.clear();
    m_sound.reset();
    m_cost.reset();
    if (m_session.isOpen()) {
        m_problems = projects::validate(m_session.wholeProject());
        if (const auto sound = projects::soundProject(m_session.history().projectSnapshot())) {
            m_sound = viewOf(*sound, m_session.shownTower());
            m_cost = projects::costOf(*m_sound, m_device);
            if (m_session.shownTower() != 0) { // the view's first tower always counts, this one only if a loss needs it
                m_cost->total = projects::costOf(*sound, m_device).total;
            }
        }
    }
    checkData();
    for (projects::Problem& problem : m_problems) {
        problem.path = projects::pointerOfView(m_session.shownTower(), problem.path);
    }
    emit updated();
}

/// Reads the data of a project without other errors, and adds what would stop its training.
void Analysis::checkData()
{
    if (!m_session.isOpen() || projects::hasErrors(m_problems)) {
        m_data.clear();
        return;
    }
    m_data.check(m_session.wholeProject(), m_session.directory());
    m_problems.insert(m_problems.begin(), m_data.problems().begin(), m_data.problems().end());
}

std::optional<projects::Cost> Analysis::costOf(const Place& place) const
{
    if (!m_cost) {
        return std::nullopt;
    }
    const bool isLoop = std::holds_alternative<LoopPlace>(place);
    if (isLoop || std::holds_alternative<LayersPlace>(place)) {
        projects::Cost sum;
        for (const std::int64_t layer : selectionOfPlace(m_session.project(), place).layers) {
            if (layer < 1 || layer > static_cast<std::int64_t>(m_cost->layers.size())) {
                return std::nullopt;
            }
            sum += m_cost->layers[static_cast<std::size_t>(layer - 1)];
        }
        return sum;
    }
    if (const auto* graph = std::get_if<GraphPlace>(&place)) {
        return costOfGraph(graph->graph);
    }
    if (const auto* node = std::get_if<NodePlace>(&place)) {
        const auto nodes = m_cost->nodes.find(node->graph);
        if (nodes != m_cost->nodes.end()) {
            if (const auto found = nodes->second.find(node->node); found != nodes->second.end()) {
                return found->second;
            }
        }
        return std::nullopt;
    }
    if (const auto* shortcuts = std::get_if<ShortcutsPlace>(&place)) {
        return projects::costOfShortcuts(*m_sound, {shortcuts->shortcuts.begin(), shortcuts->shortcuts.end()});
    }
    if (const auto* section = std::get_if<SectionPlace>(&place); section && section->section == Section::Topology) {
        return m_cost->topology;
    }
    return std::nullopt;
}

std::optional<projects::Cost> Analysis::costOfGraph(const projects::GraphRef& graph) const
{
    if (graph.isStem()) {
        return m_cost->stem;
    }
    if (graph.isHead()) {
        return m_cost->head;
    }
    const auto nodes = m_cost->nodes.find(graph);
    if (nodes == m_cost->nodes.end()) {
        return std::nullopt;
    }
    projects::Cost sum;
    for (const auto& [id, cost] : nodes->second) {
        sum += cost;
    }
    return sum;
}

} // namespace residua::app
