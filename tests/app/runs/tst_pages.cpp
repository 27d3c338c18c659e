// SPDX-License-Identifier: GPL-3.0-or-later
// Pages about several runs in the window: what they keep, what comes back, and notes.
#include "app/runs/notes_panel.h"
#include "app/runs/run_table.h"
#include "app/runs/runs_panel.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "projects/base/whole_file.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/plot/curve_plot.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTextBrowser>
#include <QToolButton>

using namespace residua;
using namespace residua::app;

namespace {

/// Returns JSON that is written with ' for ".
QByteArray pageJson(QByteArray text)
{
    return text.replace('\'', '"');
}

} // namespace

class TestPages : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        QSettings().clear();
        m_project = newProject(quickExample());
        for (const int seed : {1, 2}) {
            projects::Project plain = quickExample();
            plain.seeds.init = plain.seeds.order = seed;
            write(seed == 1 ? "plain-1" : "plain-2", 0.1F, plain);
            plain.training.learningRate.peak = 0.375;
            write(seed == 1 ? "fast-1" : "fast-2", 0.2F, plain);
        }
        open();
    }

    void cleanup()
    {
        m_window.reset();
        QSettings().clear();
    }

    void aPageShowsItsRunsAgain()
    {
        overlay({"plain-1", "plain-2", "fast-1"});
        shown().bringToFront(key("fast-1"));
        shown().choose(key("plain-2"));
        shown().setBaseline(shown().groupOf(key("plain-1")));
        m_window->workspace().showPanelOf(pareto());
        m_window->workspace().showCanvas(WorkspaceView::Matrix);
        choice(loss(), "horizontalAxis")->setCurrentText("by FLOP");
        choice(pareto(), "cost")->setCurrentText("by parameters");
        auto& curves = dynamic_cast<visualizers::CurvePlot&>(plot(loss()));
        const QString hidden = QString::fromStdString("group " + key("fast-1"));
        curves.hide({hidden});
        QTRY_COMPARE(curves.hidden(), std::set<QString>{hidden}); // once the run's curves are read
        RunTable& table = m_window->workspace().view<RunsPanel>().table();
        table.choose({"-tags", "=sweep", "cost:parameters"});
        plot(loss()).zoomTo({2, 5}, {-0.25, 0.25});
        keep("study");
        const auto page = engine::readPage(pageFile("study"));
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        QCOMPARE(page->runs.size(), std::size_t{3});
        QCOMPARE(page->front, std::string("fast-1"));
        QVERIFY(!page->baselineAlone && page->baseline.starts_with("plain-"));

        for (const bool restarted : {false, true}) {
            if (restarted) {
                openWindow();
                m_window->openProject(pageFile("study")); // as from the command line or dropped
            } else {
                overlay({"fast-2"});
                shown().bringToFront(key("fast-2"));
                shown().setBaseline({});
                m_window->workspace().showCanvas(WorkspaceView::Depth);
                choice(loss(), "horizontalAxis")->setCurrentText("by step");
                choice(pareto(), "cost")->setCurrentText("by FLOP");
                m_window->workspace().showPanelOf(loss());
                curves.hide({});
                table.choose({});
                plot(loss()).showWhole();
                button("pageOpen")->click();
            }
            QTRY_COMPARE(choice(loss(), "horizontalAxis")->currentText(), QString("by FLOP"));
            QTRY_COMPARE(overlaid(), (std::set<std::string>{"plain-1", "plain-2", "fast-1"}));
            QCOMPARE(shown().front(), key("fast-1"));
            QCOMPARE(shown().chosen(), key("plain-2"));
            QTRY_COMPARE(shown().baseline(), shown().groupOf(key("plain-1")));
            QCOMPARE(choice(pareto(), "cost")->currentText(), QString("by parameters"));
            QTRY_VERIFY(pareto().isVisible() && !pareto().visibleRegion().isEmpty());
            QCOMPARE(m_window->workspace().frontView(), WorkspaceView::Matrix);
            QTRY_COMPARE(plot(loss()).xAxis->range().lower, 2.0);
            QCOMPARE(plot(loss()).yAxis->range().upper, 0.25);
            QVERIFY(!plot(loss()).isFollowing() && plot(pareto()).isFollowing());
            QTRY_COMPARE(dynamic_cast<visualizers::CurvePlot&>(plot(loss())).hidden(), std::set<QString>{hidden});
            QCOMPARE(m_window->workspace().view<RunsPanel>().table().choice(),
                     (QStringList{"-tags", "=sweep", "cost:parameters"}));
            QVERIFY(!m_window->session().modified()); // fields of the document are no part of a view
        }
    }

    void aHostilePageChangesNothing_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("told");
        QByteArray many;
        for (int run = 0; run < 100; ++run) {
            many += ", \"gone-" + QByteArray::number(run) + "\"";
        }
        QTest::newRow("a run above") << pageJson("{'page': 1, 'runs': ['../../x']}") << "below the folder of runs";
        QTest::newRow("no page") << QByteArray("{}") << "is no page";
        QTest::newRow("unknown names")
            << pageJson(
                   "{'page': 1, 'runs': ['plain-1', 'gone'], 'baseline': 'lost', 'front': 'gone', 'view': {'canvas': "
                   "'x', 'panels': ['y'], 'controls': {'loss/scale': 'z', 'a/b': 'c', 'loss/smoothing': '999999'}, "
                   "'zooms': {'loss': [1, 1e300, -1e308, 1e308], 'no': [0, 1, 0, 1]}}}")
            << "gone";
        QTest::newRow("a name as HTML") << pageJson("{'page': 1, 'runs': ['plain-1', '<img src=x>']}") << "<img src=x>";
        QTest::newRow("many runs") << QByteArray("{\"page\": 1, \"runs\": [\"plain-1\"" + many + "]}") << "and 90 more";
    }
    void aHostilePageChangesNothing()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, told);
        QVERIFY(writeFileAtomically(pageFile("bad"), text.toStdString()).ok());
        m_window->openProject(pageFile("bad"));
        QTRY_VERIFY2(m_window->bannerText().contains(told), qPrintable(m_window->bannerText()));
        for (const QLabel* const label : m_window->findChildren<QLabel*>()) {
            QVERIFY(label->text() != m_window->bannerText() || label->textFormat() == Qt::PlainText);
        }
        QCOMPARE(choice(loss(), "scale")->currentText(), QString("linear"));
        QCOMPARE(shown().baseline(), std::string());
    }

    void pagesOutsideAProjectAreRefused()
    {
        const std::filesystem::path file = folder("lost.page.json");
        QVERIFY(writeFileAtomically(file, pageJson("{'page': 1}").toStdString()).ok());
        m_window->openProject(file);
        QVERIFY(m_window->bannerText().contains("outside of a project"));
    }

    void notesAreKept()
    {
        shown().choose(key("plain-1"));
        type(1, "# group\n*first*");
        QTRY_COMPARE(engine::groupNotes(runs()),
                     (std::map<std::string, std::string>{{shown().groupOf(key("plain-1")), "# group\n*first*"}}));
        type(2, "the **run**");
        QTRY_COMPARE(engine::RunReader::open(key("plain-1"))->info()->notes, std::string("the **run**"));
        overlay({"plain-1"});
        type(0, "the page");
        keep("noted");
        QCOMPARE(engine::readPage(pageFile("noted"))->notes, std::string("the page"));
        type(0, "the page again");
        QTRY_COMPARE(engine::readPage(pageFile("noted"))->notes, std::string("the page again"));

        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(model().runs().size(), std::size_t{4});
        shown().choose(key("plain-2")); // of the same group
        part<QComboBox>("noteOf")->setCurrentIndex(1);
        QTRY_COMPARE(part<QPlainTextEdit>("noteText")->toPlainText(), QString("# group\n*first*"));
        QTRY_COMPARE(part<QTextBrowser>("noteRead")->toPlainText(), QString("group\nfirst"));
        shown().choose(key("plain-1"));
        part<QComboBox>("noteOf")->setCurrentIndex(2);
        QTRY_COMPARE(part<QPlainTextEdit>("noteText")->toPlainText(), QString("the **run**"));
    }

    /// HTML in a note is text, and a picture is not read.
    void receivedNotesReadNothing()
    {
        const std::filesystem::path picture = folder("secret.png");
        QVERIFY(QImage(8, 8, QImage::Format_RGB32).save(QString::fromStdString(picture.string())));
        shown().choose(key("plain-1"));
        type(2, "<b>bold</b> ![](" + QString::fromStdString(picture.string()) + ")");
        auto* const read = part<QTextBrowser>("noteRead");
        QVERIFY(read->toPlainText().startsWith("<b>bold</b>"));
        const QUrl url(QString::fromStdString(picture.string()));
        QVERIFY(!read->grab().isNull()); // it is drawn
        for (const QUrl& each : {url, QUrl::fromLocalFile(url.path())}) {
            const auto shown = read->document()->resource(QTextDocument::ImageResource, each).value<QImage>();
            QCOMPARE(shown.size(), QSize(1, 1));
        }
    }

    void aPageIsDeleted()
    {
        overlay({"plain-1"});
        keep("gone");
        button("pageRemove")->click();
        auto* const sure = RunsHarness::button<QAbstractButton>("Delete");
        QVERIFY(sure);
        for (QAbstractButton* each : m_window->findChildren<QAbstractButton*>()) {
            if (each->text() == "Delete" && each->objectName() != "pageRemove" && each->isVisible() &&
                !qobject_cast<QToolButton*>(each)) {
                each->click();
                break;
            }
        }
        QTRY_VERIFY(engine::listPages(runs()).empty());
        QTRY_VERIFY(!button("pageOpen")->isEnabled());
    }

private:
    void open()
    {
        openWindow();
        m_window->openProject(m_project);
        QTRY_COMPARE(model().runs().size(), std::size_t{4});
        QTRY_VERIFY(shown().lookOf(key("plain-1")) != nullptr);
    }

    visualizers::ShownRuns& shown() { return m_window->workspace().shownRuns(); }
    visualizers::ParetoView& pareto() { return m_window->workspace().view<visualizers::ParetoView>(); }
    [[nodiscard]] std::filesystem::path runs() const { return m_project / projects::kRunsFolder; }
    [[nodiscard]] std::string key(const std::string& run) const
    {
        return (m_window->session().directory() / projects::kRunsFolder / run).string();
    }
    [[nodiscard]] std::filesystem::path pageFile(const std::string& name) const
    {
        return *engine::pageFile(runs(), name);
    }
    static visualizers::Plot& plot(QWidget& view) { return *view.findChild<visualizers::Plot*>(); }
    static QComboBox* choice(QWidget& view, const char* name)
    {
        return view.findChild<QComboBox*>(QLatin1String(name));
    }
    template <class T>
    T* part(const char* name)
    {
        return m_window->workspace().view<NotesPanel>().findChild<T*>(QLatin1String(name));
    }
    QToolButton* button(const char* name) { return part<QToolButton>(name); }

    void overlay(const std::set<std::string>& names)
    {
        for (const engine::RunInfo& run : model().runs()) {
            const bool wanted = names.contains(std::filesystem::path(run.directory).filename().string());
            wanted ? shown().overlay(run.directory) : shown().removeOverlay(run.directory);
        }
    }
    std::set<std::string> overlaid()
    {
        std::set<std::string> names;
        for (const visualizers::ShownRuns::Run& run : shown().runs()) {
            if (run.overlaid) {
                names.insert(std::filesystem::path(run.key).filename().string());
            }
        }
        return names;
    }
    void keep(const QString& name)
    {
        part<QComboBox>("pageName")->setEditText(name);
        button("pageKeep")->click();
        QTRY_VERIFY(button("pageOpen")->isEnabled());
    }
    /// Writes the note of the page (0), the group (1) or the run (2), and leaves its field.
    void type(int of, const QString& note)
    {
        m_window->workspace().showPanelOf(m_window->workspace().view<NotesPanel>());
        part<QComboBox>("noteOf")->setCurrentIndex(of);
        auto* const field = part<QPlainTextEdit>("noteText");
        field->setFocus();
        field->selectAll();
        field->insertPlainText(note);
        QCOMPARE(field->toPlainText(), note);
        part<QComboBox>("noteOf")->setFocus();
    }
};

RESIDUA_TEST_IN(QApplication, TestPages)
#include "tst_pages.moc"
