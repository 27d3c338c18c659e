// SPDX-License-Identifier: GPL-3.0-or-later
// Loops: a looped network against the same network with a copy of the weights for each visit, in double precision.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/depth/layer_dropping.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_names.h"
#include "projects/model/parameter_name.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

using namespace residua;
using namespace residua::tests;
using projects::Loop;
using projects::Project;
using projects::VisitOrder;

namespace {

/// Topologies, and the block of the layers that they need.
constexpr std::pair<const char*, const char*> kTopologies[] = {{"plain", "transformer"},
                                                               {"ancre-ingoing", "transformer"},
                                                               {"denseformer", "transformer"},
                                                               {"dca", "transformer-qkv"},
                                                               {"grn-v3", "transformer"},
                                                               {"mudd", "transformer-qkvr"},
                                                               {"attention-residuals", "transformer"},
                                                               {"mhc", "transformer"},
                                                               {"hyper-dynamic", "transformer"},
                                                               {"densenet", "transformer"},
                                                               {"highway", "transformer"},
                                                               {"laurel-pa", "transformer"},
                                                               {"post-norm", "transformer"},
                                                               {"value-residual", "transformer"}};

/// A network of 4 stored layers, of which the middle two are visited three times.
Project looped(const std::string& topology, VisitOrder order, std::int64_t visits = 3)
{
    const auto* const found = std::ranges::find(kTopologies, topology, [](const auto& each) { return each.first; });
    Project project = tinyLanguage(found->second, "plain", 4);
    project.stack().loops = {{.first = 2, .last = 3, .visits = visits, .order = order}};
    project.stack().topology = topologyNamed(topology, project.network);
    return project;
}

/// Returns the name of the looped network's parameter that a parameter of the untied one is a copy of.
std::string sourceOf(const std::string& copy, const Project& project)
{
    const projects::Stack& stack = project.stack();
    projects::ParameterName name = projects::parameterNameFrom(copy);
    if (name.layer > 0) {
        name.layer = stack.visitAt(name.layer).layer;
        return textOf(name);
    }
    const std::string rest(name.rest);
    const std::size_t digits = rest.find_first_not_of("0123456789");
    if (name.part != projects::NetworkPart::Topology || digits == 0) {
        return copy;
    }
    const std::int64_t module = std::stoll(rest.substr(0, digits));
    const std::int64_t each = projects::modulesPerLayer(project);
    const std::int64_t layer = projects::layerOf(module, each);
    const std::vector<std::int64_t> rows = projects::rowLayersOf(stack);
    if (layer > std::ssize(rows)) { // the output
        return projects::topologyParameter(module - (stack.depth() - rowStackOf(stack).depth()) * each,
                                           rest.substr(digits + 1));
    }
    return projects::topologyParameter(module + (rows[static_cast<std::size_t>(layer - 1)] - layer) * each,
                                       rest.substr(digits + 1));
}

/// Gives the untied network of the executed layers the weights of the looped one.
void copyWeights(engine::CompiledNetwork& from, const Project& project, engine::CompiledNetwork& to)
{
    const at::NoGradGuard noGrad;
    for (engine::NamedParameter& target : to.parameters()) {
        target.tensor.copy_(parameter(from, sourceOf(target.name, project)));
    }
}

at::Tensor branchOf(engine::CompiledNetwork& network, std::int64_t layer, const at::Tensor& x)
{
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    const auto affine = [&](const at::Tensor& in, const std::string& name) {
        return at::matmul(in, parameter(network, prefix + name + ".weight").t()) +
               parameter(network, prefix + name + ".bias");
    };
    return affine(at::relu(affine(x, "up")), "down");
}

} // namespace

class TestLoops : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void numbersOfVisits_data()
    {
        QTest::addColumn<int>("order");
        QTest::addColumn<QString>("names");
        QTest::addRow("cycle") << static_cast<int>(VisitOrder::Cycle) << "1.1 2.1 3.1 2.2 3.2 4.1 5.1 5.2 6.1";
        QTest::addRow("in place") << static_cast<int>(VisitOrder::InPlace) << "1.1 2.1 2.2 3.1 3.2 4.1 5.1 5.2 6.1";
    }
    void numbersOfVisits()
    {
        QFETCH(int, order);
        projects::Stack stack;
        stack.segments = {{"a", 4}, {"b", 2}};
        stack.loops = {{.first = 2, .last = 3, .visits = 2, .order = static_cast<VisitOrder>(order)},
                       {.first = 3, .last = 4, .visits = 9}, // overlaps: no effect
                       {.first = 5, .last = 5, .visits = 2},
                       {.first = 6, .last = 7, .visits = 2}}; // beyond the stack: no effect
        QCOMPARE(stack.depth(), std::int64_t{9});
        QCOMPARE(stack.stored(), std::int64_t{6});
        QString names;
        for (const projects::LayerVisit& at : executionOf(stack)) {
            names += QString(names.isEmpty() ? "%1.%2" : " %1.%2").arg(at.layer).arg(at.visit);
            QVERIFY(stack.visitAt(stack.numberOf(at)) == at);
        }
        QTEST(names, "names");
        QCOMPARE(stack.visitsOf(5), (std::vector<std::int64_t>{7, 8}));
        QVERIFY(stack.visitsOf(7).empty());
    }

    void oneVisitEqualsNoLoop_data() { topologies(); }
    void oneVisitEqualsNoLoop()
    {
        QFETCH(QString, topology);
        const Project project = looped(topology.toStdString(), VisitOrder::Cycle, 1);
        Project plain = project;
        plain.stack().loops.clear();
        const auto a = compiled(project);
        const auto b = compiled(plain);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        const at::Tensor ofA = a->loss(batch, kTraining);
        const at::Tensor ofB = b->loss(batch, kTraining);
        QVERIFY(at::equal(ofA, ofB));
        ofA.backward();
        ofB.backward();
        for (std::size_t i = 0; i < a->parameters().size(); ++i) {
            QCOMPARE(a->parameters()[i].name, b->parameters()[i].name);
            QVERIFY(at::equal(a->parameters()[i].tensor.grad(), b->parameters()[i].tensor.grad()));
        }
    }

    void loopEqualsCopiedWeights_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("order");
        QTest::addColumn<bool>("recompute");
        QTest::addColumn<bool>("shared");
        for (const auto& [topology, block] : kTopologies) {
            for (const VisitOrder order : {VisitOrder::Cycle, VisitOrder::InPlace}) {
                const bool hasRows = topology == std::string("post-norm") || topology == std::string("highway");
                for (const bool shared : hasRows ? std::vector{false, true} : std::vector{false}) {
                    QTest::addRow("%s %d %d", topology, static_cast<int>(order), static_cast<int>(shared))
                        << topology << static_cast<int>(order) << (order == VisitOrder::InPlace) << shared;
                }
            }
        }
    }
    /// The gradient of a weight is the sum of those of its copies.
    void loopEqualsCopiedWeights()
    {
        QFETCH(QString, topology);
        QFETCH(int, order);
        QFETCH(bool, recompute);
        QFETCH(bool, shared);
        Project project = looped(topology.toStdString(), static_cast<VisitOrder>(order));
        project.stack().loops.front().rows = shared ? projects::VisitRows::Layer : projects::VisitRows::Visit;
        if (recompute && topology != "value-residual") {
            project.training.activations = projects::Activations::Recompute;
        }
        Project untied = project;
        untied.stack().loops.clear();
        untied.stack().segments.front().repeat = project.stack().depth();
        const auto network = compiled(project);
        const auto copies = compiled(untied);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        copyWeights(*network, project, *copies);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        const at::Tensor got = network->loss(batch, kTraining);
        const at::Tensor expected = copies->loss(batch, kTraining);
        QVERIFY2(distance(got, expected) < 1e-12, qPrintable(QString::number(distance(got, expected))));
        got.backward();
        expected.backward();
        std::map<std::string, at::Tensor> sums;
        for (const engine::NamedParameter& each : copies->parameters()) {
            at::Tensor& sum = sums[sourceOf(each.name, project)];
            sum = sum.defined() ? sum + each.tensor.grad() : each.tensor.grad();
        }
        for (const engine::NamedParameter& each : network->parameters()) {
            const double apart = distance(each.tensor.grad(), sums.at(each.name));
            QVERIFY2(apart < 1e-12, qPrintable(QString("%1 at %2").arg(apart).arg(each.name.c_str())));
        }
    }

    void leftOutVisitsEqualCopiedWeights_data() { loopEqualsCopiedWeights_data(); }
    /// A step without the second of three visits is the untied network without those layers, in which the first visit
    /// counts twice. The gradient of a weight is the sum of those of its copies.
    void leftOutVisitsEqualCopiedWeights()
    {
        QFETCH(QString, topology);
        QFETCH(int, order);
        QFETCH(bool, recompute);
        QFETCH(bool, shared);
        Project project = looped(topology.toStdString(), static_cast<VisitOrder>(order));
        project.stack().loops.front().rows = shared ? projects::VisitRows::Layer : projects::VisitRows::Visit;
        if (recompute && topology != "value-residual") {
            project.training.activations = projects::Activations::Recompute;
        }
        Project untied = project;
        untied.stack().loops.clear();
        untied.stack().segments.front().repeat = project.stack().depth();
        project.training.steps = 1000;
        project.stack().schedule = {.stages = {{0, 6, {}}}, .unit = projects::DropUnit::Visit};
        std::vector<engine::LayerUse> uses(static_cast<std::size_t>(project.stack().depth()));
        for (std::size_t i = 0; i < uses.size(); ++i) {
            const projects::LayerVisit at = project.stack().visitAt(static_cast<std::int64_t>(i) + 1);
            const bool isVisited = project.stack().loopOf(at.layer) != nullptr;
            uses[i].runs = at.visit != 2;
            uses[i].factor = isVisited && at.visit == 1 ? 2 : 1;
        }
        const auto matches = [&](const std::vector<engine::LayerUse>& drawn) {
            return std::ranges::equal(drawn, uses, {}, &engine::LayerUse::runs, &engine::LayerUse::runs);
        };
        engine::Pass pass = kTraining;
        for (pass.step = 1; pass.step <= project.training.steps; ++pass.step) {
            pass.random = engine::RandomStreams(project.seeds.stages, pass.step);
            if (matches(engine::LayerDropping(project).draw(pass))) {
                break;
            }
        }
        QVERIFY(pass.step <= project.training.steps);
        const auto network = compiled(project);
        const auto copies = compiled(untied);
        shake(*network, 0.2, 3);
        copyWeights(*network, project, *copies);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        const at::Tensor got = network->loss(batch, pass);
        engine::Pass ofCopies = kTraining;
        ofCopies.layers = uses;
        const at::Tensor expected = copies->loss(batch, ofCopies);
        QVERIFY2(distance(got, expected) < 1e-12, qPrintable(QString::number(distance(got, expected))));
        got.backward();
        expected.backward();
        std::map<std::string, at::Tensor> sums;
        for (const engine::NamedParameter& each : copies->parameters()) {
            if (each.tensor.grad().defined()) {
                at::Tensor& sum = sums[sourceOf(each.name, project)];
                sum = sum.defined() ? sum + each.tensor.grad() : each.tensor.grad();
            }
        }
        for (const engine::NamedParameter& each : network->parameters()) {
            const at::Tensor& sum = sums[each.name];
            QCOMPARE(each.tensor.grad().defined(), sum.defined());
            const double apart = sum.defined() ? distance(each.tensor.grad(), sum) : 0;
            QVERIFY2(apart < 1e-12, qPrintable(QString("%1 at %2").arg(apart).arg(each.name.c_str())));
        }
    }

    void stateBetweenVisitsEqualsTheEquations_data()
    {
        QTest::addColumn<int>("injection");
        QTest::addColumn<bool>("embedding");
        QTest::addColumn<bool>("gate");
        QTest::addColumn<int>("norm");
        for (int injection = 0; injection < 3; ++injection) {
            for (int norm = 0; norm < 3; ++norm) {
                QTest::addRow("injection %d, norm %d", injection, norm)
                    << injection << (norm != 1) << (norm == 1 || injection == 2) << norm;
            }
        }
    }
    void stateBetweenVisitsEqualsTheEquations()
    {
        QFETCH(int, injection);
        QFETCH(bool, embedding);
        QFETCH(bool, gate);
        QFETCH(int, norm);
        Project project = tinyVectors("mlp", "plain", 4);
        Loop loop{.first = 2, .last = 3, .visits = 3};
        loop.injection = static_cast<projects::LoopInjection>(injection);
        loop.embedding = embedding;
        loop.gate = gate;
        loop.norm = static_cast<projects::LoopNorm>(norm);
        loop.scale = 0.5;
        project.stack().loops = {loop};
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const auto of = [&](const char* rest) { return parameter(*network, "topology.loop.1." + std::string(rest)); };
        const auto norms = [&](const at::Tensor& x) { return at::rms_norm(x, {6}, of("norm.weight"), 1e-6); };
        at::Tensor x = batch.input + branchOf(*network, 1, batch.input);
        const at::Tensor e = x;
        for (std::int64_t visit = 0; visit < 3; ++visit) {
            if (loop.injection == projects::LoopInjection::Linear) {
                x = at::matmul(at::cat({x, e}, 1), of("injection.weight").t());
            } else if (loop.injection == projects::LoopInjection::Add && visit > 0) {
                x = x + e;
            }
            x = embedding ? x + of("embedding")[visit] : x;
            const at::Tensor begin = x;
            x = x + 0.5 * branchOf(*network, 2, x);
            x = x + 0.5 * branchOf(*network, 3, x);
            x = gate ? begin + at::sigmoid(of("gate")[visit]) * (x - begin) : x;
            x = loop.norm == projects::LoopNorm::Visits || (loop.norm == projects::LoopNorm::Exit && visit == 2)
                    ? norms(x)
                    : x;
        }
        const at::Tensor expected = x + branchOf(*network, 4, x);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY2(distance(got, expected) < 1e-12, qPrintable(QString::number(distance(got, expected))));
        const double apart = gradientDistance(*network, got, expected);
        QVERIFY2(apart < 1e-11, qPrintable(QString::number(apart)));
    }

    /// The first visit reads noise, which is one for all examples of an evaluation and each example's own in training,
    /// wherever the batch is divided.
    void startsAsNoise()
    {
        Project project = tinyVectors("mlp", "plain", 1);
        Loop loop{.first = 1, .last = 1, .visits = 2};
        loop.injection = projects::LoopInjection::Add;
        loop.start = projects::LoopStart::Noise;
        project.stack().loops = {loop};
        const auto network = compiled(project);
        QVERIFY(network->drops());
        const engine::DeviceBatch batch = randomBatch(project, 400, 1, 7);
        shake(*network, 0.2, 3);
        // x = h + e, h = x + f(x) twice: the first x of a loop without a start would be e.
        const auto outputOf = [&](const at::Tensor& noise) {
            at::Tensor x = noise + batch.input;
            x = x + branchOf(*network, 1, x) + batch.input;
            return x + branchOf(*network, 1, x);
        };
        // Without weights the output is noise + 2e.
        const auto empty = compiled(project);
        for (const engine::NamedParameter& each : empty->parameters()) {
            at::NoGradGuard noGrad;
            each.tensor.zero_();
        }
        const auto noiseIn = [&](const engine::DeviceBatch& of, const engine::Pass& pass) {
            return (empty->forward(of.input, pass) - 2 * of.input).detach();
        };
        const at::Tensor evaluated = noiseIn(batch, kEvaluation);
        QVERIFY(distance(evaluated, evaluated.narrow(0, 0, 1).expand_as(evaluated)) < 1e-12);
        QVERIFY(distance(network->forward(batch.input, kEvaluation), outputOf(evaluated)) < 1e-12);
        engine::Pass pass = kTraining;
        pass.draws = at::tensor({std::int64_t{99}, std::int64_t{0}}, at::kLong);
        const at::Tensor drawn = noiseIn(batch, pass);
        QVERIFY(distance(network->forward(batch.input, pass), outputOf(drawn)) < 1e-12);
        QVERIFY(std::abs(drawn.mean().item<double>()) < 0.06);
        QVERIFY(std::abs(drawn.std().item<double>() - 0.624) < 0.04); // of √(2/5) cut at three deviations
        QVERIFY(drawn.abs().max().item<double>() < 3 * std::sqrt(0.4));
        QVERIFY(distance(drawn[0], drawn[1]) > 0.01);
        // The later half of the batch as a micro-batch of its own; another step draws other noise.
        engine::DeviceBatch half = batch;
        half.input = batch.input.narrow(0, 200, 200);
        pass.draws = at::tensor({std::int64_t{99}, std::int64_t{200}}, at::kLong);
        QVERIFY(distance(noiseIn(half, pass), drawn.narrow(0, 200, 200)) < 1e-12);
        pass.draws = at::tensor({std::int64_t{100}, std::int64_t{0}}, at::kLong);
        QVERIFY(distance(noiseIn(batch, pass), drawn) > 0.1);
        project.stack().loops.front().injection = projects::LoopInjection::None;
        QVERIFY(projects::hasErrors(projects::validate(project))); // nothing would read the input
    }

    /// A step that makes fewer visits equals a loop with so many; a norm at the exit follows the last one.
    void drawnVisits()
    {
        Project project = tinyVectors("mlp", "plain", 3);
        Loop loop{.first = 2, .last = 2, .visits = 6};
        loop.injection = projects::LoopInjection::Add;
        loop.norm = projects::LoopNorm::Exit;
        loop.draw = projects::VisitDraw::Uniform;
        project.stack().loops = {loop};
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        std::set<std::int64_t> seen;
        for (std::int64_t step = 1; step <= 40; ++step) {
            engine::Pass pass = kTraining;
            pass.step = step;
            pass.random = engine::RandomStreams(5, step);
            const auto layers = network->layersOf(pass);
            std::int64_t visits = 6;
            if (!layers.empty()) {
                visits = std::ranges::count(layers, true, &engine::LayerUse::runs) - 2;
            }
            if (!seen.insert(visits).second) {
                continue;
            }
            Project fewer = project;
            fewer.stack().loops.front().draw = projects::VisitDraw::All;
            fewer.stack().loops.front().visits = visits;
            const auto other = compiled(fewer);
            for (engine::NamedParameter& each : other->parameters()) {
                each.tensor.detach().copy_(parameter(*network, each.name).detach());
            }
            const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
            QVERIFY(distance(network->forward(batch.input, pass), other->forward(batch.input, kTraining)) < 1e-12);
        }
        QCOMPARE(seen.size(), std::size_t{6});
    }

    void visitsRise()
    {
        const Loop loop{.visits = 4, .draw = projects::VisitDraw::Rising, .mean = 2};
        std::vector<std::int64_t> visits;
        for (std::int64_t step = 1; step <= 9; ++step) {
            visits.push_back(projects::risenVisits(loop, step, 9));
        }
        QCOMPARE(visits, (std::vector<std::int64_t>{2, 2, 2, 3, 3, 3, 4, 4, 4}));
        QCOMPARE(projects::risenVisits(loop, 0, 9), std::int64_t{2});
        QCOMPARE(projects::risenVisits(loop, 100, 9), std::int64_t{4});
        QCOMPARE(projects::evaluatedVisits(loop), std::int64_t{4});
    }

    void meanOfDrawnVisits_data()
    {
        QTest::addColumn<int>("draw");
        QTest::addColumn<qint64>("visits");
        QTest::addColumn<double>("mean");
        QTest::addRow("uniform") << static_cast<int>(projects::VisitDraw::Uniform) << qint64{256} << 128.5;
        QTest::addRow("poisson") << static_cast<int>(projects::VisitDraw::Poisson) << qint64{256} << 8.0;
        QTest::addRow("many") << static_cast<int>(projects::VisitDraw::Poisson) << qint64{projects::kMaxVisits}
                              << 800.0;
        QTest::addRow("log-normal") << static_cast<int>(projects::VisitDraw::LogNormalPoisson) << qint64{256} << 33.0;
    }
    void meanOfDrawnVisits()
    {
        QFETCH(int, draw);
        QFETCH(qint64, visits);
        QFETCH(double, mean);
        const Loop loop{.visits = visits, .draw = static_cast<projects::VisitDraw>(draw), .mean = mean};
        double sum = 0;
        constexpr std::int64_t kSteps = 20'000;
        for (std::int64_t step = 1; step <= kSteps; ++step) {
            sum += static_cast<double>(engine::drawnVisits(loop, engine::RandomStreams(1, step).stream("loop.1")));
        }
        QVERIFY2(std::abs(sum / kSteps / mean - 1) < 0.02, qPrintable(QString::number(sum / kSteps)));
    }

    /// The last visits alone have a gradient, and the loop's input has it through their injection.
    void truncatedGradientEqualsDetachedVisits()
    {
        Project project = tinyVectors("mlp", "plain", 3);
        Loop loop{.first = 2, .last = 2, .visits = 4};
        loop.injection = projects::LoopInjection::Add;
        loop.gradientVisits = 2;
        project.stack().loops = {loop};
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor e = batch.input + branchOf(*network, 1, batch.input);
        at::Tensor x = e;
        for (int visit = 0; visit < 4; ++visit) {
            x = visit > 0 ? x + e : x;
            x = x + branchOf(*network, 2, x);
            x = visit < 2 ? x.detach() : x;
        }
        const at::Tensor expected = x + branchOf(*network, 3, x);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        const double apart = gradientDistance(*network, got, expected);
        QVERIFY2(apart < 1e-11, qPrintable(QString::number(apart)));
    }

    /// An alteration sets the number of visits, also above that of the document if the parameters do not depend on it.
    void alteredVisits()
    {
        Project project = tinyVectors("mlp", "plain", 3);
        Loop loop{.first = 2, .last = 2, .visits = 2};
        loop.injection = projects::LoopInjection::Add;
        project.stack().loops = {loop};
        const Project more = projects::withMoreVisits(project);
        QCOMPARE(more.stack().loops.front().visits, std::int64_t{4});
        const auto network = compiled(more);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const auto subjects = projects::knockoutSubjects(more, projects::KnockoutBy::Visits, false);
        QCOMPARE(subjects->size(), std::size_t{3}); // without the 2 visits of an evaluation
        for (std::int64_t visits = 1; visits <= 4; ++visits) {
            const at::Tensor e = batch.input + branchOf(*network, 1, batch.input);
            at::Tensor x = e;
            for (std::int64_t visit = 0; visit < visits; ++visit) {
                x = visit > 0 ? x + e : x;
                x = x + branchOf(*network, 2, x);
            }
            engine::Pass pass = kEvaluation;
            const auto subject = std::ranges::find(*subjects, visits, &projects::KnockoutSubject::first);
            if (subject != subjects->end()) {
                pass.alteration = std::make_shared<const projects::Alteration>(subject->alteration);
            }
            const at::Tensor expected = x + branchOf(*network, 3, x);
            QVERIFY(distance(network->forward(batch.input, pass), expected) < 1e-12);
        }
        project.stack().loops.front().gate = true; // a number for each visit
        QCOMPARE(projects::withMoreVisits(project), project);
    }

    /// A step with drawn visits costs what their mean does, and visits without gradient keep nothing.
    void costOfDrawnVisits()
    {
        Project project = tinyVectors("mlp", "post-norm", 3);
        Loop loop{.first = 2, .last = 2, .visits = 2};
        loop.injection = projects::LoopInjection::Linear;
        loop.norm = projects::LoopNorm::Exit;
        loop.rows = projects::VisitRows::Layer;
        project.stack().loops = {loop};
        const projects::Cost two = projects::costOf(project)->total;
        project.stack().loops.front().visits = 9;
        project.stack().loops.front().draw = projects::VisitDraw::Poisson;
        project.stack().loops.front().mean = 2;
        QCOMPARE(projects::costOf(project)->total, two);
        project.stack().loops.front().gradientVisits = 1;
        const projects::Cost cut = projects::costOf(project)->total;
        QCOMPARE(cut.forwardFlops, two.forwardFlops);
        QVERIFY(cut.activationBytes < two.activationBytes);
    }

    void dropoutOfVisitsDiffers()
    {
        engine::LayerUse first;
        engine::LayerUse second;
        second.visit = 2;
        QCOMPARE(engine::streamOfVisit(7, first), std::uint64_t{7});
        QVERIFY(engine::streamOfVisit(7, second) != 7);
    }

private:
    static void topologies()
    {
        QTest::addColumn<QString>("topology");
        for (const auto& [topology, block] : kTopologies) {
            QTest::newRow(topology) << topology;
        }
    }
};

RESIDUA_TEST(TestLoops)
#include "tst_loops.moc"
