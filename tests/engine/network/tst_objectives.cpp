// SPDX-License-Identifier: GPL-3.0-or-later
// Every objective of projects is computed, and is the mean that its traits name.
#include "network_harness.h"

#include "engine/network/objectives.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using projects::MeanOf;
using projects::ObjectiveTraits;

namespace {

constexpr std::int64_t kFeatures = 5;

struct Compared {
    at::Tensor output;
    at::Tensor target;
};

/// Logits of sequences with their tokens, or vectors with theirs.
Compared comparedBy(const ObjectiveTraits& objective)
{
    if (objective.target == projects::Element::Token) {
        return {randomTensor({2, 3, kFeatures}, 1), at::arange(6, at::kLong).view({2, 3}).remainder(kFeatures)};
    }
    return {randomTensor({4, kFeatures}, 1), randomTensor({4, kFeatures}, 2)};
}

double lossOf(const ObjectiveTraits& objective, const Compared& compared)
{
    return engine::entryOf(objective.objective).loss(compared.output, compared.target, {}).item<double>();
}

/// The derivative of the loss by one number of the output.
double slope(const ObjectiveTraits& objective, const Compared& compared, std::int64_t index)
{
    constexpr double kStep = 1e-5;
    const auto moved = [&](double by) {
        Compared there{compared.output.clone(), compared.target};
        there.output.mutable_data_ptr<double>()[index] += by;
        return lossOf(objective, there);
    };
    return (moved(kStep) - moved(-kStep)) / (2 * kStep);
}

} // namespace

class TestObjectives : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void areAllComputed_data() { eachObjective(); }
    void areAllComputed()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        const engine::ObjectiveEntry& entry = engine::entryOf(objective.objective);
        QCOMPARE(static_cast<int>(entry.objective), static_cast<int>(objective.objective));
        const Compared compared = comparedBy(objective);
        const at::Tensor loss = entry.loss(compared.output, compared.target, {});
        QCOMPARE(loss.dim(), 0);
        QVERIFY(loss.scalar_type() == at::kDouble);
        QVERIFY(std::isfinite(loss.item<double>()));
        const at::Tensor single = entry.loss(compared.output.to(at::kBFloat16), compared.target, {});
        QVERIFY(single.scalar_type() == at::kFloat);
        QVERIFY(std::abs(single.item<double>() - loss.item<double>()) < 0.05 * std::abs(loss.item<double>()));
    }

    void haveGradients_data() { eachObjective(); }
    void haveGradients()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        Compared compared = comparedBy(objective);
        compared.output.requires_grad_();
        engine::entryOf(objective.objective).loss(compared.output, compared.target, {}).backward();
        const at::NoGradGuard noGrad;
        const at::Tensor gradient = compared.output.grad().contiguous();
        for (std::int64_t i = 0; i < gradient.numel(); ++i) {
            QVERIFY(std::abs(gradient.const_data_ptr<double>()[i] - slope(objective, compared, i)) < 1e-8);
        }
    }

    /// A batch with every example twice has the same value.
    void areMeans_data() { eachObjective(); }
    void areMeans()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        const Compared once = comparedBy(objective);
        const Compared twice{at::cat({once.output, once.output}), at::cat({once.target, once.target})};
        QVERIFY(std::abs(lossOf(objective, twice) - lossOf(objective, once)) < 1e-12);
    }

    /// The losses of even logits and of errors of one are known without computing them.
    void areMeansOfWhatTheirTraitsSay_data() { eachObjective(); }
    void areMeansOfWhatTheirTraitsSay()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        const Compared drawn = comparedBy(objective);
        const Compared even{at::zeros_like(drawn.output), drawn.target};
        const Compared offByOne{at::ones_like(drawn.output), at::zeros_like(drawn.target)};
        switch (objective.meanOf) {
        case MeanOf::TokenNats:
            QVERIFY(std::abs(lossOf(objective, even) - std::log(kFeatures)) < 1e-12);
            break;
        case MeanOf::HalfSquaredNorms:
            QCOMPARE(lossOf(objective, offByOne), 0.5 * kFeatures);
            break;
        case MeanOf::Squares:
            QCOMPARE(lossOf(objective, offByOne), 1.0);
            break;
        }
    }

private:
    static void eachObjective()
    {
        QTest::addColumn<int>("index");
        for (const ObjectiveTraits& objective : projects::kObjectives) {
            QTest::newRow(std::string(objective.key).c_str()) << static_cast<int>(objective.objective);
        }
    }

    static const ObjectiveTraits& traitsAt(int index)
    {
        return projects::traitsOf(static_cast<projects::Objective>(index));
    }
};

RESIDUA_TEST(TestObjectives)
#include "tst_objectives.moc"
