// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/fetch_commands.h"
#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/look/format.h"
#include "app/runs/checkpoint_dialogs.h"
#include "app/runs/go_on_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/runs/samples_panel.h"
#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/text.h"
#include "projects/transfer/prune.h"

#include <QAction>
#include <QCoreApplication>
#include <QDir>
#include <QInputDialog>
#include <QPointer>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace residua::app {

namespace {

class RunCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(RunCommands)
public:
    RunCommands(const WindowParts& parts, FetchCommands& fetch);

private:
    void addToMenu(RunsPanel& runs);
    void connectSamples();
    void showRunToSample();
    void ask(const std::string& run, GoOnKind kind, const GoOnStart& start = {});
    void askInFront(const GoOnStart& start);
    void askWithoutSelection();
    /// Asks to go on with the document's wiring, or without the layers that were deleted since it was the run's.
    void openWired(GoOnSource source);
    void open(GoOnKind kind, GoOnSource source, const GoOnStart& start);
    void closeDialogs();
    void carryOut(GoOnRequest request);
    void askToExport(const std::string& run);
    void tellExport(ExportDialog* dialog, const engine::ExportReady& ready);
    void askWhereToStop(const std::string& run);
    void stop(const std::string& run, std::int64_t step);
    void tellRetrofit(const engine::RetrofitReady& made);
    void tellFactors(const engine::FactoriseReady& made);
    void done(const QString& text);

    FetchCommands& m_fetch;
    QPointer<GoOnDialog> m_dialog; ///< the open dialog
    QPointer<ExportDialog> m_exportDialog;
    engine::QueryTag m_export{}; ///< of the last request
    std::string m_shown;         ///< the run whose texts are shown
    QString m_shownName;         ///< its name in the panel
    std::string m_known;         ///< the run whose task the panel knows
};

} // namespace

RunCommands::RunCommands(const WindowParts& parts, FetchCommands& fetch) : CommandGroup(parts), m_fetch(fetch)
{
    connectSamples();
    auto& runs = m_workspace.view<RunsPanel>();
    addToMenu(runs);
    connect(&runs, &RunsPanel::goOnRequested, this, [this](const std::string& run, GoOnKind kind) { ask(run, kind); });
    connect(m_actions.goOnWired, &QAction::triggered, this,
            [this] { askInFront({.measured = true, .prune = {}, .asDocument = true}); });
    connect(m_actions.goOnWithout, &QAction::triggered, this, &RunCommands::askWithoutSelection);
    connect(&runs, &RunsPanel::forkRequested, this, [this](const std::string& run, std::int64_t step) {
        m_fetch.need(run, step, [this, run, step](bool here) {
            if (here) {
                m_controller.fork(run, step);
            }
        });
    });
    connect(&m_session, &DocumentSession::opened, this, &RunCommands::closeDialogs);
    connect(&m_controller, &RunController::retrofitted, this, &RunCommands::tellRetrofit);
    connect(&m_controller, &RunController::factorised, this, &RunCommands::tellFactors);
    connect(&m_controller, &RunController::copyRefused, this, [this](const QString& reason) {
        if (m_dialog && m_dialog->isVisible()) {
            m_dialog->refuse(reason);
        } else {
            refuse(reason);
        }
    });
}

void RunCommands::addToMenu(RunsPanel& runs)
{
    using When = RunsPanel::When;
    runs.addCommand("run:stop", When::UnderWay,
                    {tr("Stop it"),
                     tr("Have whoever trains this run, here or elsewhere, write a checkpoint and end it"),
                     QStringLiteral("stop")},
                    this, [this](const std::string& run) { stop(run, 0); });
    runs.addCommand(
        "run:stopAt", When::UnderWay,
        {tr("Stop it at a step…"), tr("Have whoever trains this run end it after a step, with a checkpoint")}, this,
        [this](const std::string& run) { askWhereToStop(run); });
    runs.addCommand(
        "run:retrofit", When::AtRest,
        {tr("Retrofit…"), tr("Go on with the trained network wired otherwise, computing the same at first")}, this,
        [this](const std::string& run) { ask(run, GoOnKind::Retrofit); });
    runs.addCommand("run:tie", When::AtRest,
                    {tr("Tie or untie layers…"),
                     tr("Go on with the trained network, layers as visits of a loop or visits as layers")},
                    this, [this](const std::string& run) {
                        ask(run, GoOnKind::Retrofit, {.measured = true, .prune = {}, .ties = true});
                    });
    runs.addCommand("run:factorise", When::AtRest,
                    {tr("Factorise…"), tr("Go on with the trained network, its weights products of two thin matrices")},
                    this, [this](const std::string& run) { ask(run, GoOnKind::Factorise); });
    runs.addCommand(
        "run:export", When::Any,
        {tr("Export the network…"), tr("Write the network of one of its checkpoints as code for elsewhere")}, this,
        [this](const std::string& run) { askToExport(run); });
}

void RunCommands::connectSamples()
{
    auto& panel = m_workspace.view<SamplesPanel>();
    connect(&m_workspace.shownRuns(), &visualizers::ShownRuns::chosenChanged, this, &RunCommands::showRunToSample);
    connect(&m_workspace.shownRuns(), &visualizers::ShownRuns::frontChanged, this, &RunCommands::showRunToSample);
    connect(&m_workspace.runsModel(), &RunsModel::listed, this, &RunCommands::showRunToSample);
    connect(&m_workspace.runsModel(), &RunsModel::renamed, this, &RunCommands::showRunToSample);
    connect(&m_workspace.view<RunsPanel>(), &RunsPanel::sampleRequested, this, [this, &panel] {
        m_workspace.showPanelOf(panel);
        panel.sample();
    });
    connect(&m_controller, &RunController::checkpointWritten, &panel,
            [this, &panel] { panel.noticeCheckpoint(m_controller.runDirectory().string()); });
    connect(&panel, &SamplesPanel::sampleRequested, this,
            [this, &panel](engine::SampleRequest request, const QString& given) {
                request.of.projectDirectory = m_session.directory();
                m_engine.ask(
                    request, &panel,
                    [&panel, request, given](const engine::SampleReady& sample) { panel.take(request, sample, given); },
                    [&panel, request](const engine::QueryFailed& failed) {
                        panel.refuse(request, QString::fromStdString(failed.error.text()));
                    },
                    [&panel, request](const engine::QueryProgress& progress) { panel.takePart(request, progress); });
            });
    connect(&panel, &SamplesPanel::comparisonRequested, this, [this, &panel](engine::EvaluateRequest request) {
        request.of.projectDirectory = m_session.directory();
        const auto tell = [&panel, request](const std::string& text) {
            panel.tellComparison(request, QString::fromStdString(text));
        };
        m_engine.ask(
            request, &panel,
            [&panel, request](const engine::EvaluationReady& ready) {
                const std::string text =
                    engine::comparisonText(ready, request.split) +
                    joinedText(ready.notes, "", [](const std::string& note) { return "\n" + note; });
                panel.takeComparison(request, QString::fromStdString(text));
            },
            [tell](const engine::QueryFailed& failed) { tell(failed.error.text()); },
            [tell](const engine::QueryProgress& progress) { tell("comparing … " + percentText(progress.share)); });
    });
}

void RunCommands::askToExport(const std::string& run)
{
    m_fetch.read([run, tower = selectedTower()] { return readGoOnSource(run, tower); },
                 [this, run](GoOnSource source) {
                     if (m_exportDialog) {
                         m_exportDialog->close();
                     }
                     const auto proposal = m_session.directory() / std::filesystem::path(run).filename();
                     m_exportDialog = new ExportDialog(std::move(source), proposal, m_window);
                     connect(m_exportDialog, &ExportDialog::chosen, this, [this](const engine::ExportRequest& request) {
                         m_fetch.carryOut(request, m_exportDialog.data(), m_export,
                                          [this, dialog = m_exportDialog](const engine::ExportReady& ready) {
                                              tellExport(dialog, ready);
                                          });
                     });
                     connect(m_exportDialog, &QDialog::rejected, this,
                             [this] { m_engine.giveUp(std::exchange(m_export, {})); });
                     m_exportDialog->show();
                 });
}

/// Reports an export, also one that was complete before it was cancelled.
void RunCommands::tellExport(ExportDialog* dialog, const engine::ExportReady& ready)
{
    if (dialog && dialog->isVisible()) {
        dialog->accept();
    }
    note(tr("The network after step %1 is in %2")
             .arg(formatWhole(ready.step), QDir::toNativeSeparators(QString::fromStdString(ready.folder.string()))));
}

void RunCommands::askWhereToStop(const std::string& run)
{
    const engine::RunInfo* info = m_workspace.runsModel().runAt(m_workspace.runsModel().indexOf(run));
    if (!info) {
        return;
    }
    auto* dialog = new QInputDialog(m_window);
    dialog->setObjectName(QStringLiteral("stopDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Stop %1").arg(QString::fromStdString(info->name)));
    dialog->setLabelText(tr("After step"));
    dialog->setInputMode(QInputDialog::IntInput);
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    dialog->setIntRange(1, static_cast<int>(std::clamp<std::int64_t>(info->steps, 1, kMost)));
    dialog->setIntValue(static_cast<int>(std::min(info->step + 1, kMost)));
    connect(dialog, &QInputDialog::intValueSelected, this, [this, run](int step) { stop(run, step); });
    dialog->open();
}

void RunCommands::stop(const std::string& run, std::int64_t step)
{
    inBackground(
        this, [run, step] { return engine::stopRun(run, step); },
        [this, step](const Result<engine::StopAsked>& asked) {
            if (!asked) {
                refuse(QString::fromStdString(asked.error().text()));
            } else if (*asked == engine::StopAsked::AtRest) {
                note(tr("No process trains it any more"));
            } else {
                note(step > 0 ? tr("It ends after step %1, with a checkpoint").arg(formatWhole(step))
                              : tr("It ends after this step, with a checkpoint"));
            }
        });
}

void RunCommands::showRunToSample()
{
    const std::string& run = m_workspace.shownRuns().chosenOrFront();
    const engine::RunInfo* info = m_workspace.runsModel().runAt(m_workspace.runsModel().indexOf(run));
    // A new run comes to the front before it is listed.
    const std::string name = info ? info->name : std::filesystem::path(run).filename().string();
    if (run != m_shown || QString::fromStdString(name) != m_shownName) {
        m_known = run == m_shown ? m_known : std::string();
        m_shown = run;
        m_shownName = QString::fromStdString(name);
        m_workspace.view<SamplesPanel>().setRun(run, m_shownName);
    }
    if (run != m_known && !run.empty()) {
        inBackground(
            this, [run] { return engine::readRunProject(run); },
            [this, run](const Result<projects::Project>& project) {
                if (project && run == m_shown) {
                    m_known = run;
                    m_workspace.view<SamplesPanel>().setModel(*project);
                }
            });
    }
}

/// Asks about the chosen run, or the one in front.
void RunCommands::askInFront(const GoOnStart& start)
{
    const std::string& run = m_workspace.shownRuns().chosenOrFront();
    if (run.empty()) {
        refuse(tr("There is no run to go on with: train the project first."));
        return;
    }
    ask(run, GoOnKind::Retrofit, start);
}

void RunCommands::askWithoutSelection()
{
    const projects::Selection& selection = m_documents.selection();
    const projects::Pruning parts{{selection.shortcuts.begin(), selection.shortcuts.end()},
                                  {selection.layers.begin(), selection.layers.end()}};
    if (parts.empty()) {
        refuse(tr("Nothing is selected: select shortcuts or layers that the run is to go on without."));
        return;
    }
    askInFront({.measured = true, .prune = textOf(parts, m_session.project())});
}

void RunCommands::ask(const std::string& run, GoOnKind kind, const GoOnStart& start)
{
    const std::string tower = kind == GoOnKind::Retrofit || kind == GoOnKind::Factorise || kind == GoOnKind::Fork
                                  ? selectedTower()
                                  : std::string();
    m_fetch.read([run, tower] { return readGoOnSource(run, tower); },
                 [this, kind, start](GoOnSource source) {
                     if (start.asDocument) {
                         openWired(std::move(source));
                     } else {
                         open(kind, std::move(source), start);
                     }
                 });
}

void RunCommands::openWired(GoOnSource source)
{
    const projects::Project& document = m_session.project();
    if (document.network.depth() == source.project.network.depth()) {
        open(GoOnKind::Retrofit, std::move(source), {.measured = true, .prune = {}});
        return;
    }
    const auto layers = m_session.history().layersSince([&source](const projects::Project& project) {
        return projects::isSameNetwork(project.network, source.project.network);
    });
    if (!layers) {
        refuse(tr("The project has other layers than %1, and not by deleting layers since it was as the run. Undo to "
                  "that state, then delete layers, or select them and choose \"Go on without the selection\".")
                   .arg(QString::fromStdString(source.info.name)));
        return;
    }
    const auto parts = projects::pruningBetween(source.project, document, *layers);
    if (!parts) {
        refuse(QString::fromStdString(parts.error().text()));
        return;
    }
    const std::string prune = textOf(*parts, source.project);
    open(GoOnKind::Retrofit, std::move(source), {.measured = true, .prune = prune});
}

void RunCommands::open(GoOnKind kind, GoOnSource source, const GoOnStart& start)
{
    if (m_dialog) {
        m_dialog->close();
    }
    const projects::Project& document = source.tower.empty() ? m_session.wholeProject() : m_session.project();
    m_dialog = new GoOnDialog(kind, std::move(source), document, start, m_window);
    connect(m_dialog, &GoOnDialog::chosen, this, [this, project = m_session.directory()](GoOnRequest request) {
        request.of().projectDirectory = project;
        carryOut(request);
    });
    connect(m_dialog, &QDialog::rejected, &m_controller, &RunController::giveUpCopy);
    m_dialog->show();
}

/// Closes the dialogs, which are about runs of the project that was open.
void RunCommands::closeDialogs()
{
    if (m_dialog) {
        m_dialog->close();
    }
    if (m_exportDialog) {
        m_exportDialog->close();
    }
}

void RunCommands::carryOut(GoOnRequest request)
{
    if (request.kind == GoOnKind::Resume) {
        if (m_controller.resume(std::get<ContinueRun>(request.asked))) {
            m_dialog->close();
        } else {
            m_dialog->refuse(tr("Another run is under way: stop it first."));
        }
        return;
    }
    const std::int64_t step = request.of().step.value_or(0);
    m_fetch.need(request.of().runDirectory.string(), step, [this, request, step, dialog = m_dialog](bool here) {
        if (!dialog) {
            return; // it was closed meanwhile
        }
        if (!here) {
            dialog->refuse(FetchCommands::notFetched(step));
            return;
        }
        // A retrofit's or factors' dialog stays open, because the request may fail.
        std::visit(Overloaded{[this](const engine::RetrofitRequest& retrofit) { m_controller.retrofit(retrofit); },
                              [this](const engine::FactoriseRequest& factors) { m_controller.factorise(factors); },
                              [this, dialog](const ContinueRun& fork) {
                                  m_controller.fork(fork);
                                  dialog->close();
                              }},
                   request.asked);
    });
}

void RunCommands::tellRetrofit(const engine::RetrofitReady& made)
{
    if (made.batches > 0) {
        done(tr("Goes on from step %1: %2 parameters kept, %3 new, %4 dropped; loss over %5 batches %6 before and %7 "
                "after")
                 .arg(formatWhole(made.step))
                 .arg(made.kept.size())
                 .arg(made.added.size())
                 .arg(made.dropped.size())
                 .arg(formatWhole(made.batches), QString::number(made.lossBefore, 'g', 5),
                      QString::number(made.lossAfter, 'g', 5)));
        return;
    }
    done(tr("Retrofitted at step %1: %2 parameters kept, %3 new, %4 dropped; outputs differ by at most %5")
             .arg(formatWhole(made.step))
             .arg(made.kept.size())
             .arg(made.added.size())
             .arg(made.dropped.size())
             .arg(QString::number(made.difference, 'g', 2)));
}

void RunCommands::tellFactors(const engine::FactoriseReady& made)
{
    done(tr("Factorised at step %1: %2 weights, %3 parameters before and %4 after; loss over %5 batches %6 before and "
            "%7 after")
             .arg(formatWhole(made.step))
             .arg(made.weights.size())
             .arg(formatCount(static_cast<double>(made.parametersBefore)),
                  formatCount(static_cast<double>(made.parametersAfter)))
             .arg(formatWhole(made.batches), QString::number(made.lossBefore, 'g', 5),
                  QString::number(made.lossAfter, 'g', 5)));
}

/// Called when the copy is complete.
void RunCommands::done(const QString& text)
{
    if (m_dialog) {
        m_dialog->close();
    }
    note(text);
}

void addRunCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new RunCommands(parts, fetch);
}

} // namespace residua::app
