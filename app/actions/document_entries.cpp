// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/window_actions.h"

#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/look/format.h"
#include "app/palette/palette_items.h"
#include "app/properties/property.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/nodes/towers.h"
#include "projects/schema/fields.h"

#include <QCoreApplication>

#include <cstdint>
#include <string>
#include <variant>

namespace residua::app {

namespace {

const QString kDivider = QStringLiteral(" › "); ///< as in the paths of the menus

struct EntryText {
    Q_DECLARE_TR_FUNCTIONS(DocumentEntries)
};

constexpr Section kSections[] = {Section::Data,           Section::Network,  Section::Topology, Section::Schedule,
                                 Section::Initialisation, Section::Training, Section::Seeds};

QString priceOf(const DocumentSession& session, const PaletteItem& topology)
{
    const auto cost = costWith(session.project(), ProjectPlace(), topology, session.shownTower());
    const auto now = projects::costOf(session.wholeProject());
    if (!cost || !now) {
        return {};
    }
    const auto change = static_cast<double>(cost->parameters - now->total.parameters);
    return EntryText::tr("parameters %1").arg(formatChange(change, formatCount));
}

PaletteEntry entryOf(const DocumentSession& session, DocumentViews& documents, const PaletteItem& topology)
{
    PaletteEntry entry;
    entry.text = EntryText::tr("Topology › %1").arg(topology.title);
    entry.id = QStringLiteral("topology:") + QString::fromStdString(topology.key);
    entry.toolTip = topology.summary;
    entry.note = [&session, topology] { return priceOf(session, topology); };
    entry.take = [&session, &documents, topology] {
        documents.perform(takeUp(session.project(), documents.place(), topology));
        documents.choose(SectionPlace{Section::Topology});
    };
    return entry;
}

/// A place whose fields the inspector shows, with its path: "Block “mlp” › up".
struct NamedPlace {
    Place place;
    QString path;
};

/// Returns the places in the order of the outline: project, sections, nodes of stem, blocks and head, layers.
std::vector<NamedPlace> placesOf(const projects::Project& project)
{
    std::vector<NamedPlace> places{{ProjectPlace{}, EntryText::tr("Project")}};
    for (const Section section : kSections) {
        places.push_back({SectionPlace{section}, titleOf(project, SectionPlace{section})});
    }
    std::vector<projects::GraphRef> graphs{projects::GraphRef::stem()};
    for (const projects::Block& block : project.network.blocks) {
        graphs.push_back(projects::GraphRef::block(block.name));
    }
    graphs.push_back(projects::GraphRef::head());
    for (const projects::GraphRef& graph : graphs) {
        const QString path = titleOf(project, GraphPlace{graph});
        places.push_back({GraphPlace{graph}, path});
        for (const projects::Node& node : findGraph(project, graph)->nodes) {
            places.push_back({NodePlace{graph, node.id}, path + kDivider + QString::fromStdString(node.name)});
        }
    }
    for (std::size_t loss = 0; loss < project.losses.size(); ++loss) {
        places.push_back({LossPlace{loss}, titleOf(project, LossPlace{loss})});
    }
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        places.push_back({LayersPlace{{layer}}, titleOf(project, LayersPlace{{layer}})});
    }
    return places;
}

/// Selects the place and moves the cursor into its field. A node is shown on the canvas of its graph.
void goTo(const Place& place, const std::string& key, DocumentViews& documents, Workspace& workspace)
{
    documents.choose(place);
    documents.refresh();
    if (std::holds_alternative<NodePlace>(place) || std::holds_alternative<GraphPlace>(place)) {
        workspace.showCanvas(WorkspaceView::Block);
    }
    auto& inspector = workspace.view<Inspector>();
    workspace.showPanelOf(inspector);
    inspector.takeFocus(key);
}

PaletteEntry entryOf(const NamedPlace& at, const Property& field, DocumentViews& documents, Workspace& workspace)
{
    PaletteEntry entry;
    entry.text = at.path + kDivider +
                 (field.key.starts_with(kMixtureParts) ? field.group + QStringLiteral(" · ") : "") + field.title;
    const bool isKey = field.key.starts_with('/');
    entry.id = QStringLiteral("field:") + (isKey ? QString::fromStdString(field.key) : entry.text);
    entry.key = QString::fromStdString(isKey ? field.key : field.pointer);
    entry.toolTip = field.help.isEmpty() ? entry.key : field.help + QLatin1Char('\n') + entry.key;
    entry.note = [value = field.valueText()] { return value; };
    entry.take = [&documents, &workspace, place = at.place, key = field.key] {
        goTo(place, key, documents, workspace);
    };
    return entry;
}

/// Adds the fields of the section that the inspector leaves out, because they have no effect in this document. They can
/// be found, but not be chosen.
void addIdle(std::vector<PaletteEntry>& entries, const projects::Project& project, Section section)
{
    for (const projects::FieldEntry& field : projects::fieldsOf(project, "/" + keyOf(section))) {
        if ((field.isIdle || needsTowers(project, field.pointer)) && isSettable(field) &&
            field.value == field.defaultValue) {
            const Property words = propertyFor(field.field);
            PaletteEntry entry;
            entry.text = titleOf(project, SectionPlace{section}) + kDivider + words.title;
            entry.id = QStringLiteral("field:") + QString::fromStdString(field.pointer);
            entry.key = QString::fromStdString(field.pointer);
            entry.toolTip = words.help + QLatin1Char('\n') + entry.key;
            entry.isEnabled = false;
            entry.note = [] { return EntryText::tr("without effect here"); };
            entries.push_back(std::move(entry));
        }
    }
}

} // namespace

std::vector<PaletteEntry> documentEntries(const DocumentSession& session, DocumentViews& documents,
                                          Workspace& workspace)
{
    std::vector<PaletteEntry> entries;
    if (!session.isOpen()) {
        return entries;
    }
    for (const PaletteGroup& group : paletteGroups()) {
        for (const PaletteItem& item : group.items) {
            if (item.kind == PaletteKind::Topology) {
                entries.push_back(entryOf(session, documents, item));
            }
        }
    }
    const projects::Project& whole = session.wholeProject();
    for (const std::size_t tower : whole.towers.empty() ? std::vector<std::size_t>() : shownOrder(whole)) {
        const std::string& name = projects::towerAt(whole, tower).name;
        PaletteEntry entry;
        entry.text = EntryText::tr("Show tower › %1").arg(QString::fromStdString(name));
        entry.id = QStringLiteral("tower:") + QString::fromStdString(name);
        entry.toolTip = towerText(whole, tower);
        entry.note = [text = entry.toolTip] { return text; };
        entry.take = [&documents, tower] { documents.choose(TowerPlace{tower}); };
        entries.push_back(std::move(entry));
    }
    for (const NamedPlace& at : placesOf(session.project())) {
        for (const Property& field : propertiesOf(session.project(), at.place)) {
            entries.push_back(entryOf(at, field, documents, workspace));
        }
        if (const auto* const section = std::get_if<SectionPlace>(&at.place)) {
            addIdle(entries, session.project(), section->section);
        }
    }
    return entries;
}

} // namespace residua::app
