// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/compute/network/network_harness.h"

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/row_curves.h"
#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/node_kinds.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/matmul.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace residua;
using namespace residua::tests;
using engine::LayerMagnitude;
using projects::Project;

namespace {

float rootMeanSquare(const at::Tensor& x)
{
    return static_cast<float>(std::sqrt((x * x).mean().item<double>()));
}

engine::Pass watching(engine::LayerMagnitudes& magnitudes)
{
    engine::Pass pass = kTraining;
    pass.magnitudes = &magnitudes;
    return pass;
}

float magnitudeOf(const engine::Matrix& norms, LayerMagnitude kind, std::int64_t layer)
{
    return norms.at(static_cast<std::int64_t>(kind), layer - 1);
}

} // namespace

class TestLayerMagnitudes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Linear layers: x_j = x_{j−1} + W_j x_{j−1}, written out.
    void areThoseOfTheValuesOfThePass()
    {
        const Project project = tinyVectors("linear", "plain", 3);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 6, 1, 2);
        engine::LayerMagnitudes magnitudes;
        network->loss(batch, watching(magnitudes)).backward();
        const auto matrix = magnitudes.matrix(7);
        QVERIFY(matrix.has_value());
        QCOMPARE(matrix->name.text(), std::string(engine::matrix::kLayerMagnitudes));
        QCOMPARE(matrix->step, std::int64_t{7});
        QCOMPARE(matrix->rows, engine::kLayerMagnitudeRows);
        QCOMPARE(matrix->columns, std::int64_t{3});
        const at::NoGradGuard noGrad;
        at::Tensor x = batch.input;
        for (std::int64_t layer = 1; layer <= 3; ++layer) {
            const at::Tensor branch =
                at::matmul(x, parameter(*network, "layers." + std::to_string(layer) + ".weight.weight").t());
            QCOMPARE(magnitudeOf(*matrix, LayerMagnitude::Stream, layer), rootMeanSquare(x));
            QCOMPARE(magnitudeOf(*matrix, LayerMagnitude::Branch, layer), rootMeanSquare(branch));
            x = x + branch;
        }
    }

    /// On a GPU the rank of many rows is that of some of them, which are spread over all.
    void ranksOnGpusAreOfSomeRows()
    {
        at::Tensor read = randomTensor({5, 16'000, 8}, 3);
        read.select(0, 0).mul_(10); // the directions of the first fifth count most
        read.select(0, 0).narrow(1, 2, 6).zero_();
        const auto rank = [&] {
            engine::LayerMagnitudes magnitudes(engine::LayerMagnitudes::Ranks::Taken);
            magnitudes.saw(0, 1, read, read);
            return magnitudes.matrices(1).at(1).at(0, 0);
        };
        const float all = rank();
        const engine::GpuPathsOnHost paths;
        const float some = rank();
        QVERIFY(some != all);
        QVERIFY(std::abs(some / all - 1) < 0.01F);
    }

    /// By the singular values, where there are more examples than features and where there are fewer.
    void ranksAreThoseOfWhatIsRead()
    {
        const Project project = tinyVectors("linear", "grn-v1", 3);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        for (const std::int64_t examples : {4, 40, 5000}) {
            engine::DeviceBatch batch = randomBatch(project, examples, 1, 2);
            batch.input.select(1, 2).copy_(3 * batch.input.select(1, 0)); // of rank 5
            engine::LayerMagnitudes magnitudes(engine::LayerMagnitudes::Ranks::Taken);
            (void)network->loss(batch, watching(magnitudes));
            const auto matrices = magnitudes.matrices(7);
            QCOMPARE(matrices.size(), std::size_t{2}); // no gradients yet
            const engine::Matrix& ranks = matrices[1];
            QCOMPARE(ranks.name.text(), std::string(engine::matrix::kReadRanks));
            QVERIFY(engine::hasRowCurves(ranks));
            const at::Tensor squares = at::linalg_svdvals(batch.input).square();
            const double expected = (squares.sum().square() / squares.square().sum()).item<double>();
            QVERIFY(expected > 1 && expected < std::min<double>(double(examples), 5));
            QVERIFY(std::abs(ranks.at(0, 0) - expected) < 1e-5);
            QVERIFY(ranks.at(0, 2) >= 1 && ranks.at(0, 2) <= 6);
        }
    }

    void onlyPassesThatAskAreSeen()
    {
        const Project project = tinyVectors("linear", "grn-v1", 2);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 2);
        engine::LayerMagnitudes magnitudes;
        (void)network->loss(batch, kTraining);
        QVERIFY(!magnitudes.matrix(1).has_value());
        (void)network->loss(batch, watching(magnitudes));
        QVERIFY(magnitudes.matrix(1).has_value());
        magnitudes.clear();
        QVERIFY(!magnitudes.matrix(1).has_value());
        (void)network->loss(batch, kTraining);
        QVERIFY(!magnitudes.matrix(1).has_value());
    }

    /// A layer that the pass leaves out has none.
    void aLayerThatIsLeftOutHasNone()
    {
        const Project project = tinyVectors("linear", "plain", 2);
        const auto network = compiled(project);
        engine::LayerMagnitudes magnitudes;
        engine::Pass pass = watching(magnitudes);
        pass.layers = {{.runs = false}, {}};
        (void)network->loss(randomBatch(project, 4, 1, 2), pass);
        const auto seen = magnitudes.matrix(1);
        QVERIFY(seen.has_value());
        QVERIFY(std::isnan(magnitudeOf(*seen, LayerMagnitude::Branch, 1)));
        QVERIFY(magnitudeOf(*seen, LayerMagnitude::Branch, 2) > 0);
    }

    /// A block without a residual port reads the query's mix as its residual, wherever its q node stands.
    void theResidualIsTheQuerysInAnyOrderOfPorts()
    {
        const Project project = tinyLanguage("transformer-qkv", "dca", 2);
        Project other = project;
        std::vector<projects::Node>& nodes = other.network.blocks.front().graph.nodes;
        const auto isPort = [](projects::MixPort port) {
            return [port](const projects::Node& node) { return projects::graphPortOf(node) == nameOf(port); };
        };
        std::iter_swap(std::ranges::find_if(nodes, isPort(projects::MixPort::Query)),
                       std::ranges::find_if(nodes, isPort(projects::MixPort::Key)));
        QVERIFY(!(other == project));
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const auto swapped = compiled(other);
        const at::NoGradGuard noGrad;
        for (const auto& made : swapped->parameters()) {
            made.tensor.copy_(parameter(*network, made.name));
        }
        const auto streamOf = [&](engine::CompiledNetwork& of) {
            engine::LayerMagnitudes magnitudes;
            (void)of.loss(randomBatch(project, 2, 5, 3), watching(magnitudes));
            return magnitudeOf(*magnitudes.matrix(1), LayerMagnitude::Stream, 2);
        };
        QCOMPARE(streamOf(*swapped), streamOf(*network));
    }

    /// Looking changes no gradient, whether activations are kept or computed again.
    void lookingChangesNothing()
    {
        for (const auto activations : {projects::Activations::Keep, projects::Activations::Recompute}) {
            Project project = tinyLanguage("transformer-qkv", "dca", 2);
            project.training.activations = activations;
            const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
            const auto seen = compiled(project);
            const auto unseen = compiled(project);
            engine::LayerMagnitudes magnitudes;
            seen->loss(batch, watching(magnitudes)).backward();
            unseen->loss(batch, kTraining).backward();
            for (std::size_t i = 0; i < seen->parameters().size(); ++i) {
                const at::Tensor& a = seen->parameters()[i].tensor.grad();
                const at::Tensor& b = unseen->parameters()[i].tensor.grad();
                QCOMPARE(a.defined(), b.defined());
                QVERIFY(!a.defined() || distance(a, b) == 0);
            }
            const auto matrix = magnitudes.matrix(1);
            QVERIFY(matrix.has_value());
            for (const float norm : matrix->values) {
                QVERIFY(norm > 0);
            }
        }
    }
};

RESIDUA_TEST(TestLayerMagnitudes)
#include "tst_layer_magnitudes.moc"
