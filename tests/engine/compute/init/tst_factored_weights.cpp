// SPDX-License-Identifier: GPL-3.0-or-later
// Weights in two factors: what networks compute with them, and how they start.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/graph/graph_program.h"
#include "engine/compute/init/fit_cache.h"
#include "engine/compute/init/weight_inputs.h"
#include "engine/compute/ops/weight.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <vector>

using namespace residua;
using namespace residua::tests;
using projects::GraphBuilder;
using projects::LowRankMethod;
using projects::Project;

namespace {

Project factored(Project project, projects::WeightRank rank, LowRankMethod method)
{
    project.network.rank = rank;
    project.initialisation.lowRank = method;
    return project;
}

/// The product of the factors of a weight: [out, in].
at::Tensor productOf(engine::CompiledNetwork& network, const std::string& stem)
{
    return at::matmul(parameter(network, stem + "u"), parameter(network, stem + "v").flatten(1)).detach();
}

/// One graph in double precision, its image of 3 × 6 × 6 given.
struct Image {
    engine::InitPlan plan;
    engine::RotaryTables tables;
    projects::Sizes sizes{{{"d", 4}}, {}};
    Result<engine::GraphProgram> program;

    Image(std::map<std::string, projects::ParamValue> params, LowRankMethod method)
        : plan(*engine::Compute::create("cpu", projects::Precision::Fp64), startBy(method), 5, {.depth = 2}),
          program(engine::GraphProgram::compile(GraphBuilder()
                                                    .node("input", "input")
                                                    .node("c", "conv2d", std::move(params))
                                                    .node("relu", "activation", {{"function", std::string("relu")}})
                                                    .node("output", "output")
                                                    .wire("input", "c")
                                                    .wire("c", "relu")
                                                    .wire("relu", "output")
                                                    .build(),
                                                {.ref = projects::GraphRef::block("b"),
                                                 .prefix = "b.",
                                                 .sizes = sizes,
                                                 .entering = projects::Shape{{projects::kBatch, 3, 6, 6}},
                                                 .fedByPass = {},
                                                 .residualWriters = {},
                                                 .plan = plan,
                                                 .rotaryTables = tables,
                                                 .tiedNode = {},
                                                 .tied = {}}))
    {
    }
    static projects::Initialisation startBy(LowRankMethod method)
    {
        projects::Initialisation initialisation;
        initialisation.scale = 0.5;
        initialisation.lowRank = method;
        return initialisation;
    }
    [[nodiscard]] at::Tensor weight(const std::string& name)
    {
        const auto& all = plan.all();
        return std::ranges::find(all, "b.c." + name, &engine::NamedParameter::name)->tensor;
    }
    [[nodiscard]] at::Tensor of(const at::Tensor& image)
    {
        const at::Tensor inputs[] = {image};
        return program->run(inputs, kEvaluation);
    }
};

/// Errors by which fits are told to have been given up.
std::string errorOf(const Status& status)
{
    return status ? std::string() : status.error().text();
}

} // namespace

class TestFactoredWeights : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// At full rank the factored network equals the full network that its factors come from.
    void fullRankIsTheFullNetwork_data()
    {
        QTest::addColumn<QString>("block");
        for (const char* const block : {"transformer", "transformer-qkv", "gpt", "mlp"}) {
            QTest::newRow(block) << QString(block);
        }
    }
    void fullRankIsTheFullNetwork()
    {
        QFETCH(QString, block);
        const Project whole = tinyLanguage(block.toStdString(), block == "transformer-qkv" ? "dca" : "plain", 3);
        const auto full = compiled(whole);
        const auto inFactors = compiled(factored(whole, projects::RankScale{1}, LowRankMethod::Spectral));
        const engine::DeviceBatch batch = randomBatch(whole, 2, 5, 7);
        const at::Tensor expected = full->forward(batch.input, kEvaluation);
        QVERIFY(distance(inFactors->forward(batch.input, kEvaluation), expected) < 1e-11);
        // The stem and the head are what they were, and no weight of the blocks is left whole.
        for (const engine::NamedParameter& each : inFactors->parameters()) {
            const bool matrix = each.tensor.dim() > 1 && each.name.starts_with("layers.");
            QVERIFY2(!matrix || !each.name.ends_with("weight"), each.name.c_str());
        }
        QVERIFY(at::equal(parameter(*inFactors, "head.logits.weight"), parameter(*full, "head.logits.weight")));
    }

    /// A pass that runs parts of heads and MLPs takes the matching rows of u and columns of v.
    void partsOfFactors()
    {
        const Project whole = tinyLanguage("gpt", "plain", 3);
        const auto full = compiled(whole);
        const auto inFactors = compiled(factored(whole, projects::RankScale{1}, LowRankMethod::Spectral));
        const engine::DeviceBatch batch = randomBatch(whole, 2, 5, 7);
        engine::Pass pass = kEvaluation;
        for (std::uint64_t layer = 0; layer < 3; ++layer) {
            engine::LayerUse use;
            use.heads = {.sampling = projects::DropSampling::FixedSize, .keep = 0.5, .key = 11 + layer};
            use.mlp = {.sampling = projects::DropSampling::FixedSize, .keep = 0.5, .key = 21 + layer};
            use.mlpParts = 4;
            pass.layers.push_back(use);
        }
        const at::Tensor expected = full->forward(batch.input, pass);
        QVERIFY(distance(expected, full->forward(batch.input, kEvaluation)) > 1e-3);
        QVERIFY(distance(inFactors->forward(batch.input, pass), expected) < 1e-11);
    }

    void gradients_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<projects::FactorDecay>("decay");
        QTest::newRow("transformer") << "transformer" << projects::FactorDecay::Factors;
        QTest::newRow("gpt") << "gpt" << projects::FactorDecay::Factors;
        QTest::newRow("Frobenius decay") << "transformer" << projects::FactorDecay::Product;
    }
    void gradients()
    {
        QFETCH(QString, block);
        QFETCH(projects::FactorDecay, decay);
        Project project =
            factored(tinyLanguage(block.toStdString(), "plain", 2), projects::FixedRank{3}, LowRankMethod::Baseline);
        project.training.factorDecay = decay;
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") { // one of them whole beside the others
                node.params["k_rank"] = std::string("full");
            }
        }
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 6);
        QVERIFY2(check.worst < 1e-7, check.name.c_str());
    }

    /// Adds λ/2·‖u·v‖_F² to the objective. The factors themselves do not decay.
    void frobeniusDecay()
    {
        Project project = factored(tinyLanguage("mlp", "plain", 2), projects::FixedRank{2}, LowRankMethod::Spectral);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const double alone = compiled(project)->loss(batch, kTraining).item<double>();
        project.training.factorDecay = projects::FactorDecay::Product;
        project.training.frobeniusDecay = 0.7;
        const auto network = compiled(project);
        double expected = 0;
        for (const std::string layer : {"layers.1.", "layers.2."}) {
            for (const std::string node : {"up.", "down."}) {
                expected += 0.35 * productOf(*network, layer + node).square().sum().item<double>();
            }
        }
        QVERIFY(expected > 0.01);
        const double added = network->loss(batch, kTraining).item<double>() - alone;
        QVERIFY(std::abs(added - expected) < 1e-12);
        QCOMPARE(network->loss(batch, kEvaluation).item<double>(), alone);
        for (const engine::NamedParameter& each : network->parameters()) {
            const bool factor = each.name.ends_with(".u") || each.name.ends_with(".v");
            QVERIFY2(!factor || each.decay == engine::Decay::No, each.name.c_str());
        }
        project.training.factorDecay = projects::FactorDecay::Factors;
        QCOMPARE(
            std::ranges::find(compiled(project)->parameters(), "layers.1.up.u", &engine::NamedParameter::name)->decay,
            engine::Decay::Yes);
    }

    /// A layer that a step leaves out is not changed by the decay of its products.
    void frobeniusDecayIsOfWhatRuns()
    {
        Project project = factored(tinyLanguage("mlp", "plain", 2), projects::FixedRank{2}, LowRankMethod::Spectral);
        project.training.factorDecay = projects::FactorDecay::Product;
        project.training.frobeniusDecay = 0.7;
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        engine::Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[1].runs = false;
        engine::Pass evaluated = pass;
        evaluated.mode = engine::Mode::Evaluation;
        double expected = 0;
        for (const std::string node : {"up.", "down."}) {
            expected += 0.35 * productOf(*network, "layers.1." + node).square().sum().item<double>();
        }
        const at::Tensor loss = network->loss(batch, pass);
        const double alone = network->loss(batch, evaluated).item<double>();
        QVERIFY(std::abs(loss.item<double>() - alone - expected) < 1e-12);
        loss.backward();
        for (const engine::NamedParameter& each : network->parameters()) {
            if (each.name.starts_with("layers.")) {
                QVERIFY2(each.tensor.grad().defined() == each.name.starts_with("layers.1."), each.name.c_str());
            }
        }
    }

    /// A factored convolution equals the direct one with the product of its factors as C_out × (C_in · kernel²).
    void convolutionByFactors()
    {
        for (const std::int64_t stride : {1, 2}) {
            Image image({{"out", std::int64_t{5}}, {"rank", std::int64_t{2}}, {"stride", stride}, {"bias", true}},
                        LowRankMethod::Baseline);
            QVERIFY2(image.program.ok(), image.program ? "" : image.program.error().text().c_str());
            QVERIFY(image.plan.fill());
            QVERIFY(image.weight("u").sizes() == (at::IntArrayRef{5, 2}));
            QVERIFY(image.weight("v").sizes() == (at::IntArrayRef{2, 3, 3, 3}));
            const at::NoGradGuard noGrad;
            image.weight("bias").copy_(randomTensor({5}, 3));
            const at::Tensor whole = at::matmul(image.weight("u"), image.weight("v").flatten(1)).reshape({5, 3, 3, 3});
            const at::Tensor x = randomTensor({2, 3, 6, 6}, 4);
            const at::Tensor expected =
                at::conv2d(x, whole, image.weight("bias"), stride, at::IntArrayRef{1, 1}).relu();
            QVERIFY(distance(image.of(x), expected) < 1e-13);
        }
    }
    void aConvolutionsFitIsOfItsUnfoldedWeight()
    {
        Image full({{"out", std::int64_t{5}}}, LowRankMethod::Spectral);
        Image inFactors({{"out", std::int64_t{5}}, {"rank", 1.0}}, LowRankMethod::Spectral);
        QVERIFY(full.plan.fill());
        QVERIFY(inFactors.plan.fill());
        const at::Tensor x = randomTensor({2, 3, 6, 6}, 4);
        QVERIFY(distance(inFactors.of(x), full.of(x)) < 1e-12);
    }

    /// A convolution factored by kernel side equals the direct one with the product of its factors as (C_out · kernel)
    /// × (C_in · kernel), also if strides, paddings and image sides differ.
    void convolutionBySide()
    {
        for (const std::int64_t stride : {1, 2}) {
            for (const std::int64_t padding : {0, 1, 2}) {
                Image image({{"out", std::int64_t{5}},
                             {"rank", std::int64_t{2}},
                             {"stride", stride},
                             {"padding", padding},
                             {"bias", true},
                             {"unfolding", std::string("by_side")}},
                            LowRankMethod::Baseline);
                QVERIFY2(image.program.ok(), image.program ? "" : image.program.error().text().c_str());
                QVERIFY(image.plan.fill());
                QVERIFY(image.weight("u").sizes() == (at::IntArrayRef{15, 2}));
                QVERIFY(image.weight("v").sizes() == (at::IntArrayRef{2, 3, 1, 3}));
                const at::NoGradGuard noGrad;
                image.weight("bias").copy_(randomTensor({5}, 3));
                const at::Tensor product = at::matmul(image.weight("u"), image.weight("v").flatten(1));
                const at::Tensor whole = product.reshape({5, 3, 3, 3}).permute({0, 2, 1, 3}); // out, row, in, column
                QVERIFY(distance(engine::unfolded(whole, engine::Unfolding::BySide), product) == 0);
                const at::Tensor x = randomTensor({2, 3, 6, 6}, 4);
                const at::Tensor expected =
                    at::conv2d(x, whole, image.weight("bias"), stride, at::IntArrayRef{padding, padding}).relu();
                QVERIFY(distance(image.of(x), expected) < 1e-13);
            }
        }
    }
    /// At full rank every method returns the full weight, whatever its input and activation.
    void aFitBySideIsOfTheWeight()
    {
        const std::map<std::string, projects::ParamValue> bySide{
            {"out", std::int64_t{5}}, {"rank", 1.0}, {"unfolding", std::string("by_side")}};
        const at::Tensor x = randomTensor({2, 3, 6, 6}, 4);
        for (const LowRankMethod method : {LowRankMethod::Spectral, LowRankMethod::ReluSvd, LowRankMethod::Exact}) {
            Image full({{"out", std::int64_t{5}}}, method);
            Image inFactors(bySide, method);
            QVERIFY(full.plan.fill());
            inFactors.plan.setFits({.inputs = {.moments = {{"b.c.weight", at::eye(27, at::kDouble)}}}});
            QVERIFY(inFactors.plan.fill());
            QVERIFY(distance(inFactors.of(x), full.of(x)) < 1e-6);
        }
        // Below it, the spectral start is the nearest matrix: no other of its rank is nearer to the weight.
        Image full({{"out", std::int64_t{5}}}, LowRankMethod::Spectral);
        auto half = bySide;
        half["rank"] = std::int64_t{4};
        Image spectral(half, LowRankMethod::Spectral);
        Image fitted(half, LowRankMethod::Exact);
        const auto errorOfFit = [&](Image& image) {
            const at::NoGradGuard noGrad;
            (void)image.plan.fill();
            const at::Tensor product = at::matmul(image.weight("u"), image.weight("v").flatten(1));
            return distance(product, engine::unfolded(full.weight("weight"), engine::Unfolding::BySide));
        };
        QVERIFY(full.plan.fill());
        const double nearest = errorOfFit(spectral);
        QVERIFY(nearest > 1e-3);
        QVERIFY(std::abs(errorOfFit(fitted) - nearest) < 1e-4);
    }

    /// The moments are those of the inputs that the weight multiplies. For a convolution these are the patches.
    void momentsOfInputs()
    {
        Image image({{"out", std::int64_t{5}}, {"bias", false}}, LowRankMethod::Baseline);
        QVERIFY(image.plan.fill());
        engine::WeightInputs inputs;
        engine::Pass pass = kEvaluation;
        pass.weightInputs = &inputs;
        const at::Tensor x = randomTensor({2, 3, 6, 6}, 4);
        const at::Tensor given[] = {x};
        (void)image.program->run(given, pass);
        const at::Tensor moments = inputs.momentsOf(image.weight("weight"));
        QVERIFY(moments.sizes() == (at::IntArrayRef{27, 27}));
        // The mean square of the weight's product with them is that of its outputs.
        const at::NoGradGuard noGrad;
        const at::Tensor w = image.weight("weight").flatten(1);
        const at::Tensor y = at::conv2d(x, image.weight("weight"), {}, 1, at::IntArrayRef{1, 1});
        const double expected = y.square().sum().item<double>() / (2 * 36);
        QVERIFY(std::abs((at::matmul(w, moments) * w).sum().item<double>() - expected) < 1e-10);
        QVERIFY(!inputs.momentsOf(x).defined());

        const Project project = tinyLanguage("transformer", "plain", 1);
        const auto network = compiled(project);
        engine::WeightInputs seen;
        pass.weightInputs = &seen;
        (void)network->forward(randomBatch(project, 2, 5, 7).input, pass);
        for (const char* const name : {"layers.1.attention.q.weight", "layers.1.attention.out.weight",
                                       "layers.1.gate.weight", "layers.1.up.weight", "layers.1.down.weight"}) {
            const at::Tensor of = seen.momentsOf(parameter(*network, name));
            QVERIFY2(of.defined() && of.size(0) == parameter(*network, name).size(1), name);
        }
    }

    /// Each factor is drawn by its own law, as low-rank nodes of earlier files are.
    void baselineDrawsEachFactor()
    {
        Project project = factored(tinyLanguage("mlp", "plain", 2), projects::FixedRank{3}, LowRankMethod::Baseline);
        project.initialisation.law = projects::InitLaw::Orthogonal;
        project.initialisation.scale = 0.5;
        const auto network = compiled(project);
        const at::Tensor v = parameter(*network, "layers.1.up.v").detach();
        QVERIFY(distance(at::matmul(v, v.t()), 0.25 * at::eye(3, at::kDouble)) < 1e-12);
        const at::Tensor u = parameter(*network, "layers.1.down.u").detach(); // it writes to the residual
        QVERIFY(distance(at::matmul(u.t(), u), 0.25 / 4 * at::eye(3, at::kDouble)) < 1e-12);
    }

    /// u·v is computed from the matrix that the full network draws. It has the same scale by depth and start factor.
    void spectralIsOfTheFullDraw()
    {
        Project project = tinyLanguage("mlp", "plain", 2);
        project.network.blocks[0].graph.nodes[1].params["start"] = 3.0;
        const auto full = compiled(project);
        const auto network = compiled(factored(project, projects::FixedRank{3}, LowRankMethod::Spectral));
        for (const std::string weight : {"layers.1.up.", "layers.2.down."}) {
            const at::Tensor whole = parameter(*full, weight + "weight").detach();
            const at::Tensor rest = whole - productOf(*network, weight);
            // Orthogonal to the product, as what is left by the largest singular values is.
            QVERIFY(at::matmul(rest.t(), productOf(*network, weight)).abs().max().item<double>() < 1e-11);
            QVERIFY(rest.square().sum().item<double>() < 0.7 * whole.square().sum().item<double>());
            const at::Tensor u = parameter(*network, weight + "u").detach();
            const at::Tensor v = parameter(*network, weight + "v").detach();
            QVERIFY(distance(at::matmul(u.t(), u), at::matmul(v, v.t())) < 1e-11); // √Σ on each side
        }
    }

    /// A weight of zeros gives zero output, but its factors get gradients.
    void aWeightOfZerosCanLearn()
    {
        Project project = tinyLanguage("mlp", "plain", 1);
        project.network.blocks[0].graph.nodes[3].params["start"] = 0.0;
        const auto network = compiled(factored(project, projects::FixedRank{3}, LowRankMethod::Exact));
        QVERIFY(!parameter(*network, "layers.1.down.u").any().item<bool>());
        network->loss(randomBatch(project, 2, 5, 7), kTraining).backward();
        QVERIFY(parameter(*network, "layers.1.down.u").grad().any().item<bool>());
    }

    void fitsHaveTheSameBitsOnAnyNumberOfThreads()
    {
        const Project project =
            factored(tinyLanguage("transformer", "plain", 3), projects::FixedRank{3}, LowRankMethod::Exact);
        const auto one = compiled(project);
        at::set_num_threads(3);
        const auto three = compiled(project);
        at::set_num_threads(1);
        for (std::size_t i = 0; i < one->parameters().size(); ++i) {
            QVERIFY2(at::equal(one->parameters()[i].tensor, three->parameters()[i].tensor),
                     one->parameters()[i].name.c_str());
        }
    }

    void weightsWithoutAnActivationAreNotSearched()
    {
        const Project project = tinyLanguage("mlp", "plain", 1);
        const auto exact = compiled(factored(project, projects::FixedRank{3}, LowRankMethod::Exact));
        const auto spectral = compiled(factored(project, projects::FixedRank{3}, LowRankMethod::Spectral));
        QVERIFY(at::equal(parameter(*exact, "layers.1.down.u"), parameter(*spectral, "layers.1.down.u")));
        QVERIFY(!at::equal(parameter(*exact, "layers.1.up.u"), parameter(*spectral, "layers.1.up.u")));
        QCOMPARE(exact->initPlan().notes().size(), std::size_t{1});
        QVERIFY(exact->initPlan().notes().front().find("1 factored weight") == 0);
        QVERIFY(spectral->initPlan().notes().empty());
    }

    void fitsAreGivenUp()
    {
        const Project project = factored(tinyLanguage("mlp", "plain", 2), projects::FixedRank{3}, LowRankMethod::Exact);
        const auto network = *engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
        const auto notWhileFitting = [](double share) { return share <= 0.05; };
        QCOMPARE(QString::fromStdString(errorOf(network->initialise(notWhileFitting, {}))),
                 QString("[initialisation] was given up"));
        double last = 0;
        QVERIFY(network->initialise(
            [&](double share) {
                const bool rises = share >= last;
                last = share;
                return rises;
            },
            {}));
    }

    /// Cached fits are read again and damaged ones are recomputed. If nothing can be cached, the fits are still used.
    void theCacheIsSurvived()
    {
        const QTemporaryDir folder;
        const std::filesystem::path cache = std::filesystem::path(folder.path().toStdString()) / "fits";
        const Project project = factored(tinyLanguage("mlp", "plain", 2), projects::FixedRank{3}, LowRankMethod::Exact);
        const auto startedWith = [&](const std::filesystem::path& path) {
            auto network = *engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
            network->initPlan().setFits({.cache = {path}});
            if (const Status started = network->initialise({}, {}); !started) {
                throw std::runtime_error(started.error().text());
            }
            return network;
        };
        const auto first = startedWith(cache);
        const auto same = [&](engine::CompiledNetwork& other) {
            bool equal = true;
            for (std::size_t i = 0; i < first->parameters().size(); ++i) {
                equal = equal && at::equal(first->parameters()[i].tensor, other.parameters()[i].tensor);
            }
            return equal;
        };
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(cache)) {
            files.push_back(entry.path());
        }
        QCOMPARE(files.size(), std::size_t{4});
        const std::filesystem::path second = folder.path().toStdString() + "/second name";
        std::filesystem::create_hard_link(files.front(), second);
        const auto again = startedWith(cache);
        QVERIFY(same(*again));
        QCOMPARE(std::filesystem::hard_link_count(second), std::uintmax_t{2}); // it was not written again
        QCOMPARE(again->initPlan().notes().size(), std::size_t{1});            // of what nothing follows

        for (const auto& file : files) { // a byte of the numbers is turned over
            std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
            stream.seekg(-3, std::ios::end);
            const char byte = static_cast<char>(stream.get() ^ 0x55);
            stream.seekp(-3, std::ios::end);
            stream.put(byte);
        }
        const auto repaired = startedWith(cache);
        QVERIFY(same(*repaired));
        const auto& notes = repaired->initPlan().notes();
        QVERIFY(std::ranges::any_of(notes, [](const std::string& note) {
            return note.starts_with("cache of fits: ") && note.find("is damaged") != std::string::npos;
        }));
        QVERIFY(same(*startedWith(cache)));
        QCOMPARE(startedWith(cache)->initPlan().notes().size(), std::size_t{1});

        std::ofstream(folder.path().toStdString() + "/file") << "in the way";
        const auto uncached = startedWith(folder.path().toStdString() + "/file/fits");
        QVERIFY(same(*uncached));
        QVERIFY(uncached->initPlan().notes().back().find("is not kept for another time") != std::string::npos);
    }

    /// Each input of a fit changes the name of its file.
    void filesAreOfProblems()
    {
        engine::LowRankProblem problem;
        problem.out = 2;
        problem.in = 3;
        problem.rank = 1;
        problem.weight = {1, 2, 3, 4, 5, 6};
        const auto keyOf = [](const engine::LowRankProblem& of, engine::LowRankMethod method) {
            return engine::fitJob(of, method).key;
        };
        std::vector<std::string> names{keyOf(problem, engine::LowRankMethod::Exact)};
        names.push_back(keyOf(problem, engine::LowRankMethod::Spectral));
        const auto changed = [&](const auto& change) {
            engine::LowRankProblem other = problem;
            change(other);
            names.push_back(keyOf(other, engine::LowRankMethod::Exact));
        };
        changed([](auto& p) { p.weight[5] = 7; });
        changed([](auto& p) { std::swap(p.out, p.in); });
        changed([](auto& p) { p.rank = 2; });
        changed([](auto& p) { p.follows = engine::Nonlinearity::Silu; });
        changed([](auto& p) { p.seed = 1; });
        changed([](auto& p) { p.covariance = {1, 0, 0, 0, 1, 0, 0, 0, 1}; });
        changed([](auto& p) { p.lfai.epochs = 7; });
        engine::LowRankProblem drawn = problem;
        drawn.drawnLeft = {1, 2};
        for (const auto* const of : {&problem, &drawn}) { // the one that starts from the draw
            names.push_back(keyOf(*of, engine::LowRankMethod::Lfai));
        }
        QCOMPARE(keyOf(drawn, engine::LowRankMethod::Exact), names.front());
        const std::set<std::string> different(names.begin(), names.end());
        QCOMPARE(different.size(), names.size());
        QCOMPARE(keyOf(problem, engine::LowRankMethod::Exact), names.front());
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestFactoredWeights)
#include "tst_factored_weights.moc"
