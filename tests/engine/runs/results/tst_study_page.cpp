// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/study_page.h"

#include "projects/base/whole_file.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

/// Returns JSON that is written with ' for ".
QByteArray pageJson(QByteArray text)
{
    return text.replace('\'', '"');
}

} // namespace

class TestStudyPage : public QObject {
    Q_OBJECT
private slots:
    void pagesComeBackAsTheyWere()
    {
        const QTemporaryDir dir;
        const fs::path folder = dir.path().toStdString();
        const StudyPage page{.runs = {"first", "rates/a"},
                             .sweep = "rates",
                             .baseline = "rates/a",
                             .baselineAlone = true,
                             .front = "first",
                             .chosen = "rates/a",
                             .notes = "# \"Quoted\" <b>\n",
                             .view = {"matrix",
                                      {"loss", "runs"},
                                      {{"loss/scale", "log y"}},
                                      {{"loss", {0, 12.5, -1e-3, 4}}},
                                      {"-tags", "/training/batch"},
                                      {{"loss", {"run rates/a", "number validation"}}}}};
        QVERIFY(writePage(folder, "my study", page).ok());
        const auto read = readPage(folder / "my study.page.json");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QVERIFY(*read == page);
        QVERIFY(writePage(folder, "another", {}).ok());
        QVERIFY(*readPage(folder / "another.page.json") == StudyPage());
        QVERIFY(writeFileAtomically(folder / ".page.json", "{}").ok());
        QCOMPARE(listPages(folder), (std::vector<std::string>{"another", "my study"}));
        QCOMPARE(listPages(folder / "nowhere"), std::vector<std::string>());
        QCOMPARE(pageName(folder / "my study.page.json"), std::string("my study"));
    }

    void namesStayInTheFolder()
    {
        for (const char* const name : {"", "..", ".hidden", "../up", "a/b", "/etc/passwd", "two\nlines"}) {
            QVERIFY2(!pageFile("runs", name).ok(), name);
            QVERIFY2(!writePage("runs", name, {}).ok(), name);
        }
        QVERIFY(!pageFile("runs", std::string(101, 'x')).ok());
    }

    void hostilePagesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("no JSON") << QByteArray("{");
        QTest::newRow("a list") << QByteArray("[]");
        QTest::newRow("no page") << QByteArray("{}");
        QTest::newRow("newer") << pageJson("{'page': 2}");
        QTest::newRow("a run above") << pageJson("{'page': 1, 'runs': ['../../secret']}");
        QTest::newRow("a run in between") << pageJson("{'page': 1, 'runs': ['a/../../b']}");
        QTest::newRow("an absolute run") << pageJson("{'page': 1, 'runs': ['/etc']}");
        QTest::newRow("an empty run") << pageJson("{'page': 1, 'runs': ['']}");
        QTest::newRow("runs that are no list") << pageJson("{'page': 1, 'runs': 'a'}");
        QTest::newRow("a number") << pageJson("{'page': 1, 'runs': [1]}");
        QTest::newRow("a baseline above") << pageJson("{'page': 1, 'baseline': '../x'}");
        QTest::newRow("a front above") << pageJson("{'page': 1, 'front': '/x'}");
        QTest::newRow("notes that are no text") << pageJson("{'page': 1, 'notes': {}}");
        QTest::newRow("long notes") << QByteArray("{\"page\": 1, \"notes\": \"" + QByteArray(kLongestNote + 1, 'x') +
                                                  "\"}");
        QTest::newRow("a long run") << QByteArray("{\"page\": 1, \"runs\": [\"" + QByteArray(5000, 'x') + "\"]}");
        QTest::newRow("a long sweep") << QByteArray("{\"page\": 1, \"sweep\": \"" + QByteArray(5000, 'x') + "\"}");
        QTest::newRow("a view that is a list") << pageJson("{'page': 1, 'view': {'controls': []}}");
        QTest::newRow("a zoom of three") << pageJson("{'page': 1, 'view': {'zooms': {'loss': [1, 2, 3]}}}");
        QTest::newRow("a zoom of none") << pageJson("{'page': 1, 'view': {'zooms': {'loss': [1, 1, 2, 3]}}}");
        QTest::newRow("hidden that is a text") << pageJson("{'page': 1, 'view': {'hidden': {'loss': 'a'}}}");
        QTest::newRow("hidden numbers") << pageJson("{'page': 1, 'view': {'hidden': {'loss': [1]}}}");
        QTest::newRow("columns of numbers") << pageJson("{'page': 1, 'view': {'columns': [1]}}");
        QTest::newRow("a key twice") << pageJson("{'page': 1, 'runs': [], 'runs': []}");
        QTest::newRow("large") << QByteArray("{\"page\": 1, \"notes\": \"" + QByteArray(1 << 20, 'x') + "\"}");
        QTest::newRow("deep") << QByteArray("{\"page\": 1, \"runs\": " + QByteArray(5000, '[') + "}");
    }
    void hostilePagesAreRefused()
    {
        QFETCH(QByteArray, text);
        const QTemporaryDir dir;
        const fs::path file = fs::path(dir.path().toStdString()) / "a.page.json";
        QVERIFY(writeFileAtomically(file, text.toStdString()).ok());
        const auto page = readPage(file);
        QVERIFY(!page.ok());
        QCOMPARE(page.error().place, file.string());
        QVERIFY(page.error().text().size() < 1000);
    }

    void tooLongNotesAreRefused()
    {
        const QTemporaryDir dir;
        StudyPage page;
        page.notes.assign(kLongestNote + 1, 'x');
        QVERIFY(!writePage(dir.path().toStdString(), "a", page).ok());
        QVERIFY(listPages(dir.path().toStdString()).empty());
    }

    /// Runs are matched by their places in the folder; what is missing is named.
    void missingRunsAreNamed()
    {
        const auto run = [](const char* directory, const char* sweep = nullptr) {
            RunInfo info;
            info.directory = directory;
            if (sweep != nullptr) {
                info.membership = {"project", sweep, {}};
            }
            return info;
        };
        const std::vector<RunInfo> listed{run("/p/runs/new"), run("/p/runs/rates/a", "rates"),
                                          run("/p/runs/rates/b", "rates"), run("/elsewhere/first")};
        const auto found = runsOf({.runs = {"first", "rates/a"}}, listed, "/p/runs");
        QCOMPARE(found.runs.size(), std::size_t{1});
        QCOMPARE(found.runs[0].directory, std::string("/p/runs/rates/a"));
        QCOMPARE(found.missing, std::vector<std::string>{"first"});
        const auto sweep = runsOf({.runs = {"new"}, .sweep = "rates"}, listed, "/p/runs");
        QCOMPARE(sweep.runs.size(), std::size_t{3});
        QVERIFY(sweep.missing.empty());
        QCOMPARE(runsOf({.runs = {}, .sweep = "gone"}, listed, "/p/runs").missing,
                 std::vector<std::string>{"sweep gone"});
        QCOMPARE(pathOnPage("/p/runs", "/p/runs/rates/a"), std::string("rates/a"));
        QCOMPARE(pathOnPage("/p/runs", "/elsewhere/first"), std::string());
        QCOMPARE(pathOnPage("/p/runs", "/p/runs"), std::string());
        QCOMPARE(pathOnPage(fs::current_path() / "runs", "x/../runs/a"), std::string("a"));
    }
};

RESIDUA_TEST(TestStudyPage)
#include "tst_study_page.moc"
