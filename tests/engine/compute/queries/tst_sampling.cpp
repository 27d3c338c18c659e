// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/compute/network/network_double.h"

#include "engine/compute/queries/measures/sampler.h"
#include "engine/compute/train/evaluation.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/zeros.h>

#include <QtTest>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

using namespace residua;
using namespace residua::engine;
using residua::tests::NetworkDouble;

namespace {

constexpr std::int64_t kVocabulary = 7;

/// Always expects the token after the last one.
std::unique_ptr<NetworkDouble> counting(std::int64_t& longest)
{
    return std::make_unique<NetworkDouble>(
        at::zeros({1}),
        [&longest](const at::Tensor&, const at::Tensor& input) {
            longest = std::max(longest, input.size(1));
            return at::one_hot(input.add(1).remainder(kVocabulary), kVocabulary).to(at::kFloat).mul(50);
        },
        [](const at::Tensor& w, const DeviceBatch&) { return w.sum(); });
}

/// Ten vectors whose loss is their number; batches of any size, the last one shorter.
class NumberedVectors final : public Dataset {
public:
    projects::ExampleSchema schema() const override { return projects::ExampleSchema::vectors(1, 1); }
    std::int64_t size(Split) const override { return kCount; }
    Status fill(Batch&, Split, std::int64_t, std::int64_t, std::int64_t) const override { return Done{}; }
    Status fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const override
    {
        const std::int64_t first = index * count;
        const std::int64_t end = split == Split::Validation ? std::min(first + count, kCount) : 0;
        std::vector<double> numbers;
        for (std::int64_t i = first; i < end; ++i) {
            numbers.push_back(static_cast<double>(i));
        }
        batch.fields = {numbers, numbers};
        batch.batch = std::ssize(numbers);
        return Done{};
    }
    void fillAll(Batch&, Split) const override {}
    Result<std::vector<std::int64_t>> encode(const std::string&) const override { return Error{}; }
    std::string decode(const std::vector<std::int64_t>&) const override { return {}; }

private:
    static constexpr std::int64_t kCount = 10;
};

class TestSampling : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// The candidates of each masked token, and no others.
    void candidatesForMaskedTokens()
    {
        std::int64_t longest = 0;
        const auto network = counting(longest);
        const auto filled = candidatesFor(*network, at::kCPU, {3, 5, 3, 1}, 3, 2, Pass());
        QCOMPARE(filled.size(), std::size_t{2});
        QCOMPARE(filled[0].position, std::int64_t{0});
        QCOMPARE(filled[1].position, std::int64_t{2});
        QCOMPARE(filled[1].candidates.size(), std::size_t{2});
        QCOMPARE(filled[1].candidates[0].first, std::int64_t{4});
        QVERIFY(std::abs(filled[1].candidates[0].second - 1) < 1e-6);
        QCOMPARE(candidatesFor(*network, at::kCPU, {3}, 3, 100, Pass())[0].candidates.size(), std::size_t{kVocabulary});
    }

    void greedyTakesTheLargestAndTheLowerOfEqualOnes()
    {
        TokenChooser chooser(0, 0, 1);
        QCOMPARE(chooser.choose(std::vector<float>{0.1F, 3.0F, -2.0F, 3.0F}), 1);
        QCOMPARE(chooser.choose(std::vector<float>{NAN, -5.0F, -6.0F}), 1);
    }

    void topKExcludesTheRest()
    {
        TokenChooser chooser(5.0, 2, 1);
        std::map<std::int64_t, int> counts;
        for (int i = 0; i < 500; ++i) {
            ++counts[chooser.choose(std::vector<float>{1.0F, 0.9F, 1.1F, 0.8F})];
        }
        QCOMPARE(counts.size(), std::size_t{2});
        QVERIFY(counts.contains(0) && counts.contains(2));
    }

    void drawsByTheSoftmaxAtATemperature()
    {
        TokenChooser chooser(2.0, 0, 3);
        const std::vector<float> logits{0.0F, 2.0F, 4.0F};
        std::vector<double> counts(3);
        constexpr int kDraws = 40'000;
        for (int i = 0; i < kDraws; ++i) {
            ++counts[static_cast<std::size_t>(chooser.choose(logits))];
        }
        const double total = 1 + std::exp(1.0) + std::exp(2.0);
        for (int i = 0; i < 3; ++i) {
            const double expected = std::exp(i) / total;
            QVERIFY(std::abs(counts[static_cast<std::size_t>(i)] / kDraws - expected) < 0.01);
        }
    }

    void theSameSeedDrawsTheSame()
    {
        const auto draw = [](std::int64_t seed) {
            TokenChooser chooser(1.0, 0, seed);
            std::vector<std::int64_t> drawn;
            for (int i = 0; i < 50; ++i) {
                drawn.push_back(chooser.choose(std::vector<float>(20, 0.0F)));
            }
            return drawn;
        };
        QCOMPARE(draw(4), draw(4));
        QVERIFY(draw(4) != draw(5));
    }

    void continuesWithinItsWindow()
    {
        std::int64_t longest = 0;
        const auto network = counting(longest);
        Sampler sampler(*network, c10::Device(c10::DeviceType::CPU), {.window = 4, .temperature = 0});
        std::vector<std::int64_t> tokens{5};
        for (int i = 0; i < 9; ++i) {
            sampler.extend(tokens);
        }
        QCOMPARE(tokens, (std::vector<std::int64_t>{5, 6, 0, 1, 2, 3, 4, 5, 6, 0}));
        QCOMPARE(longest, 4);
        QVERIFY(!network->training());
    }

    /// The scores that scikit-learn's f1_score gives, by hand: an F1 of each class that was given or predicted.
    void f1FollowsFromCounts_data()
    {
        QTest::addColumn<int>("classes");
        QTest::addColumn<QList<float>>("counts");
        QTest::addColumn<double>("macro");
        QTest::addColumn<double>("positive"); // NaN: not measured
        const double none = std::numeric_limits<double>::quiet_NaN();
        // Labels 0 1 2 0 1 2, predictions 0 2 1 0 0 1: F1 4/5, 0 and 0.
        QTest::newRow("three classes") << 3 << QList<float>{2, 0, 0, 1, 0, 1, 0, 2, 0} << 0.8 / 3 << none;
        // Class 3 has no example and no prediction: 2/3, 1 and 0.
        QTest::newRow("a class that is not there")
            << 4 << QList<float>{1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} << (2.0 / 3 + 1) / 3 << none;
        // 50 of 60 and 30 of 40 right: F1 100/120 and 60/80.
        QTest::newRow("two classes") << 2 << QList<float>{50, 10, 10, 30} << (100.0 / 120 + 60.0 / 80) / 2 << 60.0 / 80;
        QTest::newRow("nothing right") << 2 << QList<float>{0, 5, 5, 0} << 0.0 << 0.0;
    }
    void f1FollowsFromCounts()
    {
        QFETCH(int, classes);
        QFETCH(QList<float>, counts);
        QFETCH(double, macro);
        QFETCH(double, positive);
        const auto scores = engine::f1Of({matrix::kConfusion, 1, classes, classes, {counts.begin(), counts.end()}});
        QVERIFY(std::abs(scores.at("macro_f1") - macro) < 1e-12);
        QCOMPARE(scores.contains("f1"), !std::isnan(positive));
        QVERIFY(std::isnan(positive) || std::abs(scores.at("f1") - positive) < 1e-12);
    }

    /// Counted over the batches, not averaged: the F1 of all examples.
    void confusionIsSummedOverBatches()
    {
        NetworkDouble network(
            at::zeros({1}), [](const at::Tensor& w, const at::Tensor&) { return w; },
            [](const at::Tensor&, const DeviceBatch& given) { return given.input.mean(); });
        network.confusion = [](const DeviceBatch& given) {
            at::Tensor counts = at::zeros({2, 2}, at::kDouble); // the numbers from 6 on are right, 0 to 5 are not
            counts[1][1] = given.input.ge(6).sum().item<double>();
            counts[0][1] = static_cast<double>(given.input.size(0)) - counts[1][1].item<double>();
            return counts;
        };
        const NumberedVectors data;
        projects::TrainingPlan plan;
        plan.batch = 4;
        Evaluation evaluation(network, data, Split::Validation, plan, c10::Device(c10::DeviceType::CPU), 0);
        while (!evaluation.atEnd()) {
            QVERIFY(evaluation.advance());
        }
        const std::optional<Matrix> confusion = evaluation.confusion(7);
        QVERIFY(confusion && confusion->step == 7);
        QCOMPARE(confusion->values, (std::vector<float>{0, 6, 0, 4}));
        QVERIFY(std::abs(evaluation.means().at("f1") - 8.0 / 14) < 1e-12);
        QVERIFY(std::abs(evaluation.means().at("macro_f1") - 4.0 / 14) < 1e-12);
    }

    void evaluationWeighsExamplesAlike_data()
    {
        QTest::addColumn<qint64>("batch");
        QTest::addColumn<qint64>("limit");
        QTest::addColumn<double>("mean");
        QTest::addColumn<qint64>("batches");
        QTest::newRow("a shorter last batch") << qint64{4} << qint64{0} << 4.5 << qint64{3};
        QTest::newRow("all at once") << qint64{10} << qint64{0} << 4.5 << qint64{1};
        QTest::newRow("limited") << qint64{4} << qint64{2} << 3.5 << qint64{2};
    }
    void evaluationWeighsExamplesAlike()
    {
        QFETCH(qint64, batch);
        QFETCH(qint64, limit);
        QFETCH(double, mean);
        QFETCH(qint64, batches);
        NetworkDouble network(
            at::zeros({1}), [](const at::Tensor& w, const at::Tensor&) { return w; },
            [](const at::Tensor&, const DeviceBatch& given) { return given.input.mean(); });
        const NumberedVectors data;
        projects::TrainingPlan plan;
        plan.batch = batch;
        Evaluation evaluation(network, data, Split::Validation, plan, c10::Device(c10::DeviceType::CPU), limit);
        while (!evaluation.atEnd()) {
            QVERIFY(evaluation.advance());
        }
        QCOMPARE(evaluation.loss(), mean);
        QCOMPARE(evaluation.batchesDone(), batches);
        QVERIFY(!evaluation.confusion(1));
        const Evaluation nothing(network, data, Split::Test, plan, c10::Device(c10::DeviceType::CPU), 0);
        QVERIFY(std::isnan(nothing.loss()));
    }
};

} // namespace

RESIDUA_TEST(TestSampling)
#include "tst_sampling.moc"
