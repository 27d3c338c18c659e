// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/fetch_commands.h"
#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/runs/intervention_dialog.h"
#include "app/runs/knockout_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/runs/visits_dialog.h"
#include "app/views/document_views.h"
#include "app/views/live_views.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"
#include "projects/commands/selection.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/transfer/weakest.h"
#include "visualizers/heatmap/effects_view.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/runs/shown_runs.h"

#include <QAction>
#include <QCoreApplication>
#include <QPointer>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::app {

namespace {

using engine::KeptEffects;
using engine::KnockoutRequest;

/// A run to measure: its project and checkpoints, and the results that it has kept.
struct Measurable {
    GoOnSource source;
    std::vector<KeptEffects> kept;
};

class KnockoutCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(KnockoutCommands)
public:
    KnockoutCommands(const WindowParts& parts, FetchCommands& fetch);

private:
    [[nodiscard]] std::string runInFront();
    void readFront();
    void show(const KeptEffects& result);
    void askInFront();
    void askWhatIf();
    void ask(const std::string& run, KnockoutRequest start);
    void open(Measurable run, const KnockoutRequest& start);
    void take(const KnockoutRequest& request, const engine::KnockoutReady& ready);
    void askWeakest();
    void selectWeakest(const std::string& run, projects::WeakBy by, std::int64_t count);
    void select(const projects::Pruning& found);
    [[nodiscard]] std::vector<projects::ShortcutStrength> strengths(const std::string& run) const;
    [[nodiscard]] std::vector<projects::ShortcutStrength> shownWeights() const;

    FetchCommands& m_fetch;
    const LiveViews& m_live;
    visualizers::ShownEffects& m_effects;
    QPointer<KnockoutDialog> m_dialog; ///< the open dialog
    QPointer<WeakestDialog> m_weakest;
    engine::QueryTag m_tag{};         ///< of the running request; 0: none
    std::uint64_t m_readings = 0;     ///< answers to older readings are dropped
    std::vector<KeptEffects> m_added; ///< shown since the last reading began
};

/// Reads what there is of a run and a tower. Blocks; any thread.
Result<Measurable> readMeasurable(const std::string& run, const std::string& tower)
{
    GoOnSource source = RESIDUA_TRY(readGoOnSource(run, tower));
    auto kept = engine::readEffects(run); // without them everything is measured
    return Measurable{std::move(source), kept ? std::move(*kept) : std::vector<KeptEffects>()};
}

} // namespace

KnockoutCommands::KnockoutCommands(const WindowParts& parts, FetchCommands& fetch)
    : CommandGroup(parts), m_fetch(fetch), m_live(parts.live), m_effects(m_workspace.shownEffects())
{
    const visualizers::ShownRuns& runs = m_workspace.shownRuns();
    connect(&runs, &visualizers::ShownRuns::frontChanged, this, &KnockoutCommands::readFront);
    connect(&runs, &visualizers::ShownRuns::begun, this, [this, &runs](const std::string& run) {
        if (run == runs.front()) {
            readFront(); // it may have trained a measured step again
        }
    });
    connect(&m_session, &DocumentSession::towerShown, this, [this] {
        m_effects.setRun(m_workspace.shownRuns().front(), {}); // they are of another tower
        readFront();
    });
    connect(m_actions.knockOut, &QAction::triggered, this, &KnockoutCommands::askInFront);
    connect(m_actions.whatIf, &QAction::triggered, this, &KnockoutCommands::askWhatIf);
    connect(m_actions.selectWeakest, &QAction::triggered, this, &KnockoutCommands::askWeakest);
    connect(m_actions.effectColours, &QAction::toggled, this, [this](bool on) {
        if (on && m_effects.ofShortcuts() == nullptr) {
            note(tr("No effects of shortcuts are known yet: measure a knock-out of the run in front"));
        }
    });
    m_workspace.view<visualizers::HeatmapView>().addCommand(m_actions.knockOut);
    m_workspace.view<visualizers::EffectsView>().addCommand(m_actions.selectWeakest);
    connect(&m_session, &DocumentSession::opened, this, [this] { // they are about runs of the project that was open
        if (m_dialog) {
            m_dialog->reject();
        }
        if (m_weakest) {
            m_weakest->reject();
        }
    });
}

/// Returns the run in front. Without one, shows a refusal and returns an empty text.
std::string KnockoutCommands::runInFront()
{
    const std::string& run = m_workspace.shownRuns().front();
    if (run.empty()) {
        refuse(tr("There is no run in front: train the project, or click the run in the list of runs."));
    }
    return run;
}

/// Shows the results that the run in front has kept, and until they are read none.
void KnockoutCommands::readFront()
{
    const std::string run = m_workspace.shownRuns().front();
    if (run != m_effects.run()) {
        m_effects.setRun(run, {});
    }
    ++m_readings;
    m_added.clear();
    if (run.empty()) {
        return;
    }
    inBackground(
        this,
        [run, tower = selectedTower()] {
            auto kept = engine::readEffects(run);
            if (kept) {
                std::erase_if(*kept, [&](const KeptEffects& effects) { return effects.key.tower != tower; });
            }
            return kept;
        },
        [this, run, reading = m_readings](Result<std::vector<KeptEffects>> kept) {
            if (reading == m_readings && run == m_workspace.shownRuns().front()) {
                m_effects.setRun(run, kept ? std::move(*kept) : std::vector<KeptEffects>());
                for (const KeptEffects& added : m_added) { // which the reading may have come too early for
                    m_effects.add(added);
                }
            }
        });
}

/// Shows a result of the run in front.
void KnockoutCommands::show(const KeptEffects& result)
{
    m_added.push_back(result);
    m_effects.add(result);
}

void KnockoutCommands::askInFront()
{
    if (const std::string run = runInFront(); !run.empty()) {
        ask(run, {});
    }
}

/// Asks about the selected shortcuts or, without any, about the selected layers.
void KnockoutCommands::askWhatIf()
{
    const projects::Selection& selection = m_documents.selection();
    KnockoutRequest start;
    start.batches = 1;
    for (const projects::Shortcut& shortcut : selection.shortcuts) {
        start.only.push_back(shortcutName(m_session.project(), shortcut));
    }
    if (start.only.empty()) {
        start.by = projects::KnockoutBy::Layer;
        for (const std::int64_t layer : selection.layers) {
            start.only.push_back("layer " + projects::layerName(m_session.project().stack(), layer));
        }
    }
    if (start.only.empty()) {
        refuse(tr("Nothing is selected: select shortcuts or layers that the run in front is to be without."));
        return;
    }
    const std::string run = runInFront();
    if (const QString absence = m_live.absence(); !run.empty() && !absence.isEmpty()) {
        refuse(tr("The selection is not one of the run in front. %1").arg(absence));
    } else if (!run.empty()) {
        ask(run, start);
    }
}

void KnockoutCommands::ask(const std::string& run, KnockoutRequest start)
{
    if (m_dialog && m_tag != engine::QueryTag{}) { // the engine measures one at a time
        m_dialog->raise();
        m_dialog->activateWindow();
        refuse(tr("A knock-out of %1 is being measured: wait for it, or cancel it.").arg(m_dialog->runName()));
        return;
    }
    start.tower = selectedTower();
    m_fetch.read([run, tower = start.tower] { return readMeasurable(run, tower); },
                 [this, start = std::move(start)](Measurable read) { open(std::move(read), start); });
}

void KnockoutCommands::open(Measurable run, const KnockoutRequest& start)
{
    if (m_dialog) {
        m_dialog->close();
    }
    m_dialog = new KnockoutDialog(std::move(run.source), std::move(run.kept), start, m_window);
    connect(m_dialog, &KnockoutDialog::chosen, this, [this](const KnockoutRequest& request) {
        m_fetch.carryOut(request, m_dialog.data(), m_tag,
                         [this, request](const engine::KnockoutReady& ready) { take(request, ready); });
    });
    connect(m_dialog, &KnockoutDialog::found, this, [this](const KeptEffects& kept) {
        if (m_dialog && m_dialog->run() == m_effects.run()) {
            show(kept);
            m_workspace.showPanelOf(m_workspace.view<visualizers::HeatmapView>());
        }
    });
    connect(m_dialog, &QDialog::rejected, this, [this] { m_engine.giveUp(std::exchange(m_tag, {})); });
    m_dialog->start();
}

/// Shows the answer beside the weights of its run, or in the dialog if it is about chosen parts.
void KnockoutCommands::take(const KnockoutRequest& request, const engine::KnockoutReady& ready)
{
    if (!m_dialog || !m_dialog->isVisible()) {
        readFront(); // it was cancelled when the engine had the answer already, which the run keeps
        return;
    }
    if (!request.only.empty()) {
        m_dialog->showAnswer(ready);
        return;
    }
    const std::string run = request.of.runDirectory.string();
    const engine::EffectsKey key = m_dialog->keyOf(request);
    const QString name = m_dialog->runName();
    m_dialog->accept();
    if (run == m_effects.run()) {
        show({key, ready});
        m_workspace.showPanelOf(m_workspace.view<visualizers::HeatmapView>());
        note(tr("Measured what %1 loses without each of %2 parts").arg(name, formatWhole(std::ssize(ready.rows))));
    } else {
        note(tr("The knock-out of %1 is measured; it is shown once that run is in front").arg(name));
    }
}

void KnockoutCommands::askWeakest()
{
    const std::string run = runInFront();
    if (run.empty()) {
        return;
    }
    if (m_weakest) {
        m_weakest->close();
    }
    m_weakest = new WeakestDialog(m_workspace.shownRuns().labelOf(run), m_window);
    connect(m_weakest, &WeakestDialog::chosen, this,
            [this, run](projects::WeakBy by, qint64 count) { selectWeakest(run, by, count); });
    m_weakest->show();
}

/// Returns the effects of the run's shortcuts, or else its shown weights.
std::vector<projects::ShortcutStrength> KnockoutCommands::strengths(const std::string& run) const
{
    const KeptEffects* const measured = run == m_effects.run() ? m_effects.ofShortcuts() : nullptr;
    return measured != nullptr ? engine::strengthsOf(measured->measured) : shownWeights();
}

/// Returns the applied weights of the run in front at the shown step: of each shortcut the mean over its ports.
std::vector<projects::ShortcutStrength> KnockoutCommands::shownWeights() const
{
    const visualizers::ShownMatrices& matrices = m_workspace.shownMatrices();
    std::map<projects::Shortcut, std::pair<double, int>> sums;
    if (!matrices.any()) {
        return {};
    }
    const auto asRecorded = [](const std::string& /*kind*/) { return visualizers::CellValue::Weight; };
    for (const auto& [matrix, scale, value] : matrices.frames().shownAt(*matrices.step(), asRecorded)) {
        if (matrix.name.kind != engine::matrix::kMix) {
            continue;
        }
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            for (std::int64_t column = 0; column < matrix.columns; ++column) {
                if (const float weight = matrix.at(row, column); !std::isnan(weight)) {
                    auto& [sum, count] = sums[{column, row + 1}];
                    sum += weight;
                    ++count;
                }
            }
        }
    }
    std::vector<projects::ShortcutStrength> found;
    for (const auto& [shortcut, sum] : sums) {
        found.push_back({.shortcut = shortcut, .weight = sum.first / sum.second});
    }
    return found;
}

void KnockoutCommands::selectWeakest(const std::string& run, projects::WeakBy by, std::int64_t count)
{
    if (run != m_workspace.shownRuns().front()) {
        m_weakest->refuse(tr("Another run is in front now: ask for the weakest shortcuts of that one."));
        return;
    }
    if (const QString absence = m_live.absence(); !absence.isEmpty()) {
        m_weakest->refuse(tr("Its shortcuts cannot be selected in the project. %1").arg(absence));
        return;
    }
    const std::vector<projects::ShortcutStrength> known = strengths(run);
    const bool lacksEffects = by != projects::WeakBy::Weight &&
                              std::ranges::all_of(known, [](const auto& each) { return std::isnan(each.rise); });
    if (lacksEffects) {
        m_weakest->refuse(tr("No effects of its shortcuts are known: measure a knock-out of each shortcut first, or "
                             "choose the size of the weight."));
        return;
    }
    const auto find = [run, known, by, count]() -> Result<projects::Pruning> {
        const auto project = engine::readRunProject(run);
        return project ? projects::weakest(*project, known, by, count) : Result<projects::Pruning>(project.error());
    };
    inBackground(this, find, [this, dialog = m_weakest](const Result<projects::Pruning>& found) {
        if (dialog && !found) {
            dialog->refuse(QString::fromStdString(found.error().text()));
        } else if (dialog) {
            dialog->accept();
            select(*found);
        }
    });
}

void KnockoutCommands::select(const projects::Pruning& found)
{
    const projects::Selection all{.shortcuts = {found.shortcuts.begin(), found.shortcuts.end()}};
    m_session.showTower(0); // another one may be shown since the question
    const projects::Selection selection = existing(m_session.project(), all);
    m_documents.select(selection);
    note(selection.shortcuts.size() == all.shortcuts.size()
             ? tr("Selected %1: Go on without the selection trains a copy of the run without them")
                   .arg(QString::fromStdString(textOf(found, m_session.project())))
             : tr("Selected %1 of %2 shortcuts, because the project lacks the others")
                   .arg(formatWhole(std::ssize(selection.shortcuts)), formatWhole(std::ssize(all.shortcuts))));
}

void addKnockoutCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new KnockoutCommands(parts, fetch);
}

namespace {

class InterventionCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(InterventionCommands)
public:
    InterventionCommands(const WindowParts& parts, FetchCommands& fetch);

private:
    void ask(const std::string& run);

    FetchCommands& m_fetch;
    QPointer<InterventionDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_tag{};              ///< of the running request; 0: none
};

} // namespace

InterventionCommands::InterventionCommands(const WindowParts& parts, FetchCommands& fetch)
    : CommandGroup(parts), m_fetch(fetch)
{
    m_workspace.view<RunsPanel>().addCommand(
        "run:interventions", RunsPanel::When::Any,
        {tr("Interventions…"), tr("Measure the network with other values in its parallel streams")}, this,
        [this](const std::string& run) { ask(run); });
    connect(&m_session, &DocumentSession::opened, this, [this] { // it is about a run of the project that was open
        if (m_dialog) {
            m_dialog->reject();
        }
    });
}

void InterventionCommands::ask(const std::string& run)
{
    m_fetch.read([run, tower = selectedTower()] { return readGoOnSource(run, tower); },
                 [this](GoOnSource source) {
                     if (m_dialog) {
                         m_dialog->reject();
                     }
                     m_dialog = new InterventionDialog(std::move(source), m_window);
                     connect(m_dialog, &InterventionDialog::chosen, this,
                             [this](const engine::InterventionRequest& request) {
                                 m_fetch.carryOut(request, m_dialog.data(), m_tag,
                                                  [dialog = m_dialog](const engine::InterventionReady& ready) {
                                                      if (dialog && dialog->isVisible()) {
                                                          dialog->showAnswer(ready);
                                                      }
                                                  });
                             });
                     connect(m_dialog, &QDialog::rejected, this, [this] { m_engine.giveUp(std::exchange(m_tag, {})); });
                     m_dialog->show();
                 });
}

void addInterventionCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new InterventionCommands(parts, fetch);
}

namespace {

class VisitsCommands : public CommandGroup {
public:
    VisitsCommands(const WindowParts& parts, FetchCommands& fetch);

private:
    void ask();
    void open(std::optional<GoOnSource> source);

    FetchCommands& m_fetch;
    QPointer<VisitsDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_tag{};        ///< of the running request; 0: none
};

} // namespace

VisitsCommands::VisitsCommands(const WindowParts& parts, FetchCommands& fetch) : CommandGroup(parts), m_fetch(fetch)
{
    connect(m_actions.visits, &QAction::triggered, this, &VisitsCommands::ask);
    connect(&m_session, &DocumentSession::opened, this, [this] { // it is about the project that was open
        if (m_dialog) {
            m_dialog->reject();
        }
    });
}

void VisitsCommands::ask()
{
    finishTyping();
    const std::string run = m_workspace.shownRuns().front();
    if (run.empty()) {
        open({});
        return;
    }
    m_fetch.read([run, tower = selectedTower()] { return readGoOnSource(run, tower); },
                 [this](GoOnSource source) { open(std::move(source)); });
}

void VisitsCommands::open(std::optional<GoOnSource> source)
{
    if (m_dialog) {
        m_dialog->reject();
    }
    m_dialog = new VisitsDialog(std::move(source), *m_session.history().projectSnapshot(), selectedTower(),
                                m_look.theme().kind(), m_window);
    connect(m_dialog, &VisitsDialog::chosen, this, [this](const engine::VisitsRequest& request) {
        m_fetch.carryOut(request, m_dialog.data(), m_tag, [dialog = m_dialog](const engine::VisitsReady& ready) {
            if (dialog && dialog->isVisible()) {
                dialog->showAnswer(ready);
            }
        });
    });
    connect(m_dialog, &QDialog::rejected, this, [this] { m_engine.giveUp(std::exchange(m_tag, {})); });
    m_dialog->show();
}

void addVisitsCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new VisitsCommands(parts, fetch);
}

} // namespace residua::app
