// SPDX-License-Identifier: GPL-3.0-or-later
// The draws that data are generated and shuffled by.
#include "engine/data/random.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <set>

using namespace residua::engine;

class TestRandom : public QObject {
    Q_OBJECT

private slots:
    void drawsAreSpread()
    {
        std::array<int, 16> counts{};
        double sum = 0;
        double squares = 0;
        double fourth = 0;
        constexpr int kDraws = 160'000;
        RandomStream uniform(1, 2);
        RandomStream gaussian(1, 3);
        for (int i = 0; i < kDraws; ++i) {
            ++counts[static_cast<std::size_t>(uniform.below(16))];
            const double x = gaussian.gaussian();
            sum += x;
            squares += x * x;
            fourth += x * x * x * x;
        }
        for (const int count : counts) {
            QVERIFY2(std::abs(count - kDraws / 16) < 500, "five deviations of 97");
        }
        QVERIFY(std::abs(sum / kDraws) < 0.0125);
        QVERIFY(std::abs(squares / kDraws - 1) < 0.02);
        QVERIFY(std::abs(fourth / kDraws - 3) < 0.15);
    }

    /// Neighbouring seeds, streams and indices share nothing: about half of all bits differ.
    void drawsAreApart()
    {
        std::set<std::uint64_t> all;
        std::int64_t differing = 0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            for (std::uint64_t stream = 0; stream < 20; ++stream) {
                for (std::uint64_t index = 0; index < 20; ++index) {
                    const std::uint64_t bits = drawBits(seed, stream, index);
                    all.insert(bits);
                    differing += std::popcount(bits ^ drawBits(seed + 1, stream, index));
                    differing += std::popcount(bits ^ drawBits(seed, stream + 1, index));
                    differing += std::popcount(bits ^ drawBits(seed, stream, index + 1));
                }
            }
        }
        QCOMPARE(all.size(), 8000u);
        const double mean = static_cast<double>(differing) / (3 * 8000.0);
        QVERIFY(std::abs(mean - 32) < 0.2);
    }

    void permutationIsOne()
    {
        for (const std::int64_t size : {1, 2, 3, 16, 100, 1025}) {
            std::set<std::int64_t> image;
            std::int64_t fixed = 0;
            for (std::int64_t i = 0; i < size; ++i) {
                const std::int64_t to = permuted(i, size, 99);
                QVERIFY(to >= 0 && to < size);
                image.insert(to);
                fixed += to == i ? 1 : 0;
            }
            QCOMPARE(static_cast<std::int64_t>(image.size()), size);
            QVERIFY(size < 16 || fixed < 8);
        }
    }
};

RESIDUA_TEST(TestRandom)
#include "tst_random.moc"
