// SPDX-License-Identifier: GPL-3.0-or-later
// The first screen: what a person came for is on top, and in sight.
#include "app/look/theme.h"
#include "app/start/start_page.h"
#include "engine/runs/store/run_files.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QScrollArea>
#include <QSettings>
#include <QTemporaryDir>
#include <QToolButton>

#include <filesystem>
#include <fstream>

using namespace residua;
using namespace residua::app;

class TestStartPage : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        QSettings().clear();
        const projects::Project project = projects::findExample("linear-ancre")->project;
        const QString deep = m_folder.filePath(QStringLiteral("a-rather-long-name-of-a-folder/").repeated(9));
        for (int i = 0; i < kProjects; ++i) {
            const QString folder = QDir::cleanPath(deep + QStringLiteral("project-%1").arg(i));
            QVERIFY(projects::saveProject(folder.toStdString(), {project, {}}).ok());
            rememberProject(folder);
        }
    }

    void cleanup() { QSettings().clear(); }

    void longPathsDoNotCutThePage()
    {
        const Look look(ThemeKind::Light);
        StartPage page(look, m_folder.filePath(QStringLiteral("drafts")).toStdString());
        page.resize(900, 700);
        page.show();
        QCoreApplication::processEvents();
        const auto* scroll = page.findChild<QScrollArea*>();
        QVERIFY(scroll->widget()->width() <= scroll->viewport()->width());
        const QList<QToolButton*> lines = page.findChildren<QToolButton*>(QStringLiteral("link"));
        QVERIFY(!lines.isEmpty());
        for (const QToolButton* line : lines) {
            QVERIFY(line->mapTo(&page, line->rect().topRight()).x() < page.width());
            QVERIFY(line->text().contains(QStringLiteral("project-"))); // the end of the path stays
            QVERIFY(line->toolTip().endsWith(line->text().section(QLatin1Char('/'), -1)));
            QVERIFY(line->sizeHint().height() <= line->height());
        }
    }

    /// A path is not cut beside free room.
    void aPathIsWholeWhereItHasRoom()
    {
        const QString folder = m_folder.filePath(QStringLiteral("in/a folder/of some/depth/with a project & more"));
        QVERIFY(projects::saveProject(folder.toStdString(), {projects::findExample("linear-ancre")->project, {}}).ok());
        rememberProject(folder);
        const Look look(ThemeKind::Light);
        StartPage page(look, m_folder.filePath(QStringLiteral("drafts")).toStdString());
        page.resize(1440, 850);
        page.show();
        QCoreApplication::processEvents();
        const auto* line = page.findChild<QToolButton*>(QStringLiteral("link"));
        QVERIFY2(line->text().contains(folder), qPrintable(line->text()));
    }

    /// By this program or another, whose lock a run has.
    void aProjectSaysWhatItIsBusyWith()
    {
        const QString folder = recentProjects().front();
        const std::filesystem::path run = std::filesystem::path(folder.toStdString()) / "runs" / "first";
        std::filesystem::create_directories(run);
        auto lock = engine::lockRun(run);
        QVERIFY(lock.ok());
        std::ofstream(std::filesystem::path(folder.toStdString()) / projects::kJournalFile) << "{}";
        const Look look(ThemeKind::Light);
        StartPage page(look, m_folder.filePath(QStringLiteral("drafts")).toStdString());
        page.resize(1440, 850);
        page.show();
        const auto text = [&page](int at) {
            return page.findChildren<QToolButton*>(QStringLiteral("link")).at(at)->text();
        };
        QTRY_VERIFY2(text(0).contains("training, unsaved changes"), qPrintable(text(0)));
        QVERIFY(!text(1).contains("training") && !text(1).contains("unsaved"));
    }

    /// As on a screen of 1440 pixels at twice the size.
    void aNarrowPageIsNotCut()
    {
        const Look look(ThemeKind::Light);
        StartPage page(look, m_folder.filePath(QStringLiteral("drafts")).toStdString());
        page.show();
        for (const int width : {640, 720, 800}) {
            page.resize(width, 430);
            QCoreApplication::processEvents();
            const auto* scroll = page.findChild<QScrollArea*>();
            QVERIFY2(scroll->widget()->width() <= scroll->viewport()->width(), qPrintable(QString::number(width)));
        }
    }

    void recentProjectsAreAboveTheExamples()
    {
        const Look look(ThemeKind::Light);
        StartPage page(look, m_folder.filePath(QStringLiteral("drafts")).toStdString());
        page.resize(1440, 850);
        page.show();
        QCoreApplication::processEvents();
        const auto* line = page.findChild<QToolButton*>(QStringLiteral("link"));
        const auto* card = page.findChild<Card*>();
        QVERIFY(line->mapTo(&page, QPoint()).y() < card->mapTo(&page, QPoint()).y());
        QVERIFY(!card->visibleRegion().isEmpty()); // many recent projects do not push the examples out of sight
    }

private:
    static constexpr int kProjects = 12;
    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QApplication, TestStartPage)
#include "tst_start_page.moc"
