// SPDX-License-Identifier: GPL-3.0-or-later
// Pages about several runs: baselines, groups, notes, and what was received.
#include "report_harness.h"

#include "app/report/html_text.h"
#include "app/report/report.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>

using namespace residua;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestReportPages : public QObject {
    Q_OBJECT
private slots:
    /// Writes a project with finished runs: plain and wide of the seeds 1 to 3, whose losses differ by about 0.5.
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_runs = fs::path(m_dir->path().toStdString()) / "runs";
        projects::Project project = projects::findExample("ancre-language")->project;
        QVERIFY(projects::saveProject(m_dir->path().toStdString(), {project, {}}).ok());
        for (const auto& [name, width, seed, loss] : {std::tuple{"plain-1", 64, 1, 2.0},
                                                      {"plain-2", 64, 2, 3.0},
                                                      {"plain-3", 64, 3, 4.0},
                                                      {"wide-1", 128, 1, 1.5},
                                                      {"wide-2", 128, 2, 2.5},
                                                      {"wide-3", 128, 3, 3.51}}) {
            project.stack().width = width;
            project.seeds.init = project.seeds.order = seed;
            engine::RunInfo info;
            info.name = std::string(name).substr(0, std::string(name).size() - 2);
            info.steps = info.step = 2;
            info.status = engine::RunStatus::Finished;
            auto writer = engine::RunWriter::create(m_runs / name, info, project, m_dir->path().toStdString());
            QVERIFY(writer.ok());
            writer->step({1, loss + 1, 1e-3, 0.5, 64, 1});
            writer->step({2, loss, 1e-3, 0.5, 128, 2});
            writer->metric(engine::metric::kValidationLoss, 2, loss);
            QVERIFY(writer->flush().ok());
        }
    }

    void groupsHaveTheirDifferenceFromABaseline_data()
    {
        QTest::addColumn<QString>("baseline");
        QTest::addColumn<QString>("told"); ///< in the table of groups
        QTest::newRow("group") << "plain"
                               << "-0.497 ± 0.014 (3 pairs)";
        QTest::newRow("run") << "plain-2"
                             << "-0.5 (1 pair)";
    }
    void groupsHaveTheirDifferenceFromABaseline()
    {
        QFETCH(QString, baseline);
        QFETCH(QString, told);
        const auto page = report::comparisonHtml(
            {.title = "study", .runs = engine::listRuns(m_runs), .folder = m_runs, .baseline = baseline.toStdString()});
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        const QString html = QString::fromStdString(page->html);
        QVERIFY2(html.contains(told), qPrintable(html.section("<table>", 1, 1).section("</table>", 0, 0)));
        QVERIFY(html.contains("aria-label='Training loss less that of plain"));
        QCOMPARE(fs::path(page->baselineRun).filename().string().substr(0, 5), std::string("plain"));
        QCOMPARE(page->baselineAlone, baseline != "plain");
        QCOMPARE(html.contains("<td class='n'>baseline</td>"), baseline == "plain");
    }

    void unknownBaselinesAreRefused()
    {
        const auto page =
            report::comparisonHtml({.title = "study", .runs = engine::listRuns(m_runs), .baseline = "nobody"});
        QVERIFY(!page.ok());
        QVERIFY(page.error().message.find("expected one of: ") != std::string::npos);
    }

    void pagesHaveNotesAndNameWhatIsMissing()
    {
        const auto listed = engine::listRuns(m_runs);
        QVERIFY(engine::annotateRun(m_runs / "wide-1", {}, "a **lucky** seed <img src=x onerror=alert(1)>").ok());
        note("wide", "## Wider\n- [paper](https://example.org/?a=1&b='2')\n- [trap](javascript:alert(1))");
        QVERIFY(engine::writePage(m_runs, "study",
                                  {.runs = {"plain-1", "wide-1", "gone"},
                                   .baseline = "plain-1",
                                   .notes = "# Aim\n<script>alert(1)</script> `x < y`"})
                    .ok());
        const auto page = report::pageHtml(m_runs / "study.page.json");
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("<h1>study</h1>") && html.contains("2 runs: 2 finished"));
        QVERIFY(html.contains("<h3>Aim</h3><p>&lt;script&gt;alert(1)&lt;/script&gt; <code>x &lt; y</code></p>"));
        QVERIFY(html.contains("<p>a <strong>lucky</strong> seed &lt;img src=x onerror=alert(1)&gt;</p>"));
        QVERIFY(html.contains("<h4>Wider</h4><ul><li><a rel='noopener noreferrer' "
                              "href='https://example.org/?a=1&amp;b=&#39;2&#39;'>paper</a></li><li>trap</li></ul>"));
        QVERIFY(html.contains("<li>gone: is not there</li>"));
        QVERIFY(!html.contains("<script") && !html.contains("<img") && !html.contains("javascript:"));
        QVERIFY(html.contains("(1 pair)"));
    }

    /// The report draws the curves that the page showed, and has the columns of its list of runs.
    void pagesAreReportedAsTheyWereShown()
    {
        engine::StudyPage page{.runs = {"plain-1", "plain-2", "wide-1", "wide-2"}, .baseline = "plain-1"};
        const auto html = [&] {
            const auto file = m_runs / "study.page.json";
            const auto text = engine::writePage(m_runs, "study", page) ? report::pageHtml(file) : Error{};
            return text ? QString::fromStdString(*text) : QString();
        };
        const auto curves = [](const QString& text, const QString& figure) { // those with a name
            return text.section("aria-label='" + figure, 1, 1).section("</svg>", 0, 0).count("<path");
        };
        const QString whole = html();
        QVERIFY(whole.contains("<th>validation</th>") && !whole.contains("<th>width</th>"));
        QVERIFY(!whole.contains("Without curves"));
        page.view.hidden = {{"loss", {"run wide-2", "group " + std::string(64, 'a'), "number validation"}},
                            {"runs", {"run plain-1", "run ../../x"}}};
        page.view.columns = {"-validationLoss", "=experiment", "/network/width", "cost:flop"};
        const QString part = html();
        QVERIFY(part.contains("Without curves, as the page was kept: plain, seed 1, wide, seed 2"));
        QVERIFY(!part.contains("<th>validation</th>") && part.contains("<td>128</td>"));
        QCOMPARE(curves(whole, "Training loss'") - curves(part, "Training loss'"), qsizetype{2});
        page.view.hidden = {{"loss", {"run wide-1", "run wide-2"}}};
        const QString plain = html();
        QVERIFY(whole.contains("aria-label='Training loss less that of"));
        QVERIFY(!plain.contains("aria-label='Training loss less that of")); // which drew the other group
    }

    void aMissingBaselineIsNamed()
    {
        QVERIFY(engine::writePage(m_runs, "study", {.runs = {"plain-1"}, .baseline = "wide-1"}).ok());
        const auto page = report::pageHtml(m_runs / "study.page.json");
        QVERIFY(page && page->find("<li>the baseline wide-1: is not there</li>") != std::string::npos);
        QVERIFY(engine::writePage(m_runs, "empty", {.runs = {"gone"}}).ok());
        const auto none = report::pageHtml(m_runs / "empty.page.json");
        QVERIFY(!none.ok() && none.error().message.ends_with("; gone"));
    }

    void markdownIsHtmlThatClosesWhatItOpens_data()
    {
        QTest::addColumn<QString>("markdown");
        QTest::addColumn<QString>("html");
        QTest::newRow("text") << "a & *b*\n"
                              << "<p>a &amp; <em>b</em></p>";
        QTest::newRow("lists") << "1. a\n2. b\n- c\n"
                               << "<ol><li>a</li><li>b</li></ol><ul><li>c</li></ul>";
        QTest::newRow("table")
            << "|a|b|\n|-|-|\n|1|`2`|"
            << "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td><code>2</code></td></tr></table>";
        QTest::newRow("code") << "```\n<b>\n```\nx"
                              << "<pre>&lt;b&gt;\n</pre><p>x</p>";
        QTest::newRow("deep heading") << "###### x"
                                      << "<h6>x</h6>";
        QTest::newRow("html") << "</p></div><style>*{}</style>"
                              << "<p>&lt;/p&gt;&lt;/div&gt;&lt;style&gt;*{}&lt;/style&gt;</p>";
        QTest::newRow("links") << "[a](JavaScript:x) [b](HTTPS://c) [d](data:text/html,x) [e](//f)"
                               << "<p>a <a rel='noopener noreferrer' href='HTTPS://c'>b</a> d e</p>";
        QTest::newRow("quotes") << "[a](https://x' onmouseover='y)"
                                << "<p><a rel='noopener noreferrer' href='https://x&#39; onmouseover=&#39;y'>a</a></p>";
        QTest::newRow("none") << ""
                              << "";
    }
    void markdownIsHtmlThatClosesWhatItOpens()
    {
        QFETCH(QString, markdown);
        QFETCH(QString, html);
        QCOMPARE(QString::fromStdString(report::htmlMarkdown(markdown.toStdString())), html);
    }

private:
    void note(const std::string& label, const std::string& text)
    {
        const auto listed = engine::listRuns(m_runs);
        std::vector<projects::Project> read;
        std::vector<engine::TrainedRun> trained;
        for (const engine::RunInfo& run : listed) {
            read.push_back(*engine::RunReader::open(run.directory)->project());
        }
        for (std::size_t i = 0; i < listed.size(); ++i) {
            trained.push_back({&listed[i], &read[i]});
        }
        const engine::RunGroups groups = engine::groupsOf(trained);
        QVERIFY(engine::noteGroup(m_runs, engine::groupNamed(groups, trained, label, "")->key, text).ok());
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    fs::path m_runs;
};

RESIDUA_TEST(TestReportPages)
#include "tst_report_pages.moc"
