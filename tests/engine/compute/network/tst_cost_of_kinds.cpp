// SPDX-License-Identifier: GPL-3.0-or-later
// The predicted cost of a project (projects/cost/cost.h), beside the cost of its network, for kinds of nodes and of
// data that few presets have.

#include "cost_watch.h"

#include "projects/cost/cost.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>

#include <QtTest>

#include <string>

using namespace residua;
using namespace residua::tests;
using projects::Project;

namespace {

Project plainLanguage()
{
    return costSized(tinyLanguage("transformer", "plain", kCostDepth));
}

} // namespace

class TestCostOfKinds : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(1);
        c10::SetCPUAllocator(&CountingAllocator::instance(), 100);
    }

    /// Networks with kinds that no preset has, of one layer.
    void otherStems_data()
    {
        QTest::addColumn<QString>("data");
        QTest::addColumn<QString>("stem");
        QTest::newRow("positions") << "language"
                                   << "x input; e token_embedding; w sinusoidal_positions; p position_embedding; "
                                      "y output; x > e; e > w; w > p; p > y";
        QTest::newRow("patches") << "vectors"
                                 << "x input; i image height=8 width=8; p patchify patch=2; q patchify patch=2; s add; "
                                    "m mean_pool; y output; x > i; i > p; i > q; p > s.in1; q > s.in2; s > m; m > y";
        QTest::newRow("batch norm")
            << "vectors"
            << "x input; a linear; n batch_norm; f activation; g parameter features=d; m multiply; b linear; y output; "
               "x > a; a > n; n > f; f > m.in1; g > m.in2; m > b; b > y";
        QTest::newRow("class token")
            << "vectors"
            << "x input; i image height=8 width=8; p patchify patch=2; c class_token; e position_embedding length=17; "
               "f first_token; y output; x > i; i > p; p > c; c > e; e > f; f > y";
        QTest::newRow("images") << "vectors"
                                << "x input; i image height=8 width=8; a conv2d out=4; b conv2d out=4; s add; "
                                   "c conv2d out=2 stride=2; f flatten; l linear; y output; x > i; i > a; i > b; "
                                   "a > s.in1; b > s.in2; s > c; c > f; f > l; l > y";
        QTest::newRow("features last")
            << "vectors"
            << "x input; i image height=8 width=8; v features_last; a conv2d out=4 layout=features_last; b conv2d "
               "out=4 groups=4 layout=features_last; r activation function=relu; p pool2d layout=features_last; q "
               "pool2d function=average layout=features_last; s add; m mean_pool; l linear; y output; x > i; i > v; "
               "v > a; a > b; b > r; r > p; r > q; p > s.in1; q > s.in2; s > m; m > l; l > y";
        QTest::newRow("images by side") << "vectors"
                                        << "x input; i image height=8 width=8; a conv2d out=4 rank=2 "
                                           "unfolding=by_side stride=2; f flatten; l linear; y output; x > i; i > a; "
                                           "a > f; f > l; l > y";
    }
    void otherStems()
    {
        QFETCH(QString, data);
        QFETCH(QString, stem);
        Project project = plainLanguage();
        if (data == "vectors") {
            project = tinyVectors("linear", "plain", 1);
            project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
            project.network.objective = projects::Objective::MeanSquaredError;
            project.network.head = graphFrom("x input; l linear out=out; y output; x > l; l > y");
            project.stack().width = 32;
        }
        project.stack().segments.front().repeat = 1;
        project.network.stem = graphFrom(stem.toStdString());
        // The moments of a micro-batch, two numbers per feature, are not counted: two examples are no more than they.
        project.training.batch = stem.contains("batch_norm") ? 16 * kCostBatch : kCostBatch;
        if (stem.contains("pool2d")) { // whose places are counted as those of two numbers of 4 bytes
            project.training.precision = projects::Precision::Fp32;
        }
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, kCostTime, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
    }

    /// Networks of convolutions, whose layers need a mix or a sum again only if they begin with a convolution.
    void convolutions_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<QString>("topology");
        for (const char* const example : {"small-resnet", "small-efficientnet"}) {
            for (const char* const topology : {"plain", "ancre-ingoing", "rezero"}) {
                QTest::addRow("%s, %s", example, topology) << example << topology;
            }
        }
    }
    void convolutions()
    {
        QFETCH(QString, example);
        QFETCH(QString, topology);
        Project project = projects::findExample(example.toStdString())->project;
        for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
            projects::Network& stage = index == 0 ? project.network : project.towers[index - 1].network;
            stage.stack().topology = topologyNamed(topology.toStdString(), stage);
        }
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, 1, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.03);
    }

    void exchangesOfRanks_data()
    {
        QTest::addColumn<QString>("example");
        QTest::addColumn<bool>("recomputes");
        for (const char* const example : {"small-resnet", "small-efficientnet"}) {
            QTest::newRow(example) << example << false;
            QTest::addRow("%s, computed again", example) << example << true;
        }
    }
    /// Two ranks send each number of a sum once. Gradients and running moments are exchanged once in a step, the sums
    /// of batch norms in each micro-batch.
    void exchangesOfRanks()
    {
        QFETCH(QString, example);
        QFETCH(bool, recomputes);
        Project project = projects::findExample(example.toStdString())->project;
        const double ofRanks = projects::costOf(project, projects::DeviceKind::Cpu, 2)->total.momentsSent;
        QCOMPARE(ofRanks, 0.0);
        for (projects::Graph* const graph : projects::graphsOf(project)) {
            projects::setParam(*graph, "batch_norm", projects::kMomentsParam, std::string("batch"));
        }
        if (recomputes) {
            project.training.activations = projects::Activations::Recompute;
        }
        project.training.batch = 4;
        const auto network = compiled(project);
        const projects::Cost cost = projects::costOf(project, projects::DeviceKind::Cpu, 2)->total;
        double trained = 0;
        for (const engine::NamedParameter& parameter : network->parameters()) {
            trained += static_cast<double>(parameter.tensor.nbytes());
        }
        QCOMPARE(cost.gradientsSent, trained);
        double summed = 0;
        const engine::BatchParts parts{
            1, [&summed](const at::Tensor& values) { summed += static_cast<double>(values.nbytes()); }};
        engine::Pass pass = kTraining;
        pass.parts = &parts;
        network->loss(randomBatch(project, project.training.batch, 1, 5), pass).backward();
        QVERIFY(summed > 0);
        QCOMPARE(cost.momentsSent, summed);
        project.training.accumulate = 3;
        QCOMPARE(projects::costOf(project, projects::DeviceKind::Cpu, 2)->total.momentsSent, 3 * summed);
        QCOMPARE(projects::costOf(project, projects::DeviceKind::Cpu, 4)->total.momentsSent, 4.5 * summed);
        QCOMPARE(projects::costOf(project)->total.sentBytes(), 0.0);
    }

    /// Rows whose first tokens see each other, which attention reads as a mask.
    void prefixes_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "ancre-ingoing", "rezero"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void prefixes()
    {
        QFETCH(QString, topology);
        Project project = projects::findExample("small-ul2")->project;
        project.stack().topology = topologyNamed(topology.toStdString(), project.network);
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const std::int64_t time = project.training.sequenceLength;
        engine::DeviceBatch batch = randomBatch(project, project.training.batch, time, 5);
        batch.target.narrow(1, 0, time / 2).fill_(projects::kIgnoredTarget);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.03);
    }

    /// Networks with conditions that all layers read, and with sequences of one position.
    void diffusion_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const topology : {"plain", "ancre-ingoing", "grn-v1"}) {
            QTest::newRow(topology) << topology;
        }
    }
    void diffusion()
    {
        QFETCH(QString, topology);
        Project project = projects::findExample("small-dit")->project;
        project.stack().topology = topologyNamed(topology.toStdString(), project.network);
        project.training.batch = 4;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), cost->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, project.training.batch, 1, 5);
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.95, 1.05);
    }

    /// The pixels of pictures as the entries of the stack.
    void picturesAsEntries()
    {
        Project project = plainLanguage();
        project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
        project.network.objective = projects::Objective::MeanSquaredError;
        project.network.stem = graphFrom("x input; i image height=8 width=8; v features_last; c conv2d stride=2 "
                                         "layout=features_last; y output; x > i; i > v; v > c; c > y");
        project.network.blocks.front().graph =
            graphFrom("x input; a activation function=silu; c conv2d layout=features_last; y output; x > a; a > c; "
                      "c > y");
        project.network.head = graphFrom("x input; m mean_pool; l linear out=out; y output; x > m; m > l; l > y");
        project.training.batch = kCostBatch;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, 1, 5);
        QCOMPARE(network->stackOutput(batch, kEvaluation).sizes(), at::IntArrayRef({kCostBatch, 4, 4, 64}));
        // The last entry is counted, which a mean does not keep.
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.09);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 2).worst < 1e-5);
    }

    /// The patches of pictures as the entries of the stack: a sequence that is no sequence of the data.
    void patchesAsEntries()
    {
        Project project = plainLanguage();
        project.data.source = projects::LinearRegression{.dim = 64, .samples = 6};
        project.network.objective = projects::Objective::MeanSquaredError;
        project.network.stem = graphFrom("x input; i image height=8 width=8; p patchify patch=2; y output; x > i; "
                                         "i > p; p > y");
        project.network.head = graphFrom("x input; m mean_pool; l linear out=out; y output; x > m; m > l; l > y");
        project.training.batch = kCostBatch;
        const auto cost = projects::costOf(project);
        QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kCostBatch, 1, 5);
        QCOMPARE(network->stackOutput(batch, kEvaluation).sizes(), at::IntArrayRef({kCostBatch, 16, 64}));
        within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 2).worst < 1e-5);
    }

    /// Nodes that work feature by feature, between two linear layers and as a branch's end: some keep their input, some
    /// what they make, some neither.
    void byFeature_data()
    {
        QTest::addColumn<QString>("node");
        for (const projects::Activation& activation : projects::activations()) {
            QTest::addRow("%s", activation.name.data())
                << "activation function=" + QString::fromLatin1(activation.name.data());
        }
        QTest::newRow("scaled by a number") << "scale value=0.5";
        QTest::newRow("scaled by a parameter") << "scale learned=scalar";
        QTest::newRow("scaled by parameters") << "scale learned=per_feature";
        QTest::newRow("dropout") << "dropout";
        QTest::newRow("swiglu") << "swiglu";
    }
    void byFeature()
    {
        QFETCH(QString, node);
        const QString gate = node == "swiglu" ? "; k linear out=256; x > k; k > n.up; l > n.gate" : "; l > n";
        Project project = plainLanguage();
        const QString between =
            "x input; l linear out=256; n " + node + "; m linear; y output; x > l; n > m; m > y" + gate;
        QString end = between;
        end.replace("out=256", "out=64").replace("m linear; ", "").replace("n > m; m > y", "n > y");
        for (const QString& block : {between, end}) {
            project.network.blocks[0].graph = graphFrom(block.toStdString());
            const auto cost = projects::costOf(project);
            QVERIFY2(cost.ok(), cost.ok() ? "" : cost.error().text().c_str());
            const auto network = compiled(project);
            const engine::DeviceBatch batch = randomBatch(project, kCostBatch, kCostTime, 5);
            within("memory", cost->total.activationBytes / keptBy(*network, batch, kTraining), 0.97, 1.01);
        }
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestCostOfKinds)
#include "tst_cost_of_kinds.moc"
