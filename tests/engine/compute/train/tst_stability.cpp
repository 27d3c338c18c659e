// SPDX-License-Identifier: GPL-3.0-or-later
// The effect of leaving out each layer, against passes that leave them out one by one; and how well each degree of a
// polynomial is learned.
#include "tests/engine/compute/network/network_double.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/row_curves.h"
#include "engine/compute/train/stability.h"
#include "engine/compute/train/trainer.h"
#include "engine/data/sets/boolean_polynomial.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>

#include <QtTest>

#include <cmath>
#include <span>
#include <stdexcept>

using namespace residua;
using namespace residua::tests;
using engine::StabilityRow;
using projects::Project;

namespace {

constexpr std::int64_t kStabilityDepth = 3;
constexpr std::int64_t kBatches = 2;

/// A small language model in double precision, under the topology.
Project measuredLanguage(const std::string& topology)
{
    Project project = tinyLanguage("transformer", topology, kStabilityDepth);
    project.training.batch = 2;
    project.training.sequenceLength = 6;
    project.training.validationBatches = kBatches;
    return project;
}

engine::TrainerParts partsOf(const Project& project)
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return std::move(*parts);
}

std::vector<engine::Matrix> measured(engine::TrainerParts& parts, std::int64_t step)
{
    engine::Stability stability(*parts.network, *parts.dataset, parts.project, parts.device, kBatches, step);
    while (!stability.atEnd()) {
        if (!stability.advance()) {
            return {};
        }
    }
    return stability.matrices();
}

double valueAt(const engine::Matrix& matrix, StabilityRow row, std::int64_t layer)
{
    return matrix.at(static_cast<std::int64_t>(row), layer - 1);
}

bool near(double a, double b)
{
    return std::abs(a - b) <= 1e-5 * (1 + std::abs(b)); // the record is of single precision
}

} // namespace

class TestStability : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void equalsPassesWithoutTheLayer_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "grn-v2", "hyper-static"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    /// Compares root mean squares over the tokens of both batches, and the mean of the losses.
    void equalsPassesWithoutTheLayer()
    {
        QFETCH(QString, topology);
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = partsOf(measuredLanguage(topology.toStdString()));
        shake(*parts.network, 0.2, 4);
        const auto matrices = measured(parts, 7);
        QCOMPARE(matrices.size(), std::size_t{2});
        QCOMPARE(matrices[0].name.text(), std::string(engine::matrix::kStability));
        QCOMPARE(matrices[0].step, std::int64_t{7});
        QCOMPARE(matrices[1].name.text(), std::string(engine::matrix::kStabilityGap));
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     kBatches);
        std::vector<double> effects(kStabilityDepth, 0);
        std::vector<double> rises(kStabilityDepth, 0);
        double output = 0;
        double tokens = 0;
        for (std::int64_t index = 0; index < kBatches; ++index) {
            const engine::DeviceBatch batch = **batches.next();
            const at::Tensor whole = parts.network->stackOutput(batch, engine::Pass());
            const double loss = parts.network->loss(batch, engine::Pass()).item<double>();
            output += whole.square().sum().item<double>();
            tokens += static_cast<double>(batch.input.numel());
            for (std::size_t layer = 0; layer < kStabilityDepth; ++layer) {
                engine::Pass without;
                without.layers.resize(kStabilityDepth);
                without.layers[layer].runs = false;
                const at::Tensor other = parts.network->stackOutput(batch, without);
                effects[layer] += (other - whole).square().sum().item<double>();
                rises[layer] += (parts.network->loss(batch, without).item<double>() - loss) / kBatches;
            }
        }
        double mean = 0;
        for (std::size_t layer = 0; layer < kStabilityDepth; ++layer) {
            const auto number = static_cast<std::int64_t>(layer) + 1;
            QVERIFY(near(valueAt(matrices[0], StabilityRow::Effect, number), std::sqrt(effects[layer] / tokens)));
            QVERIFY(near(valueAt(matrices[0], StabilityRow::Rise, number), rises[layer]));
            mean += rises[layer] / static_cast<double>(kStabilityDepth);
        }
        QVERIFY(near(valueAt(matrices[0], StabilityRow::Output, kStabilityDepth), std::sqrt(output / tokens)));
        QVERIFY(near(matrices[1].values[0], -mean));
        QVERIFY(std::abs(mean) > 1e-6);
    }

    /// y^(l) of the plain network is what the layers up to l make.
    void normsAreOfTheResidual()
    {
        const at::NoGradGuard noGrad;
        engine::TrainerParts parts = partsOf(measuredLanguage("plain"));
        shake(*parts.network, 0.2, 4);
        const auto matrices = measured(parts, 0);
        engine::SplitBatches batches(*parts.dataset, engine::Split::Validation, parts.project.training, parts.device,
                                     kBatches);
        std::vector<double> sums(kStabilityDepth, 0);
        double tokens = 0;
        for (std::int64_t index = 0; index < kBatches; ++index) {
            const engine::DeviceBatch batch = **batches.next();
            tokens += static_cast<double>(batch.input.numel());
            engine::Pass pass;
            pass.layers.resize(kStabilityDepth);
            for (std::size_t layer = kStabilityDepth; layer-- > 0;) {
                sums[layer] += parts.network->stackOutput(batch, pass).square().sum().item<double>();
                pass.layers[layer].runs = false;
            }
        }
        for (std::size_t layer = 0; layer < kStabilityDepth; ++layer) {
            const double norm = valueAt(matrices[0], StabilityRow::Output, static_cast<std::int64_t>(layer) + 1);
            QVERIFY2(near(norm, std::sqrt(sums[layer] / tokens)), qPrintable(QString::number(norm)));
        }
    }

    /// Layers that have not been added yet have no numbers. The first layer of a value residual cannot be removed.
    void layersThatCannotBeRemovedHaveNoNumber()
    {
        Project growing = measuredLanguage("plain");
        growing.stack().schedule = *projects::scheduleFrom("stacking 2-3", kStabilityDepth, 10);
        growing.training.steps = 10;
        engine::TrainerParts parts = partsOf(growing);
        const auto early = measured(parts, 3);
        QVERIFY(!std::isnan(valueAt(early[0], StabilityRow::Effect, 2)));
        QVERIFY(std::isnan(valueAt(early[0], StabilityRow::Effect, 3)));
        QVERIFY(std::isnan(valueAt(early[0], StabilityRow::Output, 3)));
        QVERIFY(!std::isnan(valueAt(measured(parts, 8)[0], StabilityRow::Effect, 3)));
        engine::TrainerParts values = partsOf(measuredLanguage("value-residual"));
        const auto mixed = measured(values, 0);
        QVERIFY(std::isnan(valueAt(mixed[0], StabilityRow::Effect, 1)));
        QVERIFY(!std::isnan(valueAt(mixed[0], StabilityRow::Effect, 2)));
    }

    /// A function with half of each coefficient of degree 2 leaves a quarter of the error at that degree. The zero
    /// function leaves all of it at every degree.
    void degreesHaveTheirShareOfTheError()
    {
        Project project = tinyVectors("linear", "plain", 1);
        const projects::BooleanPolynomial source{.dim = 12, .variables = 8, .degree = 3, .termsPerDegree = 4};
        project.data.source = source;
        project.network.objective = projects::Objective::MeanSquaredError;
        project.data.validationFraction = 0.1;
        project.training.batch = 512;
        project.training.validationBatches = 0; // all that are held
        project.training.precision = projects::Precision::Fp64;
        const auto terms = engine::polynomialTerms(source, project.seeds.data);
        const auto dataset = engine::Dataset::open(project, {});
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        const auto measuredOf = [&](const std::vector<double>& learned) {
            const auto forward = [&](const at::Tensor&, const at::Tensor& input) {
                const at::Tensor x = input.to(at::kDouble).contiguous();
                at::Tensor y = at::zeros({x.size(0), 1}, at::kDouble);
                for (std::int64_t row = 0; row < x.size(0); ++row) {
                    const std::span<const double> inputs(x.const_data_ptr<double>() + row * x.size(1),
                                                         static_cast<std::size_t>(x.size(1)));
                    for (const engine::Monomial& term : terms) {
                        y.mutable_data_ptr<double>()[row] +=
                            learned[term.variables.size() - 1] * term.coefficient * term.basis(inputs);
                    }
                }
                return y;
            };
            NetworkDouble network(at::zeros({1}), forward, [](const at::Tensor& w, const auto&) { return w; });
            engine::Measured measured;
            const engine::TrainedState state{network, **dataset, project, at::kCPU, 5, false, {}};
            return engine::measureDegrees(state, measured) ? measured.matrices.at(0) : engine::Matrix();
        };
        const engine::Matrix half = measuredOf({1, 0.5, 1});
        QCOMPARE(half.name.text(), std::string(engine::matrix::kDegreeErrors));
        QCOMPARE(half.columns, std::int64_t{3});
        QVERIFY2(std::abs(half.values[1] - 0.25) < 0.03, qPrintable(QString::number(half.values[1])));
        QVERIFY(std::abs(half.values[0]) < 0.01 && std::abs(half.values[2]) < 0.01);
        for (const float error : measuredOf({0, 0, 0}).values) {
            QVERIFY2(std::abs(error - 1) < 0.15, qPrintable(QString::number(error)));
        }
        for (const float error : measuredOf({1, 1, 1}).values) {
            QVERIFY(std::abs(error) < 1e-12);
        }
        engine::Trainer language = tests::trainerOf(measuredLanguage("plain"));
        QVERIFY(language.measure(tests::measureOf(engine::matrix::kDegreeErrors))->matrices.empty());
    }
};

RESIDUA_TEST(TestStability)
#include "tst_stability.moc"
