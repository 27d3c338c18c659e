// SPDX-License-Identifier: GPL-3.0-or-later
// The program from outside: its command line, its pictures, and what it does after it was killed.
#include "app/look/theme.h"
#include "app/window/main_window.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>

#include <cstdio>

using namespace residua;
using namespace residua::app;

namespace {

using tests::kPatience;
constexpr const char* kChild = "--edit-and-wait";

WindowFolders foldersIn(const QString& folder)
{
    return {(folder + "/drafts").toStdString(), (folder + "/Residua").toStdString()};
}

/// The window of a session that is about to be killed: it opens a project, edits it and waits.
int editAndWait(int argc, char** argv)
{
    QApplication application(argc, argv);
    Look look(ThemeKind::Light);
    const QString folder = QString::fromLocal8Bit(argv[2]);
    MainWindow window(look, foldersIn(folder), Memory::None);
    window.show();
    window.openProject((folder + "/project").toStdString());
    if (!window.session().perform(projects::SetField{"/name", {"Edited, not saved"}}).ok()) {
        return 1;
    }
    return QApplication::exec();
}

struct Outcome {
    int code = -1;
    QString errors;
    QString output;
};

Outcome runProgram(const QStringList& arguments)
{
    QProcess program;
    program.start(QStringLiteral(RESIDUA_PROGRAM), arguments);
    if (!program.waitForFinished(kPatience)) {
        program.kill();
        program.waitForFinished();
        return {};
    }
    return {program.exitCode(), QString::fromUtf8(program.readAllStandardError()),
            QString::fromUtf8(program.readAllStandardOutput())};
}

int coloursIn(const QImage& image)
{
    QSet<QRgb> colours;
    for (int y = 0; y < image.height(); y += 4) {
        for (int x = 0; x < image.width(); x += 4) {
            colours.insert(image.pixel(x, y));
        }
    }
    return static_cast<int>(colours.size());
}

} // namespace

class TestResidua : public QObject {
    Q_OBJECT

private slots:
    void unsavedEditsAreRecoveredAfterAKill()
    {
        QTemporaryDir folder;
        const std::filesystem::path project = folder.filePath("project").toStdString();
        const projects::Document saved{projects::findExample("linear-ancre")->project, {}};
        QVERIFY(projects::saveProject(project, saved).ok());

        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), {kChild, folder.path()});
        QTRY_VERIFY(std::filesystem::exists(project / projects::kJournalFile));
        child.kill(); // SIGKILL: it has no chance to put anything in order
        QVERIFY(child.waitForFinished(kPatience));

        Look look(ThemeKind::Light);
        MainWindow window(look, foldersIn(folder.path()), Memory::None);
        window.openProject(project);
        QCOMPARE(window.session().project().name, std::string("Edited, not saved"));
        QVERIFY(window.bannerText().contains("recovered"));
        QVERIFY(window.actions().revert->isEnabled());
        window.actions().revert->trigger();
        QCOMPARE(window.session().project(), saved.project);
        QCOMPARE(window.bannerText(), QString());
    }

    void aPictureHasTheSizeThatWasAskedFor_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QSize>("size");
        QTest::newRow("start page") << QStringList{} << QSize(900, 600);
        QTest::newRow("dark, trained") << QStringList{"--example", "linear-ancre", "--steps", "5", "--theme", "dark"}
                                       << QSize(1000, 700);
        QTest::newRow("plots, twice as fine")
            << QStringList{"--example", "linear-ancre", "--view", "train", "--scale", "2"} << QSize(900, 640);
    }

    void aPictureHasTheSizeThatWasAskedFor()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QSize, size);
        QTemporaryDir folder;
        const QString file = folder.filePath("picture.png");
        const Outcome outcome = runProgram(
            QStringList{"--screenshot", file, "--size", QString("%1x%2").arg(size.width()).arg(size.height())} +
            arguments);
        QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
        const QImage picture(file);
        const int scale = arguments.contains("--scale") ? 2 : 1;
        QCOMPARE(picture.size(), size * scale);
        QVERIFY(coloursIn(picture) > 20); // something is drawn
    }

    void aPictureOfARunShowsItsProject()
    {
        QTemporaryDir folder;
        const QString project = folder.filePath("project");
        QVERIFY(
            projects::saveProject(project.toStdString(), {projects::findExample("linear-ancre")->project, {}}).ok());
        const QString file = folder.filePath("picture.png");
        const Outcome trained = runProgram({project, "--steps", "3", "--screenshot", file});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        const QDir runs(QDir(project).filePath(projects::kRunsFolder));
        const QStringList names = runs.entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(names.size(), 1);
        QVERIFY(QFile::remove(file));
        const Outcome outcome = runProgram({runs.filePath(names.front()), "--screenshot", file, "--view", "loss"});
        QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
        QVERIFY(coloursIn(QImage(file)) > 20);
        std::filesystem::remove_all(project.toStdString() + "/project.json");
        const Outcome lost = runProgram({runs.filePath(names.front()), "--screenshot", file});
        QCOMPARE(lost.code, 1);
        QVERIFY2(lost.errors.contains("the run remembers"), qPrintable(lost.errors));
    }

    void aWrongCommandLineEndsWithOneLine()
    {
        const Outcome outcome = runProgram({"--example", "nothing-of-that-name"});
        QCOMPARE(outcome.code, 1);
        QVERIFY(outcome.errors.contains("nothing-of-that-name"));
        QVERIFY(outcome.errors.contains("ancre-language")); // what there is
        QCOMPARE(runProgram({"--view", "nothing"}).code, 1);
        QCOMPARE(runProgram({"report", "no-such-run", "-o", "x.html"}).code, 1);
    }

    void theVersionNeedsNoDisplay()
    {
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
            environment.remove(QString::fromLatin1(name));
        }
        program.setProcessEnvironment(environment);
        program.start(QStringLiteral(RESIDUA_PROGRAM), {"--version"});
        QVERIFY(program.waitForFinished(kPatience));
        QCOMPARE(program.exitCode(), 0);
        QVERIFY(program.readAllStandardOutput().startsWith("residua "));
        program.start(QStringLiteral(RESIDUA_PROGRAM), {"--screenshot", "x.png"});
        QVERIFY(program.waitForFinished(kPatience));
        QCOMPARE(program.exitCode(), 1);
        QVERIFY(program.readAllStandardError().contains("display"));
    }
};

int main(int argc, char** argv)
{
    if (argc == 3 && QByteArray(argv[1]) == kChild) {
        return editAndWait(argc, argv);
    }
    QApplication application(argc, argv);
    TestResidua test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_residua.moc"
