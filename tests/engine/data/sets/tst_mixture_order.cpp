// SPDX-License-Identifier: GPL-3.0-or-later
// The order of a mixture's held-out windows: in proportion from every beginning, and known without being kept.
#include "engine/data/sets/mixture_order.h"

#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace residua::engine;

class TestMixtureOrder : public QObject {
    Q_OBJECT

private slots:
    void everyBeginningIsInProportion()
    {
        const std::vector<double> shares{0.09, 0.57, 0.17, 0.17};
        const MixtureOrder order(shares, {1000, 5000, 600, 900});
        QCOMPARE(order.size(), 3531); // 600.5 / 0.17, each rounded by itself
        const auto windows = order.windows(0, order.size());
        std::vector<std::int64_t> taken(4);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            QCOMPARE(windows[i].number, taken[windows[i].part]); // each part's windows in their order
            ++taken[windows[i].part];
            for (std::size_t part = 0; part < 4; ++part) {
                const double due = shares[part] * static_cast<double>(i + 1);
                QVERIFY(std::abs(static_cast<double>(taken[part]) - due) < 2);
            }
        }
        for (std::size_t part = 0; part < 4; ++part) {
            QCOMPARE(taken[part], order.taken(part));
        }
        QCOMPARE(taken[2], 600);
    }

    /// A stretch is the same wherever one begins to ask.
    void stretchesAreThoseOfTheWhole()
    {
        std::mt19937 random(residua::tests::randomSeed());
        for (int round = 0; round < 200; ++round) {
            const std::size_t parts = 1 + random() % 6;
            std::vector<double> shares(parts);
            std::vector<std::int64_t> windows(parts);
            double sum = 0;
            for (std::size_t i = 0; i < parts; ++i) {
                // Shares that are the same, far apart, and of which one is nothing.
                shares[i] = round % 3 == 0 ? 1 : std::pow(10.0, -static_cast<double>(random() % 9));
                windows[i] = static_cast<std::int64_t>(random() % 60);
                sum += shares[i];
            }
            std::ranges::for_each(shares, [&](double& share) { share /= sum; });
            shares.back() = round % 7 == 0 && parts > 1 ? 0 : shares.back();
            const MixtureOrder order(shares, windows);
            const auto whole = order.windows(0, order.size());
            QCOMPARE(static_cast<std::int64_t>(whole.size()), order.size());
            std::vector<std::int64_t> taken(parts);
            for (const auto& window : whole) {
                QCOMPARE(window.number, taken[window.part]++);
            }
            for (std::size_t i = 0; i < parts; ++i) {
                QCOMPARE(taken[i], order.taken(i));
                QVERIFY(taken[i] <= windows[i]);
            }
            for (std::int64_t first = 0; first < order.size(); first += 3) {
                const std::int64_t count = std::min<std::int64_t>(5, order.size() - first);
                const auto stretch = order.windows(first, count);
                QVERIFY(std::equal(stretch.begin(), stretch.end(), whole.begin() + first));
            }
        }
    }

    void oneTextIsWholeAndInOrder()
    {
        const MixtureOrder order({1.0}, {87});
        QCOMPARE(order.size(), 87);
        QCOMPARE(order.windows(86, 1).front().number, 86);
        QCOMPARE(MixtureOrder({0.5, 0.5}, {0, 0}).size(), 0);
    }

    /// A billion windows take no more memory than ten.
    void itIsNotKept()
    {
        const std::int64_t many = 1'000'000'000;
        const MixtureOrder order({0.25, 0.75}, {many, many});
        QCOMPARE(order.taken(1), many);
        const auto windows = order.windows(order.size() - 4, 4);
        QCOMPARE(std::ranges::count(windows, std::size_t{1}, &MixtureOrder::Window::part), 3);
        QCOMPARE(windows[2], (MixtureOrder::Window{1, many - 1}));
        QCOMPARE(windows.back(), (MixtureOrder::Window{0, many / 3})); // its turn is that of the end, and it is first
    }
};

RESIDUA_TEST(TestMixtureOrder)
#include "tst_mixture_order.moc"
