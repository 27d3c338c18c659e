// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters that start as stored ones, and what becomes of the optimiser's moments.
#include "network_harness.h"

#include "engine/train/optimiser.h"
#include "engine/transfer/transfer_plan.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <QtTest>

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

} // namespace

class TestTransferPlan : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Copied parameters equal their sources, computed ones equal what is computed, and the rest starts as in a fresh
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
        plan.add({"topology.alpha", ComputedStart{at::full({2}, 0.25, at::kDouble)}});
        const auto network = compiled(project);
        shake(*network, 0.5, 9); // what was there before is gone
        QVERIFY(plan.apply(model.stored(), *network));
        QVERIFY(at::equal(parameter(*network, first), parameter(*trained, first)));
        QVERIFY(at::equal(parameter(*network, second), parameter(*fresh, second)));
        QVERIFY(at::equal(parameter(*network, "topology.alpha"), at::full({2}, 0.25, at::kDouble)));
        const TransferReport report = plan.report(model.stored(), network->parameters());
        QCOMPARE(report.kept, std::vector<std::string>{first});
        QCOMPARE(report.added, (std::vector<std::string>{second, "topology.alpha"}));
        QVERIFY(report.dropped.empty());
    }

    void carriesMoments()
    {
        const projects::Project project = tinyVectors("linear", "plain", 2);
        const auto network = compiled(project);
        network->loss(randomBatch(project, 4, 1, 2), kTraining).backward();
        const auto optimiser = Optimiser::make(project.training, network->parameters());
        const auto other = compiled(project);
        const auto untouched = Optimiser::make(project.training, other->parameters());
        const HostTensors fresh = untouched->state();
        optimiser->step(0.1);
        const HostTensors learned = optimiser->state();
        TransferPlan plan;
        plan.copy("layers.1.weight.weight", Moments::Carried);
        plan.copy("layers.2.weight.weight", Moments::Fresh);
        const Result<HostTensors> state = plan.optimiserState(learned.stored(), fresh);
        QVERIFY(state.ok());
        QVERIFY(!state->stored().empty());
        for (const auto& [name, tensor] : state->stored()) {
            const HostTensors& expected = name.starts_with("layers.1.") ? learned : fresh;
            QVERIFY2(at::equal(viewOf(tensor), viewOf(expected.stored().at(name))), name.c_str());
        }
        engine::StoredTensors others = learned.stored();
        std::erase_if(others, [](const auto& each) { return each.first.starts_with("layers.1."); });
        const Result<HostTensors> without = plan.optimiserState(others, fresh);
        QVERIFY(without.error().text().find("the optimiser's layers.1.weight.weight.") != std::string::npos);
        const Result<HostTensors> imported = plan.optimiserState({}, fresh); // weights that came without any
        QVERIFY(imported.ok());
        for (const auto& [name, tensor] : imported->stored()) {
            QVERIFY2(at::equal(viewOf(tensor), viewOf(fresh.stored().at(name))), name.c_str());
        }
    }

    void whatIsStoredMustBeThereAndFit()
    {
        const projects::Project project = tinyVectors("linear", "plain", 1);
        const auto network = compiled(project);
        const HostTensors stored = source();
        TransferPlan absent;
        absent.add({"layers.1.weight.weight", StoredStart{"c"}});
        QCOMPARE(absent.apply(stored.stored(), *network).error().text(),
                 std::string("[c] is missing in what the weights are taken from"));
        TransferPlan plan;
        plan.add({"layers.1.weight.weight", StoredStart{"a"}});
        QCOMPARE(plan.apply(stored.stored(), *network).error().text(),
                 std::string("[layers.1.weight.weight] got [2, 3], expected [6, 6]"));
    }
};

RESIDUA_TEST(TestTransferPlan)
#include "tst_transfer_plan.moc"
