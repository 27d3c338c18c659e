// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/records/run_costs.h"
#include "app/records/runs_model.h"
#include "app/training/run_controller.h"
#include "projects/edit/edit.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"
#include "visualizers/runs/shown_runs.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <vector>

using namespace residua;
using namespace residua::app;

namespace {

engine::RunInfo run(const char* name, const char* created, const char* parent = "")
{
    engine::RunInfo info;
    info.directory = std::string("/runs/") + name;
    info.name = name;
    info.created = created;
    info.parent = parent;
    info.parentStep = 5;
    return info;
}

} // namespace

class TestRunsModel : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_shown = std::make_unique<visualizers::ShownRuns>();
        m_model = std::make_unique<RunsModel>(*m_shown);
        m_tester = std::make_unique<QAbstractItemModelTester>(m_model.get(),
                                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        m_model->setRuns({run("d", "4"), run("c", "3", "/elsewhere/b"), run("b", "2", "/runs/a"), run("a", "1")});
    }

    void anOverlaidRunHasTheColourOfItsCurves()
    {
        const QModelIndex d = m_model->indexOf("/runs/d");
        QVERIFY(d.isValid());
        QVERIFY(!m_model->indexOf("/runs/nothing").isValid());
        QVERIFY(m_model->setData(d, Qt::Checked, Qt::CheckStateRole));
        QVERIFY(m_shown->isOverlaid("/runs/d"));
        for (const auto theme : {resources::Theme::Dark, resources::Theme::Light}) {
            m_model->setTheme(theme);
            QCOMPARE(d.data(Qt::DecorationRole).value<QPixmap>().toImage().pixelColor(8, 8),
                     toColour(resources::curveColour(0, theme)));
        }
        QVERIFY(m_model->setData(d, Qt::Unchecked, Qt::CheckStateRole));
        QVERIFY(!d.data(Qt::DecorationRole).isValid());
    }

    void chosenColumnsStandBehindTheOwnOnes()
    {
        m_model->setColumns(ColumnSource::Fields,
                            {{"/training/batch", "batch", {{"/runs/a", 8LL}, {"/runs/b", 16LL}}}});
        QCOMPARE(m_model->columnCount(), int(RunsModel::ColumnCount));
        m_model->chooseColumns({"not offered", "/training/batch"});
        QCOMPARE(m_model->columnCount(), RunsModel::ColumnCount + 1);
        const int column = RunsModel::ColumnCount;
        QCOMPARE(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(), QString("batch"));
        const QModelIndex b = m_model->indexOf("/runs/b").siblingAtColumn(column);
        QCOMPARE(b.data().toString(), QString("16"));
        QCOMPARE(b.data(RunsModel::kSortRole).toLongLong(), 16LL);
        QCOMPARE(m_model->indexOf("/runs/d").siblingAtColumn(column).data().toString(), QString("—"));
        m_model->setColumns(ColumnSource::Fields, {}); // the runs are alike now
        QCOMPARE(m_model->columnCount(), int(RunsModel::ColumnCount));
        QCOMPARE(m_model->chosenColumns().size(), 2); // and may differ again
    }

    void aRecordedQuantityIsOfferedAsAColumn()
    {
        QVERIFY(m_model->offeredColumns().empty());
        engine::RunInfo measured = run("a", "1");
        measured.values = {{engine::metric::kLoss, 2}, {"distance/validation", 0.25}};
        m_model->setRuns({run("b", "2"), measured});
        const std::vector<RunColumn> offered = m_model->offeredColumns();
        QCOMPARE(offered.size(), std::size_t{1});
        QCOMPARE(offered[0].title, QString("validation distance"));
        QCOMPARE(offered[0].values.size(), std::size_t{1});
        QCOMPARE(offered[0].values.at("/runs/a").toDouble(), 0.25);
    }

    void runsOfOneValueAreAGroup()
    {
        const RunColumn batch{"/training/batch", "batch", {{"/runs/a", 8LL}, {"/runs/b", 16LL}, {"/runs/c", 16LL}}};
        m_model->groupBy("/training/batch");
        QCOMPARE(m_model->rowCount(), 2); // not offered yet: the forks are below their parents
        m_model->setColumns(ColumnSource::Fields, {batch});
        QCOMPARE(namesBelow({}), QStringList({"— (1)", "16 (2)", "8 (1)"}));
        const QModelIndex sixteen = m_model->index(1, 0);
        QVERIFY(!m_model->runAt(sixteen));
        QCOMPARE(namesBelow(sixteen), QStringList({"b, from step 5"})); // its parent is in another group
        QCOMPARE(namesBelow(m_model->index(0, 0, sixteen)), QStringList({"c, from step 5"}));
        QCOMPARE(m_model->indexOf("/runs/c").parent().parent(), sixteen);
        m_model->groupBy({});
        QCOMPARE(namesBelow({}), QStringList({"d", "a"}));
    }

    void aRunWhoseTagChangesIsInAnotherGroup()
    {
        m_model->groupBy(RunsModel::keyOf(RunsModel::Tags));
        QCOMPARE(namesBelow({}), QStringList({"— (4)"}));
        QVERIFY(m_model->setData(m_model->indexOf("/runs/d").siblingAtColumn(RunsModel::Tags), "good", Qt::EditRole));
        QCOMPARE(namesBelow({}), QStringList({"good (1)", "— (3)"}));
    }

    void theCheckOfAGroupOverlaysItsRuns()
    {
        m_model->groupBy(RunsModel::keyOf(RunsModel::State));
        const QModelIndex group = m_model->index(0, 0);
        QCOMPARE(group.data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
        m_shown->overlay("/runs/c");
        QCOMPARE(group.data(Qt::CheckStateRole).toInt(), int(Qt::PartiallyChecked));
        QVERIFY(m_model->setData(group, Qt::Checked, Qt::CheckStateRole));
        QCOMPARE(group.data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
        QVERIFY(m_shown->isOverlaid("/runs/a") && m_shown->isOverlaid("/runs/d"));
        QVERIFY(m_model->setData(group, Qt::Unchecked, Qt::CheckStateRole));
        QVERIFY(m_shown->runs().empty());
    }

    /// Its costs are read later.
    void aPointFollowsTheListAtOnce()
    {
        const RunCosts costs(*m_model);
        std::vector<visualizers::ParetoRun> points;
        connect(&costs, &RunCosts::changed, this,
                [&points](const std::vector<visualizers::ParetoRun>& now) { points = now; });
        QSignalSpy changed(&costs, &RunCosts::changed);
        engine::RunInfo info = run("a", "1");
        info.step = 5;
        info.status = engine::RunStatus::Running;
        m_model->setRuns({info});
        QTRY_COMPARE(points.size(), std::size_t{1});
        QVERIFY(std::isnan(points.front().validationLoss));
        const qsizetype before = changed.count();
        m_model->setRuns({info}); // is read again and again
        QCOMPARE(changed.count(), before);
        info.status = engine::RunStatus::Finished;
        info.values[engine::metric::kValidationLoss] = 2.5;
        m_model->setRuns({info});
        QCOMPARE(points.front().validationLoss, 2.5);
        QCOMPARE(points.front().status, QString("finished"));
        QVERIFY(points.front().standing == visualizers::ParetoStanding::Result);
    }

    void sweepsAndGroupsAreColumns()
    {
        std::vector<engine::RunInfo> runs{run("1", "1"), run("2", "2"), run("other", "3")};
        runs[0].membership = projects::Membership{.project = "p", .sweep = "rates", .point = {}};
        std::map<std::string, visualizers::ShownRuns::Look> looks{{runs[0].directory, {"a", "lr 1", "lr 1, seed 1"}},
                                                                  {runs[1].directory, {"a", "lr 1", "lr 1, seed 2"}},
                                                                  {runs[2].directory, {"b", "other", "other"}}};
        const std::vector<RunColumn> columns = studyColumns(runs, looks);
        QCOMPARE(columns.size(), std::size_t{2});
        QCOMPARE(columns[0].of(runs[0]).toString(), QString("rates"));
        QVERIFY(!columns[0].of(runs[1]).isValid());
        QCOMPARE(columns[1].key, QString("experiment"));
        QCOMPARE(columns[1].of(runs[1]).toString(), QString("lr 1"));
        QCOMPARE(columns[1].of(runs[2]).toString(), QString("other"));
        looks[runs[1].directory].group = "c"; // now each has settings of its own
        runs[0].membership.reset();
        QVERIFY(studyColumns(runs, looks).empty());
    }

    /// Mean, deviation and number of what finished runs reached, and the differences over pairs of equal seeds.
    void groupsHaveMeansAndDifferences()
    {
        std::vector<engine::RunInfo> runs;
        std::map<std::string, visualizers::ShownRuns::Look> looks;
        const auto add = [&](const char* group, const char* seed, double loss) {
            engine::RunInfo info = run((std::string(group) + seed).c_str(), "1");
            info.step = info.steps = 10;
            info.status = engine::RunStatus::Finished;
            info.values = {{engine::metric::kLoss, loss + 1}, {engine::metric::kValidationLoss, loss}};
            looks[info.directory] = {group, group, QString(group) + ", seed " + seed, 9, seed};
            runs.push_back(std::move(info));
        };
        add("a", "1", 3.0);
        add("a", "2", 3.2);
        add("b", "1", 2.9);
        add("b", "2", 3.0);
        add("b", "3", 9.0);
        add("alone", "1", 2.5);
        runs[4].status = engine::RunStatus::Stopped; // has no result
        m_model->setRuns(runs);
        m_shown->setLooks(looks);
        m_model->setColumns(ColumnSource::Fields, studyColumns(runs, looks));
        QCOMPARE(namesBelow({}), QStringList({"alone1", "a (2)", "b (3)"}));
        const QModelIndex a = m_model->index(1, 0);
        const QModelIndex b = m_model->index(2, 0);
        const auto text = [](const QModelIndex& row, int column) {
            return row.siblingAtColumn(column).data().toString();
        };
        QCOMPARE(text(a, RunsModel::ValidationLoss), QString::fromUtf8("3.10 ± 0.14 (2)"));
        QCOMPARE(text(b, RunsModel::ValidationLoss), QString::fromUtf8("2.950 ± 0.071 (2)"));
        QCOMPARE(a.siblingAtColumn(RunsModel::Loss).data(RunsModel::kSortRole).toDouble(), 4.1);
        QCOMPARE(text(b, RunsModel::State), QString("2 of 3 finished"));
        QCOMPARE(namesBelow(b).front(), QString("b, seed 1")); // what differs, and not what all share
        QCOMPARE(m_model->groupAt(b), std::string("b"));
        QVERIFY(m_model->groupAt(m_model->index(0, 0)).empty());
        m_shown->setBaseline("a");
        const int column = RunsModel::ColumnCount;
        QCOMPARE(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(),
                 QString::fromUtf8("loss − a"));
        const QModelIndex again = m_model->index(2, 0); // the columns are others
        QVERIFY2(text(again, column).startsWith(QString::fromUtf8("−0.15 ± 0.64")) &&
                     text(again, column).contains("2 pairs"),
                 qPrintable(text(again, column)));
        QCOMPARE(text(m_model->indexOf("/runs/alone1"), column), QString::fromUtf8("−0.500"));
        QCOMPARE(text(m_model->indexOf("/runs/b3"), column), QString::fromUtf8("—"));
        m_shown->setBaseline({});
        QCOMPARE(m_model->columnCount(), int(RunsModel::ColumnCount));
    }

    void onlyFieldsThatDifferAreOffered()
    {
        projects::Project one;
        projects::Project two = one;
        two.name = "trains nothing";
        QVERIFY(differingFields({{"a", one}, {"b", two}}).empty());
        two.training.batch = one.training.batch + 1;
        const auto columns = differingFields({{"a", one}, {"b", two}});
        QCOMPARE(columns.size(), std::size_t{1});
        QCOMPARE(columns.front().key, QString("/training/batch"));
        QCOMPARE(columns.front().values.at("b").toLongLong(), qlonglong(two.training.batch));
    }

    /// Zeros at the end stay, so that the points of a column align.
    void lossesAlign()
    {
        QCOMPARE(formatLoss(3.498), QString("3.4980"));
        QCOMPARE(formatLoss(3.4894), QString("3.4894"));
        QCOMPARE(formatLoss(12345), QString("12345"));
        QCOMPARE(formatLoss(0.5, 3), QString("0.500"));
        QCOMPARE(formatLoss(-2e-9, 3), QString("-2.00e-09"));
    }

    void aMomentIsAsShortAsItsAgeAllows()
    {
        const QDateTime now({2026, 11, 21}, {18, 0}, Qt::UTC);
        const auto shown = [&](const char* utc) { return formatMoment(QString::fromLatin1(utc), now); };
        QCOMPARE(shown("2026-11-21T14:05:09Z"), QString("14:05:09"));
        QCOMPARE(shown("2026-03-02T04:05:09Z"), QLocale().toString(QDate(2026, 3, 2), "d MMM") + " 04:05");
        QVERIFY(shown("2025-11-21T14:05:09Z").contains("2025"));
        QCOMPARE(shown("yesterday"), QString("yesterday"));
    }

    /// As the terminal and the canvases write them, in every language.
    void numbersDoNotFollowTheLocale()
    {
        const QLocale before;
        QLocale::setDefault(QLocale(QLocale::German));
        const QString whole = formatWhole(-1'234'567);
        const QString real = formatReal(1234.5);
        QLocale::setDefault(before);
        QCOMPARE(whole, QString("-1,234,567"));
        QCOMPARE(real, QString("1234.5"));
    }

    void forksStandBelowTheirParents()
    {
        QCOMPARE(m_model->rowCount(), 2);
        const QModelIndex a = m_model->index(1, 0);
        QCOMPARE(m_model->runAt(a)->name, std::string("a"));
        const QModelIndex b = m_model->index(0, 0, a);
        QCOMPARE(b.data().toString(), QString("b, from step 5"));
        const QModelIndex c = m_model->index(0, 0, b); // by its folder's name: the project was moved
        QCOMPARE(m_model->runAt(c)->name, std::string("c"));
        QCOMPARE(c.parent().parent(), a);
    }

    void copiesOfOneCheckpointHaveNamesOfTheirOwn()
    {
        auto second = run("a", "3", "/runs/a");
        auto first = run("a", "2", "/runs/a");
        second.directory += "-2";
        first.directory += "-1";
        m_model->setRuns({second, first, run("a", "1", "")});
        const QModelIndex parent = m_model->index(0, 0);
        QCOMPARE(parent.data().toString(), QString("a"));
        QCOMPARE(m_model->rowCount(parent), 2);
        QCOMPARE(m_model->index(1, 0, parent).data().toString(), QString("a, from step 5"));
        QCOMPARE(m_model->index(0, 0, parent).data().toString(), QString("a, from step 5 (2)"));
    }

    void aCircleAndALostParentAreRoots()
    {
        m_model->setRuns({run("b", "1", "/runs/a"), run("a", "1", "/runs/b"), run("c", "0", "/runs/gone")});
        int found = 0;
        for (int row = 0; row < m_model->rowCount(); ++row) {
            found += 1 + m_model->rowCount(m_model->index(row, 0));
        }
        QCOMPARE(found, 3);
    }

    void tagsAndNotesAreEditedInPlace()
    {
        QSignalSpy annotated(m_model.get(), &RunsModel::annotated);
        const QModelIndex row = m_model->index(0, RunsModel::Tags);
        QVERIFY(row.flags() & Qt::ItemIsEditable);
        QVERIFY(m_model->setData(row, "good,  best ,", Qt::EditRole));
        QCOMPARE(row.data().toString(), QString("good, best"));
        QVERIFY(m_model->setData(row.siblingAtColumn(RunsModel::Notes), "a note", Qt::EditRole));
        QCOMPARE(annotated.count(), 2);
        QVERIFY(!m_model->setData(m_model->index(0, RunsModel::Loss), "1", Qt::EditRole));
    }

    void namesAreEditedInPlace()
    {
        QSignalSpy renamed(m_model.get(), &RunsModel::renamed);
        const QModelIndex row = m_model->index(0, RunsModel::Name);
        QVERIFY(row.flags() & Qt::ItemIsEditable);
        QVERIFY(m_model->setData(row, " the good one ", Qt::EditRole));
        QVERIFY(row.data().toString().startsWith("the good one"));
        QVERIFY(!m_model->setData(row, "  ", Qt::EditRole));
        QCOMPARE(renamed.count(), 1);
    }

    void aLiveRowIsReported()
    {
        QSignalSpy changed(m_model.get(), &RunsModel::dataChanged);
        m_model->setLive("/runs/c", engine::RunStatus::Running, 7, 0.5);
        QCOMPARE(changed.count(), 1);
        const auto cell = changed.front().front().toModelIndex();
        QCOMPARE(m_model->runAt(cell)->step, std::int64_t(7));
        m_shown->overlay("/runs/c");
        QCOMPARE(cell.siblingAtColumn(RunsModel::Name).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    }

    /// As of a resumed run until it tells the first.
    void aLossThatIsNotKnownYetLeavesTheEarlier()
    {
        m_model->setLive("/runs/c", engine::RunStatus::Stopped, 7, 0.5);
        m_model->setLive("/runs/c", engine::RunStatus::Running, 7, engine::kNoLoss);
        QCOMPARE(m_model->runAt(m_model->indexOf("/runs/c"))->loss(), 0.5);
    }

private:
    QStringList namesBelow(const QModelIndex& parent)
    {
        QStringList names;
        for (int row = 0; row < m_model->rowCount(parent); ++row) {
            names << m_model->index(row, 0, parent).data().toString();
        }
        return names;
    }

    std::unique_ptr<visualizers::ShownRuns> m_shown;
    std::unique_ptr<RunsModel> m_model;
    std::unique_ptr<QAbstractItemModelTester> m_tester;
};

RESIDUA_TEST_IN(QApplication, TestRunsModel)
#include "tst_runs_model.moc"
