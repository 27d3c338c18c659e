// SPDX-License-Identifier: GPL-3.0-or-later
// A run that trained at a place without shared folders: its checkpoints come to the window's machine on request, and
// before what reads them here.
#include "app/runs/checkpoint_dialogs.h"
#include "app/runs/knockout_dialog.h"
#include "app/runs/remotes_dialog.h"
#include "app/runs/runs_panel.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_files.h"
#include "projects/library/presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>

using namespace residua;
using namespace residua::app;

class TestFetching : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = quickLanguage();
        for (const projects::TopologyPreset& preset : projects::topologyPresets(project.network)) {
            if (preset.name == "grn-v2") { // has weights of single features
                project = *projects::rewired(project, {preset.name, preset.wiring});
            }
        }
        openWindowOn(project);
        qputenv("XDG_CONFIG_HOME", folder("config").c_str()); // with the list of places
        std::filesystem::create_directories(folder("there"));
        m_window->runs().setPlace(place());
        train();
    }
    void cleanup() { m_window.reset(); }

    void aCheckpointIsChosenAndFetched()
    {
        const QPointer<FetchDialog> dialog = ask<FetchDialog>("run:fetch");
        QVERIFY(dialog);
        QVERIFY(dialog->windowTitle().contains("Fetch"));
        auto* steps = dialog->findChild<QComboBox*>(QStringLiteral("fetchStep"));
        QCOMPARE(steps->count(), 2);
        steps->setCurrentIndex(1); // of 4 and 2
        press(*dialog, "fetchGo");
        QTRY_VERIFY(!dialog || !dialog->isVisible());
        QCOMPARE(checkpointsHere(), std::vector<std::int64_t>{2});
        const QPointer<FetchDialog> again = ask<FetchDialog>("run:fetch");
        QCOMPARE(again->findChild<QComboBox*>(QStringLiteral("fetchStep"))->count(), 1);
    }

    /// The list of checkpoints says which ones are fetched first.
    void anExportFetchesItsCheckpointFirst()
    {
        const QPointer<ExportDialog> dialog = ask<ExportDialog>("run:export");
        QVERIFY(dialog);
        QCOMPARE(dialog->findChild<QComboBox*>(QStringLiteral("exportFrom"))->currentText(),
                 QString("step 4, the last; at gpu1, fetched first"));
        const QString made = dialog->findChild<QLineEdit*>(QStringLiteral("exportOutput"))->text();
        press(*dialog, "exportGo");
        QTRY_VERIFY(!dialog || !dialog->isVisible());
        QVERIFY(QFile::exists(made + QStringLiteral("/config.json")));
        QCOMPARE(checkpointsHere(), std::vector<std::int64_t>{4});
        QVERIFY(!opened<FetchDialog>(0));
    }

    /// The reason is shown, and what needed the checkpoint can be asked for again.
    void aPlaceThatIsGoneIsReported()
    {
        std::filesystem::rename(folder("there"), folder("gone"));
        const QPointer<ExportDialog> exported = ask<ExportDialog>("run:export");
        press(*exported, "exportGo");
        auto* dialog = opened<FetchDialog>();
        QVERIFY(dialog);
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("fetchReason"));
        QTRY_VERIFY(reason->isVisible());
        QVERIFY2(reason->text().contains("residua-engine"), qPrintable(reason->text()));
        dialog->reject();
        QTRY_VERIFY(exported->findChild<QLabel*>(QStringLiteral("exportReason"))->text().contains("was not fetched"));
        QVERIFY(exported->findChild<QPushButton*>(QStringLiteral("exportGo"))->isEnabled());
    }

    void aKnockoutNeedsItsCheckpointHere()
    {
        std::filesystem::rename(folder("there"), folder("gone"));
        m_window->workspace().shownRuns().bringToFront(m_run);
        const QPointer<KnockoutDialog> knockout = ask<KnockoutDialog>("knockOut");
        QVERIFY(knockout);
        QCOMPARE(knockout->findChild<QComboBox*>(QStringLiteral("knockoutFrom"))->currentText(),
                 QString("step 4, the last; at gpu1, fetched first"));
        press(*knockout, "knockoutGo");
        auto* dialog = opened<FetchDialog>();
        QVERIFY(dialog);
        QTRY_VERIFY(dialog->findChild<QLabel*>(QStringLiteral("fetchReason"))->isVisible());
        dialog->reject();
        QTRY_VERIFY(knockout->findChild<QLabel*>(QStringLiteral("knockoutReason"))->text().contains("was not fetched"));
        QVERIFY(knockout->findChild<QPushButton*>(QStringLiteral("knockoutGo"))->isEnabled());
    }

    /// The record of an earlier version, or of a stranger, names a command line: it is shown, and not run.
    void anUnknownPlaceIsAskedFor()
    {
        const std::string former = place().command;
        m_window->runs().setPlace({});
        engine::RunFile file = *engine::readRunFile(m_run);
        file.remote->formerCommand = "touch '" + folder("PWNED").string() + "'; exit 1";
        QVERIFY(engine::writeRunFile(m_run, file).ok());
        const QPointer<FetchDialog> fetch = ask<FetchDialog>("run:fetch");
        press(*fetch, "fetchGo");
        const QPointer<UnknownRemoteDialog> asked = opened<UnknownRemoteDialog>();
        QVERIFY(asked);
        const QList<QLabel*> labels = asked->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [&](const QLabel* label) {
            return label->text().contains(QString::fromStdString(file.remote->formerCommand)) &&
                   label->textFormat() == Qt::PlainText;
        }));
        auto* add = asked->findChild<QPushButton*>(QStringLiteral("unknownPlaceGo"));
        auto* command = asked->findChild<QLineEdit*>(QStringLiteral("unknownPlaceCommand"));
        QVERIFY(!add->isDefault() && !add->autoDefault());
        QCOMPARE(command->text().toStdString(), file.remote->formerCommand);
        asked->reject();
        QTRY_VERIFY(fetch->findChild<QLabel*>(QStringLiteral("fetchReason"))->isVisible());
        QVERIFY(engine::namedRemotes()->empty());
        QVERIFY(!std::filesystem::exists(folder("PWNED")));

        QTRY_VERIFY(!asked);
        press(*fetch, "fetchGo");
        const QPointer<UnknownRemoteDialog> again = opened<UnknownRemoteDialog>();
        QVERIFY(again);
        again->findChild<QLineEdit*>(QStringLiteral("unknownPlaceCommand"))->setText(QString::fromStdString(former));
        press(*again, "unknownPlaceGo");
        QTRY_VERIFY(!again || !again->isVisible());
        QCOMPARE(engine::namedRemotes()->size(), std::size_t{1});
        QTRY_VERIFY(fetch->findChild<QLabel*>(QStringLiteral("fetchReason"))->isVisible());
        press(*fetch, "fetchGo");
        QTRY_VERIFY(!fetch || !fetch->isVisible());
        QCOMPARE(checkpointsHere(), std::vector<std::int64_t>{4});
        QVERIFY(!std::filesystem::exists(folder("PWNED")));
    }

    void aForkFetchesItsCheckpointFirst()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        const std::string parent = m_run;
        emit m_window->workspace().view<RunsPanel>().forkRequested(parent, 2);
        QTRY_COMPARE(ended.count(), 1);
        const auto info = engine::RunReader::open(m_window->runs().runDirectory())->info();
        QCOMPARE(info->parent, parent);
        QCOMPARE(info->status, engine::RunStatus::Finished);
        QVERIFY(engine::distantCheckpoints(m_window->runs().runDirectory()).place.empty()); // it trained here
    }

    void theWeightsOfAFeatureAreFetched()
    {
        visualizers::ShownMatrices& matrices = m_window->workspace().shownMatrices();
        QTRY_VERIFY(matrices.any());
        matrices.wantFeature(1);
        const QPointer<FetchDialog> dialog = opened<FetchDialog>();
        QVERIFY(dialog);
        press(*dialog, "fetchGo");
        QTRY_COMPARE(matrices.feature(), std::optional(1));
    }

private:
    [[nodiscard]] engine::EngineRemote place() const
    {
        return {"gpu1", engine::EngineRemote::Kind::CommandLine,
                "cd '" + folder("there").string() + "' && exec " RESIDUA_ENGINE_PROGRAM " --stdio", "place"};
    }

    void train()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        m_run = m_window->runs().runDirectory().string();
        const RunsModel& model = m_window->workspace().runsModel();
        QTRY_VERIFY(model.runAt(model.indexOf(m_run)));
        m_window->workspace().shownRuns().choose(m_run);
    }

    [[nodiscard]] std::vector<std::int64_t> checkpointsHere() const
    {
        return engine::RunReader::open(m_run)->checkpoints();
    }

    /// Triggers the command of the chosen run, and returns its dialog.
    template <class Dialog>
    Dialog* ask(const char* command)
    {
        auto* action = m_window->findChild<QAction*>(QString::fromLatin1(command));
        if (!QTest::qWaitFor([action] { return action->isEnabled(); }, kPatience)) {
            return nullptr;
        }
        action->trigger();
        return opened<Dialog>();
    }

    /// The dialog of that kind that is open; null after waiting in vain.
    template <class Dialog>
    Dialog* opened(int patience = kPatience)
    {
        Dialog* dialog = nullptr;
        [[maybe_unused]] const bool found = QTest::qWaitFor(
            [&] {
                for (Dialog* each : m_window->findChildren<Dialog*>()) {
                    dialog = each->isVisible() ? each : dialog;
                }
                return dialog != nullptr;
            },
            patience);
        return dialog;
    }

    static void press(QWidget& dialog, const char* name)
    {
        dialog.findChild<QPushButton*>(QString::fromLatin1(name))->click();
    }

    std::string m_run; ///< that trained at the place
};

RESIDUA_TEST_IN(QApplication, TestFetching)
#include "tst_fetching.moc"
