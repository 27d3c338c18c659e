// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/kept_view.h"

#include "app/canvas/canvas_widget.h"
#include "app/runs/run_table.h"
#include "app/runs/runs_panel.h"
#include "app/workspace/workspace.h"
#include "visualizers/plot/plot_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSlider>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace residua::app {
namespace {

constexpr std::array<std::pair<const char*, WorkspaceView>, 4> kCanvases{{{"depth", WorkspaceView::Depth},
                                                                          {"matrix", WorkspaceView::Matrix},
                                                                          {"block", WorkspaceView::Block},
                                                                          {"schedule", WorkspaceView::Schedule}}};
constexpr const char* kBaselineChoice = "baseline"; ///< that of ShownRuns, which a page has by its run
constexpr const char* kRunsFilter = "runsFilter";
constexpr const char* kChecked = "on";
constexpr const char* kUnchecked = "off";

/// Returns a name that no earlier thing has: "loss/scale", then "loss/scale#2".
std::string numbered(const std::string& name, std::map<std::string, int>& taken)
{
    const int number = ++taken[name];
    return number == 1 ? name : name + "#" + std::to_string(number);
}

bool isChoice(const QWidget& widget)
{
    const QString name = widget.objectName();
    if (name.isEmpty() || name == QLatin1String(kBaselineChoice)) {
        return false;
    }
    return qobject_cast<const QComboBox*>(&widget) || qobject_cast<const QCheckBox*>(&widget) ||
           qobject_cast<const QSlider*>(&widget);
}

/// Returns the choices that are offered above the plots, and the filter of the runs, by their names. Fields of the
/// document, such as those of a sweep, are not among them.
std::vector<std::pair<std::string, QWidget*>> choicesOf(const Workspace& workspace)
{
    std::vector<std::pair<std::string, QWidget*>> choices;
    std::map<std::string, int> taken;
    std::set<const QWidget*> seen; // a plot may be a part of another view
    for (std::size_t i = 0; i < workspace.docks().size(); ++i) {
        const QDockWidget* const dock = workspace.docks()[i];
        const auto add = [&](QWidget* choice) {
            const std::string name = std::string(panels()[i].view) + "/" + choice->objectName().toStdString();
            if (seen.insert(choice).second) {
                choices.emplace_back(numbered(name, taken), choice);
            }
        };
        for (const visualizers::PlotView* const plot : dock->findChildren<visualizers::PlotView*>()) {
            for (QWidget* const widget : plot->findChildren<QWidget*>()) {
                if (isChoice(*widget) && widget->isVisibleTo(plot)) {
                    add(widget);
                }
            }
        }
        if (auto* const filter = dock->findChild<QLineEdit*>(QLatin1String(kRunsFilter))) {
            add(filter);
        }
    }
    return choices;
}

std::vector<std::pair<std::string, visualizers::PlotView*>> plotsOf(const Workspace& workspace)
{
    std::vector<std::pair<std::string, visualizers::PlotView*>> plots;
    std::map<std::string, int> taken;
    for (std::size_t i = 0; i < workspace.docks().size(); ++i) {
        for (visualizers::PlotView* const plot : workspace.docks()[i]->findChildren<visualizers::PlotView*>()) {
            plots.emplace_back(numbered(panels()[i].view, taken), plot);
        }
    }
    return plots;
}

const std::string kGroup(engine::kHiddenGroup); ///< begins the keys of legends, of runs by their directories too

/// Returns an entry of a legend as a page has it, from the key of a plot.
std::string hiddenEntry(const std::string& key, const std::filesystem::path& folder)
{
    const std::filesystem::path of = key.starts_with(kGroup) ? key.substr(kGroup.size()) : std::string();
    return of.is_absolute() ? std::string(engine::kHiddenRun) + engine::pathOnPage(folder, of) : key;
}

QString plotKey(const std::string& entry, const std::filesystem::path& folder)
{
    const bool isRun = entry.starts_with(engine::kHiddenRun);
    return QString::fromStdString(isRun ? kGroup + (folder / entry.substr(engine::kHiddenRun.size())).string() : entry);
}

QString textOf(const QWidget& choice)
{
    if (const auto* const box = qobject_cast<const QComboBox*>(&choice)) {
        return box->currentText();
    }
    if (const auto* const box = qobject_cast<const QCheckBox*>(&choice)) {
        return QLatin1String(box->isChecked() ? kChecked : kUnchecked);
    }
    if (const auto* const slider = qobject_cast<const QSlider*>(&choice)) {
        return QString::number(slider->value());
    }
    const auto* const field = qobject_cast<const QLineEdit*>(&choice);
    return field ? field->text() : QString();
}

/// Returns false if the choice does not offer the text.
bool choose(QWidget& choice, const QString& text)
{
    if (auto* const box = qobject_cast<QComboBox*>(&choice)) {
        const int index = box->findText(text);
        if (index >= 0) { // a list that is empty may tell of −1 again
            box->setCurrentIndex(index);
        }
        return index >= 0;
    }
    if (auto* const box = qobject_cast<QCheckBox*>(&choice)) {
        box->setChecked(text == QLatin1String(kChecked));
        return true;
    }
    if (auto* const slider = qobject_cast<QSlider*>(&choice)) {
        bool isNumber = false;
        const int value = text.toInt(&isNumber);
        const bool fits = isNumber && value >= slider->minimum() && value <= slider->maximum();
        slider->setValue(fits ? value : slider->value());
        return fits;
    }
    if (auto* const field = qobject_cast<QLineEdit*>(&choice)) {
        field->setText(text);
    }
    return true;
}

} // namespace

engine::PageView keptView(Workspace& workspace, const std::filesystem::path& folder)
{
    engine::PageView view;
    for (const auto& [name, canvas] : kCanvases) {
        view.canvas = canvas == workspace.frontView() ? name : view.canvas;
    }
    for (std::size_t i = 0; i < workspace.docks().size(); ++i) {
        if (!workspace.docks()[i]->visibleRegion().isEmpty()) {
            view.panels.emplace_back(panels()[i].view);
        }
    }
    for (const auto& [name, choice] : choicesOf(workspace)) {
        view.controls[name] = textOf(*choice).toStdString();
    }
    for (const auto& [name, plot] : plotsOf(workspace)) {
        if (const auto zoom = plot->zoom()) {
            view.zooms[name] = *zoom;
        }
    }
    for (const QString& column : workspace.view<RunsPanel>().table().choice()) {
        view.columns.push_back(column.toStdString());
    }
    const auto hide = [&](const std::string& plot, const std::string& key) {
        view.hidden[plot].push_back(hiddenEntry(key, folder));
    };
    for (const auto& [name, plot] : plotsOf(workspace)) {
        std::ranges::for_each(plot->hiddenCurves(), [&](const QString& key) { hide(name, key.toStdString()); });
    }
    for (const visualizers::ShownRuns::Run& run : workspace.shownRuns().runs()) {
        if (run.overlaid && workspace.shownRuns().isLeftOut(run.key)) {
            hide(engine::kLeftOut, kGroup + run.key);
        }
    }
    return view;
}

void showColumnsAndCurves(Workspace& workspace, const engine::PageView& view, const std::filesystem::path& folder)
{
    if (!view.columns.empty()) { // as in pages of earlier versions
        QStringList columns;
        std::ranges::transform(view.columns, std::back_inserter(columns), &QString::fromStdString);
        workspace.view<RunsPanel>().table().choose(columns);
    }
    for (const auto& [name, plot] : plotsOf(workspace)) {
        std::set<QString> keys;
        if (const auto hidden = view.hidden.find(name); hidden != view.hidden.end()) {
            std::ranges::for_each(hidden->second, [&](const auto& entry) { keys.insert(plotKey(entry, folder)); });
        }
        plot->hideCurves(std::move(keys));
    }
}

void bringForward(Workspace& workspace, const engine::PageView& view)
{
    for (const auto& [name, canvas] : kCanvases) {
        if (view.canvas == name) {
            workspace.showCanvas(canvas);
        }
    }
    for (std::size_t i = 0; i < workspace.docks().size(); ++i) {
        if (std::ranges::find(view.panels, panels()[i].view) != view.panels.end()) {
            workspace.docks()[i]->show();
            workspace.docks()[i]->raise();
        }
    }
}

void takeChoices(Workspace& workspace, engine::PageView& view)
{
    for (const auto& [name, choice] : choicesOf(workspace)) {
        const auto wanted = view.controls.find(name);
        if (wanted != view.controls.end() && choose(*choice, QString::fromStdString(wanted->second))) {
            view.controls.erase(wanted);
        }
    }
}

void zoomPlots(Workspace& workspace, const engine::PageView& view)
{
    for (const auto& [name, plot] : plotsOf(workspace)) {
        const auto zoom = view.zooms.find(name);
        plot->zoomTo(zoom == view.zooms.end() ? std::nullopt : std::optional(zoom->second));
    }
}

} // namespace residua::app
