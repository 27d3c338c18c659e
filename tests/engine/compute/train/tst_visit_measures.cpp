// SPDX-License-Identifier: GPL-3.0-or-later
// A loop over its visits: a linear block against closed forms, and gradients against autograd of untied layers.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/train/trainer.h"
#include "engine/compute/train/visit_measures.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/alteration.h"
#include "projects/transfer/ties.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/diag.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

using namespace residua;
using namespace residua::tests;
using engine::VisitMeasure;
using projects::Loop;
using projects::Project;

namespace {

constexpr std::int64_t kVisitBatches = 2;
constexpr double kApart = 0.25;

engine::TrainerParts loopParts(const Project& project)
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return std::move(*parts);
}

/// A linear block h + W·h that is visited several times, on vectors of 6 features.
Project linearLoop(projects::LoopInjection injection)
{
    Project project = tinyVectors("linear", "plain", 1);
    project.data.source = projects::LowRankRegression{.dim = 6, .rank = 3, .samples = 200};
    project.data.validationFraction = 0.2;
    project.network.objective = projects::Objective::MeanSquaredError;
    project.training.batch = 10;
    Loop loop{.first = 1, .last = 1, .visits = 4};
    loop.injection = injection;
    project.stack().loops = {loop};
    return project;
}

Project languageLoop(const std::string& topology, const Loop& loop)
{
    Project project = tinyLanguage("transformer", topology, 4);
    project.stack().loops = {loop};
    project.stack().topology = topologyNamed(topology, project.network);
    project.training.batch = 2;
    project.training.sequenceLength = 6;
    return project;
}

engine::VisitMeasures measuredLoop(engine::TrainerParts& parts, std::int64_t batches = kVisitBatches)
{
    engine::VisitMeasures measures(*parts.network, *parts.dataset, parts.project, parts.device, batches, 0, 0, kApart);
    while (!measures.atEnd()) {
        if (const Status done = measures.advance(); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
    return measures;
}

/// Returns the values of a measure, or an empty list if it has none.
std::vector<double> visitValues(const engine::VisitMeasures& measures, VisitMeasure measure, std::int64_t layer = 0)
{
    for (const engine::VisitCurve& curve : measures.curves()) {
        if (curve.measure == measure && curve.layer == layer) {
            return curve.values;
        }
    }
    return {};
}

double lengthIn(const at::Tensor& x)
{
    return x.norm().item<double>();
}

bool isClose(double got, double expected, double within = 1e-10)
{
    return std::abs(got - expected) <= within * (1 + std::abs(expected));
}

/// Returns the held-out examples of the first batches, together.
at::Tensor heldOut(engine::TrainerParts& parts)
{
    engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                 kVisitBatches);
    std::vector<at::Tensor> inputs;
    for (std::int64_t i = 0; i < kVisitBatches; ++i) {
        inputs.push_back((**batches.next()).input.clone());
    }
    return at::cat(inputs, 0);
}

/// Makes the block's map I + W equal to `map`.
void setMap(engine::CompiledNetwork& network, const at::Tensor& map)
{
    const at::NoGradGuard noGrad;
    parameter(network, "layers.1.weight.weight").copy_(map - at::eye(6, at::kDouble));
}

at::Tensor rotation(std::uint64_t seed)
{
    return std::get<0>(at::linalg_qr(randomTensor({6, 6}, seed)));
}

} // namespace

class TestVisitMeasures : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// h_v = A·(h_(v−1) + e) from visit 2 on, with a symmetric A of eigenvalues 0.8, 0.1, …
    void linearLoopEqualsItsClosedForm()
    {
        engine::TrainerParts parts =
            loopParts(projects::withMoreVisits(linearLoop(projects::LoopInjection::Add), engine::kSettledVisits + 1));
        const at::Tensor basis = rotation(3);
        const at::Tensor values = at::tensor({0.8, 0.1, -0.1, 0.05, 0.02, 0.0}, at::kDouble);
        const at::Tensor map = at::matmul(at::matmul(basis, at::diag(values)), basis.t());
        setMap(*parts.network, map);
        const engine::VisitMeasures measures = measuredLoop(parts);
        QVERIFY(measures.notes().empty());
        QCOMPARE(measures.batchesDone(), kVisitBatches);
        const at::Tensor e = heldOut(parts);
        std::vector<at::Tensor> states{e, at::matmul(e, map)};
        while (states.size() < engine::kSettledVisits + 2) {
            states.push_back(at::matmul(states.back() + e, map));
        }
        const auto rows = static_cast<double>(e.size(0));
        for (std::size_t v = 1; v <= 4; ++v) {
            const at::Tensor step = states[v] - states[v - 1];
            const auto of = [&](VisitMeasure measure) { return visitValues(measures, measure).at(v - 1); };
            QVERIFY(isClose(of(VisitMeasure::Change), lengthIn(step) / lengthIn(states[v])));
            QVERIFY(isClose(of(VisitMeasure::Cosine),
                            at::cosine_similarity(states[v - 1], states[v], 1).mean().item<double>()));
            if (v > 1) {
                const at::Tensor turn = step - (states[v - 1] - states[v - 2]);
                QVERIFY(isClose(of(VisitMeasure::Acceleration), lengthIn(turn) / std::sqrt(rows)));
            }
            QVERIFY2(isClose(of(VisitMeasure::Radius), 0.8, 1e-6),
                     qPrintable(QString::number(of(VisitMeasure::Radius))));
        }
        QCOMPARE(visitValues(measures, VisitMeasure::Change).size(), std::size_t{4}); // of an evaluation
        QVERIFY(std::isnan(visitValues(measures, VisitMeasure::Acceleration).front()));
        const std::vector<double> residual = visitValues(measures, VisitMeasure::Residual);
        QCOMPARE(residual.size(), static_cast<std::size_t>(engine::kSettledVisits));
        for (const std::size_t v : {std::size_t{1}, std::size_t{7}, residual.size()}) {
            QVERIFY(isClose(residual[v - 1], lengthIn(states[v + 1] - states[v]) / lengthIn(states[v])));
        }
        // The fixed point is (I − A)⁻¹·A·e, which 50 visits approach as 0.8⁵⁰.
        const at::Tensor settled =
            at::matmul(at::matmul(e, basis), at::matmul(at::diag(values / (1 - values)), basis.t()));
        QVERIFY(lengthIn(states.back() - settled) < 1e-4 * lengthIn(settled));
        QVERIFY(residual.back() < 1e-4);
    }

    /// With half of a rotation every start comes closer by a half, and all eigenvalues have the modulus ½.
    void rotationsHaveARadius()
    {
        engine::TrainerParts parts = loopParts(linearLoop(projects::LoopInjection::None));
        setMap(*parts.network, rotation(5) / 2);
        const engine::VisitMeasures measures = measuredLoop(parts);
        for (std::size_t v = 1; v <= 4; ++v) {
            QVERIFY(isClose(visitValues(measures, VisitMeasure::Radius).at(v - 1), 0.5, 1e-12));
            QVERIFY(isClose(visitValues(measures, VisitMeasure::PathGap).at(v - 1), std::pow(0.5, v), 1e-12));
        }
        for (const double ratio : std::vector<double>{visitValues(measures, VisitMeasure::WriteRatio, 1).at(1),
                                                      visitValues(measures, VisitMeasure::WriteRatio, 1).at(3)}) {
            QVERIFY(isClose(ratio, 0.5, 1e-12)); // W·h_v = W·A·h_(v−1), and W commutes with A
        }
        QCOMPARE(measures.notes().size(), std::size_t{1}); // it was not given more visits
    }

    void gradientsEqualThoseOfUntiedLayers_data()
    {
        QTest::addColumn<bool>("recompute");
        QTest::newRow("kept") << false;
        QTest::newRow("recomputed") << true;
    }
    void gradientsEqualThoseOfUntiedLayers()
    {
        QFETCH(bool, recompute);
        Project project = languageLoop("plain", {.first = 2, .last = 3, .visits = 3});
        project.training.activations = recompute ? projects::Activations::Recompute : projects::Activations::Keep;
        engine::TrainerParts parts = loopParts(project);
        shake(*parts.network, 0.2, 4);
        const auto made = projects::untied(project);
        QVERIFY(made.ok());
        const auto copies = compiled(made->project);
        const auto sourceOf = [&](std::int64_t layer) { // the visit that a stored layer of the untied document was
            return project.stack().visitAt(made->layers[static_cast<std::size_t>(layer - 1)]);
        };
        for (engine::NamedParameter& target : copies->parameters()) {
            const at::NoGradGuard noGrad;
            projects::ParameterName name = projects::parameterNameFrom(target.name);
            name.layer = name.layer > 0 ? sourceOf(name.layer).layer : 0;
            target.tensor.copy_(parameter(*parts.network, textOf(name)));
        }
        const engine::VisitMeasures measures = measuredLoop(parts, 1);
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     1);
        const engine::DeviceBatch batch = **batches.next();
        const at::Tensor loss = copies->loss(batch, kEvaluation);
        QVERIFY(isClose(measures.loss(), loss.item<double>()));
        loss.backward();
        for (const std::int64_t layer : {2, 3}) {
            std::map<std::string, at::Tensor> sums;
            double alone = 0;
            for (std::int64_t visit = 1; visit <= 3; ++visit) {
                double squares = 0;
                for (const engine::NamedParameter& each : copies->parameters()) {
                    const projects::ParameterName name = projects::parameterNameFrom(each.name);
                    if (name.layer > 0 && sourceOf(name.layer) == projects::LayerVisit{layer, visit}) {
                        squares += std::pow(lengthIn(each.tensor.grad()), 2);
                        at::Tensor& sum = sums[std::string(name.rest)];
                        sum = sum.defined() ? sum + each.tensor.grad() : each.tensor.grad();
                    }
                }
                QVERIFY(squares > 0);
                QVERIFY(isClose(
                    visitValues(measures, VisitMeasure::Gradient, layer).at(static_cast<std::size_t>(visit - 1)),
                    std::sqrt(squares)));
                alone += squares;
            }
            double together = 0;
            for (const auto& [name, sum] : sums) {
                together += std::pow(lengthIn(sum), 2);
            }
            QVERIFY(isClose(visitValues(measures, VisitMeasure::Alignment, layer).at(0), together / alone));
        }
        QVERIFY(visitValues(measures, VisitMeasure::Gradient, 1).empty()); // it is not in the loop
    }

    void gradientsAddUpToThatOfTheLoop_data()
    {
        QTest::addColumn<int>("of");
        for (int of = 0; of < 5; ++of) {
            QTest::addRow("%d", of) << of;
        }
    }
    void gradientsAddUpToThatOfTheLoop()
    {
        QFETCH(int, of);
        Loop loop{.first = 2, .last = 3, .visits = 3};
        loop.injection = of == 1 ? projects::LoopInjection::Linear : projects::LoopInjection::Add;
        loop.start = of == 2 ? projects::LoopStart::Noise : projects::LoopStart::Input;
        loop.gate = of == 0;
        loop.embedding = of == 3;
        loop.norm = of == 2 ? projects::LoopNorm::Exit : projects::LoopNorm::Visits;
        if (of >= 3) {
            loop.streams = of == 3 ? projects::LoopStreams::Gated : projects::LoopStreams::Lanes;
            loop.streamCount = 2;
            loop.injection = projects::LoopInjection::None;
        }
        engine::TrainerParts parts = loopParts(languageLoop(of == 1 ? "rezero" : "plain", loop));
        shake(*parts.network, 0.2, 4);
        const engine::VisitMeasures measures = measuredLoop(parts, 1);
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     1);
        const at::Tensor loss = parts.network->loss(**batches.next(), kEvaluation);
        QVERIFY(isClose(measures.loss(), loss.item<double>()));
        loss.backward();
        for (const std::int64_t layer : {2, 3}) {
            double together = 0;
            for (const engine::NamedParameter& each : parts.network->parameters()) {
                if (projects::parameterNameFrom(each.name).part == projects::NetworkPart::Layers &&
                    projects::parameterNameFrom(each.name).layer == layer) {
                    together += std::pow(lengthIn(each.tensor.grad()), 2);
                }
            }
            double alone = 0;
            for (const double norm : visitValues(measures, VisitMeasure::Gradient, layer)) {
                alone += norm * norm;
            }
            const double got = visitValues(measures, VisitMeasure::Alignment, layer).at(0) * alone;
            QVERIFY2(isClose(got, together), qPrintable(QString("%1 for %2").arg(got).arg(together)));
        }
        QCOMPARE(visitValues(measures, VisitMeasure::Change).size(), std::size_t{3});
        const std::vector<double> radii = visitValues(measures, VisitMeasure::Radius);
        QCOMPARE(radii.size(), std::size_t{3});
        QCOMPARE(std::isnan(radii[0]), of >= 3); // streams begin with one state
        QVERIFY(radii[1] > 0 && std::isfinite(radii[1]));
        QVERIFY(visitValues(measures, VisitMeasure::PathGap).at(2) > 0);
    }

    /// Layers that read earlier visits have the measures of states alone.
    void visitsThatReadEarlierOnesHaveStatesAlone()
    {
        engine::TrainerParts parts = loopParts(languageLoop("ancre-ingoing", {.first = 2, .last = 3, .visits = 3}));
        shake(*parts.network, 0.2, 4);
        const engine::VisitMeasures measures = measuredLoop(parts);
        for (const VisitMeasure measure :
             {VisitMeasure::Gradient, VisitMeasure::Radius, VisitMeasure::PathGap, VisitMeasure::Residual}) {
            QVERIFY(visitValues(measures, measure, measure == VisitMeasure::Gradient ? 2 : 0).empty());
        }
        QCOMPARE(measures.notes().size(), std::size_t{2});
        QCOMPARE(visitValues(measures, VisitMeasure::Change).size(), std::size_t{3});
        QCOMPARE(visitValues(measures, VisitMeasure::WriteCosine, 3).size(), std::size_t{3});
    }

    /// The states of a plain network are the outputs of its first layers.
    void statesAreThoseOfTheLayers()
    {
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = loopParts(languageLoop("plain", {.first = 2, .last = 3, .visits = 2}));
        shake(*parts.network, 0.2, 4);
        const engine::VisitMeasures measures = measuredLoop(parts, 1);
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     1);
        const engine::DeviceBatch batch = **batches.next();
        const auto after = [&](std::size_t layers) {
            engine::Pass pass;
            pass.layers.resize(6);
            for (std::size_t layer = layers; layer < 6; ++layer) {
                pass.layers[layer].runs = false;
            }
            return parts.network->stackOutput(batch, pass).reshape({-1, 8});
        };
        const at::Tensor states[] = {after(1), after(3), after(5)};
        for (std::size_t v = 1; v <= 2; ++v) {
            const at::Tensor a = states[v - 1] - states[v - 1].mean(0);
            const at::Tensor b = states[v] - states[v].mean(0);
            QVERIFY(isClose(visitValues(measures, VisitMeasure::Change).at(v - 1),
                            lengthIn(states[v] - states[v - 1]) / lengthIn(states[v])));
            QVERIFY(isClose(visitValues(measures, VisitMeasure::CentredCosine).at(v - 1),
                            at::cosine_similarity(a, b, 1).mean().item<double>()));
        }
        const at::Tensor first = after(2) - after(1);
        const at::Tensor second = after(4) - after(3);
        QVERIFY(isClose(visitValues(measures, VisitMeasure::WriteCosine, 2).at(1),
                        at::cosine_similarity(first, second, 1).mean().item<double>()));
        QVERIFY(isClose(visitValues(measures, VisitMeasure::WriteRatio, 2).at(1), lengthIn(second) / lengthIn(first)));
    }

    void refusalsNameTheWayOn()
    {
        const auto refusal = [](const Project& project, std::int64_t loop = 1) {
            const Status status = engine::checkVisits(project, loop);
            return QString::fromStdString(status ? std::string() : status.error().text());
        };
        const Loop loop{.first = 2, .last = 3, .visits = 3};
        QVERIFY(refusal(languageLoop("plain", loop)).isEmpty());
        QVERIFY(refusal(tinyLanguage("transformer", "plain", 4)).contains("explain loops"));
        QVERIFY(refusal(languageLoop("plain", loop), 2).contains("expected 1 to 1"));
        QVERIFY(refusal(languageLoop("mhc", loop)).contains("--by visits"));
        Project inPlace = languageLoop("plain", loop);
        inPlace.stack().loops.front().order = projects::VisitOrder::InPlace;
        QVERIFY(refusal(inPlace).contains("\"cycle\""));
        inPlace.stack().loops.front().last = 2;
        QVERIFY(refusal(inPlace).isEmpty());
    }
};

RESIDUA_TEST(TestVisitMeasures)
#include "tst_visit_measures.moc"
