// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/axis.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

using namespace residua::resources;
using residua::tests::asQString;

namespace {

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kPairs = 20'000;

/// Every bit pattern is as likely as any other: as many tiny and huge numbers as ordinary ones.
class AnyDouble {
public:
    double operator()()
    {
        static const std::vector<double> edges{0.0,
                                               -0.0,
                                               1.0,
                                               -1.0,
                                               3456.789,
                                               1e5,
                                               999'999.5,
                                               1e15,
                                               9007199254740992.0,
                                               1e18,
                                               1e240,
                                               1e300,
                                               kMost,
                                               -kMost,
                                               kLeast,
                                               -kLeast,
                                               std::numeric_limits<double>::min(),
                                               kInfinity,
                                               -kInfinity,
                                               kNone};
        if (m_random() % 4 == 0) {
            return edges[m_random() % edges.size()];
        }
        return std::bit_cast<double>(m_random());
    }
    /// Another of its neighbours as often as one from anywhere.
    double beside(double value)
    {
        switch (m_random() % 4) {
        case 0:
            return value;
        case 1:
            return std::nextafter(value, kInfinity);
        case 2:
            return value * (1 + 1e-9 * static_cast<double>(m_random() % 1000));
        default:
            return (*this)();
        }
    }

private:
    std::mt19937_64 m_random{residua::tests::randomSeed()};
};

QString described(AxisRange range)
{
    return QStringLiteral("axis from %1 to %2").arg(range.low, 0, 'g', 17).arg(range.high, 0, 'g', 17);
}

/// Returns the fault of ticks; empty if there is none.
QString flawIn(const std::vector<AxisTick>& ticks, AxisRange range, std::size_t most)
{
    if (ticks.size() > most) {
        return QStringLiteral("%1 ticks").arg(ticks.size());
    }
    std::set<std::string> labels;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        const double value = ticks[i].value;
        if (!std::isfinite(value) || value < range.low || value > range.high) {
            return QStringLiteral("tick %1 is out of range").arg(value, 0, 'g', 17);
        }
        if (i > 0 && value <= ticks[i - 1].value) {
            return QStringLiteral("tick %1 does not ascend").arg(value, 0, 'g', 17);
        }
        const std::string& label = ticks[i].label;
        if (label.empty() || label.size() > 40 || label.find('e') != std::string::npos ||
            !labels.insert(label).second) {
            return QStringLiteral("label %1").arg(QString::fromStdString(label));
        }
    }
    return {};
}

QStringList labelsOf(const std::vector<AxisTick>& ticks)
{
    QStringList labels;
    for (const AxisTick& tick : ticks) {
        labels << QString::fromStdString(tick.label);
    }
    return labels;
}

} // namespace

class TestAxis : public QObject {
    Q_OBJECT

private slots:
    /// Any two doubles make an axis that arithmetic can work with, and a few ticks that lie on it.
    void anyTwoNumbersMakeAnAxis()
    {
        AnyDouble any;
        for (int i = 0; i < kPairs; ++i) {
            const double a = any();
            const double b = any.beside(a);
            const double low = b < a ? b : a;
            const double high = b < a ? a : b;
            const int count = 3 + i % 8;
            const AxisRange range = linearRange(low, high, i % 2 == 0 ? 0.05 : 0.0);
            QVERIFY2(range.low < range.high && std::isfinite((range.high - range.low) * 1e6),
                     qPrintable(described(range)));
            QVERIFY2((range.low + range.high) / 2 > range.low && (range.low + range.high) / 2 < range.high,
                     qPrintable(described(range)));
            const auto ticks = linearTicks(range, count);
            const QString flaw = flawIn(ticks, range, static_cast<std::size_t>(2 * count + 1));
            QVERIFY2(flaw.isEmpty(), qPrintable(described(range) + ": " + flaw));
            QVERIFY2(ticks.size() >= 2, qPrintable(described(range)));
            const QString counted =
                flawIn(linearTicks(range, count, 1), range, static_cast<std::size_t>(2 * count + 1));
            QVERIFY2(counted.isEmpty(), qPrintable(described(range) + ", whole: " + counted));

            const AxisRange decades = logRange(low, high, 0.05);
            QVERIFY2(decades.low > 0 && decades.low < decades.high && std::isfinite(decades.high / decades.low),
                     qPrintable(described(decades)));
            const auto powers = logTicks(decades, count);
            const QString flawed = flawIn(powers, decades, static_cast<std::size_t>(std::max(9, 2 * count + 1)));
            QVERIFY2(flawed.isEmpty(), qPrintable(described(decades) + ", logarithmic: " + flawed));
            QVERIFY2(powers.size() >= 2, qPrintable(described(decades)));
        }
    }

    /// A person may zoom to any range that is one; ticks are few on it too.
    void anyRangeHasFewTicks()
    {
        AnyDouble any;
        for (int i = 0; i < kPairs; ++i) {
            const double a = any();
            const double b = any.beside(a);
            const AxisRange range{std::min(a, b), std::max(a, b)};
            const QString flaw = flawIn(linearTicks(range, 5), range, 11);
            QVERIFY2(flaw.isEmpty(), qPrintable(described(range) + ": " + flaw));
            const QString flawed = flawIn(logTicks(range, 5), range, 11);
            QVERIFY2(flawed.isEmpty(), qPrintable(described(range) + ", logarithmic: " + flawed));
        }
    }

    void ticksAreRound()
    {
        QCOMPARE(labelsOf(linearTicks({0, 10}, 5)), (QStringList{"0", "2", "4", "6", "8", "10"}));
        QCOMPARE(labelsOf(linearTicks({-1, 1}, 4)), (QStringList{"−1.0", "−0.5", "0", "0.5", "1.0"}));
        QCOMPARE(linearTicks({0, 1}, 5)[3].value, 0.6); // not 3 · 0.2
        QVERIFY(linearTicks({3, 3}, 5).empty());
        QVERIFY(linearTicks({kNone, 3}, 5).empty());
        QCOMPARE(labelsOf(linearTicks({0.5, 3.5}, 8, 1)), (QStringList{"1", "2", "3"}));
        QCOMPARE(labelsOf(logTicks({0.005, 20'000'000}, 5)), (QStringList{"0.01", "1", "100", "10,000", "1\u2009M"}));
        QCOMPARE(labelsOf(logTicks({0.5, 60}, 5)), (QStringList{"0.5", "1", "2", "5", "10", "20", "50"}));
        QCOMPARE(labelsOf(logTicks({1e-9, 1e-6}, 5)), (QStringList{"10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶"}));
    }

    /// One value of some thousand, whose neighbouring doubles lie further apart than any fixed margin.
    void oneValueStandsInTheMiddle()
    {
        const AxisRange range = linearRange(10'834, 10'834, 0.05);
        QVERIFY(std::abs((range.low + range.high) / 2 - 10'834) < 1e-6);
        QCOMPARE(labelsOf(linearTicks(range, 5)), (QStringList{"10,400", "10,600", "10,800", "11,000", "11,200"}));
        QCOMPARE(labelsOf(linearTicks(linearRange(7, 7, 0), 8, 1)), QStringList{"7"});
    }

    void axesEndAtTheBoundsOfTheQuantity_data()
    {
        QTest::addColumn<double>("low");
        QTest::addColumn<double>("high");
        QTest::addColumn<double>("least");
        QTest::addColumn<double>("most");
        QTest::newRow("one value at the end") << 1.0 << 1.0 << 0.5 << 1.0;
        QTest::newRow("one value at zero") << 0.0 << 0.0 << 0.0 << 0.5;
        QTest::newRow("a margin") << 0.02 << 0.98 << 0.0 << 1.0;
        QTest::newRow("room for the margin") << 0.4 << 0.6 << 0.38 << 0.62;
        QTest::newRow("beyond them") << 0.0 << 2.0 << -0.2 << 2.2;
    }
    void axesEndAtTheBoundsOfTheQuantity()
    {
        QFETCH(double, low);
        QFETCH(double, high);
        QFETCH(double, least);
        QFETCH(double, most);
        const AxisRange range = linearRange(low, high, 0.1, kShares);
        QVERIFY2(range.low >= least - 1e-9 && range.high <= most + 1e-9 && range.low < range.high,
                 qPrintable(QString("%1 to %2").arg(range.low).arg(range.high)));
        QVERIFY(range.low <= low && range.high >= high);
        const AxisRange decades = logRange(low, high, 0.1, kShares);
        QVERIFY(decades.low > 0 && decades.low < decades.high && (high > 1 || high <= 0 || decades.high <= 1));
    }

    void numbersAreWords_data()
    {
        QTest::addColumn<double>("value");
        QTest::addColumn<QString>("word");
        QTest::newRow("thousands") << 10'834.0 << "10,834";
        QTest::newRow("four digits") << 1234.5 << "1234";
        QTest::newRow("a fraction") << 0.0123456 << "0.01235";
        QTest::newRow("rounded up to the next power") << 9.99996 << "10";
        QTest::newRow("millions") << 1.5e6 << "1.5\u2009M";
        QTest::newRow("rounded up to the next unit") << 999'999.0 << "1\u2009M";
        QTest::newRow("a rate") << 3e-5 << "3·10⁻⁵";
        QTest::newRow("beyond the units") << 2.5e20 << "2.5·10²⁰";
        QTest::newRow("less than nothing") << -2.0 << "−2";
        QTest::newRow("nothing") << -0.0 << "0";
        QTest::newRow("no number") << kNone << "NaN";
        QTest::newRow("without end") << -kInfinity << "−∞";
    }

    void numbersAreWords()
    {
        QFETCH(double, value);
        QFETCH(QString, word);
        QCOMPARE(asQString(shortNumber(value)), word);
    }
};

RESIDUA_TEST(TestAxis)
#include "tst_axis.moc"
