// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of a session beside its run.
#include "run_harness.h"

#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;
using residua::tests::quickLanguage;
using residua::tests::quickVectors;
using residua::tests::SessionProbe;

namespace {

class TestSessionQueries : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    /// A query that is long in opening a run lets the active one be stopped meanwhile. Its own error, of which its
    /// first piece makes sure, comes after that.
    void stopsWhileAQueryOpensItsRun()
    {
        QVERIFY(!tests::lossesOf(quickLanguage(2), directory("trained")).empty());
        SampleRequest ofNone;
        ofNone.tag = QueryTag{1};
        ofNone.of.runDirectory = directory("none");
        EvaluateRequest opening;
        opening.tag = QueryTag{2};
        opening.of.runDirectory = directory("trained");
        opening.split = Split::Test;    // which the run has none of
        std::vector<std::string> order; // of the engine's thread, until `told`
        std::promise<void> told;
        Session session([&](const Event& event) {
            const auto* const failed = std::get_if<QueryFailed>(&event);
            if (std::holds_alternative<RunPaused>(event)) {
                session.post(ofNone);
                session.post(opening);
            } else if (failed != nullptr && failed->tag == ofNone.tag) {
                session.post(Stop{kRun});
            } else if (failed != nullptr) {
                order.push_back(failed->error.place);
                told.set_value();
            } else if (std::holds_alternative<RunEnded>(event)) {
                order.emplace_back("ended");
            }
        });
        StartRun command = start(kRun, quickLanguage(1'000'000));
        command.pauseAfter = 1;
        session.post(command);
        std::future<void> answered = told.get_future();
        QVERIFY(answered.wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        QCOMPARE(order, (std::vector<std::string>{"ended", "split"}));
    }

    void answersWhileItTrainsAndChangesNothing()
    {
        projects::Project project = quickLanguage(40);
        project.training.checkpointEvery = 5;
        SessionProbe probe;
        StartRun command = start(kRun, project);
        command.pauseAfter = 6;
        probe.post(command);
        QVERIFY(probe.waitFor<RunPaused>());
        SampleRequest sample;
        sample.tag = QueryTag{1};
        sample.of.runDirectory = command.runDirectory;
        sample.tokens = 30;
        probe.post(sample);
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{2};
        evaluate.of.runDirectory = command.runDirectory;
        probe.post(evaluate);
        probe.post(ListDevices{QueryTag{3}});
        probe.post(Continue{kRun});
        QVERIFY(probe.waitFor<SampleReady>());
        QVERIFY(probe.waitFor<EvaluationReady>());
        QVERIFY(probe.waitFor<DevicesListed>());
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(!probe.all<SampleReady>().at(0).text.empty());
        QVERIFY(probe.all<EvaluationReady>().at(0).means.at("loss") > 0);
        QVERIFY(probe.all<EvaluationReady>().at(0).batches > 0);
        QCOMPARE(probe.all<DevicesListed>().at(0).devices.at(0).key, std::string("cpu"));
        QCOMPARE(probe.losses(kRun), tests::lossesOf(project, directory("alone")));
    }

    void replacesAnOlderQuery()
    {
        QVERIFY(!tests::lossesOf(quickLanguage(2), directory("trained")).empty());
        SessionProbe probe;
        SampleRequest sample;
        sample.of.runDirectory = directory("trained");
        sample.tokens = 1'000'000'000;
        sample.tag = QueryTag{1};
        probe.post(sample);
        sample.tokens = 4;
        sample.tag = QueryTag{2};
        probe.post(sample);
        QVERIFY(probe.waitFor<SampleReady>());
        QVERIFY(probe.all<SampleReady>().at(0).tag == QueryTag{2});
        QVERIFY(probe.all<QueryFailed>().at(0).tag == QueryTag{1});
    }

    /// On a thread of its own; a newer question, and who gives it up, end it before they are answered.
    void learnsATokeniser()
    {
        std::string text;
        for (int i = 0; i < 300; ++i) {
            text += "the cat sat on the mat, number " + std::to_string(i) + "\n";
        }
        std::ofstream(directory("text.txt")) << text;
        TokeniserRequest request{QueryTag{1},
                                 {.text = directory("text.txt"), .output = directory("m.model"), .pieces = 300}};
        SessionProbe probe;
        probe.post(request);
        QVERIFY(probe.waitFor<TokeniserReady>());
        const auto ready = probe.all<TokeniserReady>();
        QCOMPARE(ready.at(0).tokeniser.pieces, std::int64_t{300});
        QVERIFY(std::filesystem::exists(ready.at(0).model));
        QVERIFY(probe.all<QueryFailed>().empty());
        request.training.output = directory("other.model");
        request.tag = QueryTag{2};
        probe.post(request);
        request.tag = QueryTag{3};
        probe.post(request);
        probe.post(GiveUp{QueryTag{3}});
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* failed = std::get_if<QueryFailed>(&event);
            return failed && failed->tag == QueryTag{3};
        }));
        QCOMPARE(probe.all<QueryFailed>().size(), std::size_t(2));
        QCOMPARE(std::filesystem::exists(request.training.output), false);
    }

    void answersThatAQuestionMakesNoSense()
    {
        QVERIFY(!tests::lossesOf(quickVectors(2), directory("vectors")).empty());
        SessionProbe probe;
        SampleRequest sample;
        sample.of.runDirectory = directory("vectors");
        probe.post(sample);
        QVERIFY(probe.waitFor<QueryFailed>());
        QVERIFY(probe.all<QueryFailed>().at(0).error.text().find("no language model") != std::string::npos);
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{5};
        evaluate.of.runDirectory = directory("nowhere");
        probe.post(evaluate);
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* failed = std::get_if<QueryFailed>(&event);
            return failed != nullptr && failed->tag == QueryTag{5};
        }));
    }

private:
    std::filesystem::path directory(const std::string& name) const
    {
        return std::filesystem::path(m_folder->path().toStdString()) / name;
    }
    StartRun start(RunId run, const projects::Project& project) const
    {
        return tests::startIn(m_folder->path().toStdString(), run, project);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

RESIDUA_TEST(TestSessionQueries)
#include "tst_session_queries.moc"
