// SPDX-License-Identifier: GPL-3.0-or-later
// Streams between the visits of a loop, the norm that a loop shares with the head, and the factors of post-norms,
// against the equations in double precision.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_parameters.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace residua;
using namespace residua::tests;
using projects::Loop;
using projects::LoopNorm;
using projects::LoopStreams;
using projects::Project;

namespace {

at::Tensor branch(engine::CompiledNetwork& network, std::int64_t layer, const at::Tensor& x)
{
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    const auto affine = [&](const at::Tensor& in, const std::string& name) {
        return at::matmul(in, parameter(network, prefix + name + ".weight").t()) +
               parameter(network, prefix + name + ".bias");
    };
    return affine(at::relu(affine(x, "up")), "down");
}

/// 4 stored layers, of which the middle two are visited three times.
Project withStreams(LoopStreams streams, std::int64_t count)
{
    Project project = tinyVectors("mlp", "plain", 4);
    project.stack().loops = {{.first = 2, .last = 3, .visits = 3, .streams = streams, .streamCount = count}};
    return project;
}

} // namespace

class TestLoopStreams : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void streamsEqualTheEquations_data()
    {
        QTest::addColumn<int>("streams");
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("norm");
        QTest::addColumn<bool>("extras");
        for (const LoopStreams streams : {LoopStreams::Lanes, LoopStreams::Gated}) {
            for (const int count : {2, 4}) {
                for (const LoopNorm norm : {LoopNorm::None, LoopNorm::Visits, LoopNorm::Exit}) {
                    QTest::addRow("%d streams of kind %d, norm %d", count, static_cast<int>(streams),
                                  static_cast<int>(norm))
                        << static_cast<int>(streams) << count << static_cast<int>(norm) << (count == 4);
                }
            }
        }
    }
    void streamsEqualTheEquations()
    {
        QFETCH(int, streams);
        QFETCH(int, count);
        QFETCH(int, norm);
        QFETCH(bool, extras); // visit embedding and injection
        const auto kind = static_cast<LoopStreams>(streams);
        Project project = withStreams(kind, count);
        Loop& loop = project.stack().loops.front();
        loop.norm = static_cast<LoopNorm>(norm);
        loop.embedding = extras;
        loop.injection = extras ? projects::LoopInjection::Add : projects::LoopInjection::None;
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor expected = composed(*network, loop, batch.input);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY2(distance(got, expected) < 1e-12, qPrintable(QString::number(distance(got, expected))));
        const double apart = gradientDistance(*network, got, expected);
        QVERIFY2(apart < 1e-11, qPrintable(QString::number(apart)));
        network->loss(batch, kTraining).backward();
        const GradientCheck check = checkGradients(*network, batch, 4);
        QVERIFY2(check.worst < 1e-6, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// Gated streams start with reads of 1/n and writes of 1. If almost nothing is kept, that is the plain loop.
    void gatedStreamsStartNearThePlainLoop()
    {
        Project project = withStreams(LoopStreams::Gated, 4);
        project.stack().loops.front().keep = 0.001;
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        at::Tensor x = batch.input + branch(*network, 1, batch.input);
        for (int visit = 0; visit < 3; ++visit) {
            x = x + branch(*network, 2, x);
            x = x + branch(*network, 3, x);
        }
        const at::Tensor expected = x + branch(*network, 4, x);
        const double apart = distance(network->forward(batch.input, kTraining), expected);
        QVERIFY2(apart > 1e-6 && apart < 0.05, qPrintable(QString::number(apart)));
    }

    /// A pass with fewer visits leaves by the mean of the streams after the last one that ran.
    void fewerVisitsLeaveByTheSameExit()
    {
        for (const LoopStreams kind : {LoopStreams::Lanes, LoopStreams::Gated}) {
            Project project = withStreams(kind, 4);
            Loop& loop = project.stack().loops.front();
            loop.norm = LoopNorm::Exit;
            const auto network = compiled(project);
            shake(*network, 0.2, 3);
            engine::Pass pass = kTraining;
            pass.layers.resize(static_cast<std::size_t>(project.stack().depth()));
            for (const std::size_t left : {5, 6}) { // the third visit
                pass.layers[left].runs = false;
            }
            const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
            loop.visits = 2;
            const at::Tensor expected = composed(*network, loop, batch.input);
            QVERIFY(distance(network->forward(batch.input, pass), expected) < 1e-12);
        }
    }

    /// The weights of a norm that ends the loop and precedes the head get the gradient of both.
    void theHeadsNormEndsTheLoop()
    {
        Project project = tinyLanguage("transformer", "plain", 3);
        project.stack().loops = {{.first = 2, .last = 2, .visits = 2, .norm = LoopNorm::Head}};
        Project apart = project;
        apart.stack().loops.front().norm = LoopNorm::Exit;
        const auto shared = compiled(project);
        const auto own = compiled(apart);
        QCOMPARE(parameterCount(*shared), projects::costOf(project)->total.parameters);
        QCOMPARE(parameterCount(*own) - parameterCount(*shared), project.stack().width);
        shake(*shared, 0.2, 3);
        {
            const at::NoGradGuard noGrad;
            for (engine::NamedParameter& each : own->parameters()) {
                const bool isNorm = each.name == "topology.loop.1.norm.weight";
                each.tensor.copy_(parameter(*shared, isNorm ? "head.norm.weight" : each.name));
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        const at::Tensor got = shared->loss(batch, kTraining);
        const at::Tensor expected = own->loss(batch, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        got.backward();
        expected.backward();
        const auto gradient = [&](engine::CompiledNetwork& network, const char* name) {
            return parameter(network, name).grad();
        };
        const at::Tensor both = gradient(*own, "head.norm.weight") + gradient(*own, "topology.loop.1.norm.weight");
        QVERIFY(distance(gradient(*shared, "head.norm.weight"), both) < 1e-12);
    }

    void streamsExcludeOtherWirings_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("gradientVisits");
        QTest::addColumn<QString>("message");
        QTest::newRow("plain") << "plain" << 0 << "";
        QTest::newRow("post-norm") << "post-norm" << 0 << "";
        QTest::newRow("denseformer") << "denseformer" << 0 << "read those of earlier visits";
        QTest::newRow("laurel-pa") << "laurel-pa" << 0 << "read those of earlier visits";
        QTest::newRow("mhc") << "mhc" << 0 << "no single residual";
        QTest::newRow("truncated") << "plain" << 1 << "would never train";
    }
    void streamsExcludeOtherWirings()
    {
        QFETCH(QString, topology);
        QFETCH(int, gradientVisits);
        QFETCH(QString, message);
        Project project = tinyVectors("mlp", topology.toStdString(), 4);
        project.stack().loops = {{.first = 2, .last = 3, .visits = 3, .streams = LoopStreams::Gated}};
        project.stack().loops.front().gradientVisits = gradientVisits;
        QString errors;
        for (const projects::Problem& problem : projects::validate(project)) {
            errors += problem.severity == projects::Severity::Error ? QString::fromStdString(problem.text()) : "";
        }
        QVERIFY2(message.isEmpty() ? errors.isEmpty() : errors.contains(message), qPrintable(errors));
    }

    /// α and β of DeepNorm and DeepLoop, by N executed layers, of which visits without gradient do not count.
    void factorsOfPostNorms()
    {
        Project project = tinyLanguage("transformer", "deep-loop", 4);
        project.stack().loops = {{.first = 2, .last = 3, .visits = 5}};
        const auto [residual, start] = projects::postNormFactors(project.stack()); // N = 12
        QCOMPARE(residual, std::sqrt(24.0));
        QCOMPARE(start, 1 / std::sqrt(96.0));
        project.stack().loops.front().gradientVisits = 2; // N = 6
        QCOMPARE(projects::postNormFactors(project.stack()).residual, std::sqrt(12.0));
        std::get<projects::BranchGate>(project.stack().topology.wiring).scale = projects::PostNormScale::DeepNorm;
        QCOMPARE(projects::postNormFactors(project.stack()).start, std::pow(48.0, -0.25));

        Project plain = project;
        std::get<projects::BranchGate>(plain.stack().topology.wiring).scale = projects::PostNormScale::One;
        const auto scaled = compiled(project);
        const auto one = compiled(plain);
        const double beta = std::pow(48.0, -0.25);
        for (const engine::NamedParameter& each : scaled->parameters()) {
            const bool isMatrix = each.name.starts_with("layers.") && each.tensor.dim() == 2;
            const bool compares = each.name.ends_with(".q.weight") || each.name.ends_with(".k.weight");
            const at::Tensor expected = parameter(*one, each.name) * (isMatrix && !compares ? beta : 1.0);
            QVERIFY2(distance(each.tensor, expected) < 1e-12, each.name.c_str());
        }
    }

private:
    /// Returns the output of the network of withStreams(), composed from its parameters.
    static at::Tensor composed(engine::CompiledNetwork& network, const Loop& loop, const at::Tensor& input)
    {
        const auto of = [&](const char* rest) { return parameter(network, "topology.loop.1." + std::string(rest)); };
        const auto norms = [&](const at::Tensor& x) { return at::rms_norm(x, {6}, of("norm.weight"), 1e-6); };
        const std::int64_t n = loop.streamCount;
        const bool isGated = loop.streams == LoopStreams::Gated;
        const at::Tensor e = input + branch(network, 1, input);
        std::vector<at::Tensor> y(static_cast<std::size_t>(n), e);
        for (std::int64_t visit = 0; visit < loop.visits; ++visit) {
            at::Tensor read;
            at::Tensor write;
            at::Tensor keep;
            const at::Tensor states = at::stack(y, 1); // [rows, n, d]
            if (isGated) {
                const at::Tensor flat = states.flatten(1);
                const at::Tensor z = flat / at::sqrt((flat * flat).mean(1, true) + 1e-6);
                const at::Tensor logits = at::matmul(z, of("streams.weight")[visit].t());
                const auto share = [&](std::int64_t which) {
                    return at::sigmoid(of("streams.scale")[visit][which] * logits.slice(1, which * n, (which + 1) * n) +
                                       of("streams.bias")[visit].slice(0, which * n, (which + 1) * n));
                };
                read = share(0);
                write = 2 * share(1);
                keep = share(2);
            } else {
                read = of("lanes.read")[visit].unsqueeze(0);
                write = of("lanes.write")[visit].unsqueeze(0);
            }
            at::Tensor x = (read.unsqueeze(2) * states).sum(1);
            x = loop.injection == projects::LoopInjection::Add && visit > 0 ? x + e : x;
            x = loop.embedding && !isGated ? x + of("embedding")[visit] : x;
            x = x + branch(network, 2, x);
            x = x + branch(network, 3, x);
            x = loop.norm == LoopNorm::Visits ? norms(x) : x;
            x = loop.embedding && isGated ? x + of("embedding")[visit] : x;
            for (std::int64_t s = 0; s < n; ++s) {
                at::Tensor kept;
                for (std::int64_t from = 0; from < n && !isGated; ++from) {
                    const at::Tensor part = of("lanes.mix")[visit][s][from] * states.select(1, from);
                    kept = kept.defined() ? kept + part : part;
                }
                kept = isGated ? keep.slice(1, s, s + 1) * states.select(1, s) : kept;
                y[static_cast<std::size_t>(s)] = kept + write.slice(1, s, s + 1) * x;
            }
        }
        const at::Tensor states = at::stack(y, 1);
        at::Tensor x = isGated ? states.mean(1) : states.sum(1);
        x = loop.norm == LoopNorm::Exit ? norms(x) : x;
        return x + branch(network, 4, x);
    }
};

RESIDUA_TEST(TestLoopStreams)
#include "tst_loop_streams.moc"
