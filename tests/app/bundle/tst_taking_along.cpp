// SPDX-License-Identifier: GPL-3.0-or-later
// Export from the window and import into it: bundles, networks, and runs that another process trains.
#include "app/bundle/bundle_dialog.h"
#include "app/runs/checkpoint_dialogs.h"
#include "app/runs/runs_panel.h"
#include "engine/base/api/session.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_directory.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/runs/shown_runs.h"

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeView>

#include <atomic>
#include <cstdint>
#include <optional>

using namespace residua;
using namespace residua::app;

namespace {

/// How often what it watches was shown.
class Shows : public QObject {
public:
    int count = 0;

private:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        count += event->type() == QEvent::Show ? 1 : 0;
        return QObject::eventFilter(watched, event);
    }
};

} // namespace

class TestTakingAlong : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickLanguage()); }
    void cleanup() { m_window.reset(); }

    void aProjectIsTakenAlongAndItsRunsComeBack()
    {
        train();
        m_window->actions().takeAlong->trigger();
        auto* take = opened<TakeAlongDialog>();
        QVERIFY(take);
        auto* told = take->findChild<QLabel*>(QStringLiteral("takeAlongReason"));
        QTRY_VERIFY(told->text().contains("Runs: 1, checkpoints: 1"));
        auto* checkpoints = take->findChild<QComboBox*>(QStringLiteral("bundleCheckpoints"));
        auto* go = take->findChild<QPushButton*>(QStringLiteral("takeAlongGo"));
        QVERIFY(go->isEnabled());
        checkpoints->setCurrentIndex(1); // all
        QVERIFY(!go->isEnabled());       // until it is weighed
        QTRY_VERIFY(told->text().contains("Runs: 1, checkpoints: 2"));
        const std::filesystem::path file = folder("taken.residua");
        take->findChild<QLineEdit*>(QStringLiteral("takeAlongPlace"))->setText(QString::fromStdString(file.string()));
        QSignalSpy packed(take, &BundleDialog::packed);
        press(*take);
        QVERIFY(!checkpoints->isEnabled());
        QTRY_COMPARE(packed.count(), 1);
        QCOMPARE(engine::readBundle(file)->checkpoints, std::int64_t{2});

        // The run is lost here, and comes back to the project that is open.
        const std::filesystem::path run = m_window->runs().runDirectory();
        std::filesystem::remove_all(run);
        m_window->openProject(file);
        auto* back = opened<BringBackDialog>();
        QVERIFY(back);
        QCOMPARE(back->place(), m_project);
        QSignalSpy unpacked(back, &BundleDialog::unpacked);
        press(*back);
        QTRY_COMPARE(unpacked.count(), 1);
        QVERIFY(engine::RunReader::open(run).ok());
        QTRY_VERIFY(!m_window->workspace().runsModel().runs().empty());
    }

    void aBundleOfElsewhereBecomesAProject()
    {
        train();
        const std::filesystem::path file = folder("other.residua");
        QVERIFY(engine::pack({m_project}, file).ok());
        std::filesystem::remove(m_project / engine::kIdentityFile);
        m_window->openProject(file);
        auto* back = opened<BringBackDialog>();
        QVERIFY(back);
        QCOMPARE(back->place(), folder("Residua") / "project");
        press(*back);
        QTRY_COMPARE(m_window->session().directory(), folder("Residua") / "project");
        QTRY_COMPARE(m_window->workspace().runsModel().runs().size(), std::size_t{1});
    }

    void refusesAFileThatIsNotABundle()
    {
        const std::filesystem::path file = folder("no.residua");
        QFile text(QString::fromStdString(file.string()));
        QVERIFY(text.open(QIODevice::WriteOnly) && text.write("nothing") == 7);
        text.close();
        m_window->openProject(file);
        QTRY_VERIFY(m_window->bannerText().contains("is no bundle"));
    }

    void aNetworkIsExported()
    {
        train();
        chooseFirst();
        m_window->findChild<QAction*>(QStringLiteral("run:export"))->trigger();
        auto* dialog = opened<ExportDialog>();
        QVERIFY(dialog);
        QCOMPARE(dialog->findChild<QComboBox*>(QStringLiteral("exportTo"))->count(),
                 static_cast<int>(std::size(engine::kExportFormats)));
        QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("exportWords"))->text().contains("optimiser's state"));
        dialog->findChild<QComboBox*>(QStringLiteral("exportFrom"))->setCurrentIndex(1); // of steps 4 and 2
        auto* place = dialog->findChild<QLineEdit*>(QStringLiteral("exportOutput"));
        const QString proposed = place->text();
        place->setText(QString::fromStdString(m_project.string())); // is there already
        dialog->findChild<QPushButton*>(QStringLiteral("exportGo"))->click();
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("exportReason"));
        QTRY_VERIFY(reason->text().contains("exists"));
        QTRY_VERIFY(reason->height() >= reason->heightForWidth(reason->width()));
        QTRY_VERIFY(place->height() >= place->sizeHint().height()); // the reason has not taken its room
        place->setText(proposed);
        QVERIFY(reason->isHidden()); // it was about the other place
        QPointer<ExportDialog> open = dialog;
        dialog->findChild<QPushButton*>(QStringLiteral("exportGo"))->click();
        QTRY_VERIFY(!open || !open->isVisible());
        QFile config(proposed + QStringLiteral("/config.json"));
        QVERIFY(config.open(QIODevice::ReadOnly));
        QVERIFY(config.readAll().contains("\"step\": 2"));
    }

    /// An export that another one replaced reports nothing, in particular not in the dialog of the other.
    void anExportThatIsGivenUpIsForgotten()
    {
        train();
        chooseFirst();
        const std::filesystem::path python = folder("slow");
        QFile script(QString::fromStdString(python.string()));
        QVERIFY(script.open(QIODevice::WriteOnly) && script.write("#!/bin/sh\nexec sleep 1000\n") > 0);
        QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        script.close();
        qputenv("RESIDUA_PYTHON", python.c_str());
        m_window->findChild<QAction*>(QStringLiteral("run:export"))->trigger();
        QPointer<ExportDialog> first = opened<ExportDialog>();
        QVERIFY(first);
        auto* format = first->findChild<QComboBox*>(QStringLiteral("exportTo"));
        format->setCurrentIndex(format->findData(static_cast<int>(engine::ExportFormat::Onnx)));
        first->findChild<QPushButton*>(QStringLiteral("exportGo"))->click();
        m_window->findChild<QAction*>(QStringLiteral("run:export"))->trigger();
        QTRY_VERIFY(!first);
        qunsetenv("RESIDUA_PYTHON");

        QPointer<ExportDialog> second = opened<ExportDialog>();
        QVERIFY(second);
        Shows shows;
        second->findChild<QLabel*>(QStringLiteral("exportReason"))->installEventFilter(&shows);
        const QString place = second->findChild<QLineEdit*>(QStringLiteral("exportOutput"))->text();
        second->findChild<QPushButton*>(QStringLiteral("exportGo"))->click();
        QTRY_VERIFY(!second || !second->isVisible());
        QVERIFY(QFile::exists(place + QStringLiteral("/config.json")));
        QCOMPARE(shows.count, 0);
    }

    /// The run belongs to an engine that this window did not start, as for a run from a terminal.
    void aRunOfAnotherProcessIsFollowedAndStopped()
    {
        std::atomic<bool> ended = false;
        std::atomic<bool> stopped = false;
        engine::Session other([&](const engine::Event& event) {
            if (const auto* end = std::get_if<engine::RunEnded>(&event)) {
                stopped = end->status == engine::RunStatus::Stopped;
                ended = true;
            }
        });
        projects::Project project = quickLanguage();
        project.training.steps = 100'000'000;
        project.training.checkpointEvery = 0;
        const std::filesystem::path run = m_project / projects::kRunsFolder / "elsewhere";
        other.post(engine::StartRun{engine::RunId{1}, project, m_project, run, {}, "cpu", 0});
        const RunsModel& runs = m_window->workspace().runsModel();
        QTRY_VERIFY(!runs.runs().empty());
        const auto stepNow = [&] { return runs.runs().empty() ? 0 : runs.runs().front().step; };
        QTRY_VERIFY(stepNow() > 0);
        const auto seen = stepNow();
        QTRY_VERIFY(stepNow() > seen);
        QVERIFY(runs.runs().front().status == engine::RunStatus::Running);

        chooseFirst();
        QTRY_VERIFY(m_window->findChild<QAction*>(QStringLiteral("run:stop"))->isEnabled());
        m_window->findChild<QAction*>(QStringLiteral("run:stopAt"))->trigger();
        auto* asked = m_window->findChild<QInputDialog*>(QStringLiteral("stopDialog"));
        QVERIFY(asked && asked->intMaximum() == 100'000'000);
        asked->setIntValue(100'000'000);
        asked->accept();
        // It is a step far off, so the run goes on. What it records is told more seldom than it looks for requests.
        QTRY_COMPARE(engine::readStopRequest(run), std::optional<std::int64_t>(100'000'000));
        for (int more = 0; more < 2; ++more) {
            const auto before = stepNow();
            QTRY_VERIFY(stepNow() > before);
        }
        QVERIFY(!ended);
        m_window->findChild<QAction*>(QStringLiteral("run:stop"))->trigger();
        QTRY_VERIFY(ended);
        QVERIFY(stopped);
        QTRY_VERIFY(runs.runs().front().status == engine::RunStatus::Stopped);
        QVERIFY(!engine::RunReader::open(run)->checkpoints().empty());
    }

    /// A run that is paused in a window obeys a stop request too.
    void aPausedRunIsStoppedFromElsewhere()
    {
        m_window->runs().runSteps(1);
        QTRY_VERIFY(m_window->runs().phase() == RunPhase::Paused);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTRY_VERIFY(!m_window->workspace().runsModel().runs().empty());
        chooseFirst();
        m_window->findChild<QAction*>(QStringLiteral("run:stop"))->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY(m_window->runs().phase() == RunPhase::Idle);
    }

private:
    void train()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QTRY_VERIFY(!m_window->workspace().runsModel().runs().empty() &&
                    m_window->workspace().runsModel().runs().front().status == engine::RunStatus::Finished);
    }

    void chooseFirst()
    {
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        tree->setCurrentIndex(tree->model()->index(0, 0));
    }

    template <class Dialog>
    Dialog* opened()
    {
        Dialog* dialog = nullptr;
        const bool came = QTest::qWaitFor(
            [&] {
                dialog = m_window->findChild<Dialog*>();
                return dialog && dialog->isVisible();
            },
            kPatience);
        return came ? dialog : nullptr;
    }

    static void press(QDialog& dialog)
    {
        auto* go = dialog.findChild<QPushButton*>(dialog.objectName().replace("Dialog", "Go"));
        QVERIFY(QTest::qWaitFor([&] { return go->isEnabled(); }, kPatience));
        QTest::mouseClick(go, Qt::LeftButton);
    }
};

RESIDUA_TEST_IN(QApplication, TestTakingAlong)
#include "tst_taking_along.moc"
