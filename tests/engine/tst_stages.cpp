// SPDX-License-Identifier: GPL-3.0-or-later
// What a pass leaves out: layers under every wiring, heads, parts of MLPs; and who is drawn.
#include "mix_reference.h"
#include "network_harness.h"

#include "engine/depth/layer_dropping.h"
#include "projects/schedule/kept_parts.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
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

/// Training without the given layers, counted from 1.
Pass without(std::size_t depth, const std::set<std::size_t>& absent)
{
    Pass pass = kTraining;
    pass.layers.resize(depth);
    for (const std::size_t layer : absent) {
        pass.layers[layer - 1].runs = false;
    }
    return pass;
}

Project stagedMlp(std::int64_t depth, projects::StageSchedule schedule)
{
    Project project = tinyVectors("mlp", "plain", depth);
    project.training.steps = 1000;
    project.schedule = std::move(schedule);
    return project;
}

/// What step `step` of the schedule does with each layer.
std::vector<LayerUse> drawn(const Project& project, std::int64_t step, engine::Mode mode = engine::Mode::Training)
{
    Pass pass = passIn(mode);
    pass.step = step;
    pass.random = engine::RandomStreams(project.seeds.stages, step);
    return engine::LayerDropping::create(project)->draw(pass);
}

std::vector<double> factorsOf(const std::vector<LayerUse>& layers)
{
    std::vector<double> factors;
    for (const LayerUse& layer : layers) {
        factors.push_back(layer.runs ? layer.factor : 0);
    }
    return factors;
}

void setZero(at::Tensor tensor)
{
    const at::NoGradGuard noGrad;
    tensor.zero_();
}

/// Whether the gradients of every parameter agree that `counts` names, where none is zero.
std::string gradientFault(engine::CompiledNetwork& a, engine::CompiledNetwork& b,
                          const std::function<bool(const std::string&)>& counts)
{
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
        const auto gradient = [](const engine::NamedParameter& parameter) {
            return parameter.tensor.grad().defined() ? parameter.tensor.grad() : at::zeros_like(parameter.tensor);
        };
        const std::string& name = a.parameters()[i].name;
        const double apart = distance(gradient(a.parameters()[i]), gradient(b.parameters()[i]));
        if (counts(name) && !(apart < 1e-11)) {
            return name + " " + std::to_string(apart);
        }
    }
    return {};
}

} // namespace

class TestStages : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Where an entry counts by its weight alone, an absent branch is a branch of zeros: the same network with the
    /// weights of those layers at 0, forward and gradients.
    void anAbsentBranchIsZero_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name :
             {"plain", "none", "grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "denseformer", "denseformer-dilated",
              "mudd", "ancre-none", "ancre-ingoing", "ancre-outgoing", "ancre-cascaded", "ancre-fixed", "densenet"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void anAbsentBranchIsZero()
    {
        QFETCH(QString, topology);
        constexpr std::size_t kDepth = 5;
        const Project project = portedVectors(topology.toStdString(), kDepth);
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.3, 4);
        shake(*zeroed, 0.3, 4);
        const std::set<std::size_t> absent{2, 3};
        const auto isAbsent = [&](const std::string& name) {
            return name.starts_with("layers.2.") || name.starts_with("layers.3.");
        };
        for (const engine::NamedParameter& parameter : zeroed->parameters()) {
            if (isAbsent(parameter.name)) {
                setZero(parameter.tensor);
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::Tensor got = dropped->loss(batch, without(kDepth, absent));
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY2(std::abs(got.item<double>() - expected.item<double>()) < 1e-11,
                 qPrintable(QString("%1 %2").arg(got.item<double>()).arg(expected.item<double>())));
        QVERIFY(std::abs(got.item<double>() - dropped->loss(batch, kTraining).item<double>()) > 1e-6);
        got.backward();
        expected.backward();
        const std::string fault = gradientFault(*dropped, *zeroed, [&](const std::string& name) {
            // What an absent layer would have read, or what is only weighed with it, has no gradient; with zeros it
            // may.
            return name.starts_with("layers.") && !isAbsent(name);
        });
        QVERIFY2(fault.empty(), fault.c_str());
        for (const engine::NamedParameter& parameter : dropped->parameters()) {
            QVERIFY2(!isAbsent(parameter.name) || !parameter.tensor.grad().defined(), parameter.name.c_str());
        }
    }

    /// Where a layer that is left out is gone with its connections: the network without it.
    void anAbsentLayerIsGone_data()
    {
        QTest::addColumn<QString>("topology");
        for (const char* const name : {"plain", "hyper-static", "hyper-dynamic", "mhc", "highway", "rezero",
                                       "laurel-rw", "laurel-lr", "attention-residuals"}) {
            QTest::newRow(name) << QString(name);
        }
    }
    void anAbsentLayerIsGone()
    {
        QFETCH(QString, topology);
        const auto deep = compiled(tinyVectors("mlp", topology.toStdString(), 2));
        const Project project = tinyVectors("mlp", topology.toStdString(), 1);
        const auto shallow = compiled(project);
        shake(*deep, 0.3, 4);
        const bool attends = topology == "attention-residuals"; // its readers 2 and 3, of one mix each
        {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& to : shallow->parameters()) {
                std::string name = to.name;
                const auto digit = name.find(".1.");
                if (digit != std::string::npos) {
                    name[digit + 1] = '2';
                }
                const at::Tensor from = parameter(*deep, name);
                to.tensor.copy_(from.sizes() == to.tensor.sizes() ? from : from.narrow(0, 1, to.tensor.size(0)));
            }
        }
        QVERIFY(!attends || parameter(*shallow, "topology.query").size(0) == 2);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        QVERIFY(distance(deep->forward(batch.input, without(2, {1})), shallow->forward(batch.input, kTraining)) <
                1e-12);
        deep->loss(batch, without(2, {1})).backward();
        for (const engine::NamedParameter& parameter : deep->parameters()) {
            QVERIFY(!parameter.name.starts_with("layers.1.") || !parameter.tensor.grad().defined());
        }
    }

    /// LAuReL-PA: the activation after an absent layer is that before it once more.
    void previousActivationsGoOn()
    {
        const Project project = tinyVectors("linear", "laurel-pa", 2);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
        const at::NoGradGuard noGrad;
        const at::Tensor& x = batch.input;
        const at::Tensor gamma = parameter(*network, "topology.coefficient"); // 1 of layer 1, then 2 of layer 2
        const at::Tensor mixed = (gamma[1] + gamma[2]) * x;
        const at::Tensor map =
            at::matmul(parameter(*network, "topology.2.up.weight"), parameter(*network, "topology.2.down.weight"));
        const at::Tensor expected =
            x + at::matmul(x, parameter(*network, "layers.2.weight.weight").t()) + at::matmul(mixed, map.t());
        QVERIFY(distance(network->forward(x, without(2, {1})), expected) < 1e-12);
    }

    /// Both halves of a layer go, wherever the sites cut.
    void halvesGoWithTheirLayer_data()
    {
        QTest::addColumn<int>("sites");
        QTest::newRow("mhsa") << static_cast<int>(projects::MixSites::Mhsa);
        QTest::newRow("ffn") << static_cast<int>(projects::MixSites::Ffn);
        QTest::newRow("both") << static_cast<int>(projects::MixSites::Both);
    }
    void halvesGoWithTheirLayer()
    {
        QFETCH(int, sites);
        for (const std::size_t layer : {1, 2, 3}) {
            const Project project = halvedVectors(static_cast<projects::MixSites>(sites), 3);
            const auto dropped = compiled(project);
            const auto zeroed = compiled(project);
            shake(*dropped, 0.3, 4);
            shake(*zeroed, 0.3, 4);
            const std::string prefix = "layers." + std::to_string(layer) + ".";
            setZero(parameter(*zeroed, prefix + "a.weight"));
            setZero(parameter(*zeroed, prefix + "down.weight"));
            const engine::DeviceBatch batch = randomBatch(project, 5, 1, 7);
            QVERIFY(distance(dropped->forward(batch.input, without(3, {layer})),
                             zeroed->forward(batch.input, kTraining)) < 1e-12);
        }
    }

    /// Kept heads are a dense attention with the columns of the others at 0 in the output's projection; theirs alone
    /// have gradients.
    void keptHeadsAreTheOthersAtZero_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<int>("kvHeads");
        QTest::addColumn<bool>("norm");
        QTest::newRow("joined") << QString("transformer") << 0 << false;
        QTest::newRow("norms on q and k") << QString("transformer") << 0 << true;
        QTest::newRow("shared keys") << QString("transformer") << 2 << false;
        QTest::newRow("biases") << QString("gpt") << 0 << false;
    }
    void keptHeadsAreTheOthersAtZero()
    {
        QFETCH(QString, block);
        QFETCH(int, kvHeads);
        QFETCH(bool, norm);
        Project project = tinyLanguage(block.toStdString(), "plain", 2);
        projects::NodeId id{};
        for (projects::Node& node : project.network.blocks.front().graph.nodes) {
            if (node.kind == "attention") {
                id = node.id;
                node.params["heads"] = std::int64_t{4};
                node.params["kv_heads"] = std::int64_t{kvHeads};
                node.params["qk_norm"] = norm;
                node.params["bias"] = block == "gpt";
            }
        }
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.2, 4);
        shake(*zeroed, 0.2, 4);
        Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[1].heads = {.sampling = DropSampling::FixedSize, .keep = 0.5, .key = 12};
        const std::int64_t units = kvHeads == 0 ? 4 : kvHeads;
        const engine::KeptUnits kept = engine::keptUnits(pass.layers[1].heads, units, static_cast<std::uint64_t>(id));
        QCOMPARE(static_cast<std::int64_t>(kept.units.size()), units / 2);
        const std::int64_t length = 8 / units; // features of a unit
        for (std::int64_t unit = 0; unit < units; ++unit) {
            if (!std::ranges::count(kept.units, static_cast<std::size_t>(unit))) {
                setZero(parameter(*zeroed, "layers.2.attention.out.weight").narrow(1, unit * length, length));
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, 3, 5, 1);
        const at::Tensor got = dropped->loss(batch, pass);
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        got.backward();
        expected.backward();
        const auto counts = [](const std::string& name) { return name != "layers.2.attention.out.weight"; };
        const std::string fault = gradientFault(*dropped, *zeroed, counts);
        QVERIFY2(fault.empty(), fault.c_str());
        const at::Tensor out = parameter(*dropped, "layers.2.attention.out.weight").grad();
        const at::Tensor all = parameter(*zeroed, "layers.2.attention.out.weight").grad();
        for (std::int64_t unit = 0; unit < units; ++unit) {
            const bool runs = std::ranges::count(kept.units, static_cast<std::size_t>(unit)) > 0;
            const at::Tensor columns = out.narrow(1, unit * length, length);
            QVERIFY(runs ? distance(columns, all.narrow(1, unit * length, length)) < 1e-12
                         : columns.abs().max().item<double>() == 0);
        }
    }

    void keptPartsAreTheOthersAtZero_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("closer");
        QTest::newRow("SwiGLU") << QString("transformer") << QString("down");
        QTest::newRow("GELU with biases") << QString("gpt") << QString("down");
        QTest::newRow("ReLU") << QString("mlp") << QString("down");
    }
    void keptPartsAreTheOthersAtZero()
    {
        QFETCH(QString, block);
        QFETCH(QString, closer);
        const bool vectors = block == "mlp";
        Project project = vectors ? tinyVectors("mlp", "plain", 2) : tinyLanguage(block.toStdString(), "plain", 2);
        const auto dropped = compiled(project);
        const auto zeroed = compiled(project);
        shake(*dropped, 0.2, 4);
        shake(*zeroed, 0.2, 4);
        const projects::Graph& graph = project.network.blocks.front().graph;
        const auto node = std::ranges::find(graph.nodes, closer.toStdString(), &projects::Node::name);
        QVERIFY(node != graph.nodes.end());
        Pass pass = kTraining;
        pass.layers.resize(2);
        pass.layers[0].mlp = {.sampling = DropSampling::FixedSize, .keep = 0.5, .key = 5};
        pass.layers[0].mlpParts = 4;
        const engine::KeptUnits kept = engine::keptUnits(pass.layers[0].mlp, 4, static_cast<std::uint64_t>(node->id));
        QCOMPARE(kept.units.size(), std::size_t{2});
        const std::string name = "layers.1." + closer.toStdString() + ".weight";
        const std::int64_t length = parameter(*zeroed, name).size(1) / 4;
        for (std::size_t unit = 0; unit < 4; ++unit) {
            if (!std::ranges::count(kept.units, unit)) {
                setZero(parameter(*zeroed, name).narrow(1, static_cast<std::int64_t>(unit) * length, length));
            }
        }
        const engine::DeviceBatch batch = vectors ? randomBatch(project, 5, 1, 1) : randomBatch(project, 3, 5, 1);
        const at::Tensor got = dropped->loss(batch, pass);
        const at::Tensor expected = zeroed->loss(batch, kTraining);
        QVERIFY(std::abs(got.item<double>() - expected.item<double>()) < 1e-12);
        QVERIFY(std::abs(got.item<double>() - dropped->loss(batch, kTraining).item<double>()) > 1e-7);
        got.backward();
        expected.backward();
        const std::string fault =
            gradientFault(*dropped, *zeroed, [&](const std::string& other) { return other != name; });
        QVERIFY2(fault.empty(), fault.c_str());
    }

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
        QTest::newRow("deeper seldomer") << StageSchedule{.stages = {{0, 3.9, {}}},
                                                          .sampling = DropSampling::DeeperSeldomer}
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

    /// Units of a node: as many as the share says, each as often as any other, and at least one.
    void unitsAreDrawnAlike()
    {
        std::vector<int> fixed(8, 0);
        std::vector<int> single(8, 0);
        constexpr int kDraws = 2000;
        for (std::uint64_t key = 0; key < kDraws; ++key) {
            const auto half = engine::keptUnits({.sampling = DropSampling::FixedSize, .keep = 0.25, .key = key}, 8, 3);
            QCOMPARE(half.units.size(), std::size_t{2});
            const auto few = engine::keptUnits({.keep = 0.01, .key = key}, 8, 3);
            QVERIFY(!few.units.empty());
            for (const std::size_t unit : half.units) {
                ++fixed[unit];
            }
            for (const std::size_t unit : few.units) {
                ++single[unit];
            }
        }
        for (const int count : fixed) {
            QVERIFY(std::abs(count / static_cast<double>(kDraws) - 0.25) < 5 * std::sqrt(0.25 * 0.75 / kDraws));
        }
        for (const int count : single) {
            QVERIFY(std::abs(count / static_cast<double>(kDraws) - 0.125) < 6 * std::sqrt(0.125 * 0.875 / kDraws));
        }
        QCOMPARE(engine::keptUnits({.sampling = DropSampling::First, .keep = 0.5, .before = 0.25, .opening = 0.3}, 8, 3)
                     .factors,
                 (std::vector<double>{1, 1, 0.3, 0.3}));
    }

    /// p in evaluation and 1/p in training are the two ways to the same expectation.
    void probabilitiesScaleWhereTheyShould()
    {
        Project project = stagedMlp(4, {.stages = {{0, 2.5, {1}}}, .scaling = DropScaling::Evaluation});
        QCOMPARE(factorsOf(drawn(project, 3, engine::Mode::Evaluation)), (std::vector<double>{1, .5, .5, .5}));
        for (const double factor : factorsOf(drawn(project, 3))) {
            QVERIFY(factor == 0 || factor == 1);
        }
        project.schedule.scaling = DropScaling::InverseProbability;
        QCOMPARE(factorsOf(drawn(project, 3, engine::Mode::Evaluation)), (std::vector<double>{1, 1, 1, 1}));
        for (const double factor : factorsOf(drawn(project, 3))) {
            QVERIFY(factor == 0 || factor == 1 || factor == 2);
        }
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
};

RESIDUA_TEST(TestStages)
#include "tst_stages.moc"
