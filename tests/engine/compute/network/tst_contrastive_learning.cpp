// SPDX-License-Identifier: GPL-3.0-or-later
// Contrastive reinforcement learning against its equations in plain double precision, on fixed arrays.
#include "network_harness.h"

#include "engine/compute/network/group_runs.h"
#include "engine/compute/network/network.h"
#include "engine/compute/ops/operators.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/nodes/example_schema.h"
#include "projects/shipped/recipes.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <vector>

using namespace residua;
using projects::Project;

namespace {

constexpr std::int64_t kExamples = 5;
constexpr std::int64_t kWidth = 6;
constexpr std::int64_t kActions = 2;
constexpr std::int64_t kRepresentation = 64;

using Row = std::vector<double>;
using Rows = std::vector<Row>;
using Weights = std::map<std::string, std::vector<double>>;

Project small()
{
    Project project = projects::contrastiveLearning({.path = {}}, 1, kWidth);
    project.training.precision = projects::Precision::Fp64;
    project.training.batch = kExamples;
    return project;
}

/// Numbers without a pattern, the same at each call.
Rows fixedRows(std::int64_t columns, double phase)
{
    Rows rows;
    for (std::int64_t i = 0; i < kExamples; ++i) {
        Row row;
        for (std::int64_t j = 0; j < columns; ++j) {
            row.push_back(std::sin(phase + 1.7 * static_cast<double>(i) + 2.9 * static_cast<double>(j)));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

at::Tensor tensorOf(const Rows& rows)
{
    std::vector<double> values;
    for (const Row& row : rows) {
        values.insert(values.end(), row.begin(), row.end());
    }
    return at::tensor(values, at::kDouble).view({static_cast<std::int64_t>(rows.size()), -1});
}

Rows rowsOf(const at::Tensor& values)
{
    const at::Tensor wide = values.to(at::kDouble).contiguous();
    const double* const first = wide.const_data_ptr<double>();
    Rows rows;
    for (std::int64_t i = 0; i < wide.size(0); ++i) {
        rows.emplace_back(first + i * wide.size(1), first + (i + 1) * wide.size(1));
    }
    return rows;
}

/// The equations, one example at a time.
class Plain {
public:
    explicit Plain(const Weights& weights) : m_weights(weights) {}

    [[nodiscard]] Row dense(const std::string& name, const Row& x) const
    {
        const std::vector<double>& weight = m_weights.at(name + ".weight");
        Row y = m_weights.at(name + ".bias");
        for (std::size_t o = 0; o < y.size(); ++o) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                y[o] += weight[o * x.size() + i] * x[i];
            }
        }
        return y;
    }

    [[nodiscard]] Row layer(const std::string& linear, const std::string& norm, const Row& x) const
    {
        Row y = dense(linear, x);
        double mean = 0;
        for (const double value : y) {
            mean += value / static_cast<double>(y.size());
        }
        double variance = 0;
        for (const double value : y) {
            variance += (value - mean) * (value - mean) / static_cast<double>(y.size());
        }
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double z = (y[i] - mean) / std::sqrt(variance + 1e-6) * m_weights.at(norm + ".weight")[i] +
                             m_weights.at(norm + ".bias")[i];
            y[i] = z / (1 + std::exp(-z));
        }
        return y;
    }

    /// The first layer, and a block of four with the identity around it.
    [[nodiscard]] Row trunk(const std::string& tower, const Row& x) const
    {
        const Row entering = layer(tower + "stem.linear", tower + "stem.norm", x);
        Row inside = entering;
        for (const std::string number : {"1", "2", "3", "4"}) {
            inside = layer(tower + "layers.1.linear_" + number, tower + "layers.1.norm_" + number, inside);
        }
        for (std::size_t i = 0; i < inside.size(); ++i) {
            inside[i] += entering[i];
        }
        return inside;
    }

    [[nodiscard]] double weight(const std::string& name) const { return m_weights.at(name).front(); }

private:
    const Weights& m_weights;
};

struct Inputs {
    Rows states;
    Rows actions;
    Rows goals;
    Rows noise;
};

Row joined(Row a, const Row& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

double distance(const Row& a, const Row& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return std::sqrt(sum);
}

struct Losses {
    double contrast = 0;
    double action = 0;
    double entropy = 0;
};

Losses lossesOf(const Weights& weights, const Inputs& in)
{
    const Plain plain(weights);
    const double count = kExamples;
    Rows steps;
    Rows goals;
    for (std::size_t i = 0; i < in.states.size(); ++i) {
        steps.push_back(plain.dense("steps.head.out", plain.trunk("steps.", joined(in.states[i], in.actions[i]))));
        goals.push_back(plain.dense("goals.head.out", plain.trunk("goals.", in.goals[i])));
    }
    Losses losses;
    const double alpha = std::exp(plain.weight("temperature.stem.alpha.value"));
    for (std::size_t i = 0; i < in.states.size(); ++i) {
        double sum = 0;
        for (const Row& goal : goals) {
            sum += std::exp(-distance(steps[i], goal));
        }
        const double normaliser = std::log(sum);
        losses.contrast += (normaliser + distance(steps[i], goals[i]) + 0.1 * normaliser * normaliser) / count;

        const Row trunk = plain.trunk("", joined(in.states[i], in.goals[i]));
        const Row mean = plain.dense("head.mean", trunk);
        const Row spread = plain.dense("head.spread", trunk);
        Row action;
        double density = 0;
        for (std::size_t j = 0; j < mean.size(); ++j) {
            const double e = in.noise[i][j];
            const double deviation = -5 + 3.5 * (std::tanh(spread[j]) + 1);
            action.push_back(std::tanh(mean[j] + std::exp(deviation) * e));
            density += -0.5 * e * e - deviation - 0.5 * std::log(2 * std::numbers::pi) -
                       std::log(1 - action[j] * action[j] + 1e-6);
        }
        const Row taken = plain.dense("steps.head.out", plain.trunk("steps.", joined(in.states[i], action)));
        losses.action += (alpha * density + distance(taken, goals[i])) / count;
        losses.entropy += alpha * (-density + 0.5 * kActions) / count;
    }
    return losses;
}

} // namespace

class TestContrastiveLearning : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void equalsThePlainEquations();
    void refusesWeightsThatDoNotFit_data();
    void refusesWeightsThatDoNotFit();
    void countsSharedWeightsOnce();
    void sharesValuesInAStep();
};

void TestContrastiveLearning::equalsThePlainEquations()
{
    const Project project = small();
    const auto network = engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
    QVERIFY2(network.ok(), network ? "" : network.error().text().c_str());
    QVERIFY((*network)->initialise({}, {}).ok());
    std::vector<engine::NamedParameter>& parameters = (*network)->parameters();
    Weights weights;
    for (engine::NamedParameter& parameter : parameters) {
        QVERIFY2(!parameter.name.starts_with("value."), parameter.name.c_str());
        const at::NoGradGuard noGrad;
        if (parameter.tensor.dim() == 1) { // gains and biases that differ
            parameter.tensor.add_(at::tensor(0.1, at::kDouble) * at::arange(parameter.tensor.numel()).sin());
        }
        const at::Tensor flat = parameter.tensor.contiguous().view({-1});
        weights[parameter.name] = {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
    }

    engine::Pass pass;
    pass.mode = engine::Mode::Training;
    pass.draws = at::tensor({std::int64_t{1234567}, std::int64_t{0}}, at::kLong);
    const Inputs in{fixedRows(4, 0.1), fixedRows(kActions, 0.7), fixedRows(2, 1.3),
                    rowsOf(engine::normalDraws(kExamples, kActions, streamKey(0, "head.noise."), pass.draws))};
    engine::DeviceBatch batch{tensorOf(in.states), tensorOf(in.actions)};
    batch.conditions = {{projects::kActionField, tensorOf(in.actions)}, {projects::kGoalField, tensorOf(in.goals)}};

    using Choose = std::function<double(const Losses&)>;
    const std::map<std::string, std::pair<Choose, std::vector<std::string>>> wanted{
        {"contrast", {[](const Losses& l) { return l.contrast; }, {"steps.", "goals."}}},
        {"action", {[](const Losses& l) { return l.action; }, {"stem.", "layers.", "head."}}},
        {"entropy", {[](const Losses& l) { return l.entropy; }, {"temperature."}}}};
    std::size_t compared = 0;
    QCOMPARE((*network)->lossGroups(), std::size_t{4});
    for (std::size_t group = 1; group < (*network)->lossGroups(); ++group) {
        const auto& [choose, trained] = wanted.at(project.losses[group - 1].name);
        const at::Tensor loss = (*network)->lossOfGroup(group, batch, pass).trained;
        const double expected = choose(lossesOf(weights, in));
        QVERIFY2(std::abs(loss.item<double>() - expected) < 1e-12 * std::abs(expected),
                 qPrintable(QString("%1: %2, expected %3")
                                .arg(project.losses[group - 1].name.c_str())
                                .arg(loss.item<double>(), 0, 'g', 17)
                                .arg(expected, 0, 'g', 17)));
        loss.backward();
        for (engine::NamedParameter& parameter : parameters) {
            const bool isTrained = std::ranges::any_of(
                trained, [&](const std::string& scope) { return parameter.name.starts_with(scope); });
            const at::Tensor gradient = parameter.tensor.grad();
            if (!isTrained) {
                QVERIFY2(!gradient.defined(), parameter.name.c_str()); // held still
                continue;
            }
            QVERIFY2(gradient.defined(), parameter.name.c_str());
            const at::Tensor flat = gradient.contiguous().view({-1});
            for (std::int64_t i = 0; i < flat.numel(); i += std::max<std::int64_t>(1, flat.numel() / 5)) {
                constexpr double kStep = 1e-5;
                double& value = weights[parameter.name][static_cast<std::size_t>(i)];
                const double before = value;
                value = before + kStep;
                const double above = choose(lossesOf(weights, in));
                value = before - kStep;
                const double below = choose(lossesOf(weights, in));
                value = before;
                const double slope = (above - below) / (2 * kStep);
                const double got = flat[i].item<double>();
                QVERIFY2(std::abs(got - slope) < 1e-6 * (1 + std::abs(slope)),
                         qPrintable(QString("%1[%2]: %3, expected %4")
                                        .arg(parameter.name.c_str())
                                        .arg(i)
                                        .arg(got, 0, 'g', 12)
                                        .arg(slope, 0, 'g', 12)));
                ++compared;
            }
            parameter.tensor.mutable_grad().reset();
        }
    }
    QVERIFY(compared > 150);
}

void TestContrastiveLearning::refusesWeightsThatDoNotFit_data()
{
    QTest::addColumn<std::function<void(Project&)>>("change");
    QTest::addColumn<QString>("message");
    using Change = std::function<void(Project&)>;
    QTest::newRow("no such tower") << Change([](Project& p) { p.towers[3].network.weights = "nobody"; })
                                   << "names \"nobody\", expected the name of another tower";
    QTest::newRow("itself") << Change([](Project& p) { p.towers[3].network.weights = "value"; })
                            << "names \"value\", expected the name of another tower";
    QTest::newRow("other layers") << Change([](Project& p) { p.towers[3].network.stack().segments[0].repeat = 2; })
                                  << "whose layers, blocks, topology";
    QTest::newRow("another head") << Change([](Project& p) {
        for (projects::Node& node : p.towers[3].network.head.nodes) {
            node.name = node.name == "out" ? "other" : node.name;
        }
    }) << "whose head has no parameter other.";
    QTest::newRow("the first tower") << Change([](Project& p) { p.network.weights = "steps"; })
                                     << "but the first tower has its own";
    QTest::newRow("trained") << Change([](Project& p) {
        p.losses[1].trains = {"actor", "value"};
    }) << "trains the tower value, which uses the weights of steps";
    QTest::newRow("trained on actions") << Change([](Project& p) { p.network.ownLoss = projects::OwnLoss::Trained; })
                                        << "is measured by acting";
}

void TestContrastiveLearning::refusesWeightsThatDoNotFit()
{
    QFETCH(std::function<void(Project&)>, change);
    QFETCH(QString, message);
    Project project = small();
    QVERIFY(!projects::hasErrors(projects::validate(project)));
    change(project);
    QString all;
    for (const projects::Problem& problem : projects::validate(project)) {
        all += QString::fromStdString(problem.place + " " + problem.message + "\n");
    }
    QVERIFY2(all.contains(message), qPrintable(all));
}

/// A step runs each tower once, with the critic a second time for the actor's loss, and has the gradients of the groups
/// alone to the bit.
void TestContrastiveLearning::sharesValuesInAStep()
{
    const Project project = small();
    const auto network = engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
    QVERIFY2(network.ok(), network ? "" : network.error().text().c_str());
    QVERIFY((*network)->initialise({}, {}).ok());
    engine::DeviceBatch batch{tensorOf(fixedRows(4, 0.1)), tensorOf(fixedRows(kActions, 0.7))};
    batch.conditions = {{projects::kActionField, batch.target}, {projects::kGoalField, tensorOf(fixedRows(2, 1.3))}};
    batch.draws = at::tensor({std::int64_t{1234567}, std::int64_t{0}}, at::kLong);
    const tests::StepGradients alone = tests::stepGradients(**network, batch, false);
    const tests::StepGradients shared = tests::stepGradients(**network, batch, true);
    QVERIFY(at::equal(alone.judged, shared.judged));
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
        QVERIFY2(at::equal(alone.gradients[i], shared.gradients[i]), (*network)->parameters()[i].name.c_str());
    }
    const auto runs = engine::groupRunsOf(project, projects::lossGroupsOf(project), {0, 1, 2, 3, 4}, {}).sharing;
    using Towers = std::set<std::size_t>; // actor, steps, goals, temperature, value
    QCOMPARE(runs.size(), std::size_t{4});
    QVERIFY(runs[0].runs.empty());
    QVERIFY(runs[1].runs == Towers({1, 2}) && runs[1].keeps == Towers({2}));
    QVERIFY(runs[2].runs == Towers({0, 3, 4}) && runs[2].measures == Towers({0}) && runs[2].keeps == Towers({0}));
    QVERIFY(runs[3].runs == Towers({3}));
}

void TestContrastiveLearning::countsSharedWeightsOnce()
{
    const Project project = small();
    const auto cost = projects::costOf(project);
    QVERIFY(cost.ok());
    QCOMPARE(cost->towers.at("value").parameters, std::int64_t{0});
    std::int64_t sum = 0;
    const auto network = engine::CompiledNetwork::compile(project, projects::examplesOf(project.data), "cpu");
    QVERIFY(network.ok());
    for (const engine::NamedParameter& parameter : (*network)->parameters()) {
        sum += parameter.tensor.numel();
    }
    QCOMPARE(cost->total.parameters, sum);
    QCOMPARE(cost->towers.at("steps").parameters,
             6 * kWidth + 3 * kWidth + 4 * (kWidth * kWidth + 3 * kWidth) + kWidth * kRepresentation + kRepresentation);
}

RESIDUA_TEST(TestContrastiveLearning)
#include "tst_contrastive_learning.moc"
