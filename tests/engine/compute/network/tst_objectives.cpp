// SPDX-License-Identifier: GPL-3.0-or-later
// Every objective of projects is computed, and is the mean that its traits name.
#include "network_harness.h"

#include "engine/compute/network/diffusion_loss.h"
#include "engine/compute/network/objectives.h"
#include "engine/compute/network/value_losses.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

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

/// The loss with inputs that are 0 at step 0. The slope of learned variances is not that of the loss
/// (tst_diffusion.cpp).
at::Tensor computed(const ObjectiveTraits& objective, const at::Tensor& output, const at::Tensor& target,
                    double smoothing = 0, engine::Pass pass = {})
{
    engine::DiffusionLoss diffusion({.learnsVariance = false});
    pass.inputs.emplace(projects::kTimestep, at::zeros({output.size(0)}, at::kLong));
    const at::Tensor input = at::zeros_like(output);
    return engine::objectiveEntryOf(objective.objective)
        .loss(output, {.target = target, .input = input, .smoothing = smoothing, .diffusion = &diffusion}, pass);
}

double lossOf(const ObjectiveTraits& objective, const Compared& compared)
{
    return computed(objective, compared.output, compared.target).item<double>();
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

constexpr std::size_t kPairs = 4;
constexpr std::size_t kVectorWidth = 3;
using Rows = std::array<std::array<double, kVectorWidth>, kPairs>;

/// A contrastive loss with its gradients, written from its definition.
struct Contrast {
    double loss = 0;
    Rows ofOutput{};
    Rows ofTarget{};
};
Contrast contrastOf(const Rows& output, const Rows& target, double penalty)
{
    Contrast result;
    for (std::size_t i = 0; i < kPairs; ++i) {
        std::array<double, kPairs> distances{};
        double sum = 0;
        for (std::size_t j = 0; j < kPairs; ++j) {
            double squares = 0;
            for (std::size_t k = 0; k < kVectorWidth; ++k) {
                squares += (output[i][k] - target[j][k]) * (output[i][k] - target[j][k]);
            }
            distances[j] = std::sqrt(squares);
            sum += std::exp(-distances[j]);
        }
        const double normaliser = std::log(sum);
        result.loss += (normaliser + distances[i] + penalty * normaliser * normaliser) / kPairs;
        for (std::size_t j = 0; j < kPairs; ++j) {
            const double share = std::exp(-distances[j]) / sum;
            const double byEnergy = (share * (1 + 2 * penalty * normaliser) - (i == j ? 1 : 0)) / kPairs;
            for (std::size_t k = 0; k < kVectorWidth && distances[j] > 0; ++k) {
                const double towards = byEnergy * (target[j][k] - output[i][k]) / distances[j];
                result.ofOutput[i][k] += towards;
                result.ofTarget[j][k] -= towards;
            }
        }
    }
    return result;
}

at::Tensor tensorOf(const Rows& rows)
{
    const at::Tensor made = at::zeros({kPairs, kVectorWidth}, at::kDouble);
    std::copy_n(rows.front().data(), kPairs * kVectorWidth, made.mutable_data_ptr<double>());
    return made;
}

} // namespace

class TestObjectives : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// One output coincides with the target of another example.
    void contrastiveLossesEqualAPlainImplementation_data()
    {
        QTest::addColumn<double>("penalty");
        QTest::newRow("with the penalty of the paper") << 0.1;
        QTest::newRow("without a penalty") << 0.0;
    }
    void contrastiveLossesEqualAPlainImplementation()
    {
        QFETCH(double, penalty);
        const Rows output{{{0.3, -1.2, 0.5}, {2.0, 0.1, -0.4}, {-0.7, 0.9, 1.1}, {0.0, 0.25, -2.0}}};
        const Rows target{{{0.1, -1.0, 0.9}, {-0.7, 0.9, 1.1}, {1.5, 1.5, 0.2}, {-0.3, 0.2, -1.0}}};
        const Contrast plain = contrastOf(output, target, penalty);
        projects::Loss contrast;
        contrast.kind = projects::LossKind::Contrastive;
        contrast.penalty = penalty;
        const at::Tensor left = tensorOf(output).requires_grad_();
        const at::Tensor right = tensorOf(target).requires_grad_();
        const at::Tensor value = engine::valueLoss(contrast, left, right);
        value.backward();
        QVERIFY(std::abs(value.item<double>() - plain.loss) < 1e-12);
        QVERIFY(distance(left.grad(), tensorOf(plain.ofOutput)) < 1e-12);
        QVERIFY(distance(right.grad(), tensorOf(plain.ofTarget)) < 1e-12);
        const at::Tensor single = engine::valueLoss(contrast, tensorOf(output).to(at::kBFloat16), tensorOf(target));
        QCOMPARE(single.scalar_type(), at::kFloat);
        QVERIFY(std::abs(single.item<double>() - plain.loss) < 1e-2);
    }

    void areAllComputed_data() { eachObjective(); }
    void areAllComputed()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        const engine::ObjectiveEntry& entry = engine::objectiveEntryOf(objective.objective);
        QCOMPARE(static_cast<int>(entry.objective), static_cast<int>(objective.objective));
        const Compared compared = comparedBy(objective);
        const at::Tensor loss = computed(objective, compared.output, compared.target);
        QCOMPARE(loss.dim(), 0);
        QVERIFY(loss.scalar_type() == at::kDouble);
        QVERIFY(std::isfinite(loss.item<double>()));
        const at::Tensor single = computed(objective, compared.output.to(at::kBFloat16), compared.target);
        QVERIFY(single.scalar_type() == at::kFloat);
        QVERIFY(std::abs(single.item<double>() - loss.item<double>()) < 0.05 * std::abs(loss.item<double>()));
    }

    /// A token's accuracy is counted; vectors have none.
    void furtherQuantitiesAreMeans_data() { eachObjective(); }
    void furtherQuantitiesAreMeans()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        const engine::ObjectiveEntry& entry = engine::objectiveEntryOf(objective.objective);
        const bool tokens = objective.target == projects::Element::Token;
        QCOMPARE(entry.further.size(), std::size_t(!tokens ? 0 : objective.smooths ? 2 : 1));
        if (!tokens) {
            return;
        }
        QCOMPARE(std::string(entry.further[0].name), std::string("accuracy"));
        Compared compared = comparedBy(objective);
        for (std::int64_t row = 0; row < 4; ++row) { // four of six tokens get the largest logit
            compared.output.view({6, kFeatures})[row][row % kFeatures] = 100;
        }
        compared.output.view({6, kFeatures})[4][0] = 100;
        compared.output.view({6, kFeatures})[5][4] = 100;
        for (const at::ScalarType type : {at::kLong, at::kInt}) {
            const at::Tensor mean = entry.further[0].mean(compared.output, compared.target.to(type));
            QCOMPARE(mean.dim(), 0);
            QVERIFY(std::abs(mean.item<double>() - 4.0 / 6) < 1e-12);
        }
    }

    /// Targets that are left out count neither in the loss nor in the accuracy, and a batch without others is 0.
    void ignoredTargetsCountNothing()
    {
        const ObjectiveTraits& objective = projects::traitsOf(projects::Objective::MaskedToken);
        const engine::ObjectiveEntry& entry = engine::objectiveEntryOf(objective.objective);
        const Compared all = comparedBy(objective);
        at::Tensor some = all.target.clone();
        some[1].fill_(projects::kIgnoredTarget);
        const Compared first{all.output.narrow(0, 0, 1), all.target.narrow(0, 0, 1)};
        QVERIFY(std::abs(lossOf(objective, {all.output, some}) - lossOf(objective, first)) < 1e-12);
        QVERIFY(at::equal(entry.further[0].mean(all.output, some), entry.further[0].mean(first.output, first.target)));
        const at::Tensor none = at::full_like(some, projects::kIgnoredTarget);
        QCOMPARE(lossOf(objective, {all.output, none}), 0.0);
        QCOMPARE(entry.further[0].mean(all.output, none).item<double>(), 0.0);
    }

    /// (1 − s) · cross-entropy + s · the mean of −log p over all classes.
    void labelsAreSmoothed()
    {
        const ObjectiveTraits& objective = projects::traitsOf(projects::Objective::Classification);
        const at::Tensor logits = randomTensor({6, kFeatures}, 3);
        const at::Tensor labels = at::arange(6, at::kLong).remainder(kFeatures);
        const at::Tensor nats = -at::log_softmax(logits, -1);
        const double own = nats.gather(1, labels.view({6, 1})).mean().item<double>();
        const double smoothed = computed(objective, logits, labels, 0.2).item<double>();
        QVERIFY(std::abs(smoothed - (0.8 * own + 0.2 * nats.mean().item<double>())) < 1e-12);
    }

    /// Each of a mixture's labels counts by its share, smoothed like any other.
    void mixedLabelsCountByTheirShares()
    {
        const ObjectiveTraits& objective = projects::traitsOf(projects::Objective::Classification);
        const at::Tensor logits = randomTensor({6, kFeatures}, 3);
        const at::Tensor labels = at::arange(6, at::kLong).remainder(kFeatures);
        const at::Tensor others = (labels + 2).remainder(kFeatures);
        const at::Tensor shares = at::arange(6, at::kDouble) / 10;
        engine::Pass pass;
        pass.inputs = {{projects::kMixedLabel, others}, {projects::kMixedShare, shares}};
        for (const double smoothing : {0.0, 0.2}) {
            // The cross-entropy with the targets of the mixture, written out.
            at::Tensor target = at::zeros({6, kFeatures}, at::kDouble);
            target.scatter_add_(1, labels.view({6, 1}), 1 - shares.view({6, 1}));
            target.scatter_add_(1, others.view({6, 1}), shares.view({6, 1}));
            target = target * (1 - smoothing) + smoothing / kFeatures;
            const double expected = -(target * at::log_softmax(logits, -1)).sum().item<double>() / 6;
            QVERIFY(std::abs(computed(objective, logits, labels, smoothing, pass).item<double>() - expected) < 1e-12);
        }
        pass.inputs[projects::kMixedShare] = at::zeros({6}, at::kDouble);
        QCOMPARE(computed(objective, logits, labels, 0.1, pass).item<double>(),
                 computed(objective, logits, labels, 0.1).item<double>());
    }

    /// Row: the label, column: the largest output.
    void confusionCountsLabelsByPredictions()
    {
        const auto confusion = engine::objectiveEntryOf(projects::Objective::Classification).confusion;
        const std::vector<std::int64_t> predicted{0, 2, 1, 0, 0, 1};
        at::Tensor output = at::zeros({6, 3}, at::kFloat);
        for (std::size_t row = 0; row < predicted.size(); ++row) {
            output[static_cast<std::int64_t>(row)][predicted[row]] = 1;
        }
        const at::Tensor labels = at::arange(6, at::kInt).remainder(3);
        const at::Tensor counts = confusion(output, labels);
        QVERIFY(counts.scalar_type() == at::kDouble);
        const std::vector<double> expected{2, 0, 0, 1, 0, 1, 0, 2, 0};
        QVERIFY(at::equal(counts.view({9}), at::tensor(expected, at::kDouble)));
        QVERIFY(!confusion(at::zeros({1, 101}), at::zeros({1}, at::kLong)).defined());
        QVERIFY(confusion(at::zeros({1, 100}), at::zeros({1}, at::kLong)).defined());
    }

    /// A label counts if at most four outputs are larger.
    void topFiveCountsTheFiveLargest()
    {
        const engine::ObjectiveQuantity& quantity =
            engine::objectiveEntryOf(projects::Objective::Classification).further[1];
        QCOMPARE(std::string(quantity.name), std::string("top5"));
        const at::Tensor output = at::arange(12, at::kDouble).view({2, 6}); // of each row, output 0 is the smallest
        QCOMPARE(quantity.mean(output, at::arange(2, at::kLong)).item<double>(), 0.5);
        for (const std::int64_t classes : {2, 5}) { // every label is among the five largest
            QVERIFY(!quantity.mean(at::zeros({2, classes}, at::kDouble), at::arange(2, at::kLong)).defined());
        }
    }

    void haveGradients_data() { eachObjective(); }
    void haveGradients()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsAt(index);
        Compared compared = comparedBy(objective);
        compared.output.requires_grad_();
        computed(objective, compared.output, compared.target).backward();
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
        case MeanOf::LabelNats:
        case MeanOf::HiddenNats:
            QVERIFY(std::abs(lossOf(objective, even) - std::log(kFeatures)) < 1e-12);
            break;
        case MeanOf::HalfSquaredNorms:
            QCOMPARE(lossOf(objective, offByOne), 0.5 * kFeatures);
            break;
        case MeanOf::Squares:
        case MeanOf::NoiseSquares:
            QCOMPARE(lossOf(objective, offByOne), 1.0);
            break;
        }
    }

    /// By the kernel; and by operators in parts of the rows: of one, of some with a rest, and all at once.
    void tokensInParts_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("rows");
        for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
            QTest::addRow("%s, kernel", c10::toString(type)) << static_cast<int>(type) << 0;
            for (const int rows : {1, 4, 100}) {
                QTest::addRow("%s, %d rows", c10::toString(type), rows) << static_cast<int>(type) << rows;
            }
        }
    }
    void tokensInParts()
    {
        QFETCH(int, type);
        QFETCH(int, rows);
        std::optional<engine::GpuPathsOnHost> withoutKernel;
        if (rows > 0) {
            withoutKernel.emplace();
        }
        constexpr std::int64_t kVocabulary = 33;
        const at::Tensor drawn = (4 * randomTensor({2, 7, kVocabulary}, 1)).to(static_cast<at::ScalarType>(type));
        const at::Tensor target = at::arange(14, at::kLong).mul(5).remainder(kVocabulary).view({2, 7});
        const auto leaf = [&] { return drawn.clone().requires_grad_(); };
        const double tolerance = drawn.scalar_type() == at::kDouble ? 1e-14 : 1e-6;
        const double rounding = drawn.scalar_type() == at::kBFloat16 ? 0.0079 : 1e-5; // two of 2^-9 each

        const at::Tensor expecting = leaf();
        const at::Tensor single = expecting.to(drawn.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
        const at::Tensor expected = at::cross_entropy_loss(single.view({-1, kVocabulary}), target.view({-1}));
        (expected / 3).backward();

        const at::Tensor kept = leaf();
        const at::Tensor loss = engine::tokenLoss(kept, target.to(at::kInt), rows);
        QVERIFY(loss.scalar_type() == expected.scalar_type());
        QCOMPARE(loss.dim(), 0);
        QVERIFY(std::abs((loss - expected).item<double>()) < tolerance * 10);
        (loss / 3).backward({}, /*retain_graph=*/true);
        QVERIFY(kept.equal(drawn));
        const at::Tensor once = kept.grad().clone();
        QVERIFY(once.scalar_type() == drawn.scalar_type());
        const at::Tensor distance = (once - expecting.grad()).to(at::kDouble).abs();
        const at::Tensor allowed = expecting.grad().to(at::kDouble).abs() * rounding + tolerance;
        QVERIFY(distance.le(allowed).all().item<bool>());
        kept.mutable_grad().reset();
        (loss / 3).backward();
        QVERIFY(kept.grad().equal(once));

        const at::Tensor before = leaf();
        at::Tensor moved = before * 1;
        const at::Tensor view = at::from_blob(moved.mutable_data_ptr(), moved.sizes(), drawn.options());
        const at::Tensor inPlace = engine::tokenLoss(std::move(moved), target, rows);
        (inPlace / 3).backward();
        QVERIFY(!view.equal(drawn)); // the gradient took the place of logits that nobody else holds
        QVERIFY(inPlace.equal(loss));
        QVERIFY(before.grad().equal(once));

        // The gradient that was expected needs no scaling, and another one is scaled as well.
        const engine::LossGradient expectedGradient{at::full({}, 1.0 / 3, expected.options().requires_grad(false)),
                                                    1.0 / 3};
        const at::Tensor third = expectedGradient.tensor;
        for (const at::Tensor& given : {third, third.clone(), third * 2}) {
            const at::Tensor scaled = leaf();
            const at::Tensor again = engine::tokenLoss(scaled, target, rows, expectedGradient);
            QVERIFY(again.equal(loss));
            for (const bool comesAgain : {true, false}) {
                scaled.mutable_grad().reset();
                again.backward(given, comesAgain);
                const at::Tensor factor = given / third;
                const at::Tensor apart = (scaled.grad() - factor * once).to(at::kDouble).abs();
                QVERIFY(apart.le(allowed * factor).all().item<bool>());
            }
        }

        const at::NoGradGuard noGrad;
        QVERIFY(engine::tokenLoss(kept, target, rows).equal(loss));
        QVERIFY(kept.equal(drawn));
    }

    void partsOfTokensFitMemory()
    {
        for (const std::int64_t vocabulary : {1, 50'304, 500'000'000}) {
            const at::Tensor logits = at::zeros({1}, at::kBFloat16).expand({1 << 20, vocabulary}); // takes no memory
            const std::int64_t rows = engine::tokenLossRows(logits);
            QVERIFY(rows >= 1);
            QVERIFY(rows == 1 || rows * vocabulary * 12 <= 1'000'000'000);
            QVERIFY((rows + 1) * vocabulary * 12 > 1'000'000'000);
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
