// SPDX-License-Identifier: GPL-3.0-or-later
// Attention by features in the place of a softmax: what it computes, what it costs, and how its features start.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/ops/operators.h"
#include "engine/compute/queries/measures/sampler.h"
#include "projects/nodes/attention_features.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

/// Keys and values for each query head.
at::Tensor shared(const at::Tensor& x, std::int64_t group)
{
    return x.repeat_interleave(group, 1);
}

/// The definition, with the matrix of all pairs of tokens.
at::Tensor plainAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& features,
                          bool causal)
{
    const std::int64_t group = q.size(1) / k.size(1);
    const double root = std::pow(static_cast<double>(q.size(3)), 0.25);
    const auto phi = [&](const at::Tensor& x, const at::Tensor& by) {
        return (at::matmul(x / root, by.transpose(1, 2)) - (x / root).square().sum(-1, true) / 2).exp();
    };
    const at::Tensor each = features.repeat_interleave(group, 0);
    at::Tensor pairs = at::matmul(phi(q, each), phi(shared(k, group), each).transpose(2, 3));
    if (causal) {
        pairs = pairs.tril();
    }
    return at::matmul(pairs / pairs.sum(-1, true), shared(v, group));
}

at::Tensor softmaxAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)
{
    const double root = std::sqrt(static_cast<double>(q.size(3)));
    return at::matmul(at::softmax(at::matmul(q, k.transpose(2, 3)) / root, -1), v);
}

/// tinyLanguage whose attentions are performers.
Project performing(const std::string& block, std::int64_t depth, std::int64_t features, const char* start)
{
    Project project = tinyLanguage(block, "plain", depth);
    for (projects::Node& node : project.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            node.params[projects::kWeightsParam] = std::string(projects::kPerformerWeights);
            node.params[projects::kFeaturesParam] = features;
            node.params[projects::kFeaturesStartParam] = std::string(start);
        }
    }
    return project;
}

} // namespace

class TestFeatureAttention : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void againstAllPairs_data()
    {
        QTest::addColumn<bool>("causal");
        QTest::addColumn<int>("time");
        QTest::addColumn<int>("heads");
        for (const bool causal : {true, false}) {
            for (const int time : {1, 5, 64, 65, 150}) {
                for (const int heads : {2, 4}) {
                    QTest::addRow("%s, %d tokens, %d heads", causal ? "causal" : "all", time, heads)
                        << causal << time << heads;
                }
            }
        }
    }
    void againstAllPairs()
    {
        QFETCH(bool, causal);
        QFETCH(int, time);
        QFETCH(int, heads);
        const at::Tensor q = leaf({2, heads, time, 6}, 1, 1.5);
        const at::Tensor k = leaf({2, 2, time, 6}, 2, 1.5);
        const at::Tensor v = leaf({2, 2, time, 3}, 3);
        const at::Tensor features = leaf({2, 7, 6}, 4);
        const at::Tensor probe = randomTensor({2, heads, time, 3}, 5);
        const at::Tensor got = engine::featureAttention(q, k, v, features, causal);
        const at::Tensor expected = plainAttention(q, k, v, features, causal);
        QVERIFY(distance(got, expected) < 1e-12);
        std::vector<at::Tensor> gradients[2];
        for (const bool plain : {false, true}) {
            ((plain ? expected : got) * probe).sum().backward();
            for (const at::Tensor& each : {q, k, v, features}) {
                gradients[plain ? 1 : 0].push_back(each.grad().clone());
                each.mutable_grad().reset();
            }
        }
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(gradients[1][i].abs().max().item<double>() > 1e-3 || (i != 2 && time == 1));
            QVERIFY2(distance(gradients[0][i], gradients[1][i]) < 1e-11, std::to_string(i).c_str());
        }
    }

    /// The value of a token does not change with the tokens after it.
    void laterTokensAreNotSeen()
    {
        const at::NoGradGuard noGrad;
        const at::Tensor q = leaf({1, 2, 150, 6}, 1);
        const at::Tensor k = leaf({1, 2, 150, 6}, 2);
        const at::Tensor v = leaf({1, 2, 150, 6}, 3);
        const at::Tensor features = leaf({2, 7, 6}, 4);
        const at::Tensor all = engine::featureAttention(q, k, v, features, true);
        for (const std::int64_t time : {1, 63, 64, 65, 128, 149}) {
            const auto first = [&](const at::Tensor& x) { return x.narrow(2, 0, time); };
            QVERIFY(distance(engine::featureAttention(first(q), first(k), first(v), features, true), first(all)) <
                    1e-13);
        }
    }

    /// Scores far beyond what an exponential holds.
    void largeScoresStayFinite()
    {
        for (const bool causal : {true, false}) {
            const at::Tensor q = (randomTensor({1, 2, 90, 6}, 1) * 300).to(at::kFloat).requires_grad_(true);
            const at::Tensor k = (randomTensor({1, 2, 90, 6}, 2) * 300).to(at::kFloat).requires_grad_(true);
            const at::Tensor features = randomTensor({2, 7, 6}, 4).to(at::kFloat).requires_grad_(true);
            const at::Tensor out =
                engine::featureAttention(q, k, randomTensor({1, 2, 90, 6}, 3).to(at::kFloat), features, causal);
            out.sum().backward();
            for (const at::Tensor& each : {out, q.grad(), k.grad(), features.grad()}) {
                QVERIFY(each.isfinite().all().item<bool>());
            }
        }
    }

    void moreFeaturesAreCloserToTheSoftmax()
    {
        const at::NoGradGuard noGrad;
        const at::Tensor q = randomTensor({4, 2, 30, 4}, 1) / 2; // where the features' variance is small
        const at::Tensor k = randomTensor({4, 2, 30, 4}, 2) / 2;
        const at::Tensor v = randomTensor({4, 2, 30, 4}, 3);
        const at::Tensor expected = softmaxAttention(q, k, v);
        double last = 1e300;
        for (const std::int64_t count : {8, 128, 2048}) {
            const at::Tensor features = randomTensor({2, count, 4}, 4);
            const double error =
                (engine::featureAttention(q, k, v, features, false) - expected).square().mean().item<double>();
            QVERIFY2(error < last / 3, qPrintable(QString("%1: %2").arg(count).arg(error)));
            last = error;
        }
    }

    /// In a network: queries and keys with their positions, shared keys, norms and biases.
    void gradients_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<int>("kvHeads");
        QTest::addColumn<int>("rank");
        QTest::newRow("transformer") << "transformer" << 0 << 0;
        QTest::newRow("shared keys, norms") << "transformer" << 1 << 0;
        QTest::newRow("biases") << "gpt" << 0 << 0;
        QTest::newRow("q, k, v and out in factors") << "transformer" << 0 << 3;
    }
    void gradients()
    {
        QFETCH(QString, block);
        QFETCH(int, kvHeads);
        QFETCH(int, rank);
        Project project = performing(block.toStdString(), 2, 5, projects::kFittedFeatures);
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention" && kvHeads > 0) {
                node.params["kv_heads"] = std::int64_t{kvHeads};
                node.params["qk_norm"] = std::string("head");
            }
        }
        if (rank > 0) {
            project.network.rank = projects::FixedRank{rank};
        }
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 6);
        QVERIFY2(check.worst < 1e-7, check.name.c_str());
        QVERIFY(parameter(*network, "layers.2.attention.features").grad().any().item<bool>());
    }

    void precisions()
    {
        const std::string fault = precisionFault(performing("transformer", 2, 16, projects::kDrawnFeatures), 0.05);
        QVERIFY2(fault.empty(), fault.c_str());
    }

    /// At full rank nothing is lost, by features as by a softmax.
    void factorsOfItsProjections()
    {
        const Project whole = performing("transformer", 2, 5, projects::kDrawnFeatures);
        Project factored = whole;
        factored.network.rank = projects::RankScale{1};
        factored.initialisation.lowRank = projects::LowRankMethod::Spectral;
        const engine::DeviceBatch batch = randomBatch(whole, 2, 70, 7);
        const auto full = compiled(whole);
        const auto inFactors = compiled(factored);
        QVERIFY(distance(full->forward(batch.input, kEvaluation), inFactors->forward(batch.input, kEvaluation)) <
                1e-11);
        QVERIFY(distance(full->forward(batch.input, kEvaluation),
                         compiled(tinyLanguage("transformer", "plain", 2))->forward(batch.input, kEvaluation)) > 1e-6);
    }

    /// A sampled text, token by token through the last tokens alone, is what the whole text's pass says.
    void samplingAgreesWithTheWholePass()
    {
        const Project project = performing("transformer", 2, 8, projects::kDrawnFeatures);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        engine::Sampler sampler(*network, c10::Device(c10::kCPU), {.window = 90, .temperature = 0});
        std::vector<std::int64_t> tokens;
        for (std::int64_t i = 0; i < 60; ++i) {
            tokens.push_back(i * i % 11);
        }
        for (int i = 0; i < 20; ++i) {
            sampler.extend(tokens);
        }
        const at::NoGradGuard noGrad;
        const at::Tensor text = at::tensor(tokens, at::kLong).unsqueeze(0);
        const at::Tensor logits = network->forward(text, kEvaluation);
        for (std::size_t i = 60; i < tokens.size(); ++i) {
            const auto time = static_cast<std::int64_t>(i);
            QCOMPARE(logits[0][time - 1].argmax().item<std::int64_t>(), tokens[i]);
            const at::Tensor seen = network->forward(text.narrow(1, 0, time), kEvaluation);
            QVERIFY(distance(seen, logits.narrow(1, 0, time)) < 1e-11);
        }
    }

    /// Rows of the length that normal ones have, orthogonal within a head among each e.
    void drawnFeatures()
    {
        const auto network = compiled(performing("transformer", 1, 10, projects::kDrawnFeatures));
        const at::Tensor features = parameter(*network, "layers.1.attention.features").detach();
        QVERIFY(features.sizes() == (at::IntArrayRef{2, 10, 4}));
        for (std::int64_t head = 0; head < 2; ++head) {
            for (const std::int64_t first : {0, 4, 8}) {
                const at::Tensor rows = features[head].narrow(0, first, std::min<std::int64_t>(4, 10 - first));
                const at::Tensor products = at::matmul(rows, rows.t());
                QVERIFY((products - products.diagonal().diag()).abs().max().item<double>() < 1e-12);
            }
        }
        const at::Tensor many = parameter(*compiled(performing("transformer", 1, 4000, projects::kDrawnFeatures)),
                                          "layers.1.attention.features")
                                    .detach();
        QVERIFY(std::abs(many.square().mean().item<double>() - 1) < 0.05);
        QVERIFY(std::abs(many.mean().item<double>()) < 0.05);
        const auto& all = network->parameters();
        QCOMPARE(std::ranges::find(all, "layers.1.attention.features", &engine::NamedParameter::name)->decay,
                 engine::Decay::No);
    }

    /// Fitted features approximate the softmax of the network's own queries and keys better than drawn ones, whatever
    /// else there is; other parameters start as before.
    void fittedFeatures()
    {
        Project project = performing("transformer", 2, 6, projects::kFittedFeatures);
        project.initialisation.law = projects::InitLaw::XavierUniform;
        project.initialisation.scale = 2;
        const auto fitted = compiled(project);
        Project other = performing("transformer", 2, 6, projects::kDrawnFeatures);
        other.initialisation = project.initialisation;
        const auto drawn = compiled(other);
        for (const engine::NamedParameter& each : fitted->parameters()) {
            QCOMPARE(at::equal(each.tensor, parameter(*drawn, each.name)), !each.name.ends_with("features"));
        }
        const auto& plan = fitted->initPlan();
        QCOMPARE(plan.attentions().size(), std::size_t{2});
        for (const engine::AttentionFeatures& attention : plan.attentions()) {
            const auto problems = plan.fitOf(attention).problems;
            QCOMPARE(problems.size(), std::size_t{2});
            for (std::size_t head = 0; head < 2; ++head) {
                const at::Tensor start = parameter(*drawn, attention.node + "features")
                                             .detach()[static_cast<std::int64_t>(head)]
                                             .contiguous();
                const std::vector<double> from(start.const_data_ptr<double>(),
                                               start.const_data_ptr<double>() + start.numel());
                const double error = measureAttention(problems[head], problems[head].start)->relative();
                const double drawnError = measureAttention(problems[head], from)->relative();
                QVERIFY2(error < 0.9 * drawnError, qPrintable(QString("%1 %2").arg(error).arg(drawnError)));
            }
        }
    }

    void fitsHaveTheSameBitsOnAnyNumberOfThreads()
    {
        const Project project = performing("transformer", 2, 6, projects::kFittedFeatures);
        const auto one = compiled(project);
        at::set_num_threads(3);
        const auto three = compiled(project);
        at::set_num_threads(1);
        for (std::size_t i = 0; i < one->parameters().size(); ++i) {
            QVERIFY2(at::equal(one->parameters()[i].tensor, three->parameters()[i].tensor),
                     one->parameters()[i].name.c_str());
        }
    }

    void fitsAreKept()
    {
        const QTemporaryDir folder;
        const std::filesystem::path cache = std::filesystem::path(folder.path().toStdString()) / "fits";
        const Project project = performing("transformer", 1, 6, projects::kFittedFeatures);
        std::vector<at::Tensor> found;
        for (int start = 0; start < 2; ++start) {
            auto network = *engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
            network->initPlan().setFits({.cache = {cache}});
            QVERIFY(network->initialise({}, {}));
            QVERIFY(network->initPlan().notes().empty());
            found.push_back(parameter(*network, "layers.1.attention.features").detach().clone());
            std::size_t files = 0;
            for (const auto& entry : std::filesystem::directory_iterator(cache)) {
                ++files;
                if (start == 0) {
                    std::filesystem::create_hard_link(entry.path(), folder.path().toStdString() + "/" +
                                                                        entry.path().filename().string());
                } else { // one that was written again would be another file
                    QCOMPARE(std::filesystem::hard_link_count(entry.path()), std::uintmax_t{2});
                }
            }
            QCOMPARE(files, std::size_t{2});
        }
        QVERIFY(at::equal(found[0], found[1]));
    }

    void fitsAreGivenUp()
    {
        const Project project = performing("transformer", 2, 6, projects::kFittedFeatures);
        const auto network = *engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
        const Status stopped = network->initialise([](double share) { return share <= 0.05; }, {});
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().text(), std::string("[initialisation] was given up"));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestFeatureAttention)
#include "tst_feature_attention.moc"
