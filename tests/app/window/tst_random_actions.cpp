// SPDX-License-Identifier: GPL-3.0-or-later
// Random use of the window: RESIDUA_RANDOM_ACTIONS actions (300) from RESIDUA_RANDOM_SEED (another one each time, which
// is printed).
#include "app/actions/open_commands.h"
#include "app/outline/outline_model.h"
#include "engine/runs/store/run_writer.h"
#include "projects/check/validate.h"
#include "projects/file/json.h"
#include "projects/shipped/examples.h"
#include "tests/app/window/random_user.h"
#include "tests/app/window_harness.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QElapsedTimer>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using namespace residua;
using namespace residua::app;

namespace {

constexpr int kActions = 300;
constexpr int kActionsOnADocument = 150; ///< then it is undone, redone, saved, and another is opened
constexpr int kTold = 1000;              ///< actions between two lines of progress
constexpr std::int64_t kManyLayers = 40;
constexpr std::size_t kManyNodes = 40;

bool hasMuchInIt(const projects::Project& project)
{
    const auto many = [](const projects::Graph& graph) { return graph.nodes.size() > kManyNodes; };
    return project.network.depth() > kManyLayers || many(project.network.stem) || many(project.network.head) ||
           project.network.blocks.size() > kManyNodes ||
           std::ranges::any_of(project.network.blocks, many, &projects::Block::graph);
}

/// A run that has ended, for the plots to show.
Status writeRun(const std::filesystem::path& project, const std::string& name, double base)
{
    const projects::Project trained = projects::findExample("ancre-language")->project;
    engine::RunInfo info;
    info.name = name;
    info.steps = 40;
    auto writer = engine::RunWriter::create(project / projects::kRunsFolder / name, info, trained, project);
    if (!writer) {
        return writer.error();
    }
    const std::int64_t depth = trained.network.depth();
    for (std::int64_t step = 1; step <= info.steps; ++step) {
        const auto x = static_cast<double>(step);
        writer->step({step, base + 1 / x, 1e-3, 1, step * 4, x});
        const auto weight = static_cast<float>(base / x);
        writer->matrix(
            {"mix", step, depth, depth, std::vector<float>(static_cast<std::size_t>(depth * depth), weight)});
    }
    if (const Status written = writer->flush(); !written) {
        return written;
    }
    info = writer->info();
    info.status = engine::RunStatus::Finished;
    return writer->update(info);
}

} // namespace

class TestRandomActions : public WindowHarness {
    Q_OBJECT

public:
    /// Thousands of actions take longer than Qt Test allows a function, unless it is told before it begins.
    static void initMain()
    {
        if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT")) {
            const int milliseconds = 300'000 + 1000 * tests::numberOf("RESIDUA_RANDOM_ACTIONS", kActions);
            qputenv("QTEST_FUNCTION_TIMEOUT", QByteArray::number(milliseconds));
        }
    }

private slots:
    void init()
    {
        m_home = newProject(projects::findExample("ancre-language")->project);
        QVERIFY(!m_home.empty());
        QVERIFY(writeRun(m_home, "one", 0.5).ok());
        QVERIFY(writeRun(m_home, "other", 0.25).ok());
        openWindow({1000, 700});
        connect(&m_window->session(), &DocumentSession::opened, this,
                [this] { m_begun = m_window->session().wholeDocument(); });
        m_window->openProject(m_home);
        QVERIFY(m_window->session().isOpen());
    }

    void theDocumentStaysADocument()
    {
        const QAbstractItemModelTester tester(&m_window->workspace().outlineModel(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        const std::uint32_t seed = tests::randomSeed();
        const int actions = tests::numberOf("RESIDUA_RANDOM_ACTIONS", kActions);
        RandomUser user(*m_window, seed);
        QElapsedTimer clock;
        clock.start();
        for (int i = 1; i <= actions; ++i) {
            const QString what = user.act();
            const QString wrong = faultOfDocument();
            const bool ends = i % kActionsOnADocument == 0 || i == actions || hasMuchInIt(project());
            if (wrong.isEmpty() && ends) {
                takeAnother(user);
            }
            QVERIFY2(wrong.isEmpty() && !QTest::currentTestFailed(),
                     qPrintable(QStringLiteral("seed %1, action %2, %3: %4").arg(seed).arg(i).arg(what, wrong)));
            if (i % kTold == 0) {
                qInfo("%d actions, %lld ms", i, static_cast<long long>(clock.elapsed()));
            }
        }
    }

    void cleanup() { m_window.reset(); }

private:
    /// Returns why the document cannot be written, read, checked or shown. Empty if it can.
    QString faultOfDocument() const
    {
        const projects::Document& document = m_window->session().wholeDocument();
        const auto project = projects::projectFromJson(projects::toJson(document.project));
        if (!project || *project != document.project) {
            return QStringLiteral("the project does not come back from its text: %1")
                .arg(project ? QString() : QString::fromStdString(project.error().text()));
        }
        const auto layout = projects::layoutFromJson(projects::toJson(document.layout));
        if (!layout || *layout != document.layout) {
            return QStringLiteral("the layout does not come back from its text");
        }
        for (const projects::Problem& problem : projects::validate(document.project)) {
            if (problem.place.empty() || problem.message.empty() ||
                !exists(document.project, placeOfPointer(document.project, problem.path))) {
                return QStringLiteral("a problem has no place: %1 at %2")
                    .arg(QString::fromStdString(problem.text()), QString::fromStdString(problem.path));
            }
        }
        return {};
    }

    /// Returns the edits of the files that turn `document` into `expected`, as a JSON patch.
    static QString differenceOf(const projects::Document& document, const projects::Document& expected)
    {
        const auto filesOf = [](const projects::Document& of) {
            return nlohmann::json{{"project", nlohmann::json::parse(projects::toJson(of.project))},
                                  {"layout", nlohmann::json::parse(projects::toJson(of.layout))}};
        };
        return QString::fromStdString(nlohmann::json::diff(filesOf(document), filesOf(expected)).dump());
    }

    /// Back to the beginning and forth again; saved and opened again; then on with another one.
    void takeAnother(RandomUser& user)
    {
        DocumentSession& session = m_window->session();
        while (session.history().canUndo()) {
            session.undo();
        }
        QVERIFY2(session.wholeDocument() == m_begun, qPrintable(differenceOf(session.wholeDocument(), m_begun)));
        while (session.history().canRedo()) {
            session.redo();
        }
        const std::filesystem::path place = folder("saved") / std::to_string(m_saved++);
        QVERIFY(session.saveAs(place).ok());
        const projects::Document last = session.wholeDocument();
        QVERIFY(session.open(place).ok());
        QVERIFY2(session.wholeDocument() == last, qPrintable(differenceOf(session.wholeDocument(), last)));
        const auto& examples = projects::examples();
        if (const int which = user.below(static_cast<qsizetype>(examples.size() + 2)); which < int(examples.size())) {
            QVERIFY(m_window->openCommands().openExample(examples[static_cast<std::size_t>(which)].name).ok());
        } else {
            m_window->openProject(m_home);
        }
    }

    std::filesystem::path m_home;
    projects::Document m_begun;
    int m_saved = 0;
};

RESIDUA_TEST_IN(QApplication, TestRandomActions)
#include "tst_random_actions.moc"
