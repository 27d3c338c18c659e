// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/document_entries.h"

#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/look/format.h"
#include "app/palette/palette_items.h"
#include "app/properties/property.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"

#include <QCoreApplication>

#include <utility>

namespace residua::app {

namespace {

struct EntryText {
    Q_DECLARE_TR_FUNCTIONS(DocumentEntries)
};

/// The sections whose fields are listed. The fields of the schedule are on a page of their own.
constexpr Section kSections[] = {Section::Data,           Section::Network,  Section::Topology,
                                 Section::Initialisation, Section::Training, Section::Seeds};

QString priceOf(const DocumentSession& session, const PaletteItem& topology)
{
    const auto cost = costWith(session.project(), ProjectPlace(), topology);
    const auto now = projects::costOf(session.project());
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

PaletteEntry entryOf(const QString& section, const Place& place, const Property& field, DocumentViews& documents,
                     Workspace& workspace)
{
    PaletteEntry entry;
    entry.text = section + QStringLiteral(" › ") + field.title;
    entry.id = QStringLiteral("field:") + QString::fromStdString(field.key);
    entry.toolTip = field.help;
    entry.note = [value = field.valueText()] { return value; };
    entry.take = [&documents, &workspace, place, key = field.key] {
        documents.choose(place);
        documents.refresh();
        auto& inspector = workspace.view<Inspector>();
        workspace.showPanelOf(inspector);
        inspector.takeFocus(key);
    };
    return entry;
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
    for (const Section section : kSections) {
        const Place place = SectionPlace{section};
        const QString title = titleOf(session.project(), place);
        for (const Property& field : propertiesOf(session.project(), place)) {
            entries.push_back(entryOf(title, place, field, documents, workspace));
        }
    }
    return entries;
}

} // namespace residua::app
