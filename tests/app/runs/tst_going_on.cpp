// SPDX-License-Identifier: GPL-3.0-or-later
// Going on with runs from the window: resume, fork and retrofit, asked about first; texts of a run; what has come of
// it.
#include "app/runs/go_on_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/runs/samples_panel.h"
#include "app/views/document_views.h"
#include "engine/runs/results/run_reader.h"
#include "projects/commands/commands.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTreeView>

#include <algorithm>

using namespace residua;
using namespace residua::app;

class TestGoingOn : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickLanguage()); }
    void cleanup() { m_window.reset(); }

    void theToolbarSaysWhatHasComeOfARun()
    {
        train();
        const QString outcome = m_window->findChild<QLabel*>(QStringLiteral("runSpeed"))->text();
        QVERIFY2(outcome.contains("loss") && outcome.contains("validation"), qPrintable(outcome));
        QVERIFY2(outcome.contains(QRegularExpression("\\d+ s|ms|<")), qPrintable(outcome));
    }

    void aTrainedNetworkIsWiredOtherwiseAndTrainsOn()
    {
        train();
        GoOnDialog* dialog = ask("run:retrofit");
        auto* topology = dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"));
        topology->setCurrentText("DeepCrossAttention");
        QVERIFY2(topology->findText("DeepCrossAttention") >= 0, "the preset's title");
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok());
        QCOMPARE(reader->project()->stack().topology.preset, std::string("dca"));
        QCOMPARE(reader->info()->step, std::int64_t{6});
        QCOMPARE(reader->info()->status, engine::RunStatus::Finished);
        QVERIFY(!m_window->findChild<GoOnDialog*>() || !m_window->findChild<GoOnDialog*>()->isVisible());
    }

    void theQuestionGoesWithItsProject()
    {
        train();
        const QPointer<GoOnDialog> dialog = ask("run:resume");
        QVERIFY(dialog);
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->openProject(other);
        QTRY_VERIFY(!dialog || !dialog->isVisible());
    }

    /// The first that is offered may compute the same; the run's own wiring is not offered, and refused where typed.
    void aRetrofitToTheRunsOwnWiringIsNotOffered()
    {
        train();
        GoOnDialog* dialog = ask("run:retrofit");
        auto* topology = dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"));
        auto* go = dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"));
        QCOMPARE(topology->findText("Plain residual"), -1);
        QCOMPARE(topology->currentText(), QString("GRN-v1"));
        QVERIFY(go->isEnabled());
        topology->setEditText("plain");
        QVERIFY(!go->isEnabled());
        QCOMPARE(dialog->findChild<QLabel*>(QStringLiteral("goOnReason"))->text(),
                 QString("The run is wired so already."));
    }

    /// The dialog shows the cost before and the losses after; a run already in factors is refused.
    void aTrainedNetworkIsFactorisedAndTrainsOn()
    {
        train();
        GoOnDialog* dialog = ask("run:factorise");
        dialog->findChild<QDoubleSpinBox*>(QStringLiteral("goOnRank"))->setValue(0.5);
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        bool saysCost = false;
        for (const QLabel* label : dialog->findChildren<QLabel*>()) {
            saysCost = saysCost || (label->isVisible() && label->text().contains("training FLOP"));
        }
        QVERIFY(saysCost);
        QSignalSpy made(&m_window->runs(), &RunController::factorised);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(made.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok());
        QVERIFY(reader->project()->network.rank == projects::WeightRank(projects::RankScale{0.5}));
        QVERIFY(reader->project()->initialisation.lowRank == projects::LowRankMethod::Exact);
        QCOMPARE(reader->info()->step, std::int64_t{6});
        QVERIFY(reader->gap()->has_value());
        emit m_window->workspace().view<RunsPanel>().goOnRequested(m_window->runs().runDirectory().string(),
                                                                   GoOnKind::Factorise);
        GoOnDialog* again = opened();
        QVERIFY(again);
        QVERIFY(!again->findChild<QPushButton*>(QStringLiteral("goOnGo"))->isEnabled());
        QVERIFY(again->findChild<QLabel*>(QStringLiteral("goOnReason"))->text().contains("in factors already"));
    }

    /// What is offered is possible; what is typed is refused with the reason, or tied.
    void layersOfARunAreTied()
    {
        train();
        GoOnDialog* dialog = ask("run:tie");
        auto* ties = dialog->findChild<QComboBox*>(QStringLiteral("goOnLayers"));
        auto* go = dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"));
        QVERIFY(!dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"))->isVisible());
        QCOMPARE(ties->currentText(), QString("1:2,2,rank=16"));
        QVERIFY(go->isEnabled());
        ties->setEditText("untie");
        QVERIFY(!go->isEnabled());
        QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("goOnReason"))->text().contains("has no loop"));
        ties->setEditText("1:2,2,rank=2");
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        QSignalSpy told(&m_window->runs(), &RunController::retrofitted);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(told.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok());
        const projects::Loop tied{.first = 1, .last = 1, .visits = 2, .adapterRank = 2};
        QVERIFY(reader->project()->stack().loops == std::vector{tied});
        QVERIFY(std::ranges::any_of(reader->events(), [](const engine::RunEvent& event) {
            return event.text.find("tied: 1:2,2,rank=2; loss ") != std::string::npos;
        }));
    }

    /// The dialog gives the reason and stays open.
    void aRetrofitThatWouldChangeTheFunctionIsRefused()
    {
        train();
        GoOnDialog* dialog = ask("run:retrofit");
        dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"))->setCurrentText("Highway");
        auto* topology = dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"));
        const int highway = topology->findText("Highway", Qt::MatchStartsWith);
        QVERIFY(highway >= 0);
        topology->setCurrentIndex(highway);
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("goOnReason"));
        if (dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"))->isEnabled()) {
            press(*dialog, "goOnGo");
        }
        QTRY_VERIFY(reason->isVisible() && !reason->text().isEmpty());
        QVERIFY(dialog->isVisible());
        topology->setEditText("0:9");
        QVERIFY(!dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"))->isEnabled());
        QVERIFY(!reason->text().isEmpty());
        topology->setEditText("0:2");
    }

    /// From the selection: the command, and the button of its dialog.
    void aRunGoesOnWithoutTheSelectedLayer()
    {
        train();
        const auto before = m_window->runs().runDirectory();
        const auto layers = engine::RunReader::open(before)->project()->network.depth();
        m_window->findChild<QAction*>(QStringLiteral("goOnWithout"))->trigger();
        QVERIFY(!m_window->findChild<GoOnDialog*>());
        m_window->documents().select({.layers = {1}});
        m_window->findChild<QAction*>(QStringLiteral("goOnWithout"))->trigger();
        GoOnDialog* dialog = opened();
        QVERIFY(dialog);
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        QSignalSpy told(&m_window->runs(), &RunController::retrofitted);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(told.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok() && m_window->runs().runDirectory() != before);
        QCOMPARE(reader->project()->network.depth(), layers - 1);
        QCOMPARE(reader->info()->step, std::int64_t{6});
    }

    /// Deleted in the project: the layers that stay are those of the run, though all are alike.
    void aRunGoesOnWithoutTheDeletedLayer()
    {
        train();
        const auto before = m_window->runs().runDirectory();
        const auto layers = engine::RunReader::open(before)->project()->network.depth();
        const auto removed = projects::deleteSelection(m_window->session().document(), {.layers = {1}});
        QVERIFY(removed.ok() && m_window->session().perform(removed->edit).ok());
        m_window->findChild<QAction*>(QStringLiteral("goOnWired"))->trigger();
        GoOnDialog* dialog = opened();
        QVERIFY(dialog);
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok() && m_window->runs().runDirectory() != before);
        QCOMPARE(reader->project()->network.depth(), layers - 1);
        QVERIFY(std::ranges::any_of(reader->events(), [](const engine::RunEvent& event) {
            return event.text.find("without layer 1;") != std::string::npos;
        }));
    }

    /// A refusal turns into an offer that the same button takes.
    void aRetrofitGoesOnAnyway()
    {
        train();
        GoOnDialog* dialog = ask("run:retrofit");
        auto* topology = dialog->findChild<QComboBox*>(QStringLiteral("goOnTopology"));
        topology->setCurrentIndex(topology->findText("Highway", Qt::MatchStartsWith));
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(6);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        auto* const button = dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"));
        QTRY_COMPARE(button->text(), QStringLiteral("Go on anyway"));
        QVERIFY(!dialog->findChild<QLabel*>(QStringLiteral("goOnReason"))->text().contains("--measured"));
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QCOMPARE(reader->project()->stack().topology.preset, std::string("highway"));
    }

    void aFinishedRunIsResumedToMoreSteps()
    {
        train();
        GoOnDialog* dialog = ask("run:resume");
        auto* steps = dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"));
        steps->setValue(4); // all done already
        QVERIFY(!dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"))->isEnabled());
        steps->setValue(5);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(engine::RunReader::open(m_window->runs().runDirectory())->info()->step, std::int64_t{5});
        QCOMPARE(m_window->workspace().runsModel().runs().size(), std::size_t{1});
    }

    void aForkGoesOnFromACheckpointToOtherSteps()
    {
        train();
        const auto before = m_window->runs().runDirectory();
        emit m_window->workspace().view<RunsPanel>().goOnRequested(before.string(), GoOnKind::Fork);
        GoOnDialog* dialog = opened();
        QVERIFY(dialog);
        dialog->findChild<QComboBox*>(QStringLiteral("goOnFrom"))->setCurrentIndex(1); // step 2
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(3);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        const auto info = engine::RunReader::open(m_window->runs().runDirectory())->info();
        QVERIFY(m_window->runs().runDirectory() != before);
        QCOMPARE(info->parentStep, std::int64_t{2});
        QCOMPARE(info->step, std::int64_t{3});
    }

    void aRunContinuesATextWhileItTrainsAndAfterwards()
    {
        auto* texts = m_window->findChild<QTextBrowser*>(QStringLiteral("sampleTexts"));
        m_window->workspace().showPanelOf(*texts);
        train();
        QTRY_VERIFY(texts->toPlainText().contains("step 4"));
        const auto count = texts->toPlainText().count("step ");
        chooseFirst();
        m_window->findChild<QAction*>(QStringLiteral("run:sample"))->trigger();
        QTRY_COMPARE(texts->toPlainText().count("step "), count + 1);
    }

    void aModelOfMaskedTokensFillsATextInThePanel()
    {
        projects::Project masked = quickLanguage();
        masked.network.objective = projects::Objective::MaskedToken;
        masked.data.masking.token = 1;
        openWindowOn(masked);
        auto* texts = m_window->findChild<QTextBrowser*>(QStringLiteral("sampleTexts"));
        m_window->workspace().showPanelOf(*texts);
        train();
        const auto* fill = m_window->findChild<QPushButton*>(QStringLiteral("sampleNow"));
        QTRY_COMPARE(fill->text(), QString("Fill"));
        auto* prompt = m_window->findChild<QLineEdit*>(QStringLiteral("samplePrompt"));
        QVERIFY(prompt->isEnabled());
        prompt->setText("[MASK] [MASK]");
        emit prompt->returnPressed();
        QTRY_VERIFY(texts->toPlainText().count(" %") == 10);
    }

    /// The first held-out pictures, each with its class and what the network takes it for.
    void aClassifierShowsPicturesWithTheirClasses()
    {
        projects::Project pictures = projects::findExample("small-vit")->project;
        pictures.data.source = projects::DrawnPictures{.size = 32, .samples = 100};
        pictures.stack().segments.front().repeat = 1;
        pictures.training.steps = 2;
        pictures.training.batch = 4;
        pictures.training.validateEvery = 2;
        openWindowOn(pictures);
        auto* texts = m_window->findChild<QTextBrowser*>(QStringLiteral("sampleTexts"));
        m_window->workspace().showPanelOf(*texts);
        train();
        QTRY_COMPARE(texts->toHtml().count("<img "), qsizetype{8});
        const auto* prompt = m_window->findChild<QLineEdit*>(QStringLiteral("samplePrompt"));
        QTRY_VERIFY(prompt->isEnabled()); // the path of a picture
        const QString text = texts->toPlainText();
        QCOMPARE(text.count(QChar(u'✓')) + text.count(QChar(u'✗')), qsizetype{8});
        QRegularExpressionMatchIterator sources =
            QRegularExpression(QStringLiteral("src=\"(picture:[0-9]+)\"")).globalMatch(texts->toHtml());
        QSet<QString> names;
        while (sources.hasNext()) {
            names << sources.next().captured(1);
        }
        QCOMPARE(names.size(), qsizetype{8}); // each its own
        const QVariant first = texts->document()->resource(QTextDocument::ImageResource, QUrl(*names.begin()));
        QCOMPARE(first.value<QImage>().size(), QSize(96, 96)); // magnified three times
    }

    /// A run comes to the front before it is listed, and may be renamed later.
    void theTextPanelNamesItsRun()
    {
        train();
        RunsModel& model = m_window->workspace().runsModel();
        const auto* state = m_window->findChild<QLabel*>(QStringLiteral("sampleState"));
        QCOMPARE(state->text(), "of " + QString::fromStdString(model.runs().front().name));
        QVERIFY(model.setData(model.index(0, RunsModel::Name), "renamed", Qt::EditRole));
        QCOMPARE(state->text(), QString("of renamed"));
    }

    /// The result of a comparison of images is a text among them, which scrolls, so that they keep their room.
    void aComparisonIsShownWithTheImages()
    {
        train();
        auto& panel = m_window->workspace().view<SamplesPanel>();
        const auto* texts = panel.findChild<QTextBrowser*>(QStringLiteral("sampleTexts"));
        const auto* state = panel.findChild<QLabel*>(QStringLiteral("sampleState"));
        const QString before = state->text();
        engine::EvaluateRequest compared;
        compared.of.runDirectory = m_window->workspace().runsModel().runs().front().directory;
        panel.tellComparison(compared, "comparing");
        QCOMPARE(state->text(), QString("comparing"));
        panel.takeComparison(compared, "Fréchet distance 3");
        QCOMPARE(state->text(), before);
        QVERIFY(texts->toPlainText().contains("Fréchet distance 3"));
        compared.of.runDirectory = "/another";
        panel.takeComparison(compared, "Fréchet distance 4");
        QVERIFY(!texts->toPlainText().contains("Fréchet distance 4"));
    }

    /// The units are those of the run, because the open document may be of another kind by now.
    void aResumedRunCountsItsOwnUnits()
    {
        openWindowOn(quickExample(2));
        train();
        const std::string run = m_window->runs().runDirectory().string();
        QVERIFY(projects::saveProject(m_project, {quickLanguage(), {}}).ok());
        QVERIFY(m_window->session().load("Load from disk").ok());
        emit m_window->workspace().view<RunsPanel>().goOnRequested(run, GoOnKind::Resume);
        GoOnDialog* dialog = opened();
        QVERIFY(dialog);
        dialog->findChild<QSpinBox*>(QStringLiteral("goOnSteps"))->setValue(3);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        press(*dialog, "goOnGo");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(QString::fromStdString(m_window->runs().runDirectory().string()), QString::fromStdString(run));
        QVERIFY(m_window->runs().progress().unit == projects::Unit::Sample);
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

    GoOnDialog* opened()
    {
        GoOnDialog* dialog = nullptr;
        const bool came = QTest::qWaitFor(
            [&] {
                dialog = m_window->findChild<GoOnDialog*>();
                return dialog && dialog->isVisible();
            },
            kPatience);
        return came ? dialog : nullptr;
    }

    GoOnDialog* ask(const char* action)
    {
        chooseFirst();
        m_window->findChild<QAction*>(QLatin1String(action))->trigger();
        return opened();
    }

    static void press(QWidget& dialog, const char* button)
    {
        QTest::mouseClick(dialog.findChild<QPushButton*>(QLatin1String(button)), Qt::LeftButton);
    }
};

RESIDUA_TEST_IN(QApplication, TestGoingOn)
#include "tst_going_on.moc"
