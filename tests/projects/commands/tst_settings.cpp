// SPDX-License-Identifier: GPL-3.0-or-later
// The differences of two projects, and how one takes them over from the other.
#include "projects/commands/commands.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

using namespace residua;
using namespace residua::projects;

namespace {

bool decides(const Change& change)
{
    return change.part != ChangedPart::Remark;
}

} // namespace

class TestSettings : public QObject {
    Q_OBJECT

private slots:
    /// From every example to every other.
    void allOfThemLeaveNoDifference()
    {
        for (const Example& from : examples()) {
            for (const Example& to : examples()) {
                Document document{from.project, {}};
                const auto settings = settingsThatDiffer(document, to.project);
                const bool same = std::ranges::none_of(diff(from.project, to.project), decides);
                QCOMPARE(settings.empty(), same);
                if (same) {
                    continue;
                }
                QVERIFY2(applyEdit(document, editOf("Use them", settings)).ok(),
                         (from.name + " to " + to.name).c_str());
                for (const Change& change : diff(document.project, to.project)) {
                    QVERIFY2(!decides(change), (from.name + " to " + to.name + ": " + change.text()).c_str());
                }
            }
        }
    }

    void aFieldIsTakenOverAlone()
    {
        Document document{findExample("ancre-language")->project, {}};
        Project wanted = document.project;
        wanted.name = "Another name"; // trains nothing
        wanted.training.batch *= 2;
        wanted.training.learningRate.peak = 0.25;
        wanted.stack().topology = findExample("plain-language")->project.stack().topology;
        const auto settings = settingsThatDiffer(document, wanted);
        QCOMPARE(settings.size(), std::size_t{3});
        const auto rate =
            std::ranges::find(settings, std::string("/training/learning_rate/peak"), &SettingChange::pointer);
        QVERIFY(rate != settings.end());
        QCOMPARE(rate->changes.size(), std::size_t{1});
        QCOMPARE(rate->changes.front().after, std::string("0.25"));
        const Project before = document.project;
        QVERIFY(applyEdit(document, editOf("Use it", {*rate})).ok());
        QCOMPARE(document.project.training.learningRate.peak, 0.25);
        QVERIFY(document.project.training.batch == before.training.batch);
        QVERIFY(document.project.stack().topology == before.stack().topology);
    }

    /// Also if only one of the files has them.
    void fieldsThatFilesLeaveOutAreTakenOverAlone()
    {
        const Project plain = findExample("ancre-language")->project;
        Project other = plain;
        other.training.batch *= 2;
        other.training.weightAverage = 0.5;
        other.data.documents.rows = DocumentRows::Packed;
        for (const auto& [from, to] : {std::pair(plain, other), std::pair(other, plain)}) {
            std::set<std::string> pointers;
            for (const SettingChange& setting : settingsThatDiffer({from, {}}, to)) {
                pointers.insert(setting.pointer);
            }
            QVERIFY((pointers ==
                     std::set<std::string>{"/data/documents/rows", "/training/batch", "/training/weight_average"}));
        }
    }

    void aRunKeepsWhatItsWeightsDependOn()
    {
        QVERIFY(canChangeInRun("/training/learning_rate/peak"));
        QVERIFY(canChangeInRun("/schedule/stages"));
        QVERIFY(!canChangeInRun("/training/optimiser"));
        QVERIFY(!canChangeInRun("/training/judged_by"));
        QVERIFY(!canChangeInRun("/network/width"));
        QVERIFY(!canChangeInRun("/topology"));
        QVERIFY(!canChangeInRun("/seeds/init"));
    }
};

RESIDUA_TEST(TestSettings)
#include "tst_settings.moc"
