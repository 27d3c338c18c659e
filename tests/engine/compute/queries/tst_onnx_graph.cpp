// SPDX-License-Identifier: GPL-3.0-or-later
// Networks as ONNX graphs, made by a Python with PyTorch where there is one; and what is said where there is none.
#include "engine/base/api/session.h"
#include "projects/base/whole_file.h"
#include "projects/commands/tower_edits.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/examples.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <optional>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

Q_DECLARE_METATYPE(projects::Project)

namespace {

/// Two layers on the patches of drawn pictures and a class token, whose features the head classifies.
projects::Project quickPictures()
{
    projects::Project project = projects::findExample("small-vit")->project;
    project.data.source = projects::DrawnPictures{.size = 8, .samples = 16};
    project.stack().segments = {{project.stack().segments.front().block, 2}};
    project.training.steps = 2;
    project.training.batch = 4;
    project.training.validateEvery = 0;
    const auto side = std::int64_t{8};
    project.network.stem =
        projects::GraphBuilder()
            .node("input", "input")
            .then("image", "image", {{"channels", std::int64_t{3}}, {"height", side}, {"width", side}})
            .then("patches", "patchify", {{"patch", std::int64_t{4}}})
            .then("class", "class_token")
            .then("positions", "position_embedding", {{"length", std::int64_t{5}}})
            .then("output", "output")
            .build();
    for (projects::Node& node : project.network.head.nodes) {
        node.kind = node.kind == "mean_pool" ? "first_token" : node.kind;
    }
    return project;
}

/// An example of a family with stacks of one layer.
projects::Project quickFamily(const std::string& example)
{
    projects::Project project = projects::findExample(example)->project;
    project.stack().segments.front().repeat = 1;
    for (projects::Tower& tower : project.towers) {
        tower.network.stack().segments.front().repeat = 1;
    }
    if (auto* const pictures = std::get_if<projects::DrawnPictures>(&project.data.source)) {
        pictures->samples = 16;
    }
    project.training.steps = 2;
    project.training.batch = 4;
    project.training.validateEvery = 0;
    project.training.learningRate.warmupSteps = 0;
    return project;
}

} // namespace

class TestOnnxGraph : public QObject {
    Q_OBJECT

private slots:
    void pythonIsWhereItWasInstalled()
    {
        const QByteArray named = qgetenv("RESIDUA_PYTHON");
        const QByteArray cache = qgetenv("XDG_CACHE_HOME");
        const QTemporaryDir folder;
        const QString installed = folder.filePath("residua/python/bin/python3");
        QVERIFY(QDir(folder.path()).mkpath("residua/python/bin"));
        QVERIFY(QFile::link("/bin/true", installed));

        qputenv("RESIDUA_PYTHON", "/my/python");
        qputenv("XDG_CACHE_HOME", folder.path().toLocal8Bit());
        const std::string first = pythonCommand();
        qunsetenv("RESIDUA_PYTHON");
        const std::string second = pythonCommand();
        qputenv("XDG_CACHE_HOME", folder.filePath("empty").toLocal8Bit());
        const std::string third = pythonCommand();

        cache.isNull() ? qunsetenv("XDG_CACHE_HOME") : qputenv("XDG_CACHE_HOME", cache);
        if (!named.isNull()) {
            qputenv("RESIDUA_PYTHON", named);
        }
        QCOMPARE(first, std::string("/my/python"));
        QCOMPARE(second, installed.toStdString());
        QCOMPARE(third, std::string("python3"));
    }

    void computesWhatTheNetworkComputes_data()
    {
        QTest::addColumn<projects::Project>("project");
        QTest::newRow("language model") << quickLanguage(2);
        QTest::newRow("linear network") << quickVectors(2);
        QTest::newRow("pictures with a class token") << quickPictures();
        projects::Project normed = quickVectors(2);
        normed.network.blocks.front().graph = projects::GraphBuilder()
                                                  .node("input", "input")
                                                  .then("linear", "linear")
                                                  .then("norm", "batch_norm")
                                                  .node("gain", "parameter", {{"features", std::string("d")}})
                                                  .node("product", "multiply")
                                                  .node("output", "output")
                                                  .wire("norm", "product.in1")
                                                  .wire("gain", "product.in2")
                                                  .wire("product", "output")
                                                  .build();
        QTest::newRow("batch norm and a parameter") << normed;
        projects::Project looped = quickLanguage(2);
        looped.stack().segments.front().repeat = 1;
        looped.stack().loops = {{.first = 1, .last = 1, .visits = 6}};
        QTest::newRow("a layer that is visited six times") << looped;
        projects::Project listed = looped;
        listed.stack().segments.front().repeat = 2;
        listed.stack().loops = {{.first = 1, .last = 2, .visits = 3, .rows = projects::VisitRows::Layer}};
        auto& mix = std::get<projects::DepthMix>(listed.stack().topology.wiring);
        mix.sites = projects::MixSites::Mhsa;
        mix.sources = projects::ExplicitSources{*projects::shortcutsFrom("0:1+0:2+2:1+1:2", listed.stack(), mix)};
        QTest::newRow("shortcuts at every visit") << listed;
        looped.stack().loops.front().visits = 2;
        looped.stack().loops.front().adapterRank = 2;
        looped.training.learningRate = {.peak = 0.1, .warmupSteps = 0}; // so that the products count
        QTest::newRow("visits that add products") << looped;
        projects::Document joined{quickLanguage(2), {}};
        QVERIFY(projects::applyEdit(joined, projects::joinStack(joined, 0).edit));
        joined.project.towers[0].network.stack().loops = {{.first = 1, .last = 1, .visits = 2}};
        QTest::newRow("two stacks, shortcuts in both, and a loop") << joined.project;
        for (const char* const example : {"small-resnet", "small-efficientnet", "small-dit", "small-ul2"}) {
            QTest::newRow(example) << quickFamily(example);
        }
    }
    void computesWhatTheNetworkComputes()
    {
        QFETCH(projects::Project, project);
        const fs::path folder = path("onnx");
        if (const auto refused = exported(project, folder)) {
            QVERIFY2(refused->text().find("packaging/python.sh") != std::string::npos, refused->text().c_str());
            QVERIFY(!fs::exists(folder));
            QSKIP(qPrintable("no graph is made: " + QString::fromStdString(refused->text())));
        }
        for (const char* file : {"model.onnx", "model.py", "export_onnx.py", "README.md", "weights.safetensors"}) {
            QVERIFY2(fs::exists(folder / file), file);
        }
        QVERIFY(!fs::exists(folder / "__pycache__"));
        const auto graph = readFile(folder / "model.onnx"); // the names of the free sizes
        QVERIFY(graph && graph->find("batch") != std::string::npos);
        QVERIFY(!examplesOf(project.data).hasTime() || graph->find("time") != std::string::npos);
        const auto config = readFile(folder / "config.json"); // the classes of what was trained, in both
        const bool classifies = project.network.objective == projects::Objective::Classification;
        QCOMPARE(graph->find("id2label") != std::string::npos, classifies);
        QCOMPARE(config && config->find("\"disc+ring\"") != std::string::npos, classifies);
        QVERIFY(!classifies || graph->find("disc+ring") != std::string::npos);
        QCOMPARE(entries(), 2);                              // the run and the folder
        QVERIFY(exported(std::nullopt, folder).has_value()); // it is there already
        QVERIFY(fs::exists(folder / "model.onnx"));
        // The script refuses a graph whose outputs are not those that were recorded. It is the same for every network.
        const bool checksScript = classifies && project.towers.empty();
        const QString told = checksScript ? scriptWithAnotherOutput(folder) : QString();
        QVERIFY2(!checksScript || told.contains("the graph does not compute"), qPrintable(told));
        const std::optional<QString> fault = faultOfRuff(folder);
        if (!fault) {
            QSKIP("the code is not checked: Python has no ruff (packaging/python.sh)");
        }
        QVERIFY2(fault->isEmpty(), qPrintable(*fault));
    }

    void saysWhereThereIsNoPython()
    {
        for (const char* python : {"/nowhere/python3", "/bin/false"}) {
            qputenv("RESIDUA_PYTHON", python);
            const auto refused = exported(quickVectors(2), path("none"));
            qunsetenv("RESIDUA_PYTHON");
            QVERIFY(refused.has_value());
            QVERIFY2(refused->text().find("ython") != std::string::npos, refused->text().c_str());
            QVERIFY(!fs::exists(path("none")));
            QCOMPARE(entries(), 1); // the run
            fs::remove_all(path("run"));
        }
    }

    /// The process that makes it is ended, and nothing of it stays.
    void aGraphThatIsGivenUpLeavesNothing()
    {
        const fs::path script = path("slow");
        {
            QFile file(QString::fromStdString(script.string()));
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write("#!/bin/sh\nexec sleep 1000\n") > 0);
            QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        }
        QVERIFY(trained(quickVectors(2)));
        qputenv("RESIDUA_PYTHON", script.c_str());
        {
            SessionProbe session;
            session.post(request(path("none")));
            QTRY_VERIFY(isBeingMade());
            session.post(GiveUp{QueryTag{1}});
            QVERIFY(session.waitFor<QueryFailed>());
            QTRY_COMPARE(entries(), 2);
            session.post(request(path("none")));
            QTRY_VERIFY(isBeingMade());
            session.close(); // while it works
        }
        qunsetenv("RESIDUA_PYTHON");
        QCOMPARE(entries(), 2); // the run and the script
    }

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

private:
    /// Returns the error of the folder's script if the recorded output is another; empty if it does not fail.
    static QString scriptWithAnotherOutput(const fs::path& folder)
    {
        QFile file(QString::fromStdString((folder / "export_onnx.py").string()));
        if (!file.open(QIODevice::ReadOnly)) {
            return {};
        }
        const QByteArray code = file.readAll();
        file.close();
        const QByteArray output = "recorded[\"output\"]";
        const qsizetype place = code.indexOf(output);
        if (place < 0 || !file.open(QIODevice::WriteOnly)) {
            return {};
        }
        const QByteArray changed = QByteArray(code).insert(place + output.size(), " + 1");
        file.write(changed);
        file.close();
        QProcess python;
        python.start(pythonProgram(), {"-B", file.fileName()});
        const bool failed = python.waitForFinished(kPatience) && python.exitCode() == 1;
        if (file.open(QIODevice::WriteOnly)) {
            file.write(code);
        }
        return failed ? QString::fromUtf8(python.readAllStandardError()) : QString();
    }
    /// Returns the output of ruff about the folder's code; nullopt if ruff is not installed.
    static std::optional<QString> faultOfRuff(const fs::path& folder)
    {
        QProcess ruff;
        ruff.start(pythonProgram(), {"-m", "ruff", "check", "--isolated", "--no-cache", "--output-format=concise",
                                     QString::fromStdString(folder.string())});
        if (!ruff.waitForFinished(kPatience) || ruff.readAllStandardError().contains("No module named")) {
            return std::nullopt;
        }
        return ruff.exitCode() == 0 ? QString() : QString::fromUtf8(ruff.readAllStandardOutput());
    }
    [[nodiscard]] fs::path path(const char* name) const
    {
        return m_folder->filePath(QString::fromLatin1(name)).toStdString();
    }
    [[nodiscard]] int entries() const
    {
        return static_cast<int>(std::distance(fs::directory_iterator(m_folder->path().toStdString()), {}));
    }
    /// Whether the process that makes the graph has been started.
    [[nodiscard]] bool isBeingMade() const
    {
        const auto entries = fs::directory_iterator(m_folder->path().toStdString());
        return std::any_of(fs::begin(entries), fs::end(entries), [](const fs::directory_entry& entry) {
            return fs::exists(entry.path() / ".export_onnx.log");
        });
    }
    [[nodiscard]] ExportRequest request(const fs::path& folder) const
    {
        ExportRequest request;
        request.tag = QueryTag{1};
        request.of.runDirectory = path("run");
        request.folder = folder;
        request.format = ExportFormat::Onnx;
        return request;
    }
    [[nodiscard]] bool trained(const projects::Project& project) const
    {
        return !lossesOf(project, path("run")).empty();
    }
    /// Why it is not; trains the project first, where one is given.
    [[nodiscard]] std::optional<Error> exported(const std::optional<projects::Project>& project,
                                                const fs::path& folder) const
    {
        if (project && !trained(*project)) {
            return Error{"", "was not trained"};
        }
        SessionProbe session;
        session.post(request(folder));
        const auto answers = [](const Event& event) {
            return std::holds_alternative<ExportReady>(event) || std::holds_alternative<QueryFailed>(event);
        };
        if (!session.waitUntil(answers)) {
            return Error{"", "gave no answer"};
        }
        const auto failed = session.all<QueryFailed>();
        return failed.empty() ? std::nullopt : std::optional(failed.front().error);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

RESIDUA_TEST(TestOnnxGraph)
#include "tst_onnx_graph.moc"
