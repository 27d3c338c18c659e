// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of the examples that graphs read beside their input: padding masks and segments.
#include "network_harness.h"

#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/model/topology.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using engine::DeviceBatch;
using projects::Project;

namespace {

constexpr std::int64_t kPaddedRows = 4;
constexpr std::int64_t kPaddedTime = 5;

/// One example of a batch without its padding.
DeviceBatch unpadded(const DeviceBatch& batch, std::int64_t row)
{
    const auto length = batch.conditions.at("mask")[row].sum().item<std::int64_t>();
    const auto cut = [&](const at::Tensor& values) { return values.narrow(0, row, 1).narrow(1, 0, length); };
    DeviceBatch one{cut(batch.input), batch.target.narrow(0, row, 1)};
    for (const auto& [name, values] : batch.conditions) {
        one.conditions.emplace(name, cut(values));
    }
    return one;
}

/// The gradients of the mean loss over the batches, by parameter.
std::vector<at::Tensor> gradientsOf(engine::CompiledNetwork& network, const std::vector<DeviceBatch>& batches)
{
    for (engine::NamedParameter& parameter : network.parameters()) {
        parameter.tensor.mutable_grad().reset();
    }
    for (const DeviceBatch& batch : batches) {
        (network.loss(batch, kTraining) / static_cast<double>(batches.size())).backward();
    }
    std::vector<at::Tensor> gradients;
    for (const engine::NamedParameter& parameter : network.parameters()) {
        const at::Tensor& gradient = parameter.tensor.grad();
        gradients.push_back(gradient.defined() ? gradient.clone() : at::zeros_like(parameter.tensor));
    }
    return gradients;
}

/// Compares the outputs and gradients of padded examples in one batch with those of each example alone.
std::string paddingFault(const Project& project)
{
    const auto network = compiled(project);
    shake(*network, 0.2, 3);
    const DeviceBatch batch = randomBatch(project, kPaddedRows, kPaddedTime, 7);
    std::vector<DeviceBatch> each;
    std::vector<at::Tensor> outputs;
    for (std::int64_t row = 0; row < kPaddedRows; ++row) {
        each.push_back(unpadded(batch, row));
        outputs.push_back(network->forward(each.back(), kEvaluation));
    }
    if (const double off = distance(network->forward(batch, kEvaluation), at::cat(outputs)); !(off < 1e-12)) {
        return "outputs differ by " + std::to_string(off);
    }
    const std::vector<at::Tensor> together = gradientsOf(*network, {batch});
    const std::vector<at::Tensor> apart = gradientsOf(*network, each);
    for (std::size_t i = 0; i < together.size(); ++i) {
        if (together[i].numel() == 0) {
            continue; // a family without shortcuts of its own
        }
        if (const double off = distance(together[i], apart[i]); !(off < 1e-12)) {
            return "gradients of " + network->parameters()[i].name + " differ by " + std::to_string(off);
        }
    }
    return {};
}

} // namespace

class TestConditions : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void paddingIsNotRead_data()
    {
        QTest::addColumn<QString>("topology");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(2)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void paddingIsNotRead()
    {
        QFETCH(QString, topology);
        const Project project = tinyClassifier(topology.toStdString(), 2);
        QCOMPARE(errorsOf(project), std::string());
        QCOMPARE(paddingFault(project), std::string());
    }

    void paddingIsNotReadUnderOptions_data()
    {
        QTest::addColumn<int>("index");
        QTest::newRow("causal") << 0;
        QTest::newRow("window") << 1;
        QTest::newRow("shared heads") << 2;
        QTest::newRow("recomputed") << 3;
        QTest::newRow("pairs") << 4;
    }
    void paddingIsNotReadUnderOptions()
    {
        QFETCH(int, index);
        Project project = tinyClassifier("plain", 2, index == 4);
        const std::map<std::string, projects::ParamValue> changes[] = {{{"causal", true}},
                                                                       {{"causal", true}, {"window", std::int64_t{2}}},
                                                                       {{"kv_heads", std::int64_t{1}}},
                                                                       {},
                                                                       {}};
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                for (const auto& [name, value] : changes[index]) {
                    node.params[name] = value;
                }
            }
        }
        if (index == 3) {
            project.training.activations = projects::Activations::Recompute;
        }
        QCOMPARE(errorsOf(project), std::string());
        QCOMPARE(paddingFault(project), std::string());
    }

    /// The values of the padding have no effect with the mask, and have one without it.
    void theMaskIsWhatHides()
    {
        const Project project = tinyClassifier("plain", 2);
        const auto network = compiled(project);
        DeviceBatch batch = randomBatch(project, kPaddedRows, kPaddedTime, 7);
        const at::Tensor before = network->forward(batch, kEvaluation);
        batch.input = at::where(batch.conditions.at("mask") == 0, (batch.input + 1).remainder(11), batch.input);
        QVERIFY(at::equal(network->forward(batch, kEvaluation), before));
        batch.conditions["mask"] = at::ones_like(batch.conditions.at("mask"));
        QVERIFY(distance(network->forward(batch, kEvaluation), before) > 1e-3);
    }

    /// An example that is all padding has finite outputs and gradients.
    void anEmptyExampleIsFinite()
    {
        const Project project = tinyClassifier("plain", 2);
        const auto network = compiled(project);
        DeviceBatch batch = randomBatch(project, kPaddedRows, kPaddedTime, 7);
        batch.conditions.at("mask")[1].zero_();
        const at::Tensor loss = network->loss(batch, kTraining);
        loss.backward();
        QVERIFY(std::isfinite(loss.item<double>()));
        for (const engine::NamedParameter& parameter : network->parameters()) {
            QVERIFY(!parameter.tensor.grad().defined() || parameter.tensor.grad().isfinite().all().item<bool>());
        }
    }

    /// Dropout of attention weights has its own computation on the host, which leaves out padding too.
    void dropoutLeavesPaddingOut()
    {
        Project project = tinyClassifier("plain", 1);
        for (projects::Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                node.params["dropout"] = 1e-12; // nothing is dropped
            }
        }
        QCOMPARE(paddingFault(project), std::string());
    }

    void segmentsAreEmbedded()
    {
        const Project project = tinyClassifier("plain", 1, true);
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        DeviceBatch batch = randomBatch(project, kPaddedRows, kPaddedTime, 7);
        const at::Tensor before = network->forward(batch, kEvaluation);
        batch.conditions.at("segments") = 1 - batch.conditions.at("segments");
        QVERIFY(distance(network->forward(batch, kEvaluation), before) > 1e-3);
        network->loss(batch, kTraining).backward();
        QVERIFY(checkGradients(*network, batch, 4).worst < 1e-6);
    }

    void unknownConditionsAreErrors()
    {
        Project project = tinyLanguage("transformer", "plain", 1);
        project.network.blocks[0].graph = projects::withMask(project.network.blocks[0].graph, "mask");
        const std::string errors = errorsOf(project);
        QVERIFY2(errors.find("ports are input, mask") != std::string::npos, errors.c_str());
        Project performer = tinyClassifier("plain", 1);
        for (projects::Node& node : performer.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                node.params["weights"] = std::string("performer");
            }
        }
        QVERIFY(errorsOf(performer).find("parameter masked") != std::string::npos);
    }

    /// The head's logits are one for each example, and so is its share of the cost.
    void headsOfExamplesCostLess()
    {
        Project project = tinyClassifier("plain", 1);
        const auto report = projects::costOf(project);
        QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
        const double mean = 8; // an addition for each feature of a token
        QCOMPARE(report->head.forwardFlops, mean + 2.0 * 8 * 3 / static_cast<double>(kPaddedTime));
        QCOMPARE(report->head.lossBytes, static_cast<double>(project.training.batch) * 3 * (3 * 8 - 8));
    }
};

RESIDUA_TEST(TestConditions)
#include "tst_conditions.moc"
