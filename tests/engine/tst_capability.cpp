// SPDX-License-Identifier: GPL-3.0-or-later
// Every topology of the library can be trained, and costs what the document says.
#include "network_harness.h"
#include "projects/check/capability.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <QTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::DepthMix;
using projects::MixPorts;
using projects::Project;

namespace {

constexpr std::int64_t kDepth = 6;

/// The transformer block with the ports that the topology feeds.
Project onItsBlock(const std::string& topology)
{
    const auto wiring = topologyNamed(topology, kDepth).wiring;
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    const MixPorts ports = mix ? mix->ports : MixPorts::Input;
    const std::string block = ports == MixPorts::Input ? "transformer"
                              : ports == MixPorts::Qkv ? "transformer-qkv"
                                                       : "transformer-qkvr";
    return tinyLanguage(block, topology, kDepth);
}

} // namespace

class TestCapability : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void topologies_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kDepth)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void topologies()
    {
        QFETCH(QString, topology);
        const Project project = onItsBlock(topology.toStdString());
        QVERIFY(projects::unsupported(project).empty());
        QCOMPARE(compileError(project), std::string());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.1, 3);
        const engine::DeviceBatch batch = randomBatch(project, 2, 4, 5);
        // In evaluation nothing is drawn: stochastic depth has one loss, not several.
        network->loss(batch, kEvaluation).backward();
        const GradientCheck check = checkGradients(*network, batch, 2, kEvaluation);
        QVERIFY2(check.worst < 1e-7, qPrintable(QString("%1 at %2").arg(check.worst).arg(check.name.c_str())));
    }

    /// At the start these are the plain residual network.
    void identityAtTheStart_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology :
             {"grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "denseformer", "denseformer-dilated", "ancre-none",
              "ancre-cascaded", "mudd", "laurel-rw", "laurel-lr", "laurel-pa"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void identityAtTheStart()
    {
        QFETCH(QString, topology);
        const Project project = onItsBlock(topology.toStdString());
        const Project plain = tinyLanguage("transformer", "plain", kDepth);
        const engine::DeviceBatch batch = randomBatch(plain, 2, 4, 5);
        const at::NoGradGuard noGrad;
        const at::Tensor expected = compiled(plain)->forward(batch.input, kTraining);
        QVERIFY(distance(compiled(project)->forward(batch.input, kTraining), expected) <= 1e-12);
        QVERIFY(expected.abs().max().item<double>() > 1e-6);
    }
};

RESIDUA_TEST(TestCapability)
#include "tst_capability.moc"
