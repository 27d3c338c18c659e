// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataset_harness.h"
#include "engine/data/sets/boolean_polynomial.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/regression.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <Eigen/LU>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

projects::Project with(projects::Source source)
{
    projects::Project project;
    project.data.source = std::move(source);
    project.data.validationFraction = 0.1;
    project.data.testFraction = 0.1;
    project.training.sequenceLength = 32;
    project.seeds.data = 5;
    return project;
}

std::unique_ptr<Dataset> opened(const projects::Project& project)
{
    auto dataset = Dataset::open(project, ".");
    return dataset ? std::move(*dataset) : nullptr;
}

std::string errorOf(projects::Source source)
{
    return tests::errorOf(Dataset::open(with(std::move(source)), "."));
}

bool same(const Batch& a, const Batch& b)
{
    return a.batch == b.batch && a.time == b.time && a.fields == b.fields;
}

} // namespace

class TestDatasetGenerators : public QObject {
    Q_OBJECT

private slots:
    // ---- linear regression

    void linearIsWhite_data()
    {
        QTest::addColumn<int>("dim");
        QTest::addColumn<int>("samples");
        QTest::newRow("square") << 16 << 16;
        QTest::newRow("more samples") << 8 << 50;
        QTest::newRow("fewer samples") << 12 << 5;
    }
    void linearIsWhite()
    {
        QFETCH(int, dim);
        QFETCH(int, samples);
        const auto dataset = opened(with(projects::LinearRegression{dim, samples, projects::LinearTarget::Random}));
        Batch all;
        dataset->fillAll(all, Split::Train);
        QCOMPARE(all.batch, samples);
        // XXᵀ over samples, or XᵀX over features, whichever can be the identity.
        for (int i = 0; i < std::min(dim, samples); ++i) {
            for (int j = 0; j < std::min(dim, samples); ++j) {
                double sum = 0;
                for (int k = 0; k < std::max(dim, samples); ++k) {
                    const auto at = [&](int other) {
                        return static_cast<std::size_t>(samples >= dim ? k * dim + other : other * dim + k);
                    };
                    sum += inputsIn(all)[at(i)] * inputsIn(all)[at(j)];
                }
                QVERIFY(std::abs(sum - (i == j ? 1.0 : 0.0)) < 1e-12);
            }
        }
    }

    void linearTargetsHold()
    {
        for (const auto target : {projects::LinearTarget::Identity, projects::LinearTarget::Random,
                                  projects::LinearTarget::ScaledRotation}) {
            for (const int dim : {1, 6, 7}) {
                const auto dataset = opened(with(projects::LinearRegression{dim, 20, target}));
                const DenseMatrix map = linearTarget(target, dim, 5);
                for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
                    Batch all;
                    dataset->fillAll(all, split);
                    QCOMPARE(all.batch, split == Split::Train ? 20 : 2);
                    const Eigen::Map<const DenseMatrix> x(inputsIn(all).data(), all.batch, dim);
                    const Eigen::Map<const DenseMatrix> y(outputsIn(all).data(), all.batch, dim);
                    QVERIFY((x * map.transpose() - y).cwiseAbs().maxCoeff() < 1e-14);
                }
            }
        }
        QVERIFY(linearTarget(projects::LinearTarget::Identity, 3, 5) == DenseMatrix::Identity(3, 3));
        QVERIFY(linearTarget(projects::LinearTarget::Random, 9, 5) !=
                linearTarget(projects::LinearTarget::Random, 9, 6));
    }

    void rotationsRotate()
    {
        for (const int dim : {1, 2, 5, 12}) {
            const DenseMatrix map = linearTarget(projects::LinearTarget::ScaledRotation, dim, 5);
            const DenseMatrix squared = kRotationScale * kRotationScale * DenseMatrix::Identity(dim, dim);
            QVERIFY((map * map.transpose() - squared).cwiseAbs().maxCoeff() < 1e-12);
            QVERIFY(std::abs(map.determinant() / std::pow(kRotationScale, dim) - 1) < 1e-12);
        }
    }

    void lowRankHasItsRank()
    {
        for (const auto target : {projects::LinearTarget::Identity, projects::LinearTarget::Random,
                                  projects::LinearTarget::ScaledRotation}) {
            for (const int rank : {1, 3, 20}) {
                Eigen::FullPivLU<DenseMatrix> map(lowRankTarget({20, rank, 10, 0, target}, 5));
                map.setThreshold(1e-9);
                QCOMPARE(map.rank(), rank);
            }
        }
        // The identity's part of rank r is a projection: A² = A, and all of it at full rank.
        const DenseMatrix p = lowRankTarget({10, 4, 10, 0, projects::LinearTarget::Identity}, 5);
        QVERIFY((p * p - p).cwiseAbs().maxCoeff() < 1e-12);
    }

    void lowRankNoise()
    {
        const projects::LowRankRegression clean{30, 3, 2000, 0.0, projects::LinearTarget::Random};
        projects::LowRankRegression noisy = clean;
        noisy.noise = 0.5;
        Batch a;
        Batch b;
        opened(with(clean))->fillAll(a, Split::Train);
        opened(with(noisy))->fillAll(b, Split::Train);
        QCOMPARE(inputsIn(a), inputsIn(b));
        double squares = 0;
        for (std::size_t i = 0; i < outputsIn(a).size(); ++i) {
            squares += (outputsIn(a)[i] - outputsIn(b)[i]) * (outputsIn(a)[i] - outputsIn(b)[i]);
        }
        QVERIFY(std::abs(squares / static_cast<double>(outputsIn(a).size()) - 0.25) < 0.01);
        double power = 0;
        for (const double x : inputsIn(a)) {
            power += x * x;
        }
        QVERIFY(std::abs(power / static_cast<double>(inputsIn(a).size()) - 1) < 0.03);
    }

    /// Each sample once an epoch, in another order each epoch, and no batch depends on another.
    void epochsAreShuffled()
    {
        const auto dataset = opened(with(projects::LowRankRegression{4, 2, 30, 0.0, projects::LinearTarget::Random}));
        Batch all;
        dataset->fillAll(all, Split::Train);
        std::vector<std::vector<double>> orders;
        for (int epoch = 0; epoch < 2; ++epoch) {
            std::vector<double> seen;
            for (std::int64_t index = 0; index < 5; ++index) {
                Batch batch;
                QVERIFY(dataset->fill(batch, Split::Train, 9, epoch * 5 + index, 6));
                seen.insert(seen.end(), outputsIn(batch).begin(), outputsIn(batch).end());
            }
            orders.push_back(seen);
            std::sort(seen.begin(), seen.end());
            std::vector<double> expected = outputsIn(all);
            std::sort(expected.begin(), expected.end());
            QCOMPARE(seen, expected);
        }
        QVERIFY(orders[0] != orders[1]);
        QVERIFY(orders[0] != outputsIn(all));
        Batch again;
        QVERIFY(dataset->fill(again, Split::Train, 9, 9, 6));
        QVERIFY(std::equal(outputsIn(again).begin(), outputsIn(again).end(), orders[1].end() - 24));
        Batch other;
        QVERIFY(dataset->fill(other, Split::Train, 10, 9, 6));
        QVERIFY(!same(again, other));
    }

    /// Figure 1 of DeepCrossAttention: y = A·x + b with standard normal A and b, 10³ fresh batches of 100, and plain
    /// gradient descent: no momentum, decay, warm-up, cosine or clipping.
    void figureOneIsTrainedAsThePaperTrainsIt()
    {
        projects::Project project = projects::findExample("dca-figure-1")->project;
        const projects::TrainingPlan& plan = project.training;
        QVERIFY(plan.optimiser == projects::Optimiser(projects::Sgd{.momentum = 0, .weightDecay = 0}));
        QCOMPARE(plan.learningRate.warmupSteps, std::int64_t{0});
        QVERIFY(plan.learningRate.curve == projects::RateCurve::Constant);
        QVERIFY(plan.clipNorm == 0 && plan.accumulate == 1);
        QVERIFY(plan.steps == 1000 && plan.batch == 100);
        QCOMPARE(project.network.depth(), std::int64_t{10});
        auto& source = std::get<projects::LowRankRegression>(project.data.source);
        QVERIFY(source.dim == 100 && source.rank == 100 && source.noise == 0 && source.offset);
        QCOMPARE(source.samples, plan.steps * plan.batch); // each batch is fresh
        QVERIFY(source.target == projects::LinearTarget::StandardNormal);
        // Panel (a) is y = x without an offset, at a start and a rate of its own; panel (b) y = A·x + b.
        const auto members = projects::expand(project, project.sweeps.front());
        QVERIFY(members.ok() && members->size() == 12); // with three seeds each
        for (const projects::SweepMember& member : *members) {
            const auto& target = std::get<projects::LowRankRegression>(member.project.data.source);
            const projects::TrainingPlan& its = member.project.training;
            const bool identity = target.target == projects::LinearTarget::Identity;
            QVERIFY(!member.error);
            QCOMPARE(member.label.starts_with("identity"), identity);
            QCOMPARE(target.offset, !identity);
            QCOMPARE(member.project.initialisation.scale, identity ? 0.25 : 0.1);
            QCOMPARE(its.learningRate.peak, identity ? 0.5 : 0.01);
            QVERIFY(its.optimiser == plan.optimiser && its.steps * its.batch == target.samples);
        }

        const DenseMatrix a = lowRankTarget(source, project.seeds.data);
        const std::vector<double> b = lowRankOffset(source, project.seeds.data);
        const auto squares = [](const std::vector<double>& values) {
            return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / double(values.size());
        };
        QVERIFY(std::abs(a.mean()) < 0.04 && std::abs(a.squaredNorm() / 1e4 - 1) < 0.06);
        QVERIFY(std::abs(squares(b) - 1) < 0.5);

        constexpr std::int64_t kBatches = 20;
        source.samples = kBatches * plan.batch; // of which batches are drawn as of more
        const auto dataset = opened(project);
        std::set<double> first;
        Batch batch;
        for (std::int64_t index = 0; index < kBatches; ++index) {
            QVERIFY(dataset->fill(batch, Split::Train, project.seeds.order, index, plan.batch));
            for (std::size_t row = 0; row < 100; ++row) {
                first.insert(inputsIn(batch)[100 * row]);
            }
        }
        QCOMPARE(first.size(), std::size_t(source.samples));
        const Eigen::Map<const Eigen::VectorXd> x(inputsIn(batch).data(), 100);
        const Eigen::Map<const Eigen::VectorXd> y(outputsIn(batch).data(), 100);
        const Eigen::Map<const Eigen::VectorXd> offset(b.data(), 100);
        QVERIFY((a * x + offset - y).cwiseAbs().maxCoeff() < 1e-9);
    }

    void evaluationSeesEachOnce()
    {
        const auto dataset = opened(with(projects::LowRankRegression{4, 2, 35, 0.0, projects::LinearTarget::Random}));
        Batch all;
        dataset->fillAll(all, Split::Train);
        Batch batch;
        std::vector<double> seen;
        std::int64_t index = 0;
        std::int64_t last = 0;
        for (;; ++index) {
            QVERIFY(dataset->fillSequential(batch, Split::Train, index, 8));
            if (batch.batch == 0) {
                break;
            }
            last = batch.batch;
            seen.insert(seen.end(), inputsIn(batch).begin(), inputsIn(batch).end());
        }
        QCOMPARE(index, 5);
        QCOMPARE(last, 3);
        QCOMPARE(seen, inputsIn(all));
    }

    // ---- Boolean polynomial

    void polynomialTermsAreAsked()
    {
        const projects::BooleanPolynomial source{};
        const auto terms = polynomialTerms(source, 5);
        QCOMPARE(terms.size(), 200u);
        std::map<std::size_t, std::set<std::vector<std::int64_t>>> byDegree;
        double squares = 0;
        for (const Monomial& term : terms) {
            QVERIFY(std::is_sorted(term.variables.begin(), term.variables.end()));
            QCOMPARE(std::set<std::int64_t>(term.variables.begin(), term.variables.end()).size(),
                     term.variables.size());
            QVERIFY(term.variables.back() < source.variables);
            byDegree[term.variables.size()].insert(term.variables);
            squares += term.coefficient * term.coefficient;
        }
        QCOMPARE(byDegree.size(), 10u);
        for (const auto& [degree, subsets] : byDegree) {
            QCOMPARE(subsets.size(), 20u);
        }
        QVERIFY(std::abs(squares / 200 - 1) < 0.4);
        QCOMPARE(polynomialTerms(source, 5), terms);
        QVERIFY(polynomialTerms(source, 6) != terms);
    }

    void polynomialValues()
    {
        const projects::BooleanPolynomial source{70, 12, 4, 6};
        const auto terms = polynomialTerms(source, 5);
        const auto dataset = opened(with(source));
        QCOMPARE(dataset->schema(), projects::ExampleSchema::vectors(70, 1));
        QCOMPARE(dataset->size(Split::Train), kEndless);
        QCOMPARE(dataset->size(Split::Validation), 4096);
        Batch batch;
        QVERIFY(dataset->fill(batch, Split::Train, 3, 7, 2000));
        std::vector<double> means(70);
        for (std::size_t row = 0; row < 2000; ++row) {
            const auto x = std::span(inputsIn(batch)).subspan(row * 70, 70);
            double y = 0;
            for (const Monomial& term : terms) {
                double basis = 1;
                for (const std::int64_t variable : term.variables) {
                    basis *= x[static_cast<std::size_t>(variable)];
                }
                QCOMPARE(term.basis(x), basis);
                y += term.coefficient * basis;
            }
            QVERIFY(std::abs(outputsIn(batch)[row] - y) < 1e-12);
            for (std::size_t i = 0; i < 70; ++i) {
                QVERIFY(std::abs(x[i]) == 1.0);
                means[i] += x[i] / 2000;
            }
        }
        for (const double mean : means) {
            QVERIFY(std::abs(mean) < 0.12);
        }
    }

    /// ĉ = E[f*(x)·χ_S(x)] over fresh samples is the coefficient: the basis is orthogonal and the draws are even.
    void coefficientsCanBeEstimated()
    {
        const projects::BooleanPolynomial source{20, 10, 3, 4};
        const auto terms = polynomialTerms(source, 5);
        const auto dataset = opened(with(source));
        constexpr std::size_t kSamples = 40'000;
        Batch batch;
        QVERIFY(dataset->fill(batch, Split::Train, 3, 0, kSamples));
        for (const Monomial& term : terms) {
            double estimate = 0;
            for (std::size_t row = 0; row < kSamples; ++row) {
                estimate +=
                    outputsIn(batch)[row] * term.basis(std::span(inputsIn(batch)).subspan(row * 20, 20)) / kSamples;
            }
            QVERIFY(std::abs(estimate - term.coefficient) < 0.1);
        }
    }

    void trainingNeverRepeats()
    {
        const auto dataset = opened(with(projects::BooleanPolynomial{}));
        std::set<std::vector<double>> seen;
        Batch batch;
        for (std::int64_t index = 0; index < 20; ++index) {
            QVERIFY(dataset->fill(batch, Split::Train, 3, index, 32));
            for (std::ptrdiff_t row = 0; row < 32; ++row) {
                seen.emplace(inputsIn(batch).begin() + row * 100, inputsIn(batch).begin() + (row + 1) * 100);
            }
        }
        QCOMPARE(seen.size(), 640u);
        Batch again;
        QVERIFY(dataset->fill(again, Split::Train, 3, 19, 32));
        QVERIFY(same(again, batch));
    }

    // ---- without making it

    void outlinesAreThoseOfWhatIsMade()
    {
        using projects::LinearTarget;
        const std::vector<projects::Source> sources{
            projects::SyntheticLanguage{64, 4, 12'345},
            projects::SyntheticLanguage{64, 4, 20},
            projects::SyntheticLanguage{10, 4, 1000},
            projects::LinearRegression{8, 21, LinearTarget::Random},
            projects::LinearRegression{0, 5, LinearTarget::Random},
            projects::LowRankRegression{10, 3, 31, 0.1, LinearTarget::Random},
            projects::LowRankRegression{10, 11, 5, 0, LinearTarget::Random},
            projects::BooleanPolynomial{10, 5, 3, 2},
            projects::BooleanPolynomial{10, 4, 4, 2},
        };
        for (const projects::Source& source : sources) {
            for (const double fraction : {0.0, 0.1, 0.33}) {
                projects::Project project = with(source);
                project.data.validationFraction = fraction;
                project.data.testFraction = fraction / 2;
                const auto made = Dataset::open(project, ".");
                const auto told = Dataset::outline(project);
                QVERIFY(told.has_value());
                QCOMPARE(told->ok(), made.ok());
                if (!made) {
                    QCOMPARE(told->error().text(), made.error().text());
                    continue;
                }
                QVERIFY((*told)->schema == (*made)->schema());
                for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
                    QCOMPARE((*told)->sizes[static_cast<std::size_t>(split)], (*made)->size(split));
                }
            }
        }
        QVERIFY(!Dataset::outline(with(projects::TextData{})));
    }

    // ---- errors

    void errors()
    {
        using projects::LinearTarget;
        const auto says = [](const std::string& error, const char* text) {
            const bool found = error.find(text) != std::string::npos;
            if (!found) {
                qWarning("%s", error.c_str());
            }
            return found;
        };
        QVERIFY(says(errorOf(projects::SyntheticLanguage{10, 4, 1000}),
                     "[data · vocabulary] got 10, expected 11 to 1000000"));
        QVERIFY(says(errorOf(projects::SyntheticLanguage{64, 0, 1000}), "[data · levels] got 0, expected 1 to 64"));
        QVERIFY(says(errorOf(projects::SyntheticLanguage{64, 4, 20}),
                     "the training split has 16 of 20 tokens, expected at least 33"));
        QVERIFY(says(errorOf(projects::LinearRegression{0, 5, LinearTarget::Random}),
                     "[data · dimension] got 0, expected 1 to 100000"));
        QVERIFY(says(errorOf(projects::LinearRegression{100'000, 10'000'000, LinearTarget::Random}),
                     "TiB while they are generated, expected at most 4 GiB"));
        QVERIFY(says(errorOf(projects::SyntheticLanguage{64, 4, 4'000'000'000}), "22.4 GiB"));
        QVERIFY(says(errorOf(projects::BooleanPolynomial{100'000, 20, 10, 20}), "GiB"));
        QVERIFY(says(errorOf(projects::LowRankRegression{10, 11, 5, 0, LinearTarget::Random}),
                     "[data · rank] got 11, expected 1 to 10"));
        QVERIFY(
            says(errorOf(projects::BooleanPolynomial{10, 11, 2, 2}), "[data · variables] got 11, expected 1 to 10"));
        QVERIFY(says(errorOf(projects::BooleanPolynomial{10, 4, 5, 2}), "[data · degree] got 5, expected 1 to 4"));
        QVERIFY(says(errorOf(projects::BooleanPolynomial{10, 4, 4, 2}),
                     "[data · terms per degree] got 2, expected 1 to 1"));
        auto full = with(projects::BooleanPolynomial{});
        full.training.batching = projects::BatchKind::Full;
        QVERIFY(!Dataset::open(full, "."));
        full.data.source = projects::LinearRegression{};
        QVERIFY(Dataset::open(full, "."));
        full.data.validationFraction = 1.0;
        QVERIFY(!Dataset::open(full, "."));
        QVERIFY(!opened(with(projects::LinearRegression{}))->encode("text"));
    }
};

RESIDUA_TEST(TestDatasetGenerators)
#include "tst_dataset_generators.moc"
