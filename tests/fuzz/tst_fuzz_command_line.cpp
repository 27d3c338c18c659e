// SPDX-License-Identifier: GPL-3.0-or-later
// Random command lines: whatever they ask, the program ends with a code of its table and says why, and never crashes.
// RESIDUA_FUZZ_ROUNDS makes it long, RESIDUA_RANDOM_SEED repeats it.
#include "tests/cli/hostile_work.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_command_line.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <optional>

using namespace residua;
using namespace residua::cli;

namespace {

class TestFuzzCommandLine : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        projects::Document tiny = tinyProject();
        tiny.project.training.steps = 3;
        m_work.emplace(tiny);
    }

    void cleanupTestCase() { m_work.reset(); }

    void anyLineIsAnswered()
    {
        const fuzz::SoundWords sound{{{"PROJECT", "tiny"},
                                      {"PROJECT", "tiny/project.json"},
                                      {"PROJECT", "ancre-case-study"},
                                      {"RUN", "run"},
                                      {"A", "tiny"},
                                      {"B", "plain-language"},
                                      {"DIR", "run"},
                                      {"DIR", "new-folder"},
                                      {"DIR", "tiny"},
                                      {"FILE", "out.csv"},
                                      {"FILE", "out.safetensors"},
                                      {"FILE", "out.html"},
                                      {"KEY", "cpu"},
                                      {"KEY", "cuda:0"},
                                      {"WHAT", "coefficients"},
                                      {"WHAT", "initial"},
                                      {"WHAT", "3"},
                                      {"TEXT", "1 2 3"},
                                      {"FIELD=V1,V2", "/seeds/init=1,2"},
                                      {"FIELD=V1,V2", "/topology=plain,grn-v1"},
                                      {"NAME", "dca"},
                                      {"NAME", "topologies"},
                                      {"NAME", "validation"},
                                      {"NAME", "q"},
                                      {"NAME", "plain-language"}}};
        const std::vector<Command> commands = allCommands();
        const int count = fuzz::rounds(150);
        for (int round = 0; round < count; ++round) {
            const std::uint64_t seed = fuzz::seed() + static_cast<std::uint64_t>(round);
            std::mt19937_64 random(seed);
            const std::vector<std::string> words = fuzz::randomCommandLine(random, commands, sound);
            const auto end = std::find(words.begin(), words.end(), "--");
            const bool json = std::find(words.begin(), end, "--json") != end;
            // "--json" may also be the value of an option: then the answer may be text.
            const Forked forked = runForked(words, m_work->path());
            const bool answeredInJson =
                json && (forked.output.empty() || forked.output[0] == '{' || forked.output[0] == '[');
            const std::string objection = forked.objection(answeredInJson);
            QVERIFY2(
                objection.empty(),
                (std::to_string(seed) + ": " + objection + ": " + asShellLine(words) + "\n" + forked.errors).c_str());
        }
    }

private:
    std::optional<HostileWork> m_work;
};

} // namespace

RESIDUA_TEST(TestFuzzCommandLine)
#include "tst_fuzz_command_line.moc"
