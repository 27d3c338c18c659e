// SPDX-License-Identifier: GPL-3.0-or-later
// A trained run with its weights in two factors: what it keeps, what it loses, and that training goes on.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTrained = 12;

projects::Project trainedProject()
{
    projects::Project project = tests::quickLanguage(kTrained);
    project.training.precision = projects::Precision::Fp64;
    return project;
}

} // namespace

class TestFactorise : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(directory("cache").string()));
        QCOMPARE(tests::lossesOf(trainedProject(), directory("trained")).size(), std::size_t{kTrained});
    }

    /// At full rank nothing is lost.
    void fullRankKeepsTheLoss()
    {
        FactoriseRequest request = requestOf("full");
        request.rank = projects::RankScale{1};
        request.method = projects::LowRankMethod::Spectral;
        const auto ready = ask(request);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY(std::abs(ready->lossAfter - ready->lossBefore) < 1e-10);
        QCOMPARE(ready->batches, std::int64_t{2});
        QCOMPARE(ready->weights.size(), std::size_t{2 * 7});
        for (const auto& weight : ready->weights) {
            QVERIFY2(weight.relativeError < 1e-12, weight.name.c_str());
            QCOMPARE(weight.rank, std::int64_t{16});
        }
    }

    /// A convolution by side of its kernel: all is kept at full rank, and the run that goes on computes by those
    /// factors.
    void convolutionsBySide()
    {
        projects::Project project = tests::quickVectors(4);
        project.training.precision = projects::Precision::Fp64;
        project.stack().width = 16;
        project.initialisation.law = projects::InitLaw::Normal;
        project.initialisation.scale = 0.3;
        project.network.blocks.front().graph =
            tests::graphFrom("x input; i image channels=4 height=2 width=2; c conv2d out=4 unfolding=by_side; r "
                             "activation function=relu; f flatten; y output; x > i; i > c; c > r; r > f; f > y");
        QCOMPARE(tests::lossesOf(project, directory("by side")).size(), std::size_t{4});
        for (const double share : {1.0, 0.25}) {
            FactoriseRequest request = requestOf("by side " + std::to_string(share));
            request.of.runDirectory = directory("by side");
            request.rank = projects::RankScale{share};
            request.method = projects::LowRankMethod::Exact;
            request.inputs = projects::LowRankInputs::Data;
            request.steps = 6;
            const auto ready = ask(request);
            QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
            const bool isFull = share == 1;
            QCOMPARE(std::abs(ready->lossAfter - ready->lossBefore) < 1e-6, isFull);
            for (const auto& weight : ready->weights) {
                QCOMPARE(weight.rank, std::int64_t{isFull ? 12 : 3});
                QCOMPARE(weight.relativeError < 1e-5, isFull);
                QVERIFY(weight.relativeError < 1);
            }
            const auto stored = loadCheckpoint(ready->runDirectory, std::nullopt, nullptr);
            QVERIFY(stored.ok());
            QVERIFY(stored->model.tensors().contains("layers.1.c.v"));
        }
    }

    void trainsOn_data()
    {
        QTest::addColumn<projects::LowRankMethod>("method");
        QTest::addColumn<projects::LowRankInputs>("inputs");
        using projects::LowRankInputs;
        using projects::LowRankMethod;
        QTest::newRow("spectral") << LowRankMethod::Spectral << LowRankInputs::Gaussian;
        QTest::newRow("exact") << LowRankMethod::Exact << LowRankInputs::Gaussian;
        QTest::newRow("exact on data") << LowRankMethod::Exact << LowRankInputs::Data;
    }
    void trainsOn()
    {
        QFETCH(projects::LowRankMethod, method);
        QFETCH(projects::LowRankInputs, inputs);
        const std::string name = std::string("thin ") + QTest::currentDataTag();
        FactoriseRequest request = requestOf(name);
        request.rank = projects::RankScale{0.25};
        request.method = method;
        request.inputs = inputs;
        request.steps = kTrained + 6;
        const auto ready = ask(request);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(ready->step, kTrained);
        QVERIFY(std::isfinite(ready->lossAfter) && ready->lossAfter != ready->lossBefore);
        QVERIFY(ready->parametersAfter < ready->parametersBefore);
        const auto reader = RunReader::open(ready->runDirectory);
        QVERIFY(reader.ok());
        QVERIFY(reader->project()->network.rank == projects::WeightRank(projects::RankScale{0.25}));
        const auto gap = reader->gap();
        QVERIFY2(gap.ok() && gap->has_value(), gap ? "" : gap.error().text().c_str());
        QCOMPARE((*gap)->weights.size(), ready->weights.size());
        QVERIFY((*gap)->methods == std::vector{method});
        QVERIFY((*gap)->inputs == inputs);
        for (std::size_t i = 0; i < ready->weights.size(); ++i) {
            QCOMPARE((*gap)->weights[i].name, ready->weights[i].name);
            QVERIFY((*gap)->fits[i].relativeError() > 0 && (*gap)->fits[i].weightError > 0);
        }
        // Parameters without factors are kept with their moments, byte for byte.
        const auto before = loadCheckpoint(directory("trained"), std::nullopt, nullptr);
        const auto after = loadCheckpoint(ready->runDirectory, std::nullopt, nullptr);
        QVERIFY(before.ok() && after.ok());
        QVERIFY(!after->model.tensors().contains("layers.1.up.weight"));
        for (const char* const kept : {"stem.embedding.weight", "layers.2.norm_ffn.weight"}) {
            const auto& a = before->model.tensors();
            QVERIFY2(a.contains(kept), kept);
            QVERIFY2(same(a.at(kept), after->model.tensors().at(kept)), kept);
        }
        const std::string moment = "stem.embedding.weight.mean";
        QVERIFY(before->optimiser.tensors().contains(moment));
        QVERIFY(same(before->optimiser.tensors().at(moment), after->optimiser.tensors().at(moment)));
        tests::SessionProbe probe;
        ResumeRun command;
        command.run = RunId{1};
        command.of.runDirectory = ready->runDirectory;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QVERIFY2(ended.status == RunStatus::Finished, ended.error.text().c_str());
        QCOMPARE(tests::recordedLosses(ready->runDirectory).rbegin()->first, kTrained + 6);
    }

    /// After each layer that is fitted to the data.
    void tellsHowFarItIs()
    {
        FactoriseRequest request = requestOf("told");
        request.rank = projects::RankScale{0.25};
        request.method = projects::LowRankMethod::Exact;
        request.inputs = projects::LowRankInputs::Data;
        tests::SessionProbe probe;
        probe.post(request);
        QVERIFY(probe.waitFor<FactoriseReady>());
        std::vector<double> shares;
        for (const QueryProgress& progress : probe.all<QueryProgress>()) {
            shares.push_back(progress.share);
        }
        QCOMPARE(shares, (std::vector<double>{0.5, 1}));
    }

    /// Over real inputs the exact fit loses less of the function than singular values, which do not depend on
    /// the inputs.
    void realInputsLoseLess()
    {
        const auto lossOf = [&](const std::string& name, projects::LowRankMethod method) {
            FactoriseRequest request = requestOf(name);
            request.rank = projects::RankScale{0.25};
            request.method = method;
            const auto ready = ask(request);
            return ready ? ready->lossAfter - ready->lossBefore : std::nan("");
        };
        const double spectral = lossOf("by spectral", projects::LowRankMethod::Spectral);
        const double exact = lossOf("by exact", projects::LowRankMethod::Exact);
        QVERIFY2(exact < spectral, qPrintable(QString("%1 against %2").arg(exact).arg(spectral)));
    }

    void refuses()
    {
        const auto errorOf = [&](const std::function<void(FactoriseRequest&)>& change) {
            FactoriseRequest request = requestOf("refused");
            request.rank = projects::RankScale{0.25};
            change(request);
            const auto ready = ask(request);
            return ready ? QString() : QString::fromStdString(ready.error().text());
        };
        using Request = FactoriseRequest;
        QVERIFY(errorOf([](Request& r) { r.method = projects::LowRankMethod::Baseline; }).contains("forgets"));
        QVERIFY(errorOf([](Request& r) { r.rank = projects::FullRank{}; }).contains("expected a number or a share"));
        QVERIFY(errorOf([](Request& r) { r.rank = projects::FixedRank{17}; }).contains("above the smaller side"));
        QVERIFY(errorOf([](Request& r) { r.steps = kTrained; }).contains("more than the 12 that are done"));
        QVERIFY(errorOf([](Request& r) { r.of.step = 5; }).contains("5"));

        projects::Project thin = trainedProject();
        thin.training.steps = 2;
        thin.network.rank = projects::FixedRank{4};
        QCOMPARE(tests::lossesOf(thin, directory("thin already")).size(), std::size_t{2});
        QVERIFY(
            errorOf([&](Request& r) { r.of.runDirectory = directory("thin already"); }).contains("in factors already"));

        projects::Project none = tests::quickLanguage(2);
        projects::Graph& graph = none.network.blocks.front().graph;
        graph.nodes = {{projects::NodeId{1}, "input", "input", {}},
                       {projects::NodeId{2}, "conv1d", "mix", {}},
                       {projects::NodeId{3}, "output", "output", {}}};
        graph.wires = {{{projects::NodeId{1}, "out"}, {projects::NodeId{2}, "in"}},
                       {{projects::NodeId{2}, "out"}, {projects::NodeId{3}, "in"}}};
        QCOMPARE(tests::lossesOf(none, directory("no such weights")).size(), std::size_t{2});
        QVERIFY(errorOf([&](Request& r) {
                    r.of.runDirectory = directory("no such weights");
                }).contains("no layer has a weight"));
        QVERIFY(!fs::exists(directory("refused")));
    }

private:
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }

    [[nodiscard]] FactoriseRequest requestOf(const std::string& newRun) const
    {
        FactoriseRequest request;
        request.tag = QueryTag{7};
        request.of.runDirectory = directory("trained");
        request.newRun = directory(newRun);
        return request;
    }

    static bool same(const StoredTensor& a, const StoredTensor& b)
    {
        return a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
    }

    static Result<FactoriseReady> ask(const FactoriseRequest& request)
    {
        tests::SessionProbe probe;
        probe.post(request);
        if (!probe.waitUntil([](const Event& event) {
                return std::holds_alternative<FactoriseReady>(event) || std::holds_alternative<QueryFailed>(event);
            })) {
            return Error{"test", "no answer"};
        }
        const auto failed = probe.all<QueryFailed>();
        return failed.empty() ? Result<FactoriseReady>(probe.all<FactoriseReady>().at(0))
                              : Result<FactoriseReady>(failed.front().error);
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestFactorise)
#include "tst_factorise.moc"
