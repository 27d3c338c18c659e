// SPDX-License-Identifier: GPL-3.0-or-later
// Completion for shells, and manual pages.
#include "app/cli/commands/commands.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace residua;
using namespace residua::cli;

namespace {

class TestCliShells : public QObject {
    Q_OBJECT

private slots:
    void bashCompletesCommandsOptionsAndNames()
    {
        const QString script = run({"completion", "bash"}).output;
        const auto completions = [&](const QString& words, int at) {
            QProcess bash;
            bash.setWorkingDirectory(m_folder.path());
            bash.start("bash", {"-c", script + QString("\nCOMP_WORDS=(%1)\nCOMP_CWORD=%2\n_residua_cli\n"
                                                       "echo \"${COMPREPLY[@]}\"")
                                                   .arg(words)
                                                   .arg(at)});
            return ended(bash).output.trimmed().split(' ');
        };
        QCOMPARE(completions("residua-cli tra", 1), QStringList{"train"});
        QCOMPARE(completions("residua-cli train p --resume-o", 3), QStringList{"--resume-or-start"});
        QVERIFY(completions("residua-cli retrofit r --topology d", 4).contains("dca"));
        QVERIFY(completions("residua-cli info plain-l", 2).contains("plain-language"));
        // The values of an option depend on the command.
        QVERIFY(completions("residua-cli pack p --data f", 4).contains("fingerprint"));
        QVERIFY(!completions("residua-cli new p --data f", 4).contains("fingerprint"));
        QVERIFY(completions("residua-cli pack p --checkpoints b", 4).contains("best"));
        QVERIFY(completions("residua-cli tokenise t --kind u", 4).contains("unigram"));
        QVERIFY(completions("residua-cli export r --type B", 4).contains("BF16"));
        QVERIFY(completions("residua-cli export r --type F", 4).contains("F64")); // what its help names
        QVERIFY(completions("residua-cli export r --to pyt", 4).contains("pytorch"));
        // Fields, whose value follows; and what a place of the command takes, wherever its options stand.
        QVERIFY(completions("residua-cli train p --set training.ba", 4).contains("training.batch="));
        QVERIFY(completions("residua-cli set p training.steps = 9 training.ba", 6).contains("training.batch="));
        QVERIFY(completions("residua-cli set p topol", 3).contains("topology="));
        QVERIFY(!completions("residua-cli set topol", 2).contains("topology="));
        QVERIFY(!completions("residua-cli set p topology = topol", 5).contains("topology="));
        QVERIFY(completions("residua-cli diff p plain-l", 3).contains("plain-language"));
        QVERIFY(!completions("residua-cli info p plain-l", 3).contains("plain-language"));
        QVERIFY(completions("residua-cli bench --steps 5 plain-l", 4).contains("plain-language"));
        QVERIFY(completions("residua-cli bench --steps = 5 --set training.batch = 2 plain-l", 9)
                    .contains("plain-language"));
        QVERIFY(completions("residua-cli tokenise -o m --kind u", 5).contains("unigram"));
        QVERIFY(completions("residua-cli analyze sta", 2).contains("stability"));
        QVERIFY(completions("residua-cli train p --device = c", 5).contains("cpu"));
        QCOMPARE(run({"completion", "csh"}).code, 1);
    }

    /// By the shell itself where it is there.
    void otherShellsReadTheirScripts_data()
    {
        QTest::addColumn<QString>("shell");
        QTest::newRow("zsh") << "zsh";
        QTest::newRow("fish") << "fish";
    }
    void otherShellsReadTheirScripts()
    {
        QFETCH(QString, shell);
        const Ran script = run({"completion", shell});
        QCOMPARE(script.code, 0);
        for (const Command& command : allCommands()) {
            QVERIFY2(script.output.contains(QString::fromStdString(command.name)), command.name.c_str());
            for (const OptionSpec& option : command.syntax.options) {
                QVERIFY2(script.output.contains(QString::fromStdString(option.name)), option.name.c_str());
            }
        }
        const QString program = QStandardPaths::findExecutable(shell);
        if (program.isEmpty()) {
            QSKIP("this shell is not installed");
        }
        QFile file(path("completion." + shell));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(script.output.toUtf8());
        file.close();
        QProcess check;
        check.start(program, {"-n", file.fileName()});
        const Ran ran = ended(check);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
    }

    void everyCommandHasAManualPage()
    {
        const Ran written = run({"man", "-o", path("man1")});
        QVERIFY2(written.code == 0, qPrintable(written.errors));
        static const QRegularExpression request(R"(^\.(TH |SH |TP$|B ))");
        for (const Command& command : allCommands()) {
            QFile file(path("man1/residua-cli-") + QString::fromStdString(command.name) + ".1");
            QVERIFY2(file.open(QIODevice::ReadOnly), command.name.c_str());
            const QString page = QString::fromUtf8(file.readAll());
            for (const QString& line : page.split('\n')) {
                QVERIFY2(!line.startsWith('.') || request.match(line).hasMatch(), qPrintable(line));
            }
            for (const OptionSpec& option : command.syntax.options) {
                const QString name = "\\-\\-" + QString::fromStdString(option.name).replace("-", "\\-");
                QVERIFY2(page.contains(name), option.name.c_str());
            }
        }
        QVERIFY(run({"man"}).output.contains(".SH EXIT STATUS"));
        QCOMPARE(run({"man", "bogus"}).code, 1);
    }

private:
    static Ran run(const QStringList& words) { return runProcess(words); }
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliShells)
#include "tst_cli_shells.moc"
