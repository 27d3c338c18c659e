// SPDX-License-Identifier: GPL-3.0-or-later
// Products of low rank that the visits of a loop add to its weights: a looped network against the untied one whose
// weights are the sums, in double precision.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/cost/cost.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/alteration.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>

#include <QTest>

#include <algorithm>
#include <optional>
#include <set>

using namespace residua;
using namespace residua::tests;
using projects::Loop;
using projects::Project;

namespace {

constexpr std::int64_t kAdapterRank = 3;

/// A network of 4 stored layers, of which the middle two are visited three times with products of their own.
Project adaptedLoop(const std::string& block, const std::string& topology)
{
    Project project = tinyLanguage(block, "plain", 4);
    project.stack().loops = {{.first = 2, .last = 3, .visits = 3, .adapterRank = kAdapterRank}};
    project.stack().topology = topologyNamed(topology, project.network);
    return project;
}

std::optional<at::Tensor> foundIn(engine::CompiledNetwork& network, const std::string& name)
{
    const auto found = std::ranges::find(network.parameters(), name, &engine::NamedParameter::name);
    return found == network.parameters().end() ? std::nullopt : std::optional(found->tensor);
}

/// Returns what a parameter of the untied network is in the looped one, as a function of its parameters.
at::Tensor sumAt(engine::CompiledNetwork& network, const Project& project, const std::string& untied)
{
    projects::ParameterName name = projects::parameterNameFrom(untied);
    if (name.layer == 0) {
        return parameter(network, untied);
    }
    const projects::LayerVisit at = project.stack().visitAt(name.layer);
    name.layer = at.layer;
    const std::string text = textOf(name);
    std::optional<at::Tensor> weight = foundIn(network, text);
    if (!weight) {
        weight = at::mm(parameter(network, projects::siblingOf(text, "u")),
                        parameter(network, projects::siblingOf(text, "v")));
    }
    const auto u = foundIn(network, projects::adapterOf(text, at.visit, projects::kAdapterU));
    return u && projects::lastOf(text) == "weight"
               ? *weight + at::mm(*u, parameter(network, projects::adapterOf(text, at.visit, projects::kAdapterV)))
               : *weight;
}

} // namespace

class TestVisitAdapters : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sumsOfWeights_data()
    {
        QTest::addColumn<Project>("project");
        const auto row = [](const std::string& name, const Project& project) {
            QTest::newRow(name.c_str()) << project;
        };
        for (const auto& [topology, block] : {std::pair{"plain", "transformer"},
                                              {"plain", "gpt"},
                                              {"ancre-ingoing", "transformer"},
                                              {"dca", "transformer-qkv"},
                                              {"mhc", "transformer"},
                                              {"highway", "transformer"},
                                              {"densenet", "transformer"},
                                              {"value-residual", "transformer"}}) {
            row(std::string(topology) + ", " + block, adaptedLoop(block, topology));
        }
        Project inPlace = adaptedLoop("transformer", "grn-v3");
        inPlace.stack().loops.front().order = projects::VisitOrder::InPlace;
        inPlace.training.activations = projects::Activations::Recompute;
        row("in place, recomputed", inPlace);
        Project factors = adaptedLoop("transformer", "plain");
        factors.network.rank = projects::FixedRank{2};
        factors.initialisation.lowRank = projects::LowRankMethod::Baseline;
        row("weights in factors", factors);
        Project several = adaptedLoop("transformer", "plain");
        several.stack().loops = {{.first = 1, .last = 1, .visits = 1, .adapterRank = 2},
                                 {.first = 2, .last = 2, .visits = 2},
                                 {.first = 3, .last = 4, .visits = 2, .adapterRank = 1}};
        row("several loops", several);
    }
    /// The gradients are those of the sums.
    void sumsOfWeights()
    {
        QFETCH(Project, project);
        QCOMPARE(errorsOf(project), std::string());
        Project untied = project;
        untied.stack().loops.clear();
        untied.stack().segments.front().repeat = project.stack().depth();
        untied.network.rank = projects::FullRank{};
        const auto network = compiled(project);
        const auto copies = compiled(untied);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.2, 3);
        for (engine::NamedParameter& copy : copies->parameters()) {
            const at::NoGradGuard noGrad;
            copy.tensor.copy_(sumAt(*network, project, copy.name));
        }
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        const at::Tensor got = network->loss(batch, kTraining);
        const at::Tensor expected = copies->loss(batch, kTraining);
        QVERIFY2(distance(got, expected) < 1e-12, qPrintable(QString::number(distance(got, expected))));
        expected.backward();
        at::Tensor sums;
        for (const engine::NamedParameter& copy : copies->parameters()) {
            const at::Tensor part = (sumAt(*network, project, copy.name) * copy.tensor.grad()).sum();
            sums = sums.defined() ? sums + part : part;
        }
        sums.backward();
        std::vector<at::Tensor> wanted;
        for (engine::NamedParameter& each : network->parameters()) {
            wanted.push_back(each.tensor.grad().clone());
            each.tensor.mutable_grad() = at::Tensor();
        }
        got.backward();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const engine::NamedParameter& each = network->parameters()[i];
            const double apart = distance(each.tensor.grad(), wanted[i]);
            QVERIFY2(apart < 1e-11, qPrintable(QString("%1 at %2").arg(apart).arg(each.name.c_str())));
        }
    }

    /// A new network computes what it does without the products, whose draws move no other.
    void startsWithoutAnEffect()
    {
        const Project project = adaptedLoop("transformer", "plain");
        Project without = project;
        without.stack().loops.front().adapterRank = 0;
        const auto network = compiled(project);
        const auto plain = compiled(without);
        std::set<std::string> added;
        for (const engine::NamedParameter& each : network->parameters()) {
            if (const auto own = foundIn(*plain, each.name)) {
                QVERIFY2(at::equal(*own, each.tensor), each.name.c_str());
            } else {
                added.insert(each.name);
                const auto adapter = projects::adapterFrom(each.name);
                QVERIFY2(adapter && foundIn(*plain, adapter->weight), each.name.c_str());
                QCOMPARE(each.tensor.any().item<bool>(), !adapter->isU);
            }
        }
        QCOMPARE(added.size(), std::size_t{2 * 3 * 7 * 2}); // layers, visits, weights, factors
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
        QVERIFY(at::equal(network->loss(batch, kEvaluation), plain->loss(batch, kEvaluation)));
    }

    void oneVisitUsesAProduct()
    {
        const projects::Stack stack = adaptedLoop("transformer", "plain").stack();
        const auto users = [&stack](const char* name) { return usersOf(stack, projects::parameterNameFrom(name)); };
        QCOMPARE(users("layers.3.up.weight"), (std::vector<std::int64_t>{3, 5, 7}));
        QCOMPARE(users("layers.3.up.visit.2.u"), std::vector<std::int64_t>{5});
        QCOMPARE(users("layers.3.attn.q.visit.3.v"), std::vector<std::int64_t>{7});
        QCOMPARE(users("layers.4.up.weight"), std::vector<std::int64_t>{8});
        QVERIFY(!projects::adapterFrom("layers.3.visit.u") && !projects::adapterFrom("layers.3.up.visit.x.u"));
    }

    void refusals()
    {
        const auto fault = [](void (*change)(Loop&)) {
            Project project = adaptedLoop("transformer", "plain");
            change(project.stack().loops.front());
            return firstErrorPath(project);
        };
        QCOMPARE(fault([](Loop& loop) { loop.draw = projects::VisitDraw::Uniform; }), "/network/loops/0/draw");
        QCOMPARE(fault([](Loop& loop) { loop.gradientVisits = 2; }), "/network/loops/0/gradient_visits");
        QCOMPARE(fault([](Loop& loop) { loop.adapterRank = -1; }), "/network/loops/0/adapter_rank");
        Project fixed = adaptedLoop("transformer", "plain");
        fixed.stack().loops.front().injection = projects::LoopInjection::Add;
        QCOMPARE(projects::withMoreVisits(fixed), fixed); // more visits would need more products
    }

    void lowPrecision() { QCOMPARE(precisionFault(adaptedLoop("transformer", "plain"), 0.05), std::string()); }
};

RESIDUA_TEST(TestVisitAdapters)
#include "tst_visit_adapters.moc"
