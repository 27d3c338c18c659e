// SPDX-License-Identifier: GPL-3.0-or-later
// Students that learn from teachers, in the terminal: from a trained run to a finished one.
#include "engine/base/api/environment.h"
#include "engine/base/files/tensor_files.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

using namespace residua;
using namespace residua::cli;
namespace fs = std::filesystem;

namespace {

/// Returns the bytes of the tensors of a run's newest checkpoint whose names begin with `prefix`, without it.
std::map<std::string, std::vector<std::byte>> tensorsOf(const QString& run, const std::string& prefix)
{
    const std::vector<std::int64_t> steps = engine::resumableSteps(run.toStdString());
    const fs::path file = engine::checkpointDirectory(run.toStdString(), steps.back()) / "model.safetensors";
    const auto files = engine::TensorFiles::openFile(file);
    std::map<std::string, std::vector<std::byte>> tensors;
    for (const auto& [name, tensor] : files->tensors()) {
        std::vector<std::byte> bytes(tensor.place.bytes);
        if (name.starts_with(prefix) && files->read(tensor, bytes)) {
            tensors.emplace(name.substr(prefix.size()), bytes);
        }
    }
    return tensors;
}

class TestCliTeach : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QVERIFY(projects::saveProject(path("project").toStdString(), tinyProject()).ok());
        const Ran trained = run({"train", path("project"), "--steps", "4", "--run", path("teacher")});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
    }

    /// The teacher's weights are those of its run before and after; the student's are others; both losses are recorded.
    void studentsHaveTeachersOfRuns()
    {
        const Ran made =
            run({"teach", path("project"), "--set", "topology=dca", "--set", "training.steps=4", "--teacher",
                 path("teacher"), "--weight", "0.7", "--temperature", "3", "-o", path("student"), "--json"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QCOMPARE(made.json().object()["tower"].toString(), QString("teacher"));
        const auto teacher = tensorsOf(path("teacher"), "");
        QVERIFY(!teacher.empty());
        QVERIFY(tensorsOf(path("student"), "teacher.") == teacher);
        const Ran resumed = run({"resume", path("student")});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QVERIFY(tensorsOf(path("student"), "teacher.") == teacher);
        const auto reader = engine::RunReader::open(path("student").toStdString());
        QVERIFY(reader);
        const auto names = reader->metricNames();
        QVERIFY(std::ranges::find(names, "teacher/validation") != names.end());
        const auto project = reader->project();
        QVERIFY(project);
        QCOMPARE(project->losses.front().weight, 0.7);
        QCOMPARE(project->stack().topology.preset, std::string("dca"));
        QVERIFY(projects::saveProject(path("both").toStdString(), {*project, {}}).ok());
        const Ran shown = run({"info", path("both"), "--set", "teacher.width=24", "--set", "teacher.topology=mhc",
                               "--set", "towers.0.stack.0.repeat=3"});
        QVERIFY2(shown.code == 0, qPrintable(shown.errors));
        QVERIFY2(shown.output.contains("tower teacher: 3 layers of width 24") &&
                     shown.output.contains("topology mhc; frozen"),
                 qPrintable(shown.output));
    }

    /// A dry run lists the teacher's parameters, each with a tensor, and writes nothing.
    void whatFitsIsListedBeforeItIsDone()
    {
        const Ran listed =
            run({"teach", path("project"), "--teacher", path("teacher"), "-o", path("listed"), "--dry-run", "--json"});
        QVERIFY2(listed.code == 0, qPrintable(listed.errors));
        QVERIFY(!QDir(path("listed")).exists());
        const QJsonArray parameters = listed.json().object()["parameters"].toArray();
        QCOMPARE(static_cast<std::size_t>(parameters.size()), tensorsOf(path("teacher"), "").size());
        for (const QJsonValue& parameter : parameters) {
            QVERIFY(parameter.toObject()["parameter"].toString().startsWith("teacher."));
            QVERIFY(parameter.toObject()["fits"].toBool());
        }
    }

    /// A file's weights become those of one tower, by the names that they have without it.
    void aFileIsLoadedIntoOneTower()
    {
        const std::vector<std::int64_t> steps = engine::resumableSteps(path("teacher").toStdString());
        const fs::path file = engine::checkpointDirectory(path("teacher").toStdString(), steps.back());
        const QStringList load{"import", QString::fromStdString((file / "model.safetensors").string()), "--onto",
                               path("both")};
        const Ran loaded = run(load + QStringList{"--tower", "teacher", "-o", path("loaded")});
        QVERIFY2(loaded.code == 0 && loaded.output.contains("teacher."), qPrintable(loaded.errors));
        QVERIFY(tensorsOf(path("loaded"), "teacher.") == tensorsOf(path("teacher"), ""));
        const Ran unknown = run(load + QStringList{"--tower", "nobody", "-o", path("none")});
        QVERIFY2(unknown.code != 0 && unknown.errors.contains("network or teacher"), qPrintable(unknown.errors));
        const Ran alone = run({"import", path("nowhere"), "-o", path("none"), "--dry-run"});
        QVERIFY2(alone.code == 1 && alone.errors.contains("is for the project of --onto"), qPrintable(alone.errors));
        QVERIFY(!QDir(path("none")).exists());
    }

    /// A frozen teacher judges only if it has a loss of its own; its loss stays.
    void theJudgeIsSetByName()
    {
        const auto reader = engine::RunReader::open(path("student").toStdString());
        QVERIFY(projects::saveProject(path("judged").toStdString(), {*reader->project(), {}}).ok());
        const auto train = [this](const QStringList& set) {
            return run(QStringList{"train", path("judged"), "--run", path("judged-run"), "--json"} + set);
        };
        const Ran none = train({"--set", "training.judged_by=teacher"});
        QVERIFY2(none.code != 0 && none.errors.contains("own_loss is none; expected network"), qPrintable(none.errors));
        const Ran unknown = train({"--set", "training.judged_by=nobody"});
        QVERIFY2(unknown.code != 0 && unknown.errors.contains("expected network or teacher"),
                 qPrintable(unknown.errors));
        const Ran set =
            train({"--set", "towers.0.own_loss=measured", "--set", "training.judged_by=teacher", "--steps", "2"});
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        const auto judged = engine::RunReader::open(path("judged-run").toStdString());
        QCOMPARE(judged->project()->training.judgedBy, std::string("teacher"));
        const auto names = judged->metricNames();
        QVERIFY(std::ranges::count(names, "loss of network/train") +
                    std::ranges::count(names, "loss of network/validation") >
                0);
        QVERIFY(
            std::ranges::none_of(names, [](const std::string& name) { return name.starts_with("loss of teacher"); }));
    }

    /// A student that was stopped and resumed has the weights of one that was not.
    void studentsResumeToTheBit()
    {
        for (const QString& name : {QString("once"), QString("twice")}) {
            const Ran made = run({"teach", path("project"), "--set", "training.steps=6", "--teacher", path("teacher"),
                                  "-o", path(name)});
            QVERIFY2(made.code == 0, qPrintable(made.errors));
        }
        QCOMPARE(run({"resume", path("once")}).code, 0);
        QCOMPARE(run({"resume", path("twice"), "--steps", "3"}).code, 0);
        QCOMPARE(run({"resume", path("twice"), "--steps", "6"}).code, 0);
        QVERIFY(tensorsOf(path("once"), "") == tensorsOf(path("twice"), ""));
    }

    /// Teachers that do not fit are refused with the reason, and nothing is written.
    void teachersThatDoNotFitAreRefused()
    {
        const auto refused = [this](const QStringList& more) {
            QStringList words{"teach", path("project"), "-o", path("refused")};
            const Ran made = run(words + more);
            return made.code != 0 && !QDir(path("refused")).exists() ? made.errors : QString();
        };
        QVERIFY(refused({}).contains("--teacher"));
        QVERIFY(!refused({"--teacher", path("nowhere")}).isEmpty());
        QVERIFY(refused({"--teacher", path("teacher"), "--name", "network"}).contains("network"));
        QVERIFY(refused({"--teacher", path("teacher"), "--name", "layers"}).contains("layers"));
        QVERIFY(refused({"--teacher", path("teacher"), "--set", "data.source.vocabulary=32"}).contains("vocabulary") ||
                refused({"--teacher", path("teacher"), "--set", "data.source.vocabulary=32"}).contains("below 32"));
        const Ran exported = run({"export", path("student"), "--to", "huggingface", "-o", path("code")});
        QVERIFY2(exported.code != 0 && exported.errors.contains("--tower NAME"), qPrintable(exported.errors));
        QCOMPARE(run({"export", path("student"), "--to", "pytorch", "--tower", "network", "-o", path("code")}).code, 0);
        const Ran knocked = run({"analyze", "knockout", path("student"), "--tower", "teacher"});
        QVERIFY2(knocked.code != 0 && knocked.errors.contains("own_loss"), qPrintable(knocked.errors));
    }

private:
    [[nodiscard]] static Ran run(const QStringList& words) { return runProcess(words); }
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestCliTeach)
#include "tst_cli_teach.moc"
