// SPDX-License-Identifier: GPL-3.0-or-later
// The random numbers: their distribution, and that they equal those that recorded runs have drawn.
#include "projects/base/random.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

using namespace residua;

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

    void uniformDrawsMakeGaussianOnes()
    {
        constexpr double kRadius = 1.1774100225154747; // √(2 ln 2)
        for (const double turn : {0.0625, 0.25, 0.5, 0.9}) {
            const auto [one, other] = gaussianPair(0.5, turn);
            QVERIFY(isNear(one, gaussianFrom(0.5, turn)) && std::abs(std::hypot(one, other) - kRadius) < 1e-14);
        }
        QVERIFY(isNear(gaussianPair(0.5, 0.25)[0], 0) && isNear(gaussianPair(0.5, 0.25)[1], kRadius));
    }

    /// The data of a run are these numbers: a run of today goes on with the same ones. So are sampled tokens and the
    /// networks of a theory's figures: a seed gives what it gave.
    void theStreamsStay()
    {
        using Words = std::pair<std::uint64_t, std::uint64_t>;
        const std::vector<std::pair<Stream, Words>> first{{Stream::Order, {0x9c01479161bc5d78, 0x68bffcd4b372ef48}},
                                                          {Stream::Language, {0x76ea943fb9d80a9d, 0xcf91c40cc859ddfa}},
                                                          {Stream::Inputs, {0x7a305a51a75b35ae, 0x793aa7dd71e55a9e}},
                                                          {Stream::Noise, {0x0d2991d59aa4f288, 0x5b7fd1e984a116d4}},
                                                          {Stream::Part, {0x719523dfacac2086, 0xba0f74758ca9b447}},
                                                          {Stream::Target, {0xb2d5689cf871d538, 0xc97f29424604dcd1}},
                                                          {Stream::Subspace, {0x7ad3c6383e7993b9, 0x7a033b95e2a6a625}},
                                                          {Stream::Monomials, {0xe4e33f044c68b49f, 0xf0132a7f702fefcd}},
                                                          {Stream::Offset, {0xa5452b5368f678c9, 0x2d0819a984290ff4}},
                                                          {Stream::Tokens, {0x6e2e9c2bbd129bd9, 0xd8757ce864782b43}},
                                                          {Stream::Theory, {0x83a1982d86fa921e, 0x693b68b053428358}}};
        for (const auto& [stream, words] : first) {
            RandomStream draws(7, streamOf(stream));
            QCOMPARE(draws.bits(), words.first);
            QCOMPARE(draws.bits(), words.second);
        }
        QCOMPARE(drawBits(7, streamOf(Stream::Order, 1), 3), 0x4f12c571dbcc906fULL);
        QCOMPARE(drawBits(7, streamOf(Stream::Order, 2), 3), 0x2c2f443d2cda9f24ULL);

        RandomStream draws(7, streamOf(Stream::Target));
        QVERIFY(draws.uniform() == 0x1.65aad139f0e3bp-1);
        QVERIFY(isNear(draws.gaussian(), 0x1.fdf94e056099p-2));
        QVERIFY(isNear(draws.gaussian(), -0x1.8f3088c595ef4p-1));
        QCOMPARE(draws.below(1000), 888);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < 8; ++i) {
            order.push_back(permuted(i, 10, 99));
        }
        QCOMPARE(order, (std::vector<std::int64_t>{1, 8, 9, 3, 2, 6, 7, 0}));
    }

    /// So are the parameters that it started from, and what its steps left out.
    void thePhiloxStreamsStay()
    {
        using Words = std::array<std::uint32_t, 4>;
        QVERIFY(Philox(0).at(0) == (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})); // the authors' own
        const Philox random(streamKey(7, "layer.1.mlp.up.weight"));
        QCOMPARE(random.key(), 0xfff5eb1bcba2dcf6ULL);
        QVERIFY(random.at(0) == (Words{0x2514d2e1, 0x0153e4cc, 0x23365a72, 0x61439a2b}));
        QVERIFY(random.at(1) == (Words{0x79ab6c8c, 0x412b3f44, 0x23c86041, 0x551f6823}));
        QVERIFY(random.uniform(0) == 0x1.28a697080a9fp-3);
        QVERIFY(uniformInside(random.at(1)[0]) == 0x1.e6adb232p-2);
        const auto [one, other] = gaussianPair(uniformInside(random.at(1)[0]), uniformInside(random.at(1)[1]));
        QVERIFY(isNear(one, -0x1.1ea18db2e8c72p-5) && isNear(other, 0x1.381f30eaa222ep+0));
        QCOMPARE(inDrawnOrder({0, 1, 2, 3, 4, 5, 6, 7}, random), (std::vector<std::size_t>{7, 0, 3, 2, 1, 5, 6, 4}));
        QCOMPARE(splitMix(7), 0x63cbe1e459320dd7ULL);
        QCOMPARE(splitMix(splitMix(7) + 12), 0x8d565e34106073a3ULL); // the key of step 12
    }

private:
    /// The logarithm and the cosine are the C library's.
    static bool isNear(double a, double b) { return std::abs(a - b) < 1e-15; }
};

RESIDUA_TEST(TestRandom)
#include "tst_random.moc"
