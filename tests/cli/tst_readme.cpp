// SPDX-License-Identifier: GPL-3.0-or-later
// The commands under "Ten lines" of README.md, word for word in an empty directory, with a smaller project; its table
// of topologies; and the files that the documents name.
#include "app/cli/arguments/arguments.h"
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

using namespace residua;
using namespace residua::cli;

namespace {

/// Returns the lines of the fenced block under "Ten lines", without their comments.
QStringList commandsOf(const QString& readme)
{
    const qsizetype section = readme.indexOf("\n## Ten lines\n");
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

/// Makes the project at `directory` small. Keeps its wiring.
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
    project.training.observeEvery = 50;
    QVERIFY(projects::saveProject(directory.toStdString(), *document).ok());
}

} // namespace

class TestReadme : public QObject {
    Q_OBJECT

private slots:
    void theBlockIsFound()
    {
        QCOMPARE(m_commands.size(), 10);
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
        for (const char* const file :
             {"report.html", "code/model.py", "my-project/runs/dca/checkpoints/step-00000600", "study"}) {
            QVERIFY2(QFile::exists(folder.filePath(file)), file);
        }
    }

    void theTableNamesEveryTopology()
    {
        const qsizetype begin = m_readme.indexOf("\n## Topologies\n");
        const QString table = m_readme.mid(begin, m_readme.indexOf("\n## ", begin + 1) - begin);
        QStringList named;
        static const QRegularExpression kFirstColumn("^\\|([^|]*)\\|", QRegularExpression::MultilineOption);
        static const QRegularExpression kName("`([^`]+)`");
        for (auto row = kFirstColumn.globalMatch(table); row.hasNext();) {
            for (auto name = kName.globalMatch(row.next().captured(1)); name.hasNext();) {
                named << name.next().captured(1);
            }
        }
        QStringList known;
        for (const std::string& name : topologyNames()) {
            known << QString::fromStdString(name);
        }
        named.sort();
        known.sort();
        QCOMPARE(named, known);
    }

    /// The sources and headers that the documents name in code style, at least by the end of their path.
    void filesOfTheDocumentsExist()
    {
        static const QRegularExpression kFile("`([A-Za-z0-9_./-]+\\.(?:h|cpp|cu|cuh|cmake|sh|py))`");
        const QDir checkout = QFileInfo(README_FILE).dir();
        QSet<QString> ends;
        QStringList documents;
        for (const char* const top : {".", "app", "cmake", "editor", "engine", "kernels", "packaging", "projects",
                                      "resources", "tests", "visualizers"}) {
            const auto below = QString(top) == "." ? QDirIterator::NoIteratorFlags : QDirIterator::Subdirectories;
            for (QDirIterator file(checkout.filePath(top), QDir::Files, below); file.hasNext();) {
                const QString path = checkout.relativeFilePath(file.next());
                for (qsizetype at = -1; at != -2; at = path.indexOf('/', at + 1) < 0 ? -2 : path.indexOf('/', at + 1)) {
                    ends << path.mid(at + 1);
                }
                documents += path.endsWith(".md") && !path.contains("help/") ? QStringList{path} : QStringList{};
            }
        }
        QVERIFY(documents.size() > 20);
        for (const QString& document : documents) {
            QFile file(checkout.filePath(document));
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (auto name = kFile.globalMatch(QString::fromUtf8(file.readAll())); name.hasNext();) {
                QString path = name.next().captured(1);
                path.remove(QRegularExpression("^\\./"));
                QVERIFY2(path.startsWith("ATen/") || ends.contains(path), qPrintable(document + ": " + path));
            }
        }
    }

    void itIsShort() { QVERIFY(m_readme.simplified().count(' ') < 1200); }

private:
    static void run(const QString& directory, const QStringList& words)
    {
        QProcess process;
        process.setWorkingDirectory(directory);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(RESIDUA_CLI, words);
        QVERIFY2(process.waitForFinished(kPatience), "the program hangs");
        const QByteArray said = process.readAll();
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, said.constData());
    }

    static QString readReadme()
    {
        QFile readme(README_FILE);
        return readme.open(QIODevice::ReadOnly) ? QString::fromUtf8(readme.readAll()) : QString();
    }

    const QString m_readme = readReadme();
    const QStringList m_commands = commandsOf(m_readme);
};

RESIDUA_TEST(TestReadme)
#include "tst_readme.moc"
