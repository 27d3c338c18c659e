// SPDX-License-Identifier: GPL-3.0-or-later
// Successive halving: who trains, who waits, and who is left out.
#include "projects/studies/halving.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua::projects;

namespace {

using Kind = HalvingTurn::Kind;
const Rungs kRungs{10, 20};

/// Four groups of two seeds. `values` are the groups' at the rungs that they have reached; the seeds are 0.5 away.
std::vector<HalvedMember> studyOf(const std::vector<std::vector<double>>& values)
{
    std::vector<HalvedMember> members;
    for (std::size_t group = 0; group < values.size(); ++group) {
        for (const double offset : {-0.5, 0.5}) {
            HalvedMember member{{std::string(1, char('a' + group))}, {std::nullopt, std::nullopt}};
            for (std::size_t rung = 0; rung < values[group].size(); ++rung) {
                member.values[rung] = values[group][rung] + offset;
            }
            members.push_back(std::move(member));
        }
    }
    return members;
}

} // namespace

class TestHalving : public QObject {
    Q_OBJECT

private slots:
    void everyoneTrainsToTheFirstRung()
    {
        const auto turns = halve(kRungs, studyOf({{}, {}, {}, {}}), {});
        QCOMPARE(turns, std::vector<HalvingTurn>(8, HalvingTurn{Kind::Train, 10}));
    }

    void whoHasReachedItWaitsForTheLast()
    {
        std::vector<HalvedMember> members = studyOf({{1}, {2}, {3}, {4}});
        members[7].values[0].reset();
        const auto turns = halve(kRungs, members, {});
        QCOMPARE(turns[0], (HalvingTurn{Kind::Wait, 10}));
        QCOMPARE(turns[6], (HalvingTurn{Kind::Wait, 10}));
        QCOMPARE(turns[7], (HalvingTurn{Kind::Train, 10}));
    }

    void theBetterHalfOfTheGroupsGoesOn()
    {
        const auto turns = halve(kRungs, studyOf({{4}, {1}, {3}, {2}}), {});
        for (const std::size_t member : {0U, 1U, 4U, 5U}) {
            QCOMPARE(turns[member], (HalvingTurn{Kind::LeftOut, 10}));
        }
        for (const std::size_t member : {2U, 3U, 6U, 7U}) {
            QCOMPARE(turns[member], (HalvingTurn{Kind::Train, 20}));
        }
        const auto most = halve(kRungs, studyOf({{4}, {1}, {3}, {2}}), {"accuracy", Judge::Better::Greater});
        QCOMPARE(most[0].kind, Kind::Train);
        QCOMPARE(most[2].kind, Kind::LeftOut);
    }

    void theLastGroupTrainsToItsEndAndWhatWasDecidedStays()
    {
        // A member that was left out at the first rung was resumed since, and is better now.
        const auto turns = halve(kRungs, studyOf({{4, 0}, {1, 2}, {3}, {2, 1}}), {});
        QCOMPARE(turns[0], (HalvingTurn{Kind::LeftOut, 10}));
        QCOMPARE(turns[2], (HalvingTurn{Kind::LeftOut, 20}));
        QCOMPARE(turns[6], (HalvingTurn{Kind::Train, 0}));
    }

    void failedMembersHoldNobodyUp()
    {
        std::vector<HalvedMember> members = studyOf({{std::nan("")}, {2}, {3}, {4}});
        members[6].values[0].reset();
        members[6].hasFailed = true; // its group has the other seed's value, 4.5
        const auto turns = halve(kRungs, members, {});
        QCOMPARE(turns[0].kind, Kind::LeftOut);
        QCOMPARE(turns[2].kind, Kind::Train);
        QCOMPARE(turns[4].kind, Kind::Train);
        QCOMPARE(turns[7].kind, Kind::LeftOut);
    }

    void withoutRungsEveryoneTrainsToTheEnd()
    {
        QCOMPARE(halve({}, std::vector<HalvedMember>{{{"a"}, {}}}, {}), std::vector<HalvingTurn>(1));
        QCOMPARE(halvedShare({}, 4, 100), 1.0);
    }

    void theShareOfTheStepsIsKnownBefore()
    {
        QCOMPARE(halvedShare({10, 20}, 4, 100), (4 * 10 + 2 * 10 + 80) / 400.0);
        QCOMPARE(halvedShare({50}, 7, 100), (7 * 50 + 4 * 50) / 700.0);
        const Sweep sweep{"s", {axisFrom("training.batch=1,2,3"), {"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}}}};
        QCOMPARE(groupCount(sweep), std::size_t{3});
    }

    void rungsAreTyped()
    {
        QCOMPARE(*rungsFrom("50,100"), (Rungs{50, 100}));
        for (const char* text : {"", "0", "100,50", "50,50", "a", "50,", "1.5"}) {
            QVERIFY2(!rungsFrom(text), text);
        }
        QCOMPARE(rungsFor(400), (Rungs{50, 100, 200}));
        QCOMPARE(rungsFor(4), (Rungs{1, 2}));
        QVERIFY(rungsFor(1).empty());
        const Sweep seeds{"s", {axisFrom("/seeds=1,2")}};
        QVERIFY(checkRungs({50}, seeds, 100).ok());
        QVERIFY(!checkRungs({50, 100}, seeds, 100));
        QVERIFY(!checkRungs({50}, {"s", {axisFrom("/training/steps=100,200")}}, 100));
    }
};

RESIDUA_TEST(TestHalving)
#include "tst_halving.moc"
