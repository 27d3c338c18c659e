// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep as several people, processes and nights train it: the program itself is run.
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/sweep_members.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/text.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

using namespace residua;
using cli::kPatience;
using cli::Ran;
using cli::runProcess;
namespace fs = std::filesystem;

namespace {

/// The grid, among the lines.
QJsonObject gridOf(const Ran& ran)
{
    for (const QString& line : ran.output.split('\n', Qt::SkipEmptyParts)) {
        const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
        if (object.contains("members")) {
            return object;
        }
    }
    return {};
}

QJsonObject memberOf(const QJsonObject& sweep, const QString& label)
{
    for (const QJsonValue& member : sweep["members"].toArray()) {
        if (member.toObject()["label"].toString() == label) {
            return member.toObject();
        }
    }
    return {};
}

QString statusOf(const QJsonObject& sweep, const QString& label)
{
    return memberOf(sweep, label)["status"].toString();
}

/// The members that a process with --lines --json told of by such events, in order.
QStringList membersOf(const QString& output, const QString& event)
{
    QStringList members;
    for (const QString& line : output.split('\n', Qt::SkipEmptyParts)) {
        const QJsonObject object = QJsonDocument::fromJson(line.toUtf8()).object();
        if (object["event"].toString() == event) {
            members << object["member"].toString();
        }
    }
    return members;
}

class TestCliSweep : public QObject {
    Q_OBJECT

private slots:
    /// Three seeds of a deep linear network, a fraction of a second each.
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
        m_project = projects::findExample("ancre-case-study")->project;
        m_project.name = "Tiny";
        m_project.training.steps = 40;
        m_project.training.checkpointEvery = 0;
        m_project.sweeps = {{"seeds", {{"/seeds/init", {}, {{{}, {"5"}}, {{}, {"6"}}, {{}, {"7"}}}}}}};
        save();
    }

    void processesShareOneSweep()
    {
        m_project.sweeps.front().axes.front().values.clear();
        for (int seed = 1; seed <= 12; ++seed) {
            m_project.sweeps.front().axes.front().values.push_back({{}, {std::to_string(seed)}});
        }
        save();
        std::vector<std::unique_ptr<QProcess>> processes;
        for (int i = 0; i < 3; ++i) {
            processes.push_back(std::make_unique<QProcess>());
            processes.back()->start(RESIDUA_CLI, words({"--lines", "--json"}));
        }
        QStringList started;
        QStringList ended;
        for (const auto& process : processes) {
            QVERIFY(process->waitForFinished(kPatience));
            const QByteArray errors = process->readAllStandardError();
            QVERIFY2(process->exitCode() == 0, errors.constData());
            QVERIFY2(errors.isEmpty(), errors.constData());
            const QString output = QString::fromUtf8(process->readAllStandardOutput());
            started << membersOf(output, "started");
            ended << membersOf(output, "ended");
        }
        started.sort();
        ended.sort();
        QCOMPARE(started.size(), 12);
        QCOMPARE(started.removeDuplicates(), 0); // no member is trained by two processes
        QCOMPARE(ended, started);
        const QJsonObject listed = list();
        QVERIFY(listed["complete"].toBool());
        QCOMPARE(listed["counts"].toObject()["finished"].toInt(), 12);
    }

    /// Steps that an axis sets would replace those of the command line without a word.
    void stepsAreRefusedBesideAnAxisOverSteps()
    {
        const auto refused = [this] {
            save();
            const Ran ran = run({"--steps", "3", "--list"});
            return ran.code == 1 && ran.errors.contains("varies the steps itself");
        };
        QVERIFY(!refused());
        m_project.sweeps.front().axes.push_back({"/training/steps", {}, {{{}, {"5"}}, {{}, {"10"}}}});
        QVERIFY(refused());
        m_project.sweeps.front().axes.back() = {
            "/", "method", {{"short", {R"({"/training/steps": 5, "/training/batch": 2})"}}}};
        QVERIFY(refused());
    }

    /// Each member trains one of two towers. The member that trains the judging tower is the better one.
    void theTowerThatJudgesComparesMembers()
    {
        m_project.towers = {{m_project.network}};
        m_project.towers.front().network.name = "second";
        const auto training = [](const char* trained, const char* measured) {
            return projects::FieldValue{QString(R"({"/%1/own_loss": "trained", "/%2/own_loss": "measured"})")
                                            .arg(trained, measured)
                                            .toStdString()};
        };
        m_project.sweeps.front().axes = {
            {"/",
             "trained",
             {{"network", training("network", "towers/0")}, {"second", training("towers/0", "network")}}}};
        for (const auto& [judge, other] : {std::pair("network", "second"), std::pair("second", "network")}) {
            m_project.training.judgedBy = judge;
            save();
            fs::remove_all(runs());
            const Ran ran = run({"--json"});
            QVERIFY2(ran.code == 0, qPrintable(ran.errors));
            const QJsonObject better = memberOf(gridOf(ran), judge);
            const QJsonObject worse = memberOf(gridOf(ran), other);
            QVERIFY(better["loss"].toDouble() < worse["loss"].toDouble());
            QVERIFY(better["pareto"].toBool() && !worse["pareto"].toBool());
        }
    }

    void aMemberThatAnotherProcessTrainsIsSkipped()
    {
        {
            const auto other = begun("6", 3);
            const Ran ran = run({"--json"});
            QVERIFY2(ran.code == 0, qPrintable(ran.errors));
            const QJsonObject swept = gridOf(ran);
            QVERIFY(!swept["complete"].toBool());
            QCOMPARE(statusOf(swept, "5"), QString("finished"));
            QCOMPARE(statusOf(swept, "6"), QString("training"));
            QVERIFY(memberOf(swept, "6")["loss"].isNull()); // of 3 steps, which would be no result
            QCOMPARE(memberOf(swept, "6")["step"].toInt(), 3);
            QVERIFY(!memberOf(swept, "6")["pareto"].toBool());
            QCOMPARE(statusOf(swept, "7"), QString("finished"));
            const Ran told = run({});
            QVERIFY2(told.output.contains("2 of 3 members"), qPrintable(told.output));
        }
        QCOMPARE(statusNow("6"), QString("cut off")); // the other process died
        QVERIFY(gridOf(run({"--json"}))["complete"].toBool());
    }

    void aClaimedMemberIsBeingPreparedByAnother()
    {
        const fs::path claim = runs() / ".claims" / "6";
        fs::create_directories(claim);
        const auto lock = engine::lockRun(claim);
        QVERIFY(lock.ok());
        const QJsonObject swept = gridOf(run({"--json"}));
        QCOMPARE(statusOf(swept, "6"), QString("training"));
        QVERIFY(!fs::exists(runs() / "6"));
    }

    void aMemberKilledBeforeItsFirstCheckpointBeginsAgain()
    {
        static_cast<void>(begun("5", 3)); // its writer is gone, as one that was killed
        const QJsonObject cut = memberOf(list(), "5");
        QCOMPARE(cut["status"].toString(), QString("cut off"));
        QVERIFY2(cut["detail"].toString().endsWith("begins again"), qPrintable(cut["detail"].toString()));
        QVERIFY(cut["loss"].isNull());
        const Ran lines = run({"--lines", "--json"});
        QVERIFY2(lines.code == 0, qPrintable(lines.errors));
        QCOMPARE(membersOf(lines.output, "started"), (QStringList{"6", "7", "5"})); // it may kill the next process too
        const double again = finalLossNow("5");
        QVERIFY(again >= 0);
        fs::remove_all(runs() / "5");
        const Ran ran = run({"--json"});
        QVERIFY(gridOf(ran)["complete"].toBool());
        QCOMPARE(memberOf(gridOf(ran), "5")["loss"].toDouble(), again);
    }

    void aRunThatNeverBeganIsReplaced()
    {
        fs::create_directories(runs() / "5" / "project");
        std::ofstream(runs() / "5" / "lock");
        std::ofstream(runs() / "5" / "project" / "project.json.tmp-1-0");
        std::ofstream(runs() / "5" / "run.json.tmp-1-1");
        QCOMPARE(statusNow("5"), QString("not begun"));
        QVERIFY(gridOf(run({"--json"}))["complete"].toBool());
    }

    /// Whatever else lies there is a person's.
    void nothingOfAnotherIsRemoved()
    {
        fs::create_directories(runs() / "5");
        std::ofstream(runs() / "5" / "notes.txt") << "mine";
        static_cast<void>(begun("6", 3));
        fs::remove(runs() / "6" / "run.json"); // there are recorded steps beside it
        const Ran ran = run({"--json"});
        QCOMPARE(ran.code, 3);
        const QJsonObject swept = gridOf(ran);
        QCOMPARE(statusOf(swept, "5"), QString("unreadable"));
        QCOMPARE(statusOf(swept, "6"), QString("unreadable"));
        QCOMPARE(statusOf(swept, "7"), QString("finished")); // the others are trained
        QVERIFY(fs::exists(runs() / "5" / "notes.txt"));
        QVERIFY(fs::exists(runs() / "6" / "store.sqlite"));
    }

    void aDivergedMemberHasNoLossAndIsLeft()
    {
        m_project.sweeps = {{"rates", {{"/training/learning_rate/peak", {}, {{{}, {"0.01"}}, {"wild", {"1e200"}}}}}}};
        save();
        const Ran ran = run({"--json"});
        QCOMPARE(ran.code, 3);
        const QJsonObject swept = gridOf(ran);
        QCOMPARE(statusOf(swept, "0.01"), QString("finished"));
        QVERIFY(memberOf(swept, "0.01")["pareto"].toBool());
        QCOMPARE(statusOf(swept, "wild"), QString("failed"));
        QVERIFY(memberOf(swept, "wild")["loss"].isNull());
        QVERIFY(!memberOf(swept, "wild")["pareto"].toBool());
        QVERIFY2(memberOf(swept, "wild")["detail"].toString().contains("lower the rate"), qPrintable(ran.output));

        const Ran left = run({"--lines", "--json"});
        QCOMPARE(left.code, 3);
        QVERIFY(membersOf(left.output, "started").isEmpty());
        const Ran again = run({"--lines", "--json", "--again", "failed"});
        QCOMPARE(again.code, 3);
        QCOMPARE(membersOf(again.output, "started"), QStringList{"wild"});
        QCOMPARE(run({"--again", "nonsense"}).code, 1);
        const Ran shared = run({"--jobs", "2", "--lines", "--json", "--again", "failed"});
        QCOMPARE(membersOf(shared.output, "started"), QStringList{"wild"}); // by one of them
    }

    /// A member that fails before it has a run is reported and stops no other member.
    void membersThatCannotBeginAreReported()
    {
        const Ran ran = run({"--device", "cuda:99", "--json"});
        QCOMPARE(ran.code, 3);
        for (const char* label : {"5", "6", "7"}) {
            QCOMPARE(statusOf(gridOf(ran), label), QString("failed"));
        }
        QVERIFY(gridOf(run({"--json"}))["complete"].toBool());
    }

    /// The example trains with full batches, which have no order.
    void anAxisThatChangesNothingIsReported()
    {
        const Ran order = run({"--vary", "seeds.order=1,2,3", "--list"});
        QVERIFY2(order.errors.contains("warning: ") && order.errors.contains("seeds/order"), qPrintable(order.errors));
        QCOMPARE(gridOf(run({"--vary", "seeds.order=1,2,3", "--list", "--json"}))["warnings"].toArray().size(), 1);
        QVERIFY(!run({"--vary", "seeds.init=1,2,3", "--list"}).errors.contains("warning"));
    }

    void partsMakeTheWhole()
    {
        const Ran first = run({"--part", "1/2", "--json"});
        QVERIFY2(first.code == 0, qPrintable(first.errors));
        QCOMPARE(statusOf(gridOf(first), "5"), QString("finished"));
        QCOMPARE(statusOf(gridOf(first), "6"), QString("not begun"));
        QCOMPARE(statusOf(gridOf(first), "7"), QString("finished"));
        QVERIFY(gridOf(run({"--part", "2/2", "--json"}))["complete"].toBool());
        QCOMPARE(run({"--part", "9/9"}).code, 0); // an array may have more jobs than there are members
        for (const char* wrong : {"0/2", "3/2", "2", "1/2/3", "-1/2"}) {
            const Ran refused = run({"--part", wrong});
            QCOMPARE(refused.code, 1);
            QVERIFY2(refused.errors.contains("k/n"), qPrintable(refused.errors));
        }
        QCOMPARE(run({"--part", "1/2", "--member", "5"}).code, 1);
    }

    void rungsStopTheLosers_data()
    {
        QTest::addColumn<QStringList>("how");
        QTest::newRow("one process") << QStringList{};
        QTest::newRow("several, of which the last of a rung decides") << QStringList{"--jobs", "3", "--threads", "1"};
    }

    /// The smaller the rate, the less the loss has fallen at a rung.
    void rungsStopTheLosers()
    {
        QFETCH(QStringList, how);
        const double rate = m_project.training.learningRate.peak;
        std::vector<std::string> labels;
        for (const double factor : {1e-4, 1e-3, 1e-2, 0.5}) {
            labels.push_back(numberText(rate * factor));
        }
        const QString vary = QString::fromStdString("training.learning_rate.peak=" + joinedText(labels, ","));
        const Ran ran = run(QStringList{"--vary", vary, "--rungs", "10,20", "--json"} + how);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QJsonObject grid = gridOf(ran);
        const auto member = [&](std::size_t at) { return memberOf(grid, QString::fromStdString(labels[at])); };
        QCOMPARE(member(3)["status"].toString(), QString("finished"));
        QCOMPARE(member(2)["status"].toString(), QString("cut off"));
        QCOMPARE(member(2)["leftOutAt"].toInt(), 20);
        for (const std::size_t worse : {0U, 1U}) {
            QCOMPARE(member(worse)["leftOutAt"].toInt(), 10);
            QCOMPARE(member(worse)["step"].toInt(), 10);
        }
        const Ran told = run({"--vary", vary, "--rungs", "10,20", "--list"});
        QVERIFY2(told.output.contains("left out at step 10"), qPrintable(told.output));
        const Ran rest = run({"--vary", vary, "--json"}); // they go on from their rungs
        QVERIFY2(gridOf(rest)["complete"].toBool(), qPrintable(rest.errors));
        QCOMPARE(gridOf(rest)["best"].toArray().first().toObject()["best"].toArray().first().toString(),
                 QString::fromStdString(labels[3]));
        QCOMPARE(gridOf(rest)["importance"].toObject()["shares"].toArray().first().toDouble(), 1.0);
    }

    void rungsThatDoNotSuitAreRefused()
    {
        for (const char* rungs : {"20,10", "a", "40", "0"}) {
            const Ran refused = run({"--rungs", rungs});
            QCOMPARE(refused.code, 1);
            QVERIFY2(refused.errors.contains("--rungs"), qPrintable(refused.errors));
        }
        QCOMPARE(run({"--vary", "training.steps=20,40", "--rungs", "10"}).code, 1);
    }

    void oneMemberIsTrained()
    {
        QCOMPARE(run({"--member", "6"}).code, 0);
        QCOMPARE(statusNow("5"), QString("not begun"));
        QCOMPARE(statusNow("6"), QString("finished"));
        QCOMPARE(run({"--member", "#3"}).code, 0);
        QCOMPARE(statusNow("7"), QString("finished"));
        const Ran unclear = run({"--member", "1"}); // labels are numbers, and none is this one
        QCOMPARE(unclear.code, 1);
        QVERIFY2(unclear.errors.contains("#1 to #3"), qPrintable(unclear.errors));
    }

    void processesOfOneMachineTrainTheGrid()
    {
        const Ran ran = run({"--jobs", "3", "--threads", "1", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QCOMPARE(ran.output.count('\n'), 1); // one value, as without --jobs
        QVERIFY(gridOf(ran)["complete"].toBool());
        QCOMPARE(run({"--jobs", "3"}).code, 0); // nothing is left to do
    }

    /// There is one process for each device.
    void eachDeviceTrainsMembersOfItsOwn()
    {
        const Ran both = run({"--device", "cpu,cpu", "--lines"});
        QVERIFY2(both.code == 0, qPrintable(both.errors));
        QVERIFY(gridOf(run({"--json"}))["complete"].toBool());
        QCOMPARE(run({"--device", "cpu,cpu"}).code, 0); // nothing is left to do
    }

    void everyLineOfSeveralProcessesNamesItsMember()
    {
        const Ran ran = run({"--jobs", "3", "--lines"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QStringList lines = ran.output.split('\n', Qt::SkipEmptyParts);
        QVERIFY(lines.size() >= 3);
        static const QRegularExpression kMember("^\\[[567]\\] [^\\[\\r]+$");
        for (const QString& line : lines) {
            QVERIFY2(kMember.match(line).hasMatch(), qPrintable(line));
        }
    }

    void anInterruptReachesEveryProcess_data()
    {
        QTest::addColumn<QStringList>("how");
        QTest::addColumn<int>("atOnce");
        QTest::newRow("one process") << QStringList{} << 1;
        QTest::newRow("two processes") << QStringList{"--jobs", "2"} << 2;
    }
    void anInterruptReachesEveryProcess()
    {
        QFETCH(QStringList, how);
        QFETCH(int, atOnce);
        m_project.training.steps = 1'000'000;
        save();
        QProcess process;
        process.start(RESIDUA_CLI, words(how + QStringList{"--lines", "--json"}));
        QString output;
        while (trained(output).size() < atOnce) {
            QVERIFY2(process.waitForReadyRead(kPatience), qPrintable(output));
            output += QString::fromUtf8(process.readAllStandardOutput());
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(kPatience));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        const QJsonObject listed = list();
        QCOMPARE(listed["counts"].toObject()["cut off"].toInt(), atOnce);
        for (const QString& label : trained(output)) {
            QVERIFY2(memberOf(listed, label)["detail"].toString().contains("goes on from step"), qPrintable(label));
            QVERIFY(memberOf(listed, label)["loss"].isNull());
        }
        const Ran report = runProcess({"report", QString::fromStdString(runs().string()), "-o", path("report.html")});
        QVERIFY2(report.code == 0, qPrintable(report.errors));
        QFile page(path("report.html"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QByteArray html = page.readAll();
        QVERIFY(html.contains(atOnce == 1 ? "1 run: 1 stopped" : "2 runs: 2 stopped"));
        QVERIFY(html.contains("of 1000000"));
        QVERIFY(!html.contains("★"));
    }

    /// Members that were interrupted go on and come to the same end as members that were not.
    void anInterruptedMemberGoesOn()
    {
        m_project.training.steps = 600;
        m_project.training.checkpointEvery = 150;
        save();
        QVERIFY(run({"--member", "5"}).code == 0);
        const double whole = finalLossNow("5");
        QVERIFY(whole >= 0);
        fs::rename(runs() / "5", runs().parent_path() / "whole");
        QProcess process;
        process.start(RESIDUA_CLI, words({"--member", "5", "--lines", "--json"}));
        QString output;
        while (!output.contains("\"event\":\"checkpoint\"")) {
            QVERIFY2(process.waitForReadyRead(kPatience), qPrintable(output));
            output += QString::fromUtf8(process.readAllStandardOutput());
        }
        process.kill(); // whether it had ended by then or not, the next one brings it to its end
        QVERIFY(process.waitForFinished(kPatience));
        QTRY_VERIFY(!engine::isRunLocked(runs() / "5")); // its engine ends a moment later
        QCOMPARE(run({"--member", "5"}).code, 0);
        QCOMPARE(finalLossNow("5"), whole);
    }

    /// A member is one whatever its project is called, and what is called like one is none.
    void theListOfRunsSaysWhatIsAMember()
    {
        m_project.name = "a · b";
        save();
        QCOMPARE(run({"--member", "5"}).code, 0);
        engine::RunInfo alone;
        alone.name = "a · 6";
        QVERIFY(engine::RunWriter::create(runs() / "alone", alone, m_project, "."));
        QVERIFY(engine::renameRun(runs() / "5", "the best"));
        const Ran ran = runProcess({"runs", QString::fromStdString(runs().string()), "--json"});
        const QJsonArray listed = QJsonDocument::fromJson(ran.output.toUtf8()).array();
        QCOMPARE(listed.size(), 2);
        for (const QJsonValue& value : listed) {
            const QJsonObject listedRun = value.toObject();
            const bool member = listedRun["path"].toString() == "5";
            QCOMPARE(listedRun["name"].toString(), QString(member ? "the best" : "a · 6"));
            QCOMPARE(listedRun["sweep"], member ? QJsonValue("seeds") : QJsonValue());
            QCOMPARE(listedRun["member"], member ? QJsonValue("5") : QJsonValue());
        }
    }

    void aChangedProjectIsNamed()
    {
        QCOMPARE(run({"--member", "5"}).code, 0);
        m_project.description = "decides nothing";
        m_project.training.learningRate.peak *= 2;
        save();
        const Ran refused = run({});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("learning rate") && refused.errors.contains("→"), qPrintable(refused.errors));
        QVERIFY2(refused.errors.contains("-o"), qPrintable(refused.errors));
        QVERIFY(!fs::exists(runs() / "6"));
        QCOMPARE(statusNow("5"), QString("another project"));
        m_project.training.learningRate.peak /= 2;
        save();
        QCOMPARE(statusNow("5"), QString("finished"));
    }

    void otherDataAreRefusedUnlessTheyAreAllowed()
    {
        const auto sweep = m_project.sweeps;
        m_project = cli::tinyProject().project;
        m_project.sweeps = sweep;
        m_project.training.steps = 2;
        m_project.data.source = projects::TextData{"t.txt", {}};
        save();
        const auto write = [this](char letter) {
            std::ofstream(fs::path(path("tiny").toStdString()) / "t.txt") << std::string(2000, letter);
        };
        write('a');
        const Ran first = run({"--member", "5"});
        QVERIFY2(first.code == 0, qPrintable(first.errors));
        write('b');
        const Ran refused = run({});
        QVERIFY2(refused.code == 3, qPrintable(refused.errors));
        QVERIFY2(refused.errors.contains("[data · t.txt] expected 1 file"), qPrintable(refused.errors));
        QVERIFY2(refused.errors.contains("--other-data"), qPrintable(refused.errors));
        const Ran mixed = run({"--other-data", "--json"});
        QVERIFY2(mixed.code == 0, qPrintable(mixed.errors));
        QVERIFY(!memberOf(gridOf(mixed), "5")["otherData"].toString().isEmpty());
        QVERIFY(memberOf(gridOf(mixed), "6")["otherData"].toString().isEmpty());
        const Ran told = run({"--other-data", "--list"});
        QVERIFY2(told.output.contains("finished, other data"), qPrintable(told.output));
    }

private:
    void save()
    {
        projects::Document document;
        document.project = m_project;
        QVERIFY(projects::saveProject(path("tiny").toStdString(), document).ok());
    }
    /// A run of the member that has recorded some steps, for as long as its writer lives.
    std::optional<engine::RunWriter> begun(const std::string& label, std::int64_t steps)
    {
        const auto members = projects::expand(m_project, m_project.sweeps.front());
        const auto member = std::ranges::find(*members, label, &projects::SweepMember::label);
        engine::RunInfo info;
        info.name = member->project.name;
        info.device = "cpu";
        info.steps = member->project.training.steps;
        auto writer = engine::RunWriter::create(runs() / label, info, member->project, path("tiny").toStdString());
        for (std::int64_t step = 1; writer && step <= steps; ++step) {
            writer->step({step, 1e-9, 1e-3, 1, step, 0.1});
        }
        return writer && writer->flush() ? std::optional(std::move(*writer)) : std::nullopt;
    }
    /// Labels of the members of which a step was told.
    static QSet<QString> trained(const QString& output)
    {
        const QStringList members = membersOf(output.section('\n', 0, -2), "step");
        return {members.begin(), members.end()};
    }
    [[nodiscard]] QStringList words(const QStringList& further) const
    {
        return QStringList{"sweep", path("tiny"), "-o", QString::fromStdString(runs().string())} + further;
    }
    [[nodiscard]] Ran run(const QStringList& further) const { return runProcess(words(further)); }
    [[nodiscard]] QJsonObject list() const { return gridOf(run({"--list", "--json"})); }
    /// Asked without the program, which takes a while to start.
    [[nodiscard]] engine::MemberStatus now(const std::string& label) const
    {
        const auto members = projects::expand(m_project, m_project.sweeps.front());
        const auto member = std::ranges::find(*members, label, &projects::SweepMember::label);
        return engine::memberStatus(runs() / label, member->project);
    }
    [[nodiscard]] QString statusNow(const std::string& label) const
    {
        return QString::fromStdString(engine::textOf(now(label)));
    }
    [[nodiscard]] double finalLossNow(const std::string& label) const
    {
        return engine::finalValue(now(label)).value_or(-1);
    }
    [[nodiscard]] fs::path runs() const { return path("runs").toStdString(); }
    [[nodiscard]] QString path(const QString& name) const { return m_folder->filePath(name); }

    std::unique_ptr<QTemporaryDir> m_folder;
    projects::Project m_project;
};

} // namespace

RESIDUA_TEST(TestCliSweep)
#include "tst_cli_sweep.moc"
