// SPDX-License-Identifier: GPL-3.0-or-later
// The coefficients of a DepthMix: topologies of linear layers against a stack written out here, and what single
// coefficients, their regulariser and their gate promise.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/cost/cost.h"
#include "projects/nodes/graph_builder.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::GraphBuilder;
using projects::Project;

class TestMixTopologies : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void startsAsThePlainNetwork_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("exact");
        for (const char* const name : {"grn-v1", "grn-v2", "grn-v3", "dca"}) {
            QTest::newRow(name) << QString(name) << true;
        }
        for (const char* const name : {"ancre-none", "denseformer", "mudd"}) {
            QTest::newRow(name) << QString(name) << true;
        }
        QTest::newRow("k-dca") << QString("k-dca") << false; // sums the middle first, so rounds in another order
        QTest::newRow("laurel-pa") << QString("laurel-pa") << false; // adds attention and FFN one after the other
    }
    /// To the bit with each layer's halves summed first, as an entry of a mix is, and up to rounding otherwise. Under
    /// bf16 too, where it takes that all keep the residual in the same numbers.
    void startsAsThePlainNetwork()
    {
        QFETCH(QString, topology);
        QFETCH(bool, exact);
        Project mixed = tinyLanguage("transformer", topology.toStdString(), 6);
        mixed = *projects::rewired(mixed, mixed.stack().topology);
        Project plain = mixed;
        plain.stack().topology = topologyNamed("plain", plain.network);
        const engine::DeviceBatch batch = randomBatch(plain, 3, 5, 1);
        const auto compare = [&](double tolerance) {
            for (const auto sums : {engine::SumOrder::ByBranch, engine::SumOrder::ByHalf}) {
                const at::Tensor expected = compiled(plain, sums)->forward(batch.input, kTraining);
                const at::Tensor got = compiled(mixed, sums)->forward(batch.input, kTraining);
                const bool same = exact && sums == engine::SumOrder::ByBranch;
                QVERIFY(same ? at::equal(got, expected) : distance(got, expected) < tolerance);
            }
        };
        const std::pair<projects::Precision, double> precisions[] = {
            {projects::Precision::Fp64, 1e-13}, {projects::Precision::Fp32, 1e-5}, {projects::Precision::Bf16, 0.05}};
        for (const auto& [precision, tolerance] : precisions) {
            mixed.training.precision = plain.training.precision = precision;
            compare(tolerance);
        }
        mixed.training.residualPrecision = plain.training.residualPrecision = projects::ResidualPrecision::Bf16;
        if (std::get_if<projects::DepthMix>(&mixed.stack().topology.wiring) == nullptr ||
            std::get<projects::DepthMix>(mixed.stack().topology.wiring).entry == projects::StackEntry::Full) {
            compare(0.05); // a stack of branches is summed anew by each reader, and rounded once
        }
    }

    /// A plain residual is (x + a) + f to the bit, which a mix between the halves of layers adds one by one. In runs of
    /// earlier versions it is x + (a + f).
    void theResidualAddsHalvesInOrder_data()
    {
        QTest::addColumn<QString>("block");
        for (const char* const block : {"transformer", "gpt"}) {
            QTest::newRow(block) << QString(block);
        }
    }
    void theResidualAddsHalvesInOrder()
    {
        QFETCH(QString, block);
        Project plain = tinyLanguage(block.toStdString(), "plain", 5);
        Project mixed = plain;
        mixed.stack().topology = topologyNamed("grn-v2", plain.network);
        std::get<projects::DepthMix>(mixed.stack().topology.wiring).sites = projects::MixSites::Both;
        const engine::DeviceBatch batch = randomBatch(plain, 3, 5, 1);
        for (const projects::Precision precision : {projects::Precision::Fp64, projects::Precision::Fp32}) {
            mixed.training.precision = plain.training.precision = precision;
            const at::Tensor expected = compiled(mixed)->forward(batch.input, kTraining);
            QVERIFY(at::equal(compiled(plain)->forward(batch.input, kTraining), expected));
            const auto before = compiled(plain, engine::SumOrder::ByBranch);
            QVERIFY(!at::equal(before->forward(batch.input, kTraining), expected));
        }
    }

    /// The residual's own precision under bf16: whatever is carried from layer to layer is rounded where the document
    /// says so and nowhere else.
    void residualIsRoundedWhereAsked_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(3)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void residualIsRoundedWhereAsked()
    {
        QFETCH(QString, topology);
        Project project = tinyLanguage("transformer", topology.toStdString(), 3);
        project = *projects::rewired(project, project.stack().topology);
        project.network.head = GraphBuilder() // what leaves the stack, as it is
                                   .node("input", "input")
                                   .node("output", "output")
                                   .wire("input", "output")
                                   .build();
        project.data.source = projects::SyntheticLanguage{.vocabulary = 8, .levels = 2, .tokens = 1000};
        project.training.precision = projects::Precision::Bf16;
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::Tensor single = compiled(project)->forward(batch.input, kEvaluation);
        QCOMPARE(single.scalar_type(), at::kFloat);
        const bool carriesNothing = topology == "none"; // its layers read branches alone
        QCOMPARE(at::equal(single.to(at::kBFloat16).to(at::kFloat), single), carriesNothing);
        project.training.residualPrecision = projects::ResidualPrecision::Bf16;
        const at::Tensor rounded = compiled(project)->forward(batch.input, kEvaluation);
        if (topology.startsWith("attention-residuals")) { // whose authors keep entries in fp32
            QVERIFY(at::equal(rounded, single));
        } else {
            QCOMPARE(rounded.scalar_type(), at::kBFloat16);
        }
        // Mixes of branches alone are rounded with their entries.
        project.training.residualPrecision = projects::ResidualPrecision::Fp32;
        project.training.entryPrecision = projects::EntryPrecision::Branch;
        const auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
        const at::Tensor entries = compiled(project)->forward(batch.input, kEvaluation);
        QVERIFY(at::equal(entries, mix != nullptr && readsBranches(*mix) ? rounded : single));
    }

    void gatesLearnUnlessToldNotTo()
    {
        Project project = tinyLanguage("transformer-qkv", "dca", 2);
        auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 1);
        network->loss(batch, kTraining).backward();
        QVERIFY(parameter(*network, "topology.gate").grad().abs().max().item<double>() > 0);
        std::get<projects::DepthMix>(project.stack().topology.wiring).gate.reluGradAtZero =
            projects::ReluGradAtZero::Zero;
        network = compiled(project);
        network->loss(batch, kTraining).backward();
        QCOMPARE(parameter(*network, "topology.gate").grad().abs().max().item<double>(), 0.0);
    }

    /// Beside the mean over features, or over tokens, how far they are spread.
    void matricesTellMeanAndSpread_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("block");
        QTest::newRow("features") << "dca"
                                  << "transformer-qkv";
        QTest::newRow("tokens") << "mudd"
                                << "transformer-qkvr";
    }
    void matricesTellMeanAndSpread()
    {
        QFETCH(QString, topology);
        QFETCH(QString, block);
        const Project project = tinyLanguage(block.toStdString(), topology.toStdString(), 3);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        const at::NoGradGuard noGrad;
        const auto named = [&](const char* name) {
            const auto all = network->coefficients(4);
            return *std::ranges::find(all, engine::MatrixName(name), &engine::Matrix::name);
        };
        at::Tensor numbers; // of layer 3's v and entry 1
        if (topology == "dca") {
            shake(*network, 0.2, 3);
            // 3 outputs of 1, 2 and 3 entries lie before; of layer 3, q and k; entry 0.
            numbers = parameter(*network, "topology.coefficient")[3 * (1 + 2) + 2 * 3 + 1];
        } else {
            static_cast<void>(network->forward(batch.input, kTraining)); // W2 = 0: every token mixes by the bias alone
            QCOMPARE(named("spread/v").at(2, 2), 0.0F);
            QCOMPARE(named("mix/v").at(2, 2), 1.0F);
            shake(*network, 0.2, 3);
        }
        static_cast<void>(network->forward(batch.input, kTraining));
        const float spread = named("spread/v").at(2, 1);
        QVERIFY(spread > 0);
        QVERIFY(std::isnan(named("spread/v").at(1, 2)));
        if (numbers.defined()) {
            const double mean = numbers.mean().item<double>();
            QVERIFY(std::abs(named("mix/v").at(2, 1) - mean) < 1e-6);
            QVERIFY(std::abs(named("coefficient/v").at(2, 1) - mean) < 1e-6);
            QVERIFY(std::abs(spread - std::sqrt(((numbers - mean) * (numbers - mean)).mean().item<double>())) < 1e-6);
        }
        // A scalar for each shortcut has no spread.
        for (const engine::Matrix& matrix : compiled(tinyVectors("linear", "grn-v1", 3))->coefficients(0)) {
            QVERIFY(matrix.name.kind != engine::matrix::kSpread);
        }
    }

    /// Linear layers: x_j = W_j x_{j−1} + Σ p_ij x_i, or y_j = Σ b_ij (stack), f_j = W_j y_j, written out.
    void topologyEqualsComposition_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("depth");
        for (const char* const name : {"none", "grn-v1", "grn-v2", "ancre-ingoing", "ancre-outgoing", "ancre-none",
                                       "ancre-fixed", "ancre-cascaded", "denseformer"}) {
            for (const int depth : {1, 2, 5}) {
                QTest::addRow("%s, %d layers", name, depth) << QString(name) << depth;
            }
        }
    }
    void topologyEqualsComposition()
    {
        QFETCH(QString, topology);
        QFETCH(int, depth);
        const Project project = tinyVectors("linear", topology.toStdString(), depth);
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor expected = reference(project, *network, batch.input);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-11);
    }

    void explicitShortcutsPrunedAndFrozen()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.states[{0, 2}] = projects::ShortcutState::Pruned;
        mix.states[{1, 3}] = projects::ShortcutState::Frozen;
        const auto network = compiled(project);
        QCOMPARE(parameter(*network, "topology.coefficient").numel(), std::int64_t{5}); // 0:1 1:2 0:3 1:3 2:3
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        network->loss(batch, kTraining).backward();
        const at::Tensor gradient = parameter(*network, "topology.coefficient").grad();
        QCOMPARE(gradient[3].item<double>(), 0.0);
        QVERIFY(gradient[2].item<double>() != 0.0);
        const auto matrices = network->coefficients(9);
        QCOMPARE(matrices.size(), std::size_t{2});
        QCOMPARE(matrices[0].name.text(), std::string("mix"));
        QCOMPARE(matrices[0].step, std::int64_t{9});
        QCOMPARE(matrices[0].rows, std::int64_t{3});
        QVERIFY(std::isnan(matrices[0].at(1, 0)));
        QCOMPARE(matrices[0].at(1, 1), 1.0F); // The only source of its row.
        const float row = matrices[0].at(2, 0) + matrices[0].at(2, 1) + matrices[0].at(2, 2);
        QVERIFY(std::abs(row - 1) < 1e-6F);
        QCOMPARE(matrices[1].at(2, 1), parameter(*network, "topology.coefficient")[3].item<float>());
    }

    /// A weight of its own where the others are fixed: what GRN-v1 computes with the other weights at their start, as a
    /// running sum and over stored entries. One parameter, and one row of the record.
    void learnedShortcutsAmongFixedOnes_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("learned");
        QTest::newRow("running sum") << "plain"
                                     << "grn-v1";
        QTest::newRow("stack") << "ancre-fixed"
                               << "ancre-none";
    }
    void learnedShortcutsAmongFixedOnes()
    {
        QFETCH(QString, topology);
        QFETCH(QString, learned);
        Project project = tinyVectors("linear", topology.toStdString(), 3);
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        const bool isSum = topology == "plain";
        for (const projects::Shortcut& shortcut : {projects::Shortcut{0, 3}, {1, 2}, {2, 4}}) {
            if (isSum || shortcut.target < 4) {
                mix.states[shortcut] = projects::ShortcutState::Learned;
            }
        }
        QCOMPARE(isRunningSum(mix), isSum);
        Project all = tinyVectors("linear", learned.toStdString(), 3);
        std::get<projects::DepthMix>(all.stack().topology.wiring).init = mix.init;
        const auto network = compiled(project);
        const auto reference = compiled(all);
        shake(*network, 0.3, 3);
        const at::NoGradGuard noGrad;
        for (engine::NamedParameter& each : reference->parameters()) {
            if (each.name != "topology.coefficient") {
                each.tensor.copy_(parameter(*network, each.name));
            }
        }
        const at::Tensor few = parameter(*network, "topology.coefficient"); // by target, then source
        QCOMPARE(few.numel(), std::int64_t{isSum ? 3 : 2});
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        at::Tensor many = parameter(*reference, "topology.coefficient"); // 0:1 | 0:2 1:2 | 0:3 1:3 2:3 | 0:4 …
        many[2].copy_(few[0]);
        many[3].copy_(few[1]);
        if (isSum) {
            many[8].copy_(few[2]);
        }
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        {
            const at::AutoGradMode grad(true);
            const at::Tensor got = network->forward(batch.input, kTraining);
            const at::Tensor expected = reference->forward(batch.input, kTraining);
            QVERIFY(distance(got, expected) < 1e-12);
            network->loss(batch, kTraining).backward();
            reference->loss(batch, kTraining).backward();
        }
        QVERIFY(std::abs((few.grad()[0] - many.grad()[2]).item<double>()) < 1e-11);
        QVERIFY(std::abs((few.grad()[1] - many.grad()[3]).item<double>()) < 1e-11);
        const engine::Matrix recorded = network->coefficients(9).front();
        QCOMPARE(recorded.at(1, 1), few[0].item<float>());
        QCOMPARE(recorded.at(0, 0), 1.0F);
    }

    /// A frozen entry weighs b alone, whatever the others' gates have learned.
    void gatesDoNotActOnFrozenEntries_data()
    {
        QTest::addColumn<bool>("inside");
        QTest::newRow("outside") << false;
        QTest::newRow("inside") << true;
    }
    void gatesDoNotActOnFrozenEntries()
    {
        QFETCH(bool, inside);
        Project project = tinyVectors("linear", "grn-v3", 2);
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.gate.kind = inside ? projects::GateKind::Inside : projects::GateKind::Outside;
        mix.states[{0, 2}] = mix.states[{0, 3}] = mix.states[{2, 3}] = projects::ShortcutState::Frozen;
        const auto network = compiled(project);
        shake(*network, 0.7, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor b = parameter(*network, "topology.coefficient"); // 0:1 | 0:2 1:2 | 0:3 1:3 2:3
        const at::Tensor u = parameter(*network, "topology.gate");
        const auto term = [&](std::int64_t number, std::int64_t reader, const at::Tensor& entry) {
            const bool frozen = number == 1 || number == 3 || number == 5;
            const at::Tensor gate = frozen ? at::zeros({4, 1}, at::kDouble) : at::matmul(entry, u[reader]).unsqueeze(1);
            return (inside ? (b[number] + gate).relu() : b[number] + gate.relu()) * entry;
        };
        const auto layer = [&](const char* name, const at::Tensor& mixed) {
            return at::matmul(mixed, parameter(*network, name).t());
        };
        const at::Tensor first = layer("layers.1.weight.weight", term(0, 0, batch.input));
        const at::Tensor second = layer("layers.2.weight.weight", term(1, 1, batch.input) + term(2, 1, first));
        const at::Tensor expected = term(3, 2, batch.input) + term(4, 2, first) + term(5, 2, second);
        const at::Tensor got = network->forward(batch.input, kTraining);
        QVERIFY(distance(got, expected) < 1e-12);
        network->loss(batch, kTraining).backward();
        const at::Tensor gradient = b.grad();
        for (std::int64_t number = 0; number < 6; ++number) {
            QCOMPARE(gradient[number].abs().max().item<double>() == 0.0, number == 1 || number == 3 || number == 5);
        }
    }

    void fixedWeightsHaveNoCoefficients()
    {
        QVERIFY(compiled(tinyVectors("linear", "ancre-fixed", 3))->coefficients(1).empty());
        QVERIFY(compiled(tinyVectors("linear", "plain", 3))->coefficients(1).empty());
    }

    void tsallisEqualsItsFormula()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        const auto plainNetwork = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const double plain = plainNetwork->loss(batch, kTraining).item<double>();
        mix.tsallis = {.q = 2, .weight = 0.5};
        const auto network = compiled(project);
        // Uniform rows of 1, 2 and 3: S_2 = 1 − 1/n.
        QVERIFY(std::abs(network->loss(batch, kTraining).item<double>() - plain - 0.5 * (0.0 + 0.5 + 2.0 / 3.0)) <
                1e-12);
        QVERIFY(std::abs(network->loss(batch, kEvaluation).item<double>() - plain) < 1e-12);
    }

    void accumulatedStepsAddUp()
    {
        const Project project = tinyLanguage("transformer", "ancre-ingoing", 3);
        const auto network = compiled(project);
        const engine::DeviceBatch first = randomBatch(project, 2, 5, 1);
        const engine::DeviceBatch second = randomBatch(project, 2, 5, 2);
        const auto gradientOf = [&](const engine::DeviceBatch& batch) {
            parameter(*network, "topology.coefficient").mutable_grad().reset();
            network->loss(batch, kTraining).backward();
            return parameter(*network, "topology.coefficient").grad().clone();
        };
        const at::Tensor sum = gradientOf(first) + gradientOf(second);
        const at::Tensor coefficient = parameter(*network, "topology.coefficient");
        coefficient.mutable_grad().reset();
        network->loss(first, kTraining).backward();
        network->loss(second, kTraining).backward();
        QVERIFY(distance(coefficient.grad(), sum) < 1e-14);
    }

private:
    /// A network of square linear layers under a DepthMix, term by term.
    static at::Tensor reference(const Project& project, engine::CompiledNetwork& network, const at::Tensor& input)
    {
        const auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        const std::int64_t depth = project.network.depth();
        const at::Tensor weights = appliedTerms(mix, network, depth);
        std::int64_t next = 0;
        std::vector<at::Tensor> entries{input};
        at::Tensor x = input;
        const auto mixOf = [&](std::int64_t target) {
            const std::vector<std::int64_t> sources = projects::sourcesOf(mix, target, depth);
            if (sources.empty() && mix.feeds == projects::MixFeeds::LayerInput) {
                return entries.back(); // of full outputs what weighs nothing reads the newest
            }
            at::Tensor sum = at::zeros(input.sizes(), at::kDouble);
            for (const std::int64_t source : sources) {
                sum = sum + weights[next++] * entries[static_cast<std::size_t>(source)];
            }
            return sum;
        };
        for (std::int64_t j = 1; j <= depth; ++j) {
            const at::Tensor w = parameter(network, "layers." + std::to_string(j) + ".weight.weight");
            const bool beside = mix.feeds == projects::MixFeeds::ResidualBesideBranch;
            const at::Tensor in = beside ? x : mixOf(j);
            const at::Tensor branch = at::matmul(in, w.t());
            x = beside ? branch + mixOf(j) : in + branch;
            entries.push_back(mix.entry == projects::StackEntry::Full ? x : branch);
        }
        return mix.finalMix ? mixOf(depth + 1) : x;
    }

    /// The applied weight of every (target, source) in order, from the definitions of ANCRe eq. 6 to 8.
    static at::Tensor appliedTerms(const projects::DepthMix& mix, engine::CompiledNetwork& network, std::int64_t depth)
    {
        std::vector<projects::Shortcut> terms;
        for (std::int64_t j = 1; j <= depth + 1; ++j) {
            for (const std::int64_t i : projects::sourcesOf(mix, j, depth)) {
                terms.push_back({i, j});
            }
        }
        if (mix.weight == projects::WeightKind::Fixed) {
            std::vector<double> values;
            for (const projects::Shortcut& term : terms) {
                values.push_back(mix.init == projects::MixInit::Reciprocal ? 1.0 / static_cast<double>(term.target)
                                                                           : 1.0);
            }
            return at::tensor(values, at::kDouble);
        }
        const at::Tensor c = parameter(network, "topology.coefficient");
        if (mix.normalise == projects::NormaliseOver::None) {
            return c;
        }
        const bool ingoing = mix.normalise == projects::NormaliseOver::Sources;
        std::vector<at::Tensor> result;
        const at::Tensor e = at::exp(c / mix.temperature);
        for (std::size_t t = 0; t < terms.size(); ++t) {
            at::Tensor sum = at::zeros({}, at::kDouble);
            for (std::size_t u = 0; u < terms.size(); ++u) {
                if (ingoing ? terms[u].target == terms[t].target : terms[u].source == terms[t].source) {
                    sum = sum + e[static_cast<std::int64_t>(u)];
                }
            }
            result.push_back(e[static_cast<std::int64_t>(t)] / sum);
        }
        return at::stack(result);
    }
};

RESIDUA_TEST(TestMixTopologies)
#include "tst_mix_topologies.moc"
