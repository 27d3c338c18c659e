// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters that start as stored ones, and what becomes of the optimiser's moments.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/base/files/safetensors.h"
#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <filesystem>
#include <map>

using namespace residua;
using namespace residua::tests;
using namespace residua::engine;

namespace {

/// a [2, 3].
HostTensors source()
{
    HostTensors tensors;
    tensors.add("a", at::arange(6, at::kDouble).view({2, 3}));
    return tensors;
}

/// A tensor of so many parameters.
projects::FileTensor joined(std::size_t parameters, std::int64_t groups, bool transposed)
{
    projects::FileTensor tensor{"whole", {}, transposed, groups};
    for (std::size_t i = 0; i < parameters; ++i) {
        tensor.parameters.push_back("p" + std::to_string(i));
    }
    return tensor;
}

} // namespace

class TestTransferPlan : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_folder;

    /// The same tensors in a file.
    TensorFiles written(const std::map<std::string, StoredTensor>& tensors) const
    {
        const auto path = std::filesystem::path(m_folder.path().toStdString()) / "tensors.safetensors";
        const Status done = writeSafetensors(path, tensors, {});
        Result<TensorFiles> files = done ? TensorFiles::openFile(path) : Result<TensorFiles>(done.error());
        if (!files) {
            qFatal("%s", files.error().text().c_str());
        }
        return std::move(*files);
    }

private Q_SLOTS:
    /// Copied parameters equal their sources and computed ones equal the computed values. The others start as in a new
    /// network.
    void appliesToANetwork()
    {
        const projects::Project project = tinyVectors("linear", "rezero", 2);
        const auto trained = compiled(project);
        shake(*trained, 0.5, 3);
        const HostTensors model = hostTensors(trained->parameters());
        const auto fresh = compiled(project);
        const std::string first = "layers.1.weight.weight";
        const std::string second = "layers.2.weight.weight";
        TransferPlan plan;
        plan.copy(first, Moments::Carried);
        plan.start("topology.alpha", at::full({2}, 0.25, at::kDouble));
        const auto network = compiled(project);
        shake(*network, 0.5, 9); // what was there before is gone
        const TensorFiles files = written(model.stored());
        QVERIFY(plan.apply(files, *network, {}));
        QVERIFY(at::equal(parameter(*network, first), parameter(*trained, first)));
        QVERIFY(at::equal(parameter(*network, second), parameter(*fresh, second)));
        QVERIFY(at::equal(parameter(*network, "topology.alpha"), at::full({2}, 0.25, at::kDouble)));
        QCOMPARE(plan.carried(), std::vector<std::string>{first});
        const TransferReport report = plan.match(files, network->parameters());
        QCOMPARE(report.steps.size(), std::size_t{2});
        QVERIFY(report.missing.empty() && report.contradictions.empty());
        QVERIFY(std::ranges::find(report.unused, first) == report.unused.end());
        QVERIFY(std::ranges::find(report.unused, second) != report.unused.end());
    }

    /// The callback cancels the transfer during initialisation and during reading.
    void canBeGivenUp()
    {
        const projects::Project project = tinyVectors("linear", "rezero", 2);
        const auto network = compiled(project);
        const TensorFiles files = written(hostTensors(network->parameters()).stored());
        TransferPlan plan;
        plan.copy("layers.1.weight.weight", Moments::Carried);
        std::vector<double> shares;
        QVERIFY(plan.apply(files, *network, [&](double share) {
            shares.push_back(share);
            return true;
        }));
        QVERIFY(std::ranges::is_sorted(shares));
        QVERIFY(shares.size() > 1 && shares.back() <= 1);
        for (const double last : {shares.front(), shares.back()}) {
            const Status done = plan.apply(files, *network, [last](double share) { return share < last; });
            QVERIFY2(!done && done.error().text().find("given up") != std::string::npos,
                     done ? "it was done" : done.error().text().c_str());
        }
    }

    void unpacksWhatItPacks_data()
    {
        QTest::addColumn<int>("groups");
        QTest::addColumn<bool>("transposed");
        QTest::newRow("one after another") << 1 << false;
        QTest::newRow("transposed") << 1 << true;
        QTest::newRow("by head") << 2 << false;
        QTest::newRow("by head, transposed") << 2 << true;
    }
    /// Packs three parameters of four rows. The expected order is written out.
    void unpacksWhatItPacks()
    {
        QFETCH(const int, groups);
        QFETCH(const bool, transposed);
        const projects::FileTensor tensor = joined(3, groups, transposed);
        std::vector<at::Tensor> parameters;
        for (int i = 0; i < 3; ++i) {
            parameters.push_back(at::arange(8, at::kDouble).view({4, 2}) + 100 * i);
        }
        const at::Tensor whole = packed(tensor, parameters);
        QCOMPARE(whole.sizes().vec(), packedShape(tensor, {{4, 2}, {4, 2}, {4, 2}}));
        const at::Tensor rows = transposed ? whole.t() : whole;
        const std::vector<double> firsts =
            groups == 1 ? std::vector<double>{0, 2, 4, 6, 100, 102, 104, 106, 200, 202, 204, 206}
                        : std::vector<double>{0, 2, 100, 102, 200, 202, 4, 6, 104, 106, 204, 206};
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            QCOMPARE(rows[static_cast<std::int64_t>(i)][0].item<double>(), firsts[i]);
        }
        const std::vector<at::Tensor> parts = unpacked(tensor, whole, parameters);
        QCOMPARE(parts.size(), parameters.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            QVERIFY(at::equal(parts[i], parameters[i]));
        }
    }

    /// Rows are carried out in order, so a layer is read before it is written. Moments come from the source of the
    /// numbers, or from the tensor that a computed row names.
    void appliesWithinANetwork()
    {
        const projects::Project project = tinyVectors("linear", "plain", 3);
        const auto network = compiled(project);
        shake(*network, 0.5, 3);
        network->loss(randomBatch(project, 4, 1, 2), kTraining).backward();
        Optimiser optimiser(project.training, network->parameters());
        optimiser.step(0.1);
        const auto before = compiled(project);
        for (std::size_t i = 0; i < before->parameters().size(); ++i) {
            const at::NoGradGuard noGrad;
            before->parameters()[i].tensor.copy_(network->parameters()[i].tensor);
        }
        const HostTensors live = optimiser.state();
        std::map<std::string, at::Tensor> learned;
        for (const auto& [name, tensor] : live.stored()) {
            learned[name] = viewOf(tensor).clone();
        }
        const std::string one = "layers.1.weight.weight";
        const std::string two = "layers.2.weight.weight";
        const std::string three = "layers.3.weight.weight";
        TransferPlan plan;
        plan.add({.tensor = {two, {three}}, .moments = Moments::Carried});
        plan.add({.tensor = {one, {two}}, .computed = at::full({6, 6}, 0.5, at::kDouble), .moments = Moments::Carried});
        plan.add({.tensor = {one, {one}}});
        plan.applyWithin(network->parameters(), optimiser);
        QVERIFY(at::equal(parameter(*network, three), parameter(*before, two)));
        QVERIFY(at::equal(parameter(*network, two), at::full({6, 6}, 0.5, at::kDouble)));
        QVERIFY(at::equal(parameter(*network, one), parameter(*before, one)));
        const HostTensors after = optimiser.state();
        QVERIFY(!at::equal(learned.at(one + ".mean"), learned.at(two + ".mean")));
        QVERIFY(at::equal(viewOf(after.stored().at(three + ".mean")), learned.at(two + ".mean")));
        QVERIFY(at::equal(viewOf(after.stored().at(two + ".mean")), learned.at(one + ".mean")));
        QVERIFY(!viewOf(after.stored().at(one + ".mean")).any().item<bool>());
    }

    void carriesMoments()
    {
        const projects::Project project = tinyVectors("linear", "plain", 2);
        const auto network = compiled(project);
        network->loss(randomBatch(project, 4, 1, 2), kTraining).backward();
        Optimiser optimiser(project.training, network->parameters());
        const auto other = compiled(project);
        Optimiser untouched(project.training, other->parameters());
        optimiser.step(0.1);
        const HostTensors learned = optimiser.state();
        TransferPlan plan;
        plan.copy("layers.1.weight.weight", Moments::Carried);
        plan.copy("layers.2.weight.weight", Moments::Fresh);
        QVERIFY(plan.applyMoments(written(learned.stored()), other->parameters(), untouched));
        const HostTensors state = untouched.state();
        QVERIFY(!state.stored().empty());
        for (const auto& [name, tensor] : state.stored()) {
            const at::Tensor expected =
                name.starts_with("layers.1.") ? viewOf(learned.stored().at(name)) : at::zeros_like(viewOf(tensor));
            QVERIFY2(at::equal(viewOf(tensor), expected), name.c_str());
        }
        auto others = learned.stored();
        std::erase_if(others, [](const auto& each) { return each.first.starts_with("layers.1."); });
        Optimiser fresh(project.training, other->parameters());
        const Status without = plan.applyMoments(written(others), other->parameters(), fresh);
        QVERIFY(!without && without.error().text().find("weight.mean is missing") != std::string::npos);
        QVERIFY(plan.applyMoments(written({}), other->parameters(), fresh)); // weights that came without any
        const HostTensors begun = fresh.state();
        for (const auto& [name, tensor] : begun.stored()) {
            QVERIFY2(!viewOf(tensor).any().item<bool>(), name.c_str());
        }
    }

    void storedTensorsMustExistAndFit()
    {
        const projects::Project project = tinyVectors("linear", "plain", 1);
        const auto network = compiled(project);
        const TensorFiles stored = written(source().stored());
        TransferPlan absent;
        absent.add({.tensor = {"c", {"layers.1.weight.weight"}}});
        QCOMPARE(absent.apply(stored, *network, {}).error().place, std::string("c"));
        TransferPlan plan;
        plan.add({.tensor = {"a", {"layers.1.weight.weight"}}});
        QCOMPARE(plan.apply(stored, *network, {}).error().place, std::string("layers.1.weight.weight"));
    }
};

RESIDUA_TEST(TestTransferPlan)
#include "tst_transfer_plan.moc"
