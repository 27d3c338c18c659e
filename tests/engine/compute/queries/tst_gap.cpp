// SPDX-License-Identifier: GPL-3.0-or-later
// How far factored weights are from the full ones, asked of a session: part by part, given up, beside a run, and what
// the whole network makes of it.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/base/api/gap.h"
#include "engine/compute/init/fit_cache.h"
#include "engine/compute/network/network.h"
#include "engine/compute/queries/base/query.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace residua;
using namespace residua::engine;
using Method = projects::LowRankMethod;
namespace fs = std::filesystem;

namespace {

constexpr QueryTag kTag{5};

projects::Project thinLanguage()
{
    projects::Project project = tests::quickLanguage(4);
    project.training.precision = projects::Precision::Fp64;
    project.network.rank = projects::RankScale{0.25};
    return project;
}

GapRequest requestOf(const projects::Project& project)
{
    GapRequest request;
    request.tag = kTag;
    request.project = project;
    return request;
}

std::ptrdiff_t fitsInCache()
{
    std::error_code none; // there is no folder before the first fit
    const fs::directory_iterator files(userFitCache().folder, none);
    return std::distance(begin(files), end(files));
}

bool isAnswer(const Event& event)
{
    return std::holds_alternative<GapReady>(event) || std::holds_alternative<QueryFailed>(event);
}

at::Tensor validationOutput(const projects::Project& project, const fs::path& run)
{
    const at::NoGradGuard noGrad;
    const auto dataset = Dataset::open(project, {});
    const auto checkpoint = findCheckpoint(run, std::nullopt, nullptr);
    auto network = CompiledNetwork::compile(project, (*dataset)->schema(), "cpu");
    (void)loadParameters(checkpoint->model, (*network)->parameters());
    Batch batch;
    (void)(*dataset)->fillSequential(batch, Split::Validation, 0, project.training.batch);
    return (*network)->forward(upload(batch, (*dataset)->schema(), at::kCPU, at::kDouble).input,
                               passAfter(checkpoint->state.step));
}

} // namespace

class TestGap : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(directory("cache").string()));
    }

    /// Every weight by every method, what is there of them on the way, and the order of the methods that theory has.
    void tellsEachWeightByEachMethod()
    {
        GapRequest request = requestOf(thinLanguage());
        request.methods = {Method::Baseline, Method::Spectral, Method::Exact};
        tests::SessionProbe probe;
        probe.post(request);
        QVERIFY(probe.waitUntil(isAnswer));
        const auto ready = probe.all<GapReady>();
        QCOMPARE(ready.size(), std::size_t{1});
        const Gap& gap = ready.front().gap;
        QCOMPARE(gap.weights.size(), std::size_t{2 * 7});
        QCOMPARE(gap.done(), gap.weights.size() * 3);
        bool follows = false;
        for (std::size_t weight = 0; weight < gap.weights.size(); ++weight) {
            const GapFit& baseline = gap.fit(weight, 0);
            const GapFit& spectral = gap.fit(weight, 1);
            const GapFit& exact = gap.fit(weight, 2);
            QCOMPARE(gap.weights[weight].columns().rank, std::int64_t{4});
            QVERIFY(exact.functionError <= spectral.functionError * (1 + 1e-9));
            QVERIFY(spectral.functionError < baseline.functionError);
            QVERIFY(spectral.weightError <= exact.weightError * (1 + 1e-9));
            follows = follows || !gap.weights[weight].factors()->activation.empty();
        }
        QVERIFY(follows);
        QVERIFY(totalOf(gap, 2).relativeError <= totalOf(gap, 1).relativeError);
        QVERIFY(gap.outputs[0] && gap.outputs[1] && gap.outputs[2]);
        QVERIFY(*gap.outputs[1] > 0 && *gap.outputs[0] > *gap.outputs[1]);
        const auto parts = probe.all<GapProgress>();
        QVERIFY(!parts.empty());
        QCOMPARE(parts.front().gap.weights.size(), gap.weights.size()); // which they are, before they are fitted
        QVERIFY(parts.front().gap.done() < gap.done());
        QVERIFY(std::ranges::all_of(parts, [](const GapProgress& part) { return part.tag == kTag; }));
    }

    /// A weight of zeros has factors that are exact by every method: there is nothing to fit, and no gap.
    void aWeightOfZerosHasNoGap()
    {
        projects::Project project = thinLanguage();
        for (projects::Node& node : project.network.blocks.front().graph.nodes) {
            if (node.name == "down") {
                node.params["start"] = 0.0;
            }
        }
        GapRequest request = requestOf(project);
        request.methods = {Method::Spectral};
        const auto gap = ask(request);
        QVERIFY2(gap.ok(), gap ? "" : gap.error().text().c_str());
        QCOMPARE(gap->weights.size(), std::size_t{2 * 7 - 2});
        QVERIFY(std::ranges::none_of(gap->weights,
                                     [](const GapWeight& weight) { return weight.name.ends_with("down.weight"); }));
        QVERIFY(std::ranges::all_of(gap->fits, [](const GapFit& fit) { return std::isfinite(fit.relativeError()); }));
        QVERIFY(gap->outputs[0] && std::isfinite(*gap->outputs[0]));
    }

    /// A long piece of a question asks whether it is still wanted.
    void aPieceCanBeGivenUp()
    {
        GapRequest request = requestOf(thinLanguage());
        request.methods = {Method::Spectral};
        const std::unique_ptr<Query> query = queryFor(request);
        std::optional<Event> answer;
        while (!answer) {
            answer = query->advance([](double) { return false; });
        }
        const auto* const failed = std::get_if<QueryFailed>(&*answer);
        QVERIFY(failed != nullptr);
        QVERIFY2(failed->error.text().find("given up") != std::string::npos, failed->error.text().c_str());
    }

    /// The fits of an attention's heads run on threads of their own. A query that ends before them stops them, so that
    /// none of them has a result, which the cache would keep.
    void aFitOfFeaturesCanBeGivenUp()
    {
        GapRequest request;
        request.tag = kTag;
        request.project = thinLanguage();
        request.project.network.rank = projects::FullRank{};
        request.methods = {Method::Lfai};
        request.inputs = projects::LowRankInputs::Data;
        for (projects::Node& node : request.project.network.blocks.front().graph.nodes) {
            if (node.kind == "attention") {
                node.params["weights"] = std::string("performer");
                node.params["features"] = std::int64_t{5}; // which no other test has left in the cache
                node.params["dropout"] = 0.0;
            }
        }
        std::unique_ptr<Query> query = queryFor(request);
        std::optional<Event> answer;
        while (!answer && !query->waits()) {
            answer = query->advance();
        }
        QVERIFY(!answer);
        while (!answer && query->waits()) { // the network has no factored weights to fit
            answer = query->advance();
        }
        while (!answer && !query->waits()) {
            answer = query->advance();
        }
        QVERIFY(!answer);
        const std::ptrdiff_t kept = fitsInCache();
        query.reset();
        QCOMPARE(fitsInCache(), kept);
        QVERIFY(ask(request).ok()); // as fits that end do
        QVERIFY(fitsInCache() > kept);
    }

    /// The network whose inputs the weights are fitted to is initialised under the run's watch too, of whose own
    /// network nothing is done then.
    void fitsToDataCanBeGivenUp()
    {
        projects::Project project = thinLanguage();
        project.initialisation.lowRank = Method::Spectral;
        project.initialisation.lowRankInputs = projects::LowRankInputs::Data;
        std::vector<double> shares;
        const auto whole =
            openParts(project, {}, "cpu", FirstWeights::Initialised, {.data = {}, .weights = [&](double share) {
                                                                          shares.push_back(share);
                                                                          return true;
                                                                      }});
        QVERIFY2(whole.ok(), whole ? "" : whole.error().text().c_str());
        QVERIFY(shares.front() > 0); // this method looks at no data
        project.initialisation.lowRank = Method::Exact;
        shares.clear();
        const auto early =
            openParts(project, {}, "cpu", FirstWeights::Initialised, {.data = {}, .weights = [&](double share) {
                                                                          shares.push_back(share);
                                                                          return false;
                                                                      }});
        QVERIFY(!early.ok());
        QCOMPARE(shares, std::vector<double>{0});
    }

    /// An attention by features has a line of its own, whose error the fit lowers, with weights in factors or without.
    void tellsFeaturesOfAttentions_data()
    {
        QTest::addColumn<bool>("inFactors");
        QTest::newRow("with weights in factors") << true;
        QTest::newRow("alone") << false;
    }
    void tellsFeaturesOfAttentions()
    {
        QFETCH(bool, inFactors);
        GapRequest request;
        request.tag = kTag;
        request.project = thinLanguage();
        // By these two methods the factors of queries and keys are the same, and so is the softmax to be met.
        request.methods = {Method::Spectral, Method::Lfai};
        request.inputs = inFactors ? projects::LowRankInputs::Gaussian : projects::LowRankInputs::Data;
        if (!inFactors) {
            request.project.network.rank = projects::FullRank{};
        }
        for (projects::Node& node : request.project.network.blocks.front().graph.nodes) {
            if (node.kind == "attention") {
                node.params["weights"] = std::string("performer");
                node.params["features"] = std::int64_t{6};
                node.params["dropout"] = 0.0;
            }
        }
        const auto gap = ask(request);
        QVERIFY2(gap.ok(), gap ? "" : gap.error().text().c_str());
        const std::size_t factored = inFactors ? 2 * 7 : 0;
        QCOMPARE(gap->weights.size(), factored + 2);
        QCOMPARE(gap->done(), gap->weights.size() * 2);
        for (std::size_t weight = factored; weight < gap->weights.size(); ++weight) {
            QVERIFY(gap->weights[weight].name.ends_with(".features"));
            QCOMPARE(gap->weights[weight].columns().follows, std::string("softmax"));
            QCOMPARE(gap->weights[weight].columns().rank, std::int64_t{6});
            QVERIFY(GapWeight::from(gap->weights[weight].name, gap->weights[weight].columns()) == gap->weights[weight]);
            const GapFit& drawn = gap->fit(weight, 0);
            const GapFit& fitted = gap->fit(weight, 1);
            QVERIFY(fitted.functionError > 0 && fitted.functionError < drawn.functionError);
            QVERIFY(drawn.weightError == 0 && fitted.weightError > 0);
            QVERIFY(drawn.meanCorrelation < fitted.meanCorrelation && fitted.meanCorrelation <= 1);
        }
        QCOMPARE(totalOf(*gap, 1).weights, factored);
        QVERIFY(gap->outputs[0] && gap->outputs[1]);
        QVERIFY(inFactors || *gap->outputs[1] < *gap->outputs[0]);
    }

    /// At full rank nothing is left, of a weight or of the outputs.
    void fullRankLeavesNothing()
    {
        GapRequest request = requestOf(thinLanguage());
        request.rank = projects::RankScale{1};
        request.methods = {Method::Spectral};
        const auto gap = ask(request);
        QVERIFY2(gap.ok(), gap ? "" : gap.error().text().c_str());
        QVERIFY(totalOf(*gap, 0).relativeError < 1e-12);
        QVERIFY(gap->outputs[0] && *gap->outputs[0] < 1e-20);
    }

    /// The weights are those of the named tower, with the names that they have in the document.
    void aTowerIsNamed()
    {
        projects::Project project = thinLanguage();
        project.towers = {{project.network}};
        project.towers[0].network.name = "other";
        project.towers[0].network.rank = projects::RankScale{0.5};
        GapRequest request = requestOf(project);
        request.methods = {Method::Spectral};
        const auto first = ask(request);
        request.tower = "other";
        const auto other = ask(request);
        QVERIFY2(first.ok() && other.ok(), other ? "" : other.error().text().c_str());
        QCOMPARE(first->weights.size(), other->weights.size());
        for (std::size_t i = 0; i < first->weights.size(); ++i) {
            QCOMPARE(other->weights[i].name, "other." + first->weights[i].name);
            QCOMPARE(other->weights[i].factors()->rank, 2 * first->weights[i].factors()->rank);
        }
        QVERIFY(other->outputs[0] && *other->outputs[0] > 0);
        request.rank = projects::RankScale{1};
        const auto whole = ask(request);
        QVERIFY2(whole.ok(), whole ? "" : whole.error().text().c_str());
        QVERIFY(whole->outputs[0] && *whole->outputs[0] < 1e-20);
        request.tower = "none";
        const auto refused = ask(request);
        QVERIFY(!refused.ok() && refused.error().text().find("other") != std::string::npos);
    }

    /// The same as the outputs of the run's network beside those of the run that factorise makes of it.
    void outputsAreThoseOfTheFactoredNetwork()
    {
        projects::Project whole = thinLanguage();
        whole.network.rank = projects::FullRank{};
        QCOMPARE(tests::lossesOf(whole, directory("whole")).size(), std::size_t{4});
        FactoriseRequest thin;
        thin.tag = kTag;
        thin.of.runDirectory = directory("whole");
        thin.rank = projects::RankScale{0.25};
        thin.method = Method::Spectral;
        thin.newRun = directory("thin");
        tests::SessionProbe probe;
        probe.post(thin);
        QVERIFY(probe.waitFor<FactoriseReady>());
        projects::Project factored = whole;
        factored.network.rank = projects::RankScale{0.25};
        const at::Tensor full = validationOutput(whole, directory("whole"));
        const at::Tensor rest = validationOutput(factored, directory("thin")) - full;
        const double expected = (rest * rest).sum().item<double>() / (full * full).sum().item<double>();

        GapRequest request = requestOf({});
        request.of.runDirectory = directory("whole");
        request.rank = projects::RankScale{0.25};
        request.methods = {Method::Exact, Method::Spectral};
        const auto gap = ask(request);
        QVERIFY2(gap.ok(), gap ? "" : gap.error().text().c_str());
        QCOMPARE(gap->step, std::int64_t{4});
        QVERIFY(gap->outputs[1] && expected > 0);
        QVERIFY2(std::abs(*gap->outputs[1] - expected) < 1e-9 * expected,
                 qPrintable(QString("%1 against %2").arg(*gap->outputs[1]).arg(expected)));
    }

    /// Fits of minutes end when they are given up, and the session answers what comes then; a run goes on beside them.
    void isGivenUp()
    {
        projects::Project project = thinLanguage();
        project.stack().width = 192;
        project.stack().segments.front().repeat = 12;
        GapRequest request = requestOf(project);
        request.methods = {Method::LfaiWs};
        tests::SessionProbe probe;
        probe.post(request);
        QVERIFY(probe.waitFor<GapProgress>());
        StartRun start;
        start.run = tests::kRun;
        start.project = tests::quickLanguage(3);
        start.runDirectory = directory("beside");
        probe.post(start);
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY(probe.all<RunEnded>().front().status == RunStatus::Finished);
        QVERIFY(probe.all<GapReady>().empty());
        probe.post(GiveUp{QueryTag{99}}); // not this one
        probe.post(GiveUp{kTag});
        QVERIFY(probe.waitFor<QueryFailed>());
        QCOMPARE(probe.all<QueryFailed>().front().tag, kTag);
        QVERIFY(probe.all<GapReady>().empty());
        probe.post(ListDevices{QueryTag{6}});
        QVERIFY(probe.waitFor<DevicesListed>());
        QCOMPARE(probe.all<QueryFailed>().size(), std::size_t{1});
    }

    /// The result of the fits of a run's start is in its directory, to the last bit, and is copied to its forks. A run
    /// whose factors are drawn has none.
    void isRecordedWhereARunStarts()
    {
        projects::Project project = thinLanguage();
        project.initialisation.lowRank = Method::Exact;
        QCOMPARE(tests::lossesOf(project, directory("fitted")).size(), std::size_t{4});
        GapRequest request = requestOf(project);
        request.methods = {Method::Exact};
        const auto asked = ask(request);
        const auto recorded = gapOf("fitted");
        QVERIFY2(recorded.ok() && recorded->has_value(), recorded ? "" : recorded.error().text().c_str());
        QVERIFY((*recorded)->weights == asked->weights);
        for (std::size_t weight = 0; weight < asked->weights.size(); ++weight) {
            QCOMPARE((*recorded)->fits[weight].functionError, asked->fits[weight].functionError);
            QCOMPARE((*recorded)->fits[weight].meanCorrelation, asked->fits[weight].meanCorrelation);
            QCOMPARE((*recorded)->fits[weight].spectralGapBound, asked->fits[weight].spectralGapBound);
        }
        const auto fork = forkRun(directory("fitted"), 4);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        QVERIFY(*RunReader::open(*fork)->gap() == *recorded);

        project.initialisation.lowRank = Method::Baseline;
        QCOMPARE(tests::lossesOf(project, directory("drawn")).size(), std::size_t{4});
        QVERIFY(gapOf("drawn").ok() && !gapOf("drawn")->has_value());

        std::ofstream(directory("fitted") / "gap.json") << R"({"method": "exact", "inputs": "gaussian", "step": 0,
            "weights": [{"name": 3}]})";
        QVERIFY(gapOf("fitted").error().text().find("entry 1") != std::string::npos);
        std::ofstream(directory("fitted") / "gap.json") << R"({"method": "best", "inputs": "gaussian", "step": 0,
            "weights": []})";
        QVERIFY(gapOf("fitted").error().text().find("is none that there is") != std::string::npos);
    }

    void refuses()
    {
        GapRequest request = requestOf(thinLanguage());
        request.methods.clear();
        QVERIFY(ask(request).error().text().find("expected spectral") != std::string::npos);
        request.methods = {Method::Spectral};
        request.rank = projects::FixedRank{17};
        QVERIFY(ask(request).error().text().find("above the smaller side") != std::string::npos);
        request.rank = projects::FullRank{};
        QVERIFY(tests::isRefusedAt(ask(request), "", "full rank"));
    }

private:
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }

    [[nodiscard]] Result<std::optional<Gap>> gapOf(const std::string& run) const
    {
        return RunReader::open(directory(run))->gap();
    }

    static Result<Gap> ask(const GapRequest& request)
    {
        tests::SessionProbe probe;
        probe.post(request);
        if (!probe.waitUntil(isAnswer)) {
            return Error{"test", "no answer"};
        }
        const auto failed = probe.all<QueryFailed>();
        return failed.empty() ? Result<Gap>(probe.all<GapReady>().at(0).gap) : Result<Gap>(failed.front().error);
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestGap)
#include "tst_gap.moc"
