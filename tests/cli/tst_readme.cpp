// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that README.md gives under "Take it along", in an empty directory and word for word. Two things are not:
// NAME stands for the run's directory, as a reader would put it, and the trainings are made small.
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>

using namespace residua;
using cli::kPatience;

namespace {

/// The lines of the fenced block after "Take it along", without their comments.
QStringList commandsOf(const QString& readme)
{
    const qsizetype section = readme.indexOf("**Take it along.**");
    const qsizetype begin = readme.indexOf("\n```\n", section) + 5;
    const qsizetype end = readme.indexOf("\n```\n", begin);
    QStringList commands;
    if (section < 0 || begin < 5 || end < 0) {
        return commands;
    }
    for (const QString& line : readme.mid(begin, end - begin).split('\n')) {
        const QString command = line.section(" # ", 0, 0).trimmed();
        if (!command.isEmpty()) {
            commands << command;
        }
    }
    return commands;
}

/// As the reader's, with the same wiring, but small.
void makeSmall(const QString& directory)
{
    Result<projects::Document> document = projects::loadProject(directory.toStdString());
    QVERIFY2(document.ok(), document ? "" : document.error().text().c_str());
    projects::Project& project = document->project;
    project.data.source = projects::SyntheticLanguage{.vocabulary = 24, .levels = 2, .tokens = 4000};
    project.stack().width = 16;
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{2};
        }
    }
    project.training.batch = 2;
    project.training.sequenceLength = 16;
    project.training.steps = 150;
    project.training.observeEvery = 50;
    QVERIFY(projects::saveProject(directory.toStdString(), *document).ok());
}

} // namespace

class TestReadme : public QObject {
    Q_OBJECT

private slots:
    void theBlockIsFound()
    {
        QVERIFY(m_commands.size() >= 10);
        for (const QString& command : m_commands) {
            QVERIFY2(command.startsWith("residua-cli "), qPrintable(command));
        }
    }

    void everyCommandWorks()
    {
        QTemporaryDir folder;
        QVERIFY(folder.isValid());
        for (const QString& command : m_commands) {
            QStringList words = command.split(' ', Qt::SkipEmptyParts).mid(1);
            if (words.front() == "sweep") {
                words << "--steps"
                      << "3";
            }
            run(folder.path(), words);
            if (QTest::currentTestFailed()) {
                qWarning("failed: %s", qPrintable(command));
                return;
            }
            if (words.front() == "new") {
                makeSmall(folder.filePath(words.back()));
            }
        }
        for (const char* const file : {"report.html", "my-project/runs/dca/run.json", "study"}) {
            QVERIFY2(QFile::exists(folder.filePath(file)), file);
        }
    }

private:
    /// A training that a later line resumes is stopped by Ctrl-C, as the README says.
    static void run(const QString& directory, const QStringList& words)
    {
        QProcess process;
        process.setWorkingDirectory(directory);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(RESIDUA_CLI, words);
        const bool stopped = words.front() == "train";
        if (stopped) {
            QVERIFY(process.waitForReadyRead(kPatience)); // it has begun
            kill(static_cast<pid_t>(process.processId()), SIGINT);
        }
        QVERIFY2(process.waitForFinished(kPatience), "the program hangs");
        const QByteArray said = process.readAll();
        QVERIFY2(process.exitStatus() == QProcess::NormalExit, said.constData());
        QVERIFY2(process.exitCode() == (stopped ? 130 : 0), said.constData());
    }

    static QStringList readCommands()
    {
        QFile readme(README_FILE);
        return readme.open(QIODevice::ReadOnly) ? commandsOf(QString::fromUtf8(readme.readAll())) : QStringList();
    }

    QStringList m_commands = readCommands();
};

RESIDUA_TEST(TestReadme)
#include "tst_readme.moc"
