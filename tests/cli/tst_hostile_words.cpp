// SPDX-License-Identifier: GPL-3.0-or-later
// Every command, with what nobody types on purpose in every place: a message and a code of the table, never a crash.
#include "app/cli/commands/commands.h"
#include "tests/cli/hostile_work.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::cli;

namespace {

class TestHostileWords : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        projects::Document tiny = tinyProject();
        tiny.project.training.steps = 1;
        tiny.project.training.validateEvery = 0;
        m_work.emplace(tiny);
        m_made = m_work->makeFolder("made");
    }

    void cleanupTestCase() { m_work.reset(); }

    void everyCommandInEveryPlace_data()
    {
        QTest::addColumn<std::string>("name");
        for (const Command& command : allCommands()) {
            QTest::newRow(command.name.c_str()) << command.name;
        }
    }
    void everyCommandInEveryPlace()
    {
        QFETCH(std::string, name);
        const std::vector<Command> commands = allCommands();
        const Command& command = *std::ranges::find(commands, name, &Command::name);
        for (std::size_t place = 0; place < command.syntax.positionals.size(); ++place) {
            for (const std::string& word : wordsOfAPlace()) {
                std::vector<std::string> words = soundWords(command);
                words[place + 1] = word;
                check(words);
            }
        }
        for (const OptionSpec& option : command.syntax.options) {
            for (const std::string& word : wordsOfAPlace()) {
                std::vector<std::string> words = soundWords(command);
                words.push_back("--" + option.name + (option.kind == OptionKind::Flag ? "=" : ""));
                (option.kind == OptionKind::Flag ? words.back() += word : words.emplace_back(word));
                check(words);
            }
        }
        check({name});
        check({name, "--nope"});
        check({name, "a", "b", "c", "d"});
    }

    void theProgramItself()
    {
        check({});
        check({"--version"});
        check({"--help"});
        for (const std::string& word : hostileWords()) {
            check({word});
        }
    }

    void inADirectoryThatIsGone()
    {
        for (const Command& command : allCommands()) {
            const QTemporaryDir gone;
            std::vector<std::string> words = soundWords(command);
            std::ranges::replace(words, std::string("run"), (m_work->path() / "run").string());
            // The shell's way: a directory that is removed under the program.
            QProcess shell;
            QStringList line{"-c", "cd \"$0\" && rmdir \"$0\" && exec \"$@\"", gone.path(), RESIDUA_CLI};
            for (const std::string& word : words) {
                line << QString::fromStdString(word);
            }
            shell.start("/bin/sh", line);
            const Ran ran = ended(shell);
            QVERIFY2(ran.code >= 0 && ran.code < 70, qPrintable(line.join(' ') + ": " + ran.errors));
            QVERIFY2(ran.code == 0 || !ran.errors.isEmpty(), qPrintable(line.join(' ')));
        }
    }

private:
    /// The command with arguments that it can work with.
    static std::vector<std::string> soundWords(const Command& command)
    {
        static const std::map<std::string, std::string> kSound{
            {"PROJECT", "tiny"},      {"A", "tiny"},   {"B", "tiny"},
            {"RUN", "run"},           {"DIR", "tiny"}, {"PROJECT|RUN", "run"},
            {"WHAT", "coefficients"}, {"NAME", "none"}};
        std::vector<std::string> words{command.name};
        for (const PositionalSpec& positional : command.syntax.positionals) {
            const auto found = kSound.find(positional.name);
            words.push_back(found != kSound.end() ? found->second : "unknown");
        }
        return words;
    }

    /// Returns every RESIDUA_CASE_STRIDE-th hostile word, beginning with another one in each place and in each run.
    std::vector<std::string> wordsOfAPlace()
    {
        const auto stride = std::max<std::size_t>(tests::numberOf<std::size_t>("RESIDUA_CASE_STRIDE", 1), 1);
        std::vector<std::string> words;
        for (std::size_t i = (tests::randomSeed() + m_places++) % stride; i < hostileWords().size(); i += stride) {
            words.push_back(hostileWords()[i]);
        }
        return words;
    }

    void check(std::vector<std::string> words)
    {
        const bool json = ++m_count % 2 == 0;
        if (json) {
            words.insert(words.begin() + (words.empty() ? 0 : 1), "--json");
        }
        // The project that `new` makes would be trained by the next command.
        const bool makes = !words.empty() && words[0] == "new";
        const Forked forked = runForked(words, makes ? m_made : m_work->path());
        const std::string objection = forked.objection(json);
        QVERIFY2(objection.empty(), (objection + ": " + asShellLine(words) + "\n" + forked.errors).c_str());
    }

    std::optional<HostileWork> m_work;
    std::filesystem::path m_made; ///< in it
    int m_count = 0;
    std::size_t m_places = 0; ///< those that have had their words
};

} // namespace

RESIDUA_TEST(TestHostileWords)
#include "tst_hostile_words.moc"
