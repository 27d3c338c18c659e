// SPDX-License-Identifier: GPL-3.0-or-later
// Who is left out of a step, and what the others are scaled by.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/depth/layer_dropping.h"
#include "projects/library/schedule_presets.h"
#include "projects/schedule/kept_parts.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace residua;
using namespace residua::tests;
using engine::LayerUse;
using engine::Pass;
using projects::DropAxis;
using projects::DropSampling;
using projects::DropScaling;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::StageSchedule)

namespace {

Project stagedMlp(std::int64_t depth, projects::StageSchedule schedule)
{
    Project project = tinyVectors("mlp", "plain", depth);
    project.training.steps = 1000;
    project.stack().schedule = std::move(schedule);
    return project;
}

/// Returns the use of each layer in step `step` of the schedule.
std::vector<LayerUse> drawn(const Project& project, std::int64_t step, engine::Mode mode = engine::Mode::Training)
{
    Pass pass = passIn(mode);
    pass.step = step;
    pass.random = engine::RandomStreams(project.seeds.stages, step);
    return engine::LayerDropping(project).draw(pass);
}

std::vector<double> factorsOf(const std::vector<LayerUse>& layers)
{
    std::vector<double> factors;
    for (const LayerUse& layer : layers) {
        factors.push_back(layer.runs ? layer.factor : 0);
    }
    return factors;
}

/// Stochastic depth whose last layer stays with `keepLast`.
Project stochasticDepth(const std::string& block, std::int64_t depth, double keepLast)
{
    Project project = tinyVectors(block, "plain", depth);
    project.stack().schedule = projects::scheduleOf(*projects::findSchedulePreset("stochastic-depth"), depth, 1000);
    const auto all = static_cast<double>(depth);
    project.stack().schedule.stages.front().averageLength = all - (1 - keepLast) * (all + 1) / 2;
    return project;
}

/// Training as step `step` does it.
Pass trainingAt(const Project& project, std::int64_t step)
{
    Pass pass = kTraining;
    pass.step = step;
    pass.random = engine::RandomStreams(project.seeds.stages, step);
    return pass;
}

/// f_layer(x), layers from 1: what the network adds to its input where that layer alone runs.
at::Tensor branch(engine::CompiledNetwork& network, std::int64_t depth, std::int64_t layer, const at::Tensor& x)
{
    Pass pass = kEvaluation;
    pass.layers.resize(static_cast<std::size_t>(depth));
    for (LayerUse& each : pass.layers) {
        each.runs = &each == &pass.layers[static_cast<std::size_t>(layer - 1)];
    }
    return network.forward(x, pass) - x;
}

} // namespace

class TestStageDraws : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// √(j̄ − j) and j̄ − j over the gap to the next kept layer (RaPTr, appendix J): the squares of the one and the sum
    /// of the other are the depth, from the first kept layer on.
    void branchesMakeUpForTheGap()
    {
        for (const DropScaling scaling : {DropScaling::SquareRoot, DropScaling::Linear}) {
            const Project project = stagedMlp(8, {.stages = {{0, 4, {1, 8}}}, .scaling = scaling});
            for (std::int64_t step = 1; step <= 40; ++step) {
                const std::vector<double> factors = factorsOf(drawn(project, step));
                double sum = 0;
                std::size_t next = 8;
                for (std::size_t l = 8; l-- > 0;) {
                    if (factors[l] != 0) {
                        const auto gap = static_cast<double>(next - l);
                        QCOMPARE(factors[l], scaling == DropScaling::Linear ? gap : std::sqrt(gap));
                        sum += scaling == DropScaling::Linear ? factors[l] : factors[l] * factors[l];
                        next = l;
                    }
                }
                QVERIFY(std::abs(sum - 8) < 1e-12);
                QVERIFY(factors[0] != 0 && factors[7] != 0);
            }
        }
    }

    /// Five standard deviations about what the schedule promises.
    void draws_data()
    {
        using projects::DropCourse;
        using projects::StageSchedule;
        QTest::addColumn<projects::StageSchedule>("schedule");
        QTest::addColumn<QVector<double>>("expected");
        QTest::newRow("Bernoulli") << StageSchedule{.stages = {{0, 4, {1, 6}}}}
                                   << QVector<double>{1, .5, .5, .5, .5, 1};
        QTest::newRow("fixed size") << StageSchedule{.stages = {{0, 4, {1, 6}}}, .sampling = DropSampling::FixedSize}
                                    << QVector<double>{1, .5, .5, .5, .5, 1};
        // 1 − l/6·(1 − α), whose sum is 6 − 3.5·(1 − α): α = 0.4.
        QTest::newRow("deeper layers less often")
            << StageSchedule{.stages = {{0, 3.9, {}}}, .sampling = DropSampling::DeeperSeldomer}
            << QVector<double>{.9, .8, .7, .6, .5, .4};
        // α(t) = 0.4 to 1e-6 for every t from step 1 on with γ_f/T = 100: 1 − (l − 1)/6·0.6.
        QTest::newRow("curve") << StageSchedule{.stages = {},
                                                .sampling = DropSampling::DeeperSeldomer,
                                                .course = DropCourse::Curve,
                                                .curveFloor = 0.4,
                                                .curveRate = 1e5}
                               << QVector<double>{1, .9, .8, .7, .6, .5};
        QTest::newRow("no always-kept set")
            << StageSchedule{.stages = {{0, 1.2, {}}}} << QVector<double>{.2, .2, .2, .2, .2, .2};
    }
    void draws()
    {
        QFETCH(projects::StageSchedule, schedule);
        QFETCH(QVector<double>, expected);
        Project project = stagedMlp(6, schedule);
        constexpr int kSteps = 2000;
        project.training.steps = 1000;
        std::vector<int> counts(6, 0);
        for (int i = 0; i < kSteps; ++i) {
            project.seeds.stages = 40 + i / 1000;
            const std::vector<LayerUse> layers = drawn(project, 1 + i % 1000);
            QCOMPARE(layers.size(), std::size_t{6});
            const auto kept = std::ranges::count_if(layers, [](const LayerUse& l) { return l.runs && l.factor != 0; });
            QVERIFY(schedule.sampling != DropSampling::FixedSize || kept == 4);
            for (std::size_t l = 0; l < 6; ++l) {
                counts[l] += layers[l].runs && layers[l].factor != 0 ? 1 : 0;
            }
        }
        for (int l = 0; l < 6; ++l) {
            const double p = expected[l];
            const double deviation = std::sqrt(p * (1 - p) / kSteps) + 1e-9;
            const double got = counts[static_cast<std::size_t>(l)] / static_cast<double>(kSteps);
            QVERIFY2(std::abs(got - p) < 5 * deviation,
                     qPrintable(QString("layer %1: %2, not %3").arg(l + 1).arg(got).arg(p)));
        }
    }

    void wholeVisits_data()
    {
        QTest::addColumn<double>("length");
        QTest::addColumn<bool>("fixed");
        QTest::addColumn<bool>("always");
        QTest::addColumn<int>("order");
        QTest::addColumn<double>("kept");
        for (const int order : {0, 1}) {
            QTest::addRow("one %d", order) << 4.0 << false << false << order << 1.0;
            QTest::addRow("one of a fixed number %d", order) << 4.0 << true << false << order << 1.0;
            QTest::addRow("some %d", order) << 7.0 << false << false << order << 2.5;
            QTest::addRow("a fixed number %d", order) << 8.0 << true << false << order << 3.0;
            QTest::addRow("beside the first %d", order) << 7.0 << false << true << order << 2.5;
            QTest::addRow("a fixed number beside the first %d", order) << 6.0 << true << true << order << 2.0;
        }
    }
    /// A loop visits layers 2 and 3 of 4 four times. Each step keeps at least one visit, each as often as the stage
    /// says. A kept visit is scaled by the visits up to the next kept one, under the square root too.
    void wholeVisits()
    {
        QFETCH(double, length);
        QFETCH(bool, fixed);
        QFETCH(bool, always);
        QFETCH(int, order);
        QFETCH(double, kept);
        Project project = stagedMlp(4, {.stages = {{0, length, {}}}, .unit = projects::DropUnit::Visit});
        projects::Stack& stack = project.stack();
        stack.loops = {{.first = 2, .last = 3, .visits = 4, .order = static_cast<projects::VisitOrder>(order)}};
        stack.schedule.sampling = fixed ? DropSampling::FixedSize : DropSampling::Bernoulli;
        if (always) {
            stack.schedule.stages.front().always = {2};
        }
        constexpr int kSteps = 1000;
        std::vector<int> counts(4, 0);
        for (std::int64_t step = 1; step <= kSteps; ++step) {
            const std::vector<LayerUse> layers = drawn(project, step);
            QVERIFY(drawn(project, step) == layers); // so every micro-batch and every rank draws the same
            const std::vector<double> factors = factorsOf(layers);
            QCOMPARE(factors.front(), 1.0);
            QCOMPARE(factors.back(), 1.0);
            double gap = 1;
            int running = 0;
            for (std::int64_t visit = 4; visit >= 1; --visit) {
                const double factor = factors[static_cast<std::size_t>(stack.numberOf({2, visit}) - 1)];
                QCOMPARE(factors[static_cast<std::size_t>(stack.numberOf({3, visit}) - 1)], factor);
                QVERIFY(factor == 0 || factor == gap);
                gap = factor == 0 ? gap + 1 : 1;
                running += factor == 0 ? 0 : 1;
                counts[static_cast<std::size_t>(visit - 1)] += factor == 0 ? 0 : 1;
            }
            QVERIFY(running >= 1 && (!fixed || running == static_cast<int>(kept)));
        }
        for (std::size_t visit = 0; visit < 4; ++visit) {
            const double p = always ? (visit == 0 ? 1 : (kept - 1) / 3) : kept / 4;
            const double deviation = std::sqrt(p * (1 - p) / kSteps) + 1e-9;
            QVERIFY(std::abs(counts[visit] / static_cast<double>(kSteps) - p) < 5 * deviation);
        }
    }

    /// The probabilities of all outcomes, from which those of single visits follow.
    void sharesOfDrawnVisits()
    {
        const std::vector<std::vector<double>> cases{
            {0.5, 0.5, 0.5, 0.5}, {0.25, 0.25, 0.25, 0.25}, {1, 0.25, 0.25, 0.25}, {1, 1, 1, 1}};
        for (const std::vector<double>& shares : cases) {
            double all = 0;
            std::vector<double> single(4, 0);
            for (std::size_t outcome = 0; outcome < 16; ++outcome) {
                std::vector<bool> kept;
                bool mayBe = outcome != 0;
                for (std::size_t visit = 0; visit < 4; ++visit) {
                    kept.push_back((outcome >> visit) % 2 == 1);
                    mayBe = mayBe && (kept[visit] || shares[visit] < 1);
                }
                const double share = mayBe ? engine::shareOfKept(shares, DropSampling::Bernoulli, kept) : 0;
                all += share;
                for (std::size_t visit = 0; visit < 4; ++visit) {
                    single[visit] += kept[visit] ? share : 0;
                }
            }
            QVERIFY(std::abs(all - 1) < 1e-12);
            for (std::size_t visit = 0; visit < 4; ++visit) {
                QVERIFY(std::abs(single[visit] - shares[visit]) < 1e-12);
            }
        }
        const std::vector<double> half(4, 0.5);
        QVERIFY(std::abs(engine::shareOfKept(half, DropSampling::FixedSize, {true, false, true, false}) - 1.0 / 6) <
                1e-12);
    }

    void drawsAreAFunctionOfSeedAndStep()
    {
        Project project = stagedMlp(12, {.stages = {{0, 6, {1, 12}}}, .axis = DropAxis::All});
        const auto draws = [&] {
            std::vector<std::vector<LayerUse>> all;
            for (std::int64_t step = 1; step <= 5; ++step) {
                all.push_back(drawn(project, step));
            }
            return all;
        };
        const auto first = draws();
        QVERIFY(draws() == first);
        QVERIFY(first[0] != first[1]);
        project.seeds.stages += 1;
        QVERIFY(draws() != first);
    }

    /// Parts of a node: as many as the share says, each as often as any other, and at least one.
    void partsAreDrawnAlike()
    {
        std::vector<int> fixed(8, 0);
        std::vector<int> single(8, 0);
        constexpr int kDraws = 2000;
        for (std::uint64_t key = 0; key < kDraws; ++key) {
            const auto half = engine::keptParts({.sampling = DropSampling::FixedSize, .keep = 0.25, .key = key}, 8, 3);
            QCOMPARE(half.parts.size(), std::size_t{2});
            const auto few = engine::keptParts({.keep = 0.01, .key = key}, 8, 3);
            QVERIFY(!few.parts.empty());
            for (const std::size_t part : half.parts) {
                ++fixed[part];
            }
            for (const std::size_t part : few.parts) {
                ++single[part];
            }
        }
        for (const int count : fixed) {
            QVERIFY(std::abs(count / static_cast<double>(kDraws) - 0.25) < 5 * std::sqrt(0.25 * 0.75 / kDraws));
        }
        for (const int count : single) {
            QVERIFY(std::abs(count / static_cast<double>(kDraws) - 0.125) < 6 * std::sqrt(0.125 * 0.875 / kDraws));
        }
        QCOMPARE(engine::keptParts({.sampling = DropSampling::First, .keep = 0.5, .before = 0.25, .opening = 0.3}, 8, 3)
                     .factors,
                 (std::vector<double>{1, 1, 0.3, 0.3}));
    }

    /// p in evaluation and 1/p in training are the two ways to the same expectation; 1/p in evaluation is RaPTr's text.
    void probabilitiesScaleWhereTheyShould()
    {
        Project project = stagedMlp(4, {.stages = {{0, 2.5, {1}}}, .scaling = DropScaling::Evaluation});
        QCOMPARE(factorsOf(drawn(project, 3, engine::Mode::Evaluation)), (std::vector<double>{1, .5, .5, .5}));
        const auto trained = [&] {
            std::set<double> factors;
            for (std::int64_t step = 1; step <= 20; ++step) {
                const std::vector<double> of = factorsOf(drawn(project, step));
                factors.insert(of.begin(), of.end());
            }
            return factors;
        };
        QCOMPARE(trained(), (std::set<double>{0, 1}));
        project.stack().schedule.scaling = DropScaling::EvaluationInverse;
        QCOMPARE(factorsOf(drawn(project, 3, engine::Mode::Evaluation)), (std::vector<double>{1, 2, 2, 2}));
        QCOMPARE(trained(), (std::set<double>{0, 1}));
        project.stack().schedule.scaling = DropScaling::InverseProbability;
        QCOMPARE(factorsOf(drawn(project, 3, engine::Mode::Evaluation)), (std::vector<double>{1, 1, 1, 1}));
        QCOMPARE(trained(), (std::set<double>{0, 1, 2})); // the first layer is always kept, and not scaled
    }

    /// A growing network has its first layers alone, in evaluation too; new ones open over the warm-up.
    void growsFromStageToStage()
    {
        const Project project = stagedMlp(6, {.stages = {{0, 2, {}}, {100, 4, {}}, {200, 6, {}}},
                                              .sampling = DropSampling::First,
                                              .growth = projects::GrowthSource::Top,
                                              .growthWarmup = 10});
        for (const engine::Mode mode : {engine::Mode::Training, engine::Mode::Evaluation}) {
            QCOMPARE(factorsOf(drawn(project, 1, mode)), (std::vector<double>{1, 1, 0, 0, 0, 0}));
            QCOMPARE(factorsOf(drawn(project, 100, mode)), (std::vector<double>{1, 1, 0, 0, 0, 0}));
            QCOMPARE(factorsOf(drawn(project, 101, mode)), (std::vector<double>{1, 1, 0, 0, 0, 0}));
            QCOMPARE(factorsOf(drawn(project, 106, mode)), (std::vector<double>{1, 1, .5, .5, 0, 0}));
            QCOMPARE(factorsOf(drawn(project, 200, mode)), (std::vector<double>{1, 1, 1, 1, 0, 0}));
            QCOMPARE(factorsOf(drawn(project, 300, mode)), (std::vector<double>{1, 1, 1, 1, 1, 1}));
        }
        // LEMON's order: each copy beside its source.
        const projects::Growth growth = projects::growthOf(projects::GrowthSource::Adjacent, 6, 9);
        QCOMPARE(growth.source, (std::vector<std::int64_t>{1, 2, 3, 4, 4, 5, 5, 6, 6}));
        QCOMPARE(growth.isNew, (std::vector<bool>{false, false, false, false, true, false, true, false, true}));
        QCOMPARE(projects::growthOf(projects::GrowthSource::Top, 6, 9).source,
                 (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 4, 5, 6}));
        QCOMPARE(projects::growthOf(projects::GrowthSource::Top, 3, 6).source,
                 (std::vector<std::int64_t>{1, 2, 3, 1, 2, 3})); // bert2BERT
    }

    /// p_l = 1 − l/L·(1 − p_L) for L = 4 and p_L = 0.2: 0.8, 0.6, 0.4, 0.2.
    void stochasticDepthScalesInEvaluation()
    {
        const Project project = stochasticDepth("mlp", 4, 0.2);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        at::Tensor x = batch.input;
        for (std::int64_t layer = 1; layer <= 4; ++layer) {
            x = x + (1 - 0.2 * static_cast<double>(layer)) * branch(*network, 4, layer, x);
        }
        QVERIFY(distance(network->forward(batch.input, kEvaluation), x) < 1e-12);
    }

    /// In training every pass is the plain network of some subset, and the recorded row says of which.
    void stochasticDepthIsThePlainNetworkOfASubset()
    {
        const Project project = stochasticDepth("mlp", 2, 0.4);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor one = batch.input + branch(*network, 2, 1, batch.input);
        const std::vector<at::Tensor> outcomes{batch.input, one, batch.input + branch(*network, 2, 2, batch.input),
                                               one + branch(*network, 2, 2, one)};
        std::vector<int> counts(4, 0);
        for (std::int64_t step = 1; step <= 200; ++step) {
            const at::Tensor got = network->forward(batch.input, trainingAt(project, step));
            const auto hit =
                std::ranges::find_if(outcomes, [&](const at::Tensor& o) { return distance(o, got) < 1e-12; });
            QVERIFY(hit != outcomes.end());
            const auto outcome = static_cast<std::size_t>(hit - outcomes.begin());
            ++counts[outcome];
            const auto told = network->coefficients(step);
            QCOMPARE(told.size(), std::size_t{1});
            QCOMPARE(told.front().name.text(), std::string("active"));
            QCOMPARE(told.front().values,
                     (std::vector<float>{outcome % 2 == 1 ? 1.0F : 0.0F, outcome >= 2 ? 1.0F : 0.0F}));
        }
        QVERIFY(std::ranges::none_of(counts, [](int count) { return count == 0; }));
    }

    /// A network of layers alone, all left out, still has a loss to step down: its gradients are 0.
    void stochasticDepthLeavesOutAll()
    {
        const Project project = stochasticDepth("linear", 1, 0);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        QVERIFY(at::equal(network->forward(batch.input, trainingAt(project, 1)), batch.input));
        network->loss(batch, trainingAt(project, 1)).backward();
        QCOMPARE(parameter(*network, "layers.1.weight.weight").grad().abs().max().item<double>(), 0.0);
    }
};

RESIDUA_TEST(TestStageDraws)
#include "tst_stage_draws.moc"
