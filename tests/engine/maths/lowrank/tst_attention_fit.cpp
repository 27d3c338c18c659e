// SPDX-License-Identifier: GPL-3.0-or-later
// Features fitted to a softmax: their error beside one written out entry by entry, and what the fit promises.
#include "engine/maths/lowrank/attention_fit.h"
#include "projects/base/random.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

std::vector<double> numbers(std::int64_t count, double scale, std::uint64_t seed)
{
    RandomStream draws(seed, streamOf(Stream::Inputs));
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) {
        value = scale * draws.gaussian();
    }
    return values;
}

AttentionProblem problemOf(std::int64_t features, double scale = 1, std::int64_t sequences = 8)
{
    AttentionProblem problem;
    problem.sequences = sequences;
    problem.group = 2;
    problem.length = 7;
    problem.width = 4;
    problem.features = features;
    problem.keys = numbers(sequences * 7 * 4, scale, 1);
    problem.queries = numbers(sequences * 2 * 7 * 4, scale, 2);
    problem.start = numbers(features * 4, 1, 3);
    return problem;
}

/// Σ‖P − P̂‖² over the held-out sequences, one pair of tokens after the other.
double plainError(const AttentionProblem& of, const std::vector<double>& features)
{
    const auto e = static_cast<std::size_t>(of.width);
    const auto length = static_cast<std::size_t>(of.length);
    const double root = std::pow(double(e), 0.25);
    const auto phi = [&](const double* x, std::size_t feature) {
        double product = 0;
        double square = 0;
        for (std::size_t j = 0; j < e; ++j) {
            product += features[feature * e + j] * x[j] / root;
            square += x[j] * x[j] / (root * root);
        }
        return std::exp(product - square / 2);
    };
    double sum = 0;
    for (std::int64_t row = 0; row < of.sequences * of.group; ++row) {
        const std::int64_t sequence = row / of.group;
        if (of.sequences > 1 && sequence % 2 == 0) {
            continue;
        }
        const double* const queries = of.queries.data() + static_cast<std::size_t>(row) * length * e;
        const double* const keys = of.keys.data() + static_cast<std::size_t>(sequence) * length * e;
        for (std::size_t s = 0; s < length; ++s) {
            const std::size_t seen = of.causal ? s + 1 : length;
            std::vector<double> exact(seen, 0);
            std::vector<double> approximate(seen, 0);
            double exactSum = 0;
            double approximateSum = 0;
            for (std::size_t t = 0; t < seen; ++t) {
                double score = 0;
                for (std::size_t j = 0; j < e; ++j) {
                    score += queries[s * e + j] * keys[t * e + j];
                }
                exactSum += exact[t] = std::exp(score / std::sqrt(double(e)));
                for (std::size_t i = 0; i < static_cast<std::size_t>(of.features); ++i) {
                    approximate[t] += phi(queries + s * e, i) * phi(keys + t * e, i);
                }
                approximateSum += approximate[t];
            }
            for (std::size_t t = 0; t < seen; ++t) {
                sum += std::pow(exact[t] / exactSum - approximate[t] / approximateSum, 2);
            }
        }
    }
    return sum;
}

} // namespace

class TestAttentionFit : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theErrorIsThatOfEachPair_data()
    {
        QTest::addColumn<bool>("causal");
        QTest::newRow("causal") << true;
        QTest::newRow("all tokens") << false;
    }
    void theErrorIsThatOfEachPair()
    {
        QFETCH(bool, causal);
        for (const std::int64_t sequences : {1, 2, 5}) {
            AttentionProblem problem = problemOf(6, 1.5, sequences);
            problem.causal = causal;
            const auto measured = measureAttention(problem, problem.start);
            QVERIFY(measured.ok());
            const double expected = plainError(problem, problem.start);
            QVERIFY2(std::abs(measured->error - expected) < 1e-12 * (1 + expected),
                     qPrintable(QString("%1 %2").arg(measured->error).arg(expected)));
            QVERIFY(measured->full > measured->error / 4);
        }
    }

    /// Adam's first step moves each number against the sign of its derivative, by the rate: so the derivatives of the
    /// one sequence that trains and judges are seen without opening the fit.
    void theFirstStepGoesDownhill()
    {
        AttentionProblem problem = problemOf(3, 1.5, 1);
        problem.course = {.learningRate = 1e-7, .batch = 1, .stepsPerEpoch = 1, .epochs = 1};
        const auto fit = fitAttention(problem);
        QVERIFY(fit.ok());
        QVERIFY(fit->after.error < fit->before.error);
        for (std::size_t i = 0; i < problem.start.size(); ++i) {
            std::vector<double> above = problem.start;
            std::vector<double> below = problem.start;
            above[i] += 1e-5;
            below[i] -= 1e-5;
            const double slope = plainError(problem, above) - plainError(problem, below);
            const double moved = fit->features[i] - problem.start[i];
            QVERIFY2(slope * moved < 0 && std::abs(std::abs(moved) - 1e-7) < 1e-9,
                     qPrintable(QString("%1: %2 %3").arg(i).arg(slope).arg(moved)));
        }
    }

    void moreFeaturesAreCloser()
    {
        double last = 1e300;
        for (const std::int64_t features : {4, 32, 256, 2048}) {
            const AttentionProblem problem = problemOf(features, 0.5);
            const double error = measureAttention(problem, problem.start)->relative();
            QVERIFY2(error < last / 2, qPrintable(QString("%1 features: %2").arg(features).arg(error)));
            last = error;
        }
    }

    void theFitLowersTheError()
    {
        const auto fit = fitAttention(problemOf(8));
        QVERIFY(fit.ok());
        QVERIFY2(fit->after.error < 0.7 * fit->before.error,
                 qPrintable(QString("%1 %2").arg(fit->after.error).arg(fit->before.error)));
        QCOMPARE(fit->after.error, measureAttention(problemOf(8), fit->features)->error);
        const auto again = fitAttention(problemOf(8));
        QVERIFY(again->features == fit->features);
    }

    /// Whatever the course does.
    void itNeverEndsWorseThanItsStart()
    {
        for (const double rate : {1e-3, 1.0, 30.0, 1e4}) {
            AttentionProblem problem = problemOf(8, 2);
            problem.course.learningRate = rate;
            problem.course.stepsPerEpoch = 8;
            const auto fit = fitAttention(problem);
            QVERIFY(fit.ok());
            QVERIFY(fit->after.error <= fit->before.error);
            QCOMPARE(fit->after.error, measureAttention(problem, fit->features)->error);
            if (rate > 1000) {
                QVERIFY(fit->features == problem.start);
                QVERIFY(fit->note.find("nothing better than the start") != std::string::npos);
            }
        }
    }

    void badInput_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("part");
        QTest::newRow("no features") << 0 << "0 of the kernel: expected at least 1";
        QTest::newRow("keys") << 1 << "do not have the sizes";
        QTest::newRow("not a number") << 2 << "not finite";
        QTest::newRow("no steps") << 3 << "a course of";
        QTest::newRow("no rate") << 4 << "a course of";
    }
    void badInput()
    {
        QFETCH(int, what);
        QFETCH(QString, part);
        AttentionProblem problem = problemOf(4);
        if (what == 0) {
            problem.features = 0;
            problem.start.clear();
        } else if (what == 1) {
            problem.keys.pop_back();
        } else if (what == 2) {
            problem.queries[5] = std::nan("");
        } else if (what == 3) {
            problem.course.stepsPerEpoch = 0;
        } else {
            problem.course.learningRate = 0;
        }
        const auto fit = fitAttention(problem);
        QVERIFY(!fit.ok());
        QVERIFY2(fit.error().message.find(part.toStdString()) != std::string::npos, fit.error().message.c_str());
    }

    void itIsStopped()
    {
        std::stop_source stop;
        LowRankWatch watch;
        watch.stop = stop.get_token();
        int steps = 0;
        watch.progress = [&](const LowRankProgress&) {
            if (++steps == 3) {
                stop.request_stop();
            }
        };
        const auto fit = fitAttention(problemOf(4), watch);
        QVERIFY(!fit.ok());
        QCOMPARE(fit.error().message, stoppedFit().message);
        QCOMPARE(steps, 3);
    }
};

RESIDUA_TEST(TestAttentionFit)
#include "tst_attention_fit.moc"
