// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/launch_options.h"
#include "app/launch/screenshot.h"
#include "app/report/report.h"
#include "app/window/main_window.h"
#include "engine/base/api/environment.h"

#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QStandardPaths>
#include <QStyleHints>
#include <QSurfaceFormat>
#include <QTemporaryDir>
#include <QThread>

#include <algorithm>
#include <clocale>
#include <cstdio>

namespace {

using namespace residua;
using namespace residua::app;

int failWith(const Error& error)
{
    std::fprintf(stderr, "residua: %s\n", error.text().c_str());
    return 1;
}

int writeReport(const LaunchOptions& options)
{
    const Status written = report::writeReport(options.run.toStdString(), options.output.toStdString());
    return written ? 0 : failWith(written.error());
}

/// Qt ends the process if it finds no display. Checking first allows a helpful message.
bool hasDisplay()
{
    return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
           qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

void prepareQt(const LaunchOptions& options)
{
    if (options.scale != 1) {
        qputenv("QT_SCALE_FACTOR", QByteArray::number(options.scale));
    }
    // If Mesa draws without a GPU, it uses half of the processors, and the training the others.
    if (constexpr const char* kDrawing = "LP_NUM_THREADS"; !qEnvironmentVariableIsSet(kDrawing)) {
        qputenv(kDrawing, QByteArray::number(std::max(1, QThread::idealThreadCount() / 2)));
    }
    QSurfaceFormat format;
    format.setSamples(4); // antialiases arcs
    QSurfaceFormat::setDefaultFormat(format);
    QCoreApplication::setApplicationName(QStringLiteral("Residua"));
    QCoreApplication::setOrganizationName(QStringLiteral("Residua"));
    QCoreApplication::setApplicationVersion(QStringLiteral(RESIDUA_VERSION));
}

ThemeKind themeFor(const LaunchOptions& options)
{
    if (options.theme) {
        return *options.theme;
    }
    const bool picture = options.verb == LaunchVerb::Screenshot;
    return !picture && QSettings().value(QStringLiteral("window/dark")).toBool() ? ThemeKind::Dark : ThemeKind::Light;
}

/// A picture leaves no files; a session keeps its work in the user's folders.
WindowFolders foldersFor(const LaunchOptions& options, const QTemporaryDir& scratch)
{
    if (options.verb == LaunchVerb::Screenshot) {
        return {scratch.filePath(QStringLiteral("drafts")).toStdString(),
                scratch.filePath(QStringLiteral("Residua")).toStdString()};
    }
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
    const QString home = QSettings()
                             .value(QStringLiteral("projects/folder"), QDir::home().filePath(QStringLiteral("Residua")))
                             .toString();
    const QString shared = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    return {QDir(data).filePath(QStringLiteral("drafts")).toStdString(), home.toStdString(),
            QDir(shared).filePath(QStringLiteral("blocks")).toStdString()};
}

int runWindow(int argc, char** argv, const LaunchOptions& options)
{
    if (!hasDisplay()) {
        return failWith(
            {"display", "there is none: start it on a desktop or under xvfb-run; residua-cli trains without one"});
    }
    prepareQt(options);
    const QApplication application(argc, argv);
    // Qt sets C's locale to the user's. Files, figures and libraries need a full stop in numbers in every language.
    // QLocale, which formats text for people, is not affected.
    std::setlocale(LC_NUMERIC, "C");
    const QTemporaryDir scratch;
    Look look(themeFor(options));
    const bool picture = options.verb == LaunchVerb::Screenshot;
    MainWindow window(look, foldersFor(options, scratch), picture ? Memory::None : Memory::UserSettings);
    if (const Status opened = openAtStart(window, options); !opened) {
        return failWith(opened.error());
    }
    Screenshot screenshot(window, options);
    if (picture) {
        screenshot.begin();
    } else {
        window.show();
        if (options.steps > 0) {
            window.runs().runSteps(options.steps);
        }
    }
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv)
{
    QStringList arguments;
    for (int i = 0; i < argc; ++i) {
        arguments << QString::fromLocal8Bit(argv[i]);
    }
    const auto options = parseLaunch(arguments);
    if (!options) {
        return failWith(options.error());
    }
    switch (options->verb) {
    case LaunchVerb::Help:
        std::fputs(launchHelp().c_str(), stdout);
        return 0;
    case LaunchVerb::Version:
        std::puts("residua " RESIDUA_VERSION);
        return 0;
    case LaunchVerb::Report:
        return writeReport(*options);
    case LaunchVerb::Window:
    case LaunchVerb::Screenshot:
        break;
    }
    engine::startPrepared(argv);
    return runWindow(argc, argv, *options);
}
