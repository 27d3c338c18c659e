// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/customisation.h"

#include "projects/model/topology.h"
#include "projects/transfer/retrofit.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

struct CustomisationText {
    Q_DECLARE_TR_FUNCTIONS(Customisation)
};

} // namespace

QString Customisation::title() const
{
    return customTitle(QString::fromStdString(preset.title));
}

QString customTitle(const QString& preset)
{
    return CustomisationText::tr("Custom, from %1").arg(preset);
}

std::optional<projects::TopologyPreset> customisedPreset(const projects::Project& project)
{
    std::vector<projects::TopologyPreset> presets = projects::topologyPresets(project.network);
    const auto preset = std::find_if(presets.begin(), presets.end(),
                                     [&](const auto& each) { return each.name == project.stack().topology.preset; });
    if (preset == presets.end() || preset->wiring == project.stack().topology.wiring) {
        return std::nullopt;
    }
    return std::move(*preset);
}

std::optional<Customisation> customisationOf(const projects::Project& project)
{
    auto preset = customisedPreset(project);
    if (!preset) {
        return std::nullopt;
    }
    projects::EditGroup back = projects::wireAs(project, *preset).edit;
    back.title = CustomisationText::tr("Go back to %1").arg(QString::fromStdString(preset->title)).toStdString();
    std::vector<projects::Change> changes = projects::diff({preset->name, preset->wiring}, project.stack().topology);
    Customisation customisation{std::move(*preset), std::move(changes), std::move(back)};
    for (projects::Change& change : customisation.changes) {
        change.place.erase(change.place.begin()); // removes "topology", the first part of each place
    }
    return customisation;
}

} // namespace residua::app
