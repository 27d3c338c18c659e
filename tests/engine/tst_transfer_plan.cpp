// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters made of stored ones, and what becomes of the optimiser's moments.
#include "network_harness.h"

#include "engine/train/optimiser.h"
#include "engine/transfer/transfer_plan.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <QtTest>

using namespace residua;
using namespace residua::tests;
using namespace residua::engine;

namespace {

/// a [2, 3] and b [1, 3], rows of counting numbers, and a moment of each beside a count of updates.
HostTensors source()
{
    HostTensors tensors;
    tensors.add("a", at::arange(6, at::kDouble).view({2, 3}));
    tensors.add("b", at::arange(6, 9, at::kDouble).view({1, 3}));
    tensors.add("a.mean", at::arange(10, 16, at::kDouble).view({2, 3}));
    tensors.add("b.mean", at::arange(16, 19, at::kDouble).view({1, 3}));
    tensors.add("a.updates", at::full({}, 4.0, at::kDouble));
    tensors.add("b.updates", at::full({}, 4.0, at::kDouble));
    return tensors;
}

at::Tensor counting(std::int64_t begin, std::int64_t rows, std::int64_t columns)
{
    return at::arange(begin, begin + rows * columns, at::kDouble).view({rows, columns});
}

} // namespace

class TestTransferPlan : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void assembles()
    {
        const HostTensors stored = source();
        const auto made = [&](const StoredStart& start, const char* suffix = "") {
            const Result<at::Tensor> result = assembled(start, stored.stored(), suffix);
            return result ? *result : at::Tensor();
        };
        const StoredStart copied{.parts = {{.name = "a"}}, .repeats = {}};
        const StoredStart joined{.parts = {{.name = "a"}, {.name = "b"}}, .repeats = {}};
        const StoredStart turned{.parts = {{.name = "a", .transposed = true}}, .repeats = {}};
        const StoredStart cut{.parts = {{.name = "a", .dimension = 1, .begin = 1, .length = 1}}, .repeats = {}};
        const StoredStart repeated{.parts = {{.name = "b"}}, .repeats = {3, 2}};
        QVERIFY(at::equal(made(copied), counting(0, 2, 3)));
        QVERIFY(at::equal(made(joined), counting(0, 3, 3)));
        QVERIFY(at::equal(made(turned), counting(0, 2, 3).t()));
        QVERIFY(at::equal(made(cut), counting(0, 2, 3).narrow(1, 1, 1)));
        QVERIFY(at::equal(made(repeated), at::cat({counting(6, 1, 3), counting(6, 1, 3)}, 1).expand({3, 6})));
        // The moments in the same way; what is one number for a whole parameter stays one number.
        QVERIFY(at::equal(made(joined, ".mean"), counting(10, 3, 3)));
        QVERIFY(at::equal(made(joined, ".updates"), at::full({}, 4.0, at::kDouble)));
        QVERIFY(at::equal(made(repeated, ".updates"), at::full({}, 4.0, at::kDouble)));
    }

    void saysWhatIsMissing_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qint64>("begin");
        QTest::addColumn<QString>("message");
        QTest::newRow("absent") << "c" << qint64{0} << "[c] is missing in what the weights are taken from";
        QTest::newRow("too small") << "a" << qint64{1} << "[a] has 2 elements along dimension 0, 3 are wanted";
    }
    void saysWhatIsMissing()
    {
        QFETCH(QString, name);
        QFETCH(qint64, begin);
        QFETCH(QString, message);
        const HostTensors stored = source();
        const StoredStart start{.parts = {{.name = name.toStdString(), .begin = begin, .length = 2}}, .repeats = {}};
        QCOMPARE(assembled(start, stored.stored()).error().text(), message.toStdString());
    }

    /// What is copied is copied, what is computed is that, and the rest starts as in a fresh network.
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

    void shapesMustFit()
    {
        const projects::Project project = tinyVectors("linear", "plain", 1);
        const auto network = compiled(project);
        TransferPlan plan;
        plan.add({"layers.1.weight.weight", StoredStart{.parts = {{.name = "a"}}, .repeats = {}}});
        const HostTensors stored = source();
        QCOMPARE(plan.apply(stored.stored(), *network).error().text(),
                 std::string("[layers.1.weight.weight] got [2, 3], expected [6, 6]"));
    }
};

RESIDUA_TEST(TestTransferPlan)
#include "tst_transfer_plan.moc"
