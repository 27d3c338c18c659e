// SPDX-License-Identifier: GPL-3.0-or-later
// Reports about several runs, pages that are kept of them, and notes, from the terminal.
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_writer.h"
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <set>
#include <string>

using namespace residua;
using namespace residua::cli;

namespace {

class TestCliPages : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        projects::Document document = tinyProject();
        QVERIFY(projects::saveProject(path("project").toStdString(), document).ok());
        for (const std::string name : {"plain-1", "plain-2", "wide-1", "wide-2"}) {
            document.project.stack().width = name.starts_with("wide") ? 32 : 16;
            document.project.seeds.init = document.project.seeds.order = name.back() - '0';
            engine::RunInfo info;
            info.name = name.substr(0, name.size() - 2);
            info.steps = info.step = 1;
            info.status = engine::RunStatus::Finished;
            if (info.name == "wide") {
                info.membership = {"Tiny", "widths", {{"/network/width", "width", "32"}}};
            }
            auto writer = engine::RunWriter::create(path("project/runs").toStdString() + "/" + name, info,
                                                    document.project, path("project").toStdString());
            QVERIFY(writer.ok());
            writer->step({1, name.starts_with("wide") ? 1.0 : 2.0, 1e-3, 0.5, 64, 1});
            QVERIFY(writer->flush().ok());
        }
    }

    void reportsShowDifferencesAndAreKept()
    {
        Ran made = run({"report", path("project"), "--baseline", "plain", "--note", "the *aim*", "--keep", "all", "-o",
                        path("all.html")});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        static const QRegularExpression kDifference("-1[^<]*\\(2 pairs\\)");
        const QString html = content("all.html");
        QVERIFY(html.contains("<p>the <em>aim</em></p>"));
        QVERIFY(html.contains(kDifference));
        const auto page = engine::readPage(path("project/runs/all.page.json").toStdString());
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        QCOMPARE(page->runs.size(), std::size_t{4});
        QCOMPARE(page->baseline.substr(0, 6), std::string("plain-"));
        QVERIFY(!page->baselineAlone);

        made = runProcess({"report", "project", "--keep", "relative", "-o", "-"}, m_folder.path());
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QCOMPARE(engine::readPage(path("project/runs/relative.page.json").toStdString())->runs, page->runs);

        made = run({"report", path("project/runs/all.page.json")});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QVERIFY(content("project/runs/all.html").contains(kDifference));

        made = run({"report", path("project"), "--sweep", "widths", "--keep", "all", "-o", "-"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QVERIFY(made.output.contains("<h1>widths</h1>") && made.output.contains("2 runs: 2 finished"));
        const auto sweep = engine::readPage(path("project/runs/all.page.json").toStdString());
        QVERIFY(sweep && sweep->runs.empty() && sweep->sweep == "widths" && sweep->notes == "the *aim*");
    }

    /// Groups of two seeds, with the differences from one of them over pairs, and at each step.
    void groupsAreComparedWithABaseline()
    {
        const Ran ran = run({"compare", path("project"), "--baseline", "plain", "--last", "5", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QJsonArray groups = ran.json().object()["groups"].toArray();
        QCOMPARE(groups.size(), 2);
        std::set<int> colours; // in the order of the runs, which may begin in one second
        for (const QJsonValue& each : groups) {
            const QJsonObject group = each.toObject();
            const bool isBaseline = group["group"].toString() == "plain";
            colours.insert(group["colour"].toInt(-1));
            QCOMPARE(group["value"].toObject()["n"].toInt(), 2);
            QCOMPARE(group["runs"].toArray().size(), 2);
            QCOMPARE(group.contains("difference"), !isBaseline);
            QVERIFY(isBaseline || group["difference"].toObject()["pairs"].toInt() == 2);
            QVERIFY(isBaseline || group["difference"].toObject()["mean"].toDouble() == -1);
        }
        QVERIFY(colours == (std::set{0, 1}));
        const Ran text = run({"compare", path("project"), "--baseline", "plain"});
        QVERIFY2(text.output.contains("(2 pairs)") && text.output.contains("baseline"), qPrintable(text.output));
        QCOMPARE(run({"compare", path("project"), "--baseline", "plain", "-o", path("steps.csv")}).code, 0);
        const QStringList lines = content("steps.csv").split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 3); // a step of each group
        QVERIFY2(lines.filter("plain").front().contains(",1,0,0,0,2"), qPrintable(lines.join('\n')));
        const Ran one = run({"compare", path("project"), "--baseline", "plain, seed 1", "--json"}); // a run alone
        QVERIFY2(one.code == 0, qPrintable(one.errors));
        const QJsonObject group = one.json().object()["groups"].toArray().first().toObject();
        QCOMPARE(group["difference"].toObject()["pairs"].toInt(), 1);
        QCOMPARE(run({"compare", path("project"), "--sweep", "none"}).code, 1);
        QCOMPARE(run({"compare", path("project/nowhere")}).code, 1);
    }

    void severalRunsMakeOneReport()
    {
        const Ran made =
            run({"report", path("project/runs/plain-1"), path("project/runs/wide-1"), "-o", path("two.html")});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QVERIFY(content("two.html").contains("<h1>2 runs</h1>"));
    }

    void wrongRequestsAreRefused_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("told");
        QTest::newRow("baseline") << QStringList{"report", "PROJECT", "--baseline", "plane", "-o", "-"}
                                  << "did you mean \"plain\"";
        QTest::newRow("compared with") << QStringList{"compare", "PROJECT", "--baseline", "plane"}
                                       << "did you mean \"plain\"";
        QTest::newRow("page's name") << QStringList{"report", "PROJECT", "--keep", "../x", "-o", "-"}
                                     << "cannot be called";
        QTest::newRow("sweep") << QStringList{"report", "PROJECT", "--sweep", "x", "-o", "-"} << "is no sweep";
        QTest::newRow("missing page") << QStringList{"report", "PROJECT/runs/no.page.json"} << "no.page.json";
        QTest::newRow("no run") << QStringList{"note", "PROJECT"} << "--group";
        QTest::newRow("no group") << QStringList{"note", "PROJECT", "--group", "x"} << "expected one of";
    }
    void wrongRequestsAreRefused()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, told);
        words.replaceInStrings("PROJECT", path("project"));
        const Ran refused = run(words);
        QVERIFY(refused.code > 0);
        QVERIFY2(refused.errors.contains(told), qPrintable(refused.errors));
        QVERIFY(!QFile::exists(path("project/x.page.json")));
    }

    void notesAreKept_data()
    {
        QTest::addColumn<QStringList>("of");
        QTest::newRow("run") << QStringList{path("project/runs/plain-1")};
        QTest::newRow("group") << QStringList{path("project"), "--group", "Tiny, 32"};
    }
    void notesAreKept()
    {
        QFETCH(QStringList, of);
        Ran noted = run(QStringList{"note"} + of + QStringList{"--text", "# A\n**bold** \x1b[31m <b>"});
        QVERIFY2(noted.code == 0, qPrintable(noted.errors));
        noted = run(QStringList{"note"} + of);
        QCOMPARE(noted.output, QString("A\n  bold \\x1b[31m <b>\n"));
        const Ran json = run(QStringList{"note"} + of + QStringList{"--json"});
        QCOMPARE(json.json().object()["note"].toString(), QString("# A\n**bold** \x1b[31m <b>"));
        noted = run(QStringList{"note"} + of + QStringList{"--text", ""});
        QCOMPARE(noted.output.trimmed(), QString());
    }

private:
    [[nodiscard]] QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }
    [[nodiscard]] QString content(const char* name) const
    {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }
    static Ran run(const QStringList& words) { return runProcess(words); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliPages)
#include "tst_cli_pages.moc"
