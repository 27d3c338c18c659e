// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of documents, and texts with hidden spans: networks compute each document as if it were alone.
#include "network_harness.h"

#include "engine/compute/graph/row_layout.h"
#include "projects/library/presets.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <QtTest>

#include <algorithm>

using namespace residua;
using namespace residua::tests;
using engine::DeviceBatch;
using projects::DocumentRows;
using projects::Project;

namespace {

constexpr std::int64_t kRowTokens = 12;
/// The tokens of the documents of each row; the rest of a row is padding.
const std::vector<std::vector<std::int64_t>> kPackedRows{{5, 3, 4}, {7, 1}};
const std::vector<std::vector<std::int64_t>> kSingleRows{{12}, {5}, {1}};

/// A language model with rows of documents. `positions` is a kind of node in the stem, or empty.
Project documentsProject(const std::string& topology, DocumentRows rows, const std::string& positions,
                         const std::map<std::string, projects::ParamValue>& attention)
{
    const std::string block = projects::blockPresetFor(topologyNamed(topology, 2).wiring).name;
    Project project = tinyLanguage(block, topology, 2);
    project.data.documents.rows = rows;
    project.training.sequenceLength = kRowTokens;
    if (!positions.empty()) {
        projects::Graph& stem = project.network.stem;
        const auto embedding = std::ranges::find(stem.nodes, "token_embedding", &projects::Node::kind);
        projects::insertAfter(stem, embedding->id, "places", positions, {});
    }
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params.insert_or_assign("rope", positions.empty());
            for (const auto& [name, value] : attention) {
                node.params.insert_or_assign(name, value);
            }
        }
    }
    return project;
}

/// A seeded batch of rows of these documents, with its layout.
DeviceBatch batchOf(const Project& project, const std::vector<std::vector<std::int64_t>>& rows)
{
    const auto count = static_cast<std::int64_t>(rows.size());
    DeviceBatch batch = randomBatch(project, count, kRowTokens, 5);
    std::vector<std::int64_t> lengths;
    const at::Tensor positions = at::full({count, kRowTokens}, -1, at::kLong);
    for (std::int64_t row = 0; row < count; ++row) {
        std::int64_t at = 0;
        for (const std::int64_t document : rows[static_cast<std::size_t>(row)]) {
            positions[row].narrow(0, at, document).copy_(at::arange(document, at::kLong));
            at += document;
        }
        lengths.push_back(at);
        const std::int64_t padding = kRowTokens - at;
        positions[row].narrow(0, at, padding).copy_(at::arange(padding, at::kLong));
        batch.target[row].narrow(0, at, padding).fill_(projects::kIgnoredTarget);
    }
    batch.conditions.emplace(projects::kLength, at::tensor(lengths, at::kLong));
    if (project.data.documents.rows == DocumentRows::Packed) {
        batch.conditions.emplace(projects::kPositions, positions);
    }
    return batch;
}

std::vector<at::Tensor> gradients(engine::CompiledNetwork& network)
{
    std::vector<at::Tensor> result;
    for (engine::NamedParameter& parameter : network.parameters()) {
        result.push_back(parameter.tensor.grad().defined() ? parameter.tensor.grad().clone() : at::Tensor());
        parameter.tensor.mutable_grad().reset();
    }
    return result;
}

} // namespace

class TestDocuments : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void equalDocumentsAlone_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("packed");
        QTest::addColumn<QString>("positions");
        QTest::addColumn<QString>("option");
        QTest::addColumn<int>("value");
        for (const bool packed : {true, false}) {
            const std::string rows = packed ? "packed, " : "single, ";
            const auto row = [&](const char* name, const char* topology, const char* positions, const char* option,
                                 int value) {
                QTest::newRow((rows + name).c_str()) << topology << packed << positions << option << value;
            };
            row("rotary", "plain", "", "causal", 1);
            row("learned", "plain", "position_embedding", "causal", 1);
            row("sinusoidal", "plain", "sinusoidal_positions", "causal", 1);
            row("both directions", "plain", "", "causal", 0);
            row("both directions, learned", "plain", "position_embedding", "causal", 0);
            row("window", "plain", "", "window", 3);
            row("shared heads", "plain", "", "kv_heads", 1);
            row("dca", "dca", "", "causal", 1);
            row("ancre", "ancre-ingoing", "position_embedding", "causal", 1);
            row("recomputed", "plain", "", "recompute", 1);
        }
    }

    /// Output, loss and gradients.
    void equalDocumentsAlone()
    {
        QFETCH(QString, topology);
        QFETCH(bool, packed);
        QFETCH(QString, positions);
        QFETCH(QString, option);
        QFETCH(int, value);
        std::map<std::string, projects::ParamValue> params;
        if (option == "causal") {
            params["causal"] = value != 0;
        } else if (option != "recompute") {
            params[option.toStdString()] = std::int64_t{value};
        }
        const auto kind = packed ? DocumentRows::Packed : DocumentRows::Single;
        Project project = documentsProject(topology.toStdString(), kind, positions.toStdString(), params);
        if (option == "recompute") {
            project.training.activations = projects::Activations::Recompute;
        }
        QCOMPARE(errorsOf(project), std::string());
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        const auto& rows = packed ? kPackedRows : kSingleRows;
        const DeviceBatch batch = batchOf(project, rows);
        const at::Tensor output = network->forward(batch, kEvaluation);
        const at::Tensor loss = network->loss(batch, kTraining);
        loss.backward();
        const std::vector<at::Tensor> together = gradients(*network);

        double sum = 0;
        double targets = 0;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            std::int64_t begin = 0;
            for (const std::int64_t length : rows[row]) {
                const auto cut = [&](const at::Tensor& values) {
                    return values.narrow(0, static_cast<std::int64_t>(row), 1).narrow(1, begin, length).contiguous();
                };
                const DeviceBatch alone{cut(batch.input), cut(batch.target)};
                QVERIFY(distance(network->forward(alone, kEvaluation), cut(output)) < 1e-12);
                const at::Tensor own = network->loss(alone, kTraining) * static_cast<double>(length);
                own.backward();
                sum += own.item<double>();
                targets += static_cast<double>(length);
                begin += length;
            }
        }
        QVERIFY(std::abs(sum / targets - loss.item<double>()) < 1e-12);
        const std::vector<at::Tensor> apart = gradients(*network);
        for (std::size_t i = 0; i < apart.size(); ++i) {
            QCOMPARE(apart[i].defined(), together[i].defined());
            QVERIFY(!apart[i].defined() || distance(apart[i] / targets, together[i]) < 1e-12);
        }
    }

    /// The number of targets weighs the means of batches, and padding counts neither in the loss nor in the accuracy.
    void paddingIsLeftOut()
    {
        const Project project = documentsProject("plain", DocumentRows::Single, "", {});
        const auto network = compiled(project);
        const DeviceBatch batch = batchOf(project, kSingleRows);
        DeviceBatch other = batch;
        other.input = batch.input.clone();
        other.input[1].narrow(0, 5, 7).fill_(3); // padding
        const engine::BatchQuantities quantities = network->quantities(batch, kEvaluation);
        const engine::BatchQuantities same = network->quantities(other, kEvaluation);
        for (std::size_t i = 0; i < quantities.means.size(); ++i) {
            QCOMPARE(quantities.means[i].count.item<double>(), 12.0 + 5 + 1);
            QCOMPARE(quantities.means[i].mean.item<double>(), same.means[i].mean.item<double>());
        }
    }

    /// The mask that GPUs read has the pairs that the rules name.
    void masksHideWhatTheRulesName()
    {
        const Project project = documentsProject("plain", DocumentRows::Packed, "", {});
        const DeviceBatch packed = batchOf(project, kPackedRows);
        const at::Tensor positions = packed.conditions.at(projects::kPositions);
        const auto begins = [&](std::int64_t row, std::int64_t i) {
            return i - positions[row][i].item<std::int64_t>();
        };
        const at::Tensor prefix = at::tensor(std::vector<std::int64_t>{4, 1}, at::kLong);
        for (const engine::Sight sight : {engine::Sight{true, 0}, engine::Sight{true, 3}, engine::Sight{false, 0}}) {
            const auto sees = [&](std::int64_t i, std::int64_t j) {
                return !sight.causal || (j <= i && (sight.window == 0 || i - j < sight.window));
            };
            const at::Tensor apart = engine::RowLayout::of(packed.conditions)->hidden(sight, kRowTokens);
            const at::Tensor whole = engine::RowLayout::of({{projects::kPrefix, prefix}})->hidden(sight, kRowTokens);
            for (std::int64_t row = 0; row < 2; ++row) {
                for (std::int64_t i = 0; i < kRowTokens; ++i) {
                    for (std::int64_t j = 0; j < kRowTokens; ++j) {
                        QCOMPARE(!apart[row][0][i][j].item<bool>(), sees(i, j) && begins(row, i) == begins(row, j));
                        QCOMPARE(!whole[row][0][i][j].item<bool>(), sees(i, j) || j < prefix[row].item<std::int64_t>());
                    }
                }
            }
        }
        const auto layout = engine::RowLayout::of(packed.conditions);
        QCOMPARE(layout->documents(), (std::vector<std::int64_t>{5, 3, 4, 7, 1, 4}));
        const at::Tensor term = layout->term({}, kRowTokens, at::kDouble);
        QVERIFY(term.is_same(layout->term({}, kRowTokens, at::kDouble))); // computed once
        QVERIFY(term.eq(0).logical_xor(layout->hidden({}, kRowTokens)).all().item<bool>());
    }

    /// All tokens see the text before the spans; a token of the spans sees earlier ones of them only.
    void prefixesAreSeenInBothDirections()
    {
        Project project = tinyLanguage("transformer", "plain", 2);
        project.network.objective = projects::Objective::Denoising;
        project.data.denoising.sentinels = 8;
        std::get<projects::SyntheticLanguage>(project.data.source).vocabulary =
            projects::kFewestWords + projects::tokensAdded(project.data.denoising);
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        DeviceBatch batch = randomBatch(project, 1, kRowTokens, 5);
        batch.target = batch.target.clone();                          // a single row shares its memory with the input
        batch.target.narrow(1, 0, 5).fill_(projects::kIgnoredTarget); // the prefix has six tokens
        const at::Tensor output = network->forward(batch, kEvaluation);
        const auto changedBy = [&](std::int64_t token) {
            DeviceBatch other = batch;
            other.input = batch.input.clone();
            other.input[0][token] = (batch.input[0][token].item<std::int64_t>() + 1) % 7;
            const at::Tensor apart = (network->forward(other, kEvaluation) - output).abs().amax(2)[0].gt(1e-12);
            std::vector<bool> changed;
            for (std::int64_t i = 0; i < kRowTokens; ++i) {
                changed.push_back(apart[i].item<bool>());
            }
            return changed;
        };
        QCOMPARE(changedBy(5), std::vector<bool>(kRowTokens, true));
        std::vector<bool> later(kRowTokens, false);
        std::fill(later.begin() + 6, later.end(), true);
        QCOMPARE(changedBy(6), later);
        const at::Tensor prefix = engine::prefixBefore(batch.target);
        QCOMPARE(prefix[0].item<std::int64_t>(), 6);
        const DeviceBatch prompt{batch.input, {}, {{projects::kPrefix, prefix}}};
        QVERIFY(distance(network->forward(prompt, kEvaluation), output) < 1e-15);
    }

    void nodesThatMixDocumentsAreRefused()
    {
        for (const auto rows : {DocumentRows::Packed, DocumentRows::Single}) {
            const bool packed = rows == DocumentRows::Packed;
            const auto refused = [&](const std::map<std::string, projects::ParamValue>& params) {
                return errorsOf(documentsProject("plain", rows, "", params)).find("performer") != std::string::npos;
            };
            QCOMPARE(refused({{"weights", std::string("performer")}}), packed);
            QVERIFY(refused({{"weights", std::string("performer")}, {"causal", false}}));
            QVERIFY(!refused({}));
        }
        Project project = documentsProject("plain", DocumentRows::Stream, "", {{"causal", false}});
        project.network.objective = projects::Objective::Denoising;
        QVERIFY(errorsOf(project).find("sees the tokens") != std::string::npos);
        project = documentsProject("plain", DocumentRows::Stream, "", {{"window", std::int64_t{4}}});
        project.network.objective = projects::Objective::Denoising;
        QVERIFY(errorsOf(project).find("expected window 0") != std::string::npos);
    }
};

RESIDUA_TEST(TestDocuments)
#include "tst_documents.moc"
