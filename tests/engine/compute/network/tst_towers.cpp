// SPDX-License-Identifier: GPL-3.0-or-later
// Towers that read each other's values, and losses between them, against networks that are compiled alone.
#include "network_harness.h"

#include "engine/compute/network/group_runs.h"
#include "engine/compute/network/value_losses.h"
#include "projects/cost/cost.h"
#include "projects/edit/edit.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/towers.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace residua;
using namespace residua::tests;
using projects::GraphBuilder;
using projects::Loss;
using projects::LossKind;
using projects::Network;
using projects::OwnLoss;
using projects::Project;

namespace {

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kTime = 5;

/// A small language model with the block that the topology feeds.
Project languageUnder(const std::string& topology, std::int64_t depth)
{
    const projects::Topology wiring = topologyNamed(topology, depth);
    return tinyLanguage(projects::blockPresetFor(wiring.wiring).name, topology, depth);
}

projects::Graph passing()
{
    return GraphBuilder().node("input", "input").node("output", "output").wire("input", "output").build();
}

/// The network of a document as a further tower without an objective.
projects::Tower towerOf(const Project& project, const std::string& name)
{
    Network network = project.network;
    network.name = name;
    network.ownLoss = OwnLoss::None;
    return {network};
}

Loss loss(const std::string& name, LossKind kind, const std::string& output, const std::string& target)
{
    Loss made;
    made.name = name;
    made.kind = kind;
    made.output = output;
    made.target = target;
    return made;
}

/// A student that is trained on the data and on what a frozen teacher of another topology answers.
Project distilled()
{
    Project project = languageUnder("dca", 2);
    project.towers = {towerOf(languageUnder("plain", 3), "teacher")};
    project.towers[0].network.frozen = true;
    Loss soft = loss("soft", LossKind::SoftTargets, "network.output", "teacher.output");
    soft.weight = 0.5;
    soft.temperature = 2;
    project.losses = {soft};
    return project;
}

/// Two stacks, one after the other: the first tower reads what "wide" ends with, through a joint to its own width.
Project joined(const std::string& first, const std::string& second, std::int64_t width)
{
    Project project = languageUnder(second, 2);
    Project wide = languageUnder(first, 2);
    wide.stack().width = width;
    wide.network.head = passing();
    project.towers = {towerOf(wide, "wide")};
    project.network.input = "wide.output";
    project.network.stem = GraphBuilder()
                               .node("input", "input")
                               .node("joint", "linear", {{"out", std::string("d")}, {"bias", false}})
                               .node("output", "output")
                               .wire("input", "joint")
                               .wire("joint", "output")
                               .build();
    return project;
}

/// Two networks of vectors whose outputs are compared over the batch; the first one also has its own objective.
Project contrasted()
{
    Project project = tinyVectors("mlp", "ancre-ingoing", 2);
    project.towers = {towerOf(tinyVectors("mlp", "plain", 3), "goal")};
    project.losses = {loss("contrast", LossKind::Contrastive, "network.output", "goal.output")};
    return project;
}

/// Copies the parameters of a network to those of another whose names begin with `scope`.
void copyTo(engine::CompiledNetwork& from, engine::CompiledNetwork& to, const std::string& scope)
{
    const at::NoGradGuard noGrad;
    for (const engine::NamedParameter& each : from.parameters()) {
        parameter(to, scope + each.name).copy_(each.tensor);
    }
}

void clear(engine::CompiledNetwork& network)
{
    for (engine::NamedParameter& each : network.parameters()) {
        each.tensor.mutable_grad().reset();
    }
}

at::Tensor gradientOf(engine::CompiledNetwork& network, const std::string& name)
{
    const at::Tensor tensor = parameter(network, name);
    return tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor);
}

/// Adds the gradients of all groups of losses.
void backward(engine::CompiledNetwork& network, const engine::DeviceBatch& batch)
{
    (void)stepGradients(network, batch, false);
}

} // namespace

class TestTowers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// The student's loss is its own plus the divergence of two networks compiled alone, and so is its gradient. The
    /// teacher gets none.
    void studentsLearnFromTeachers()
    {
        const Project project = distilled();
        QCOMPARE(firstErrorPath(project), std::string());
        const auto both = compiled(project);
        const auto student = compiled(languageUnder("dca", 2));
        const auto teacher = compiled(languageUnder("plain", 3));
        for (const engine::NamedParameter& each : student->parameters()) {
            QVERIFY2(at::equal(each.tensor, parameter(*both, each.name)), each.name.c_str()); // the same starts
        }
        shake(*student, 0.2, 1);
        shake(*teacher, 0.2, 2);
        copyTo(*student, *both, "");
        copyTo(*teacher, *both, "teacher.");
        const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        backward(*both, batch);
        clear(*student);
        const at::Tensor wanted = at::softmax(teacher->forward(batch, kEvaluation) / 2.0, -1).detach();
        const at::Tensor mine = at::log_softmax(student->forward(batch, kTraining) / 2.0, -1);
        const at::Tensor divergence = (wanted * (wanted.log() - mine)).sum(-1).mean() * 4.0;
        const at::Tensor total = student->loss(batch, kTraining) + divergence * 0.5;
        total.backward();
        QVERIFY(distance(both->loss(batch, kTraining), total) < 1e-12);
        QVERIFY(distance(both->lossOfGroup(0, batch, kTraining).judged, student->loss(batch, kTraining)) < 1e-12);
        for (const engine::NamedParameter& each : student->parameters()) {
            QVERIFY2(distance(gradientOf(*both, each.name), gradientOf(*student, each.name)) < 1e-12,
                     each.name.c_str());
        }
        for (const engine::NamedParameter& each : teacher->parameters()) {
            QVERIFY2(!parameter(*both, "teacher." + each.name).grad().defined(), each.name.c_str());
        }
        std::map<std::string, double> recorded;
        for (const engine::BatchMean& mean : both->quantities(batch, kEvaluation).means) {
            recorded[mean.name] += mean.mean.item<double>();
        }
        QVERIFY(std::abs(recorded.at("soft") - divergence.item<double>()) < 1e-12);
        QVERIFY(recorded.contains("loss") && !recorded.contains("loss of teacher"));
    }

    /// Two plain stacks of one width with a joint that passes its input on are one stack with their layers.
    void joinedStacksAreOneStack()
    {
        const auto two = compiled(joined("plain", "plain", 8));
        const auto one = compiled(languageUnder("plain", 4));
        shake(*one, 0.2, 1);
        {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& each : two->parameters()) {
                const std::string& name = each.name;
                if (name == "stem.joint.weight") {
                    each.tensor.copy_(at::eye(8));
                } else if (name.starts_with("wide.")) {
                    each.tensor.copy_(parameter(*one, name.substr(5)));
                } else if (name.starts_with("layers.")) {
                    const std::string layer = std::to_string(name[7] - '0' + 2);
                    each.tensor.copy_(parameter(*one, "layers." + layer + name.substr(8)));
                } else {
                    each.tensor.copy_(parameter(*one, name));
                }
            }
        }
        const engine::DeviceBatch batch = randomBatch(languageUnder("plain", 4), kBatch, kTime, 3);
        backward(*two, batch);
        backward(*one, batch);
        QVERIFY(distance(two->loss(batch, kTraining), one->loss(batch, kTraining)) < 1e-12);
        QVERIFY(distance(gradientOf(*two, "wide.stem.embed.weight"), gradientOf(*one, "stem.embed.weight")) < 1e-12);
        QVERIFY(distance(gradientOf(*two, "layers.1.up.weight"), gradientOf(*one, "layers.3.up.weight")) < 1e-12);
    }

    /// Stacks of two widths under other topologies: outputs of the first equal a network alone, gradients are those of
    /// finite differences, with and without recomputation.
    void stacksOfTwoWidthsAreJoined_data()
    {
        QTest::addColumn<QString>("first");
        QTest::addColumn<QString>("second");
        QTest::newRow("dca, mhc") << "dca"
                                  << "mhc";
        QTest::newRow("mhc, dca") << "mhc"
                                  << "dca";
        QTest::newRow("ancre-ingoing, attention-residuals") << "ancre-ingoing"
                                                            << "attention-residuals";
        QTest::newRow("hyper-dynamic, denseformer") << "hyper-dynamic"
                                                    << "denseformer";
    }
    void stacksOfTwoWidthsAreJoined()
    {
        QFETCH(QString, first);
        QFETCH(QString, second);
        Project project = joined(first.toStdString(), second.toStdString(), 12);
        QCOMPARE(firstErrorPath(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.1, 1);
        const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        backward(*network, batch);
        const GradientCheck check = checkGradients(*network, batch, 2);
        QVERIFY2(check.worst < 1e-6, check.name.c_str());
        project.training.activations = projects::Activations::Recompute;
        const auto again = compiled(project);
        copyTo(*network, *again, "");
        backward(*again, batch);
        for (const engine::NamedParameter& each : network->parameters()) {
            QVERIFY2(distance(gradientOf(*network, each.name), gradientOf(*again, each.name)) < 1e-12,
                     each.name.c_str());
        }
        const Result<projects::CostReport> cost = projects::costOf(project);
        QVERIFY(cost);
        QCOMPARE(cost->total.parameters, parameterCount(*network));
        QCOMPARE(cost->towers.size(), std::size_t{2});
    }

    /// A head that adds the teacher's logits to its own: a port reads a value.
    void portsReadValues()
    {
        Project project = distilled();
        project.losses.clear();
        project.network.head = GraphBuilder()
                                   .node("input", "input")
                                   .node("teacher", "input", {{"port", std::string("teacher.output")}})
                                   .node("logits", "linear", {{"out", std::string("vocab")}})
                                   .node("add", "add")
                                   .node("output", "output")
                                   .wire("input", "logits")
                                   .wire("logits", "add.in1")
                                   .wire("teacher", "add.in2")
                                   .wire("add", "output")
                                   .build();
        QCOMPARE(firstErrorPath(project), std::string());
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        const at::Tensor before = network->forward(batch, kEvaluation);
        {
            const at::NoGradGuard noGrad;
            parameter(*network, "teacher.head.logits.weight").mul_(2);
        }
        const auto teacher = compiled(languageUnder("plain", 3));
        for (engine::NamedParameter& each : teacher->parameters()) {
            const at::NoGradGuard noGrad;
            each.tensor.copy_(parameter(*network, "teacher." + each.name));
        }
        const at::Tensor change = network->forward(batch, kEvaluation) - before;
        QVERIFY(distance(change, teacher->forward(batch, kEvaluation) / 2.0) < 1e-12);
    }

    /// A frozen tower runs in training as in an evaluation, whichever tower it is: with neither dropout nor drawn
    /// layers.
    void frozenTowersDrawNothing()
    {
        for (const bool isFirst : {true, false}) {
            for (const bool isFrozen : {true, false}) {
                Project project = languageUnder("plain", 2);
                projects::Graph& block = project.network.blocks.front().graph;
                const auto read =
                    std::ranges::find(block.nodes, std::string("attention"), [](const auto& n) { return n.kind; });
                projects::insertAfter(block, read->id, "drop", "dropout", {{"rate", 0.5}});
                project.towers = {towerOf(languageUnder("plain", 3), "other")};
                project.towers[0].network.ownLoss = OwnLoss::Trained;
                project.losses = {loss("near", LossKind::SquaredError, "other.output", "network.output")};
                project.network.frozen = isFrozen;
                if (!isFirst) {
                    project = projects::viewOf(project, 1);
                }
                const auto network = compiled(project);
                const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
                const std::string name = "network.output";
                const at::Tensor evaluated = network->values(batch, kEvaluation).at(name);
                const at::Tensor trained = network->values(batch, kTraining).at(name);
                QCOMPARE(distance(evaluated, trained) == 0, isFrozen);
            }
        }
    }

    /// A loss that trains one tower passes no gradient to the parameters of others that it runs through.
    void lossesTrainTheTowersThatTheyName()
    {
        Project project = joined("plain", "dca", 8);
        project.towers.push_back(towerOf(languageUnder("plain", 2), "teacher"));
        project.towers.back().network.frozen = true;
        const auto without = compiled(project);
        project.losses = {loss("close", LossKind::SquaredError, "network.output", "teacher.output")};
        const auto all = compiled(project);
        project.losses[0].trains = {"network"};
        QCOMPARE(firstErrorPath(project), std::string());
        const auto one = compiled(project);
        QCOMPARE(one->lossGroups(), std::size_t{2});
        shake(*all, 0.2, 1);
        copyTo(*all, *one, "");
        {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& each : without->parameters()) {
                each.tensor.copy_(parameter(*all, each.name)); // without the teacher, which nothing reads
            }
        }
        const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        backward(*without, batch);
        backward(*all, batch);
        backward(*one, batch);
        QVERIFY(distance(gradientOf(*all, "wide.layers.1.up.weight"), gradientOf(*one, "wide.layers.1.up.weight")) >
                1e-6);
        QVERIFY(distance(gradientOf(*without, "wide.layers.1.up.weight"), gradientOf(*one, "wide.layers.1.up.weight")) <
                1e-12);
        QVERIFY(distance(gradientOf(*all, "layers.1.up.weight"), gradientOf(*one, "layers.1.up.weight")) < 1e-12);
    }

    /// A step that shares values between groups of losses has the bits of one that runs each group alone.
    void groupsShareTheValuesOfTowers_data()
    {
        QTest::addColumn<Project>("project");
        QTest::addColumn<std::size_t>("alone"); // runs of towers
        QTest::addColumn<std::size_t>("sharing");
        Project read = joined("plain", "dca", 8);
        read.towers.push_back(towerOf(languageUnder("plain", 2), "teacher"));
        read.towers.back().network.frozen = true;
        read.losses = {loss("close", LossKind::SquaredError, "network.output", "teacher.output")};
        QTest::newRow("one group") << read << std::size_t{3} << std::size_t{3};
        read.losses[0].trains = {"network"};
        QTest::newRow("a tower that the second group only reads") << read << std::size_t{5} << std::size_t{4};
        const projects::NodeId attention =
            std::ranges::find(read.towers[0].network.blocks.front().graph.nodes, std::string("attention"),
                              [](const auto& n) { return n.kind; })
                ->id;
        projects::insertAfter(read.towers[0].network.blocks.front().graph, attention, "drop", "dropout",
                              {{"rate", 0.5}});
        QTest::newRow("the same with dropout") << read << std::size_t{5} << std::size_t{4};
        read.losses.push_back(loss("back", LossKind::SquaredError, "network.output", "teacher.output"));
        read.losses[1].trains = {"wide"};
        QTest::newRow("a tower through which the third trains another") << read << std::size_t{8} << std::size_t{6};
        Project measured = contrasted();
        measured.network.ownLoss = OwnLoss::Measured;
        measured.losses[0].trains = {"network", "goal"};
        measured.losses.push_back(loss("near", LossKind::SquaredError, "network.output", "goal.output"));
        measured.losses[1].trains = {"network"};
        QTest::newRow("an objective that is only measured") << measured << std::size_t{4} << std::size_t{3};
    }
    void groupsShareTheValuesOfTowers()
    {
        QFETCH(Project, project);
        QFETCH(std::size_t, alone);
        QFETCH(std::size_t, sharing);
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.2, 1);
        engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        batch.draws = at::tensor({std::int64_t{1234567}, std::int64_t{0}}, at::kLong);
        const StepGradients each = stepGradients(*network, batch, false);
        const StepGradients shared = stepGradients(*network, batch, true);
        QVERIFY(at::equal(each.judged, shared.judged));
        for (std::size_t i = 0; i < each.gradients.size(); ++i) {
            QVERIFY2(at::equal(each.gradients[i], shared.gradients[i]), network->parameters()[i].name.c_str());
        }
        const std::set<std::size_t> used = projects::usedTowers(project);
        std::vector<std::size_t> order = projects::runOrder(project).value();
        std::erase_if(order, [&](std::size_t tower) { return !used.contains(tower); });
        const engine::GroupRuns runs = engine::groupRunsOf(project, projects::lossGroupsOf(project), order, {});
        const auto countOf = [](const std::vector<engine::GroupRun>& groups) {
            return std::accumulate(
                groups.begin(), groups.end(), std::size_t{0},
                [](std::size_t sum, const engine::GroupRun& group) { return sum + group.runs.size(); });
        };
        QCOMPARE(countOf(runs.alone), alone);
        QCOMPARE(countOf(runs.sharing), sharing);
    }

    /// A contrastive loss trains the towers of both values, and is recorded by its name.
    void contrastiveLossesTrainBothTowers()
    {
        const Project project = contrasted();
        QCOMPARE(firstErrorPath(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.2, 1);
        const engine::DeviceBatch batch = randomBatch(project, kBatch, kTime, 3);
        backward(*network, batch);
        QVERIFY(distance(gradientOf(*network, "goal.layers.1.up.weight"),
                         at::zeros_like(gradientOf(*network, "goal.layers.1.up.weight"))) > 1e-6);
        const GradientCheck check = checkGradients(*network, batch, 2);
        QVERIFY2(check.worst < 1e-6, check.name.c_str());
        const engine::GroupLoss whole = network->lossOfGroup(0, batch, kTraining);
        double recorded = 0;
        for (const engine::BatchMean& mean : network->quantities(batch, kEvaluation).means) {
            recorded += mean.name == "contrast" ? mean.mean.item<double>() : 0;
        }
        QVERIFY(std::abs((whole.trained - whole.judged).item<double>() - recorded) < 1e-12);
        const auto goal = compiled(tinyVectors("mlp", "plain", 3));
        const auto first = compiled(tinyVectors("mlp", "ancre-ingoing", 2));
        for (engine::CompiledNetwork* const alone : {goal.get(), first.get()}) {
            const at::NoGradGuard noGrad;
            for (const engine::NamedParameter& each : alone->parameters()) {
                each.tensor.copy_(parameter(*network, (alone == goal.get() ? "goal." : "") + each.name));
            }
        }
        const at::Tensor expected =
            engine::valueLoss(project.losses[0], first->forward(batch, kEvaluation), goal->forward(batch, kEvaluation));
        QVERIFY(std::abs(expected.item<double>() - recorded) < 1e-12);
    }

    /// Faults of contrastive losses, by the place that they are reported at.
    void contrastiveLossesNeedVectorsOfOneBatch()
    {
        const auto fault = [](Project project, const auto& change) {
            change(project);
            return firstErrorPath(project);
        };
        QCOMPARE(fault(contrasted(), [](Project& p) { p.training.batch = 1; }), std::string("/training/batch"));
        QCOMPARE(fault(contrasted(), [](Project& p) { p.training.accumulate = 2; }),
                 std::string("/training/accumulate"));
        QCOMPARE(fault(contrasted(), [](Project& p) { p.losses[0].penalty = -1; }), std::string("/losses/0/penalty"));
        QCOMPARE(fault(contrasted(),
                       [](Project& p) {
                           p.towers[0].network.head = GraphBuilder()
                                                          .node("input", "input")
                                                          .then("narrow", "linear", {{"out", std::int64_t{5}}})
                                                          .then("output", "output")
                                                          .build();
                       }),
                 std::string("/losses/0/output"));
        QCOMPARE(fault(contrasted(), [](Project& p) { p.losses[0].target.clear(); }), std::string());
        // A frozen output leaves its target to train.
        QCOMPARE(fault(contrasted(),
                       [](Project& p) {
                           p.network.frozen = true;
                           p.losses[0].trains = {"goal"};
                       }),
                 std::string());
        QCOMPARE(fault(contrasted(),
                       [](Project& p) {
                           p.network.frozen = true;
                           p.losses[0].target.clear();
                       }),
                 std::string("/losses/0"));
        QCOMPARE(fault(distilled(), [](Project& p) { p.losses[0].kind = LossKind::Contrastive; }),
                 std::string("/losses/0/output"));
    }

    /// Faults of towers and losses, by the place that they are reported at.
    void faultsNameTheirPlace()
    {
        const auto fault = [](const auto& change) {
            Project project = distilled();
            change(project);
            return firstErrorPath(project);
        };
        QCOMPARE(fault([](Project& p) { p.losses[0].trains = {"teacher"}; }), std::string("/losses/0/trains"));
        QCOMPARE(fault([](Project& p) { p.losses[0].trains = {"nobody"}; }), std::string("/losses/0/trains"));
        QCOMPARE(fault([](Project& p) { p.losses[0].target = "teacher.states"; }), std::string("/losses/0/output"));
        QCOMPARE(fault([](Project& p) { p.losses[0].output = "nobody.output"; }), std::string("/losses/0/output"));
        QCOMPARE(fault([](Project& p) { p.losses[0].output = "teacher.output"; }), std::string("/losses/0"));
        QCOMPARE(fault([](Project& p) { p.losses.push_back(p.losses[0]); }), std::string("/losses/1/name"));
        QCOMPARE(fault([](Project& p) { p.towers[0].network.name = "network"; }), std::string("/towers/0/name"));
        QCOMPARE(fault([](Project& p) { p.towers[0].network.name = "layers"; }), std::string("/towers/0/name"));
        QCOMPARE(fault([](Project& p) { p.network.ownLoss = OwnLoss::None; }), std::string("/network/own_loss"));
        QCOMPARE(fault([](Project& p) { p.towers[0].network.stack().width = 0; }), std::string("/towers/0/width"));
        QCOMPARE(fault([](Project& p) { p.towers[0].network.input = "nobody.states"; }),
                 std::string("/towers/0/input"));
        QCOMPARE(fault([](Project& p) {
                     p.towers[0].network.input = "network.states";
                     p.network.input = "teacher.states";
                 }),
                 std::string("/towers"));
        // A teacher of another vocabulary.
        QCOMPARE(fault([](Project& p) {
                     projects::Graph& head = p.towers[0].network.head;
                     std::ranges::find(head.nodes, "logits", &projects::Node::name)->params["out"] = std::int64_t{13};
                 }),
                 std::string("/losses/0/output"));
    }

    /// Means of one name are added, so a loss may not have that of another quantity.
    void lossesHaveNamesOfTheirOwn()
    {
        const auto errorUnder = [](Project project, const std::string& name) {
            project.losses[0].name = name;
            return QString::fromStdString(compileError(project));
        };
        Project measured = distilled();
        measured.towers[0].network.ownLoss = OwnLoss::Measured;
        Project labelled = distilled(); // with a further label, whose accuracy is recorded
        labelled.data.masking.nextSentence = true;
        labelled.network = projects::withNextSentence(labelled.network, true);
        for (const auto& [project, taken] : {std::pair(distilled(), "accuracy"), std::pair(measured, "loss of teacher"),
                                             std::pair(labelled, "next_sentence_accuracy")}) {
            QCOMPARE(errorUnder(project, "soft"), QString());
            QVERIFY2(errorUnder(project, taken).contains("has the name of another recorded quantity"), taken);
        }
    }

    /// Edits of a tower apply to it as to a first one, and leave the others as they are.
    void editsApplyToATower()
    {
        projects::Document document{distilled(), {}};
        const projects::Document before = document;
        const projects::Edit edit = projects::EditGroup{
            "Deeper",
            {projects::SetStack{{{"transformer", 5}}}, projects::SetField{"/network/width", {"16"}},
             projects::MoveNode{projects::GraphRef::stem(), projects::NodeId{1}, projects::Position{1, 2}}},
            1};
        QVERIFY(projects::applyEdit(document, edit));
        QCOMPARE(document.project.towers[0].network.depth(), std::int64_t{5});
        QCOMPARE(document.project.towers[0].network.stack().width, std::int64_t{16});
        QCOMPARE(document.layout.towers.size(), std::size_t{1});
        QVERIFY(document.project.network == before.project.network);
        QVERIFY(document.layout.positions == before.layout.positions);
        projects::showTower(document, 1);
        QCOMPARE(document.project.network.name, std::string("teacher"));
        QCOMPARE(document.layout.positions.size(), std::size_t{1});
        projects::showTower(document, 1);
        QVERIFY(!projects::applyEdit(document, projects::EditGroup{"", {}, 2}));
        QCOMPARE(projects::viewedField(document.project, "/teacher/topology/preset").pointer,
                 std::string("/topology/preset"));
        QCOMPARE(projects::viewedField(document.project, "/towers/0/width").pointer, std::string("/network/width"));
        QCOMPARE(projects::viewedField(document.project, "/network/width").tower, std::size_t{0});
        QCOMPARE(projects::viewedField(projects::viewOf(document.project, 1), "/network/width").tower, std::size_t{0});
        QCOMPARE(projects::pointerOfView(2, "/network/stem/nodes/3"), std::string("/towers/1/stem/nodes/3"));
        QCOMPARE(projects::pointerOfView(2, "/towers/1/topology/preset"), std::string("/topology/preset"));
        QCOMPARE(projects::pointerOfView(2, "/training/steps"), std::string("/training/steps"));
    }
};

RESIDUA_TEST(TestTowers)
#include "tst_towers.moc"
