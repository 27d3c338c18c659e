// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/ranges.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

using namespace residua;
using nlohmann::json;

namespace {

struct Sized {
    std::string name;
    int size = 0;
};

const std::vector<Sized> kItems{{"b", 1}, {"a", 2}, {"b", 4}};

} // namespace

class TestRanges : public QObject {
    Q_OBJECT

private slots:
    void resultsAreInTheOrderOfTheItems()
    {
        const std::vector<std::string> names = mapped(kItems, &Sized::name);
        QCOMPARE(names, (std::vector<std::string>{"b", "a", "b"}));
        QCOMPARE(mapped<std::set<std::string>>(kItems, &Sized::name), (std::set<std::string>{"a", "b"}));
        QCOMPARE(mapped<QStringList>(names, QString::fromStdString), QStringList({"b", "a", "b"}));
    }

    void jsonBecomesAnArrayAlsoWithoutItems()
    {
        const auto objectOf = [](const Sized& item) -> json { return {{"size", item.size}}; };
        const json all = mapped<json>(kItems, objectOf);
        QVERIFY(all.is_array());
        QCOMPARE(all.at(1).at("size").get<int>(), 2);
        QVERIFY(mapped<json>(std::vector<Sized>(), objectOf) == json::array());
    }

    void sumsAreAddedInOrder()
    {
        QCOMPARE(sumOf(kItems, &Sized::size), 7);
        QCOMPARE(sumOf(std::vector<double>{1, 1e16, -1e16}), 0.0); // the 1 is lost first
        QCOMPARE(sumOf(std::vector<int>()), 0);
    }
};

RESIDUA_TEST(TestRanges)
#include "tst_ranges.moc"
