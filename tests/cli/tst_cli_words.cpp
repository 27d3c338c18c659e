// SPDX-License-Identifier: GPL-3.0-or-later
// The words of a command line, and what the program says of itself and of the methods: all that needs no project.
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/runs/results/teaching.h"
#include "projects/shipped/examples.h"
#include "resources/help.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QtTest>

#include <algorithm>
#include <iomanip>
#include <set>
#include <span>
#include <sstream>

using namespace residua;
using namespace residua::cli;

namespace {

/// Adds the fields of the queries from `index` on that have no option: "ImportRequest.folder".
template <std::size_t index>
void eachQuery(QStringList& without)
{
    if constexpr (index < std::variant_size_v<engine::Command>) {
        using Query = std::variant_alternative_t<index, engine::Command>;
        if constexpr (engine::kIsQuery<Query>) {
            static_assert(projects::describesAll<Query>());
            const QString name = QString::fromLatin1(QMetaType::fromType<Query>().name()).section("::", -1);
            projects::Fields<Query>::visit([&](const projects::Field& field, auto) {
                const std::string key(field.key);
                if (key != "tag" && key != "of" && field.help.empty() && field.more.value.empty()) {
                    without << name + "." + QString::fromStdString(key);
                }
            });
        }
        eachQuery<index + 1>(without);
    }
}

class TestCliWords : public QObject {
    Q_OBJECT

private slots:
    void showsHelp()
    {
        const Ran overview = run({"--help"});
        QCOMPARE(overview.code, 0);
        for (const Command& command : allCommands()) {
            const QString name = QString::fromStdString(command.name);
            QVERIFY2(overview.output.contains("  " + name + " "), command.name.c_str());
            QVERIFY(command.example.starts_with("residua-cli " + command.name));
            QVERIFY(!command.summary.empty());
            QVERIFY((command.run == nullptr) == !command.subcommands.empty());
            for (const OptionSpec& option : command.syntax.options) {
                QVERIFY2(!option.help.empty(), option.name.c_str());
                QCOMPARE(option.kind == OptionKind::Flag, option.value.empty());
            }
        }
        const Ran help = run({"train", "--help"});
        QCOMPARE(help.code, 0);
        QVERIFY(help.output.contains("Example:\n  residua-cli train"));
        QVERIFY(help.output.contains("--device KEY"));
    }

    /// The help of a subcommand has the options that it reads, and it refuses the others.
    void subcommandsHaveTheirOwnOptions()
    {
        const QString help = run({"analyze", "coefficients", "--help"}).output;
        QVERIFY2(help.contains("Usage: residua-cli analyze coefficients RUN [OPTIONS]"), qPrintable(help));
        QVERIFY(help.contains("--log-ratio") && help.contains("Example:\n  residua-cli analyze coefficients "));
        for (const char* const other : {"--kappa", "--set", "--batches", "--threads", "--theorem", "SUBJECT"}) {
            QVERIFY2(!help.contains(other), other);
        }
        QCOMPARE(run({"analyze", "--json", "coefficients", "-h"}).json().object()["command"].toString(),
                 QString("analyze coefficients"));
        // The value of an option is not the word of a subcommand.
        QCOMPARE(run({"analyze", "-o", "gap", "--json", "coefficients", "-h"}).json().object()["command"].toString(),
                 QString("analyze coefficients"));
        const QString list = run({"analyze", "--help"}).output;
        QVERIFY2(list.contains("residua-cli analyze WHAT --help") && !list.contains("--kappa"), qPrintable(list));
        int count = 0;
        for (const Command& command : allCommands()) {
            for (const Command& subcommand : command.subcommands) {
                const QStringList words = QString::fromStdString(subcommand.name).split(' ');
                QVERIFY2(list.contains("  " + words.back() + " "), subcommand.name.c_str());
                const QString own = run(words + QStringList{"--help"}).output;
                for (const OptionSpec& option : command.syntax.options) {
                    const std::vector<OptionSpec>& options = subcommand.syntax.options;
                    const bool isOwn = std::ranges::count(options, option.name, &OptionSpec::name) == 1;
                    const QString name = "--" + QString::fromStdString(option.name);
                    QVERIFY2(own.contains(QRegularExpression("^  (-., )?" + name + "\\b",
                                                             QRegularExpression::MultilineOption)) == isOwn,
                             qPrintable(words.join(' ') + " " + name));
                }
                ++count;
            }
        }
        QCOMPARE(count, 10);
        QVERIFY(run({"analyze", "confusion", "run", "--kappa", "1"}).errors.contains("unknown option --kappa"));
        QVERIFY(run({"analyze", "confusion"}).errors.contains("residua-cli analyze confusion --help"));
        QVERIFY(run({"analyze", "coefficient", "run"}).errors.contains("did you mean coefficients?"));
        QVERIFY(run({"analyze"}).errors.contains("WHAT: coefficients, metrics, "));
    }

    /// The options of a command about a request are those of the request's fields, but for the ones named here. The
    /// other fields of requests are its words, or are made of several options.
    void requestsHaveNoOptionsOfTheirOwn_data()
    {
        QTest::addColumn<std::vector<OptionSpec>>("described");
        QTest::addColumn<QString>("others");
        const auto row = [](const char* command, std::vector<OptionSpec> described, const char* others) {
            QTest::newRow(command) << std::move(described) << QString(others);
        };
        row("eval", optionsOf<engine::EvaluateRequest>({}), "place folder threads choices");
        row("sample", optionsOf<engine::SampleRequest>({}), "place folder threads output");
        // A retrofit, a fork with a change, and a run with other loops are one request.
        const auto without = [](std::vector<OptionSpec> options, const std::vector<std::string>& names) {
            std::erase_if(options, [&](const OptionSpec& option) {
                return std::ranges::find(names, option.name) != names.end();
            });
            return options;
        };
        row("retrofit", without(optionsOf<engine::RetrofitRequest>({}), {"prune", "layers"}), "threads");
        row("fork", without(optionsOf<engine::RetrofitRequest>({}), {"topology", "measured", "layers"}), "set threads");
        row("untie", without(optionsOf<engine::RetrofitRequest>({}), {"topology", "prune", "measured", "layers"}),
            "threads");
        row("tie", without(optionsOf<engine::RetrofitRequest>({}), {"topology", "prune", "measured"}), "threads");
        row("factorise", optionsOf<engine::FactoriseRequest>({}), "threads");
        row("export", optionsOf<engine::ExportRequest>({}), "threads");
        row("fetch", optionsOf<engine::FetchCheckpoint>(), "place folder");
        row("tokenise", optionsOf<engine::TokeniserTraining>(), "");
        // The data are found out from files, as `new` does; --onto and --set open another project.
        row("import", optionsOf<engine::ImportRequest>(), "onto set tower dry-run data mix field label threads");
        row("teach", optionsOf<engine::Teaching>(), "output dry-run set threads");
        // An analysis names the checkpoint --step, and sorts, saves or draws a figure.
        row("analyze gap", optionsOf<engine::GapRequest>(),
            "step sort set output project other-data threads place folder");
        row("analyze knockout", optionsOf<engine::KnockoutRequest>(),
            "step weakest weak-by output project other-data threads place folder");
        row("analyze interventions", optionsOf<engine::InterventionRequest>(),
            "step output project other-data threads place folder");
        row("analyze visits", optionsOf<engine::VisitsRequest>(),
            "step set output project other-data threads place folder");
        row("analyze stability", optionsOf<engine::StabilityRequest>(),
            "step figure dimension layers norm without output project other-data threads place folder");
    }
    void requestsHaveNoOptionsOfTheirOwn()
    {
        QFETCH(std::vector<OptionSpec>, described);
        QFETCH(QString, others);
        const std::string named = QTest::currentDataTag();
        const auto commands = allCommands();
        const auto command = std::ranges::find(commands, named.substr(0, named.find(' ')), &Command::name);
        QVERIFY(command != commands.end());
        const auto sub = std::ranges::find(command->subcommands, named, &Command::name);
        const Syntax& syntax = sub == command->subcommands.end() ? command->syntax : sub->syntax;
        QStringList left;
        for (const OptionSpec& option : syntax.options) {
            const auto same = std::ranges::find(described, option.name, &OptionSpec::name);
            if (same == described.end()) {
                left << QString::fromStdString(option.name);
                continue;
            }
            QCOMPARE(option.help, same->help);
            QCOMPARE(option.value, same->value);
            QCOMPARE(option.minimum, same->minimum);
            described.erase(same);
        }
        QCOMPARE(left.join(' '), others);
        QVERIFY2(described.empty(), described.empty() ? "" : described.front().name.c_str());
    }

    /// The words of a command and what it reads from files are no options of their own; all other fields are.
    void fieldsOfRequestsAreOptions()
    {
        QStringList without;
        eachQuery<0>(without);
        QCOMPARE(without, QStringList({"SampleRequest.generation", "EvaluateRequest.choices",
                                       "EvaluateRequest.generation", "RetrofitRequest.settings", "ImportRequest.folder",
                                       "ImportRequest.data", "LoadWeightsRequest.file", "LoadWeightsRequest.project",
                                       "LoadWeightsRequest.onto", "GapRequest.project", "VisitsRequest.project",
                                       "TokeniserRequest.training", "FetchCheckpoint.run"}));
    }

    void defaultsAreValuesOfTheDescription()
    {
        const auto helpOf = [](const std::vector<OptionSpec>& options, const char* name) {
            return QString::fromStdString(std::ranges::find(options, name, &OptionSpec::name)->help);
        };
        const auto sample = optionsOf<engine::SampleRequest>();
        QCOMPARE(helpOf(sample, "tokens"), QString("tokens to add (default: 200)"));
        QCOMPARE(helpOf(sample, "temperature"), QString("0: always the likeliest token (default: 0.8)"));
        QVERIFY(helpOf(optionsOf<engine::Teaching>(), "weight").endsWith("(default: 0.5)"));
        QVERIFY(helpOf(sample, "top-k").endsWith("(default: all; of masked tokens 5)"));
        QCOMPARE(helpOf(optionsOf<engine::EvaluateRequest>(), "split"),
                 QString("train, validation or test (default: validation)"));
        QVERIFY(!helpOf(optionsOf<engine::ExportRequest>(), "to").contains("default"));
        QVERIFY(helpOf(optionsOf<engine::GapRequest>(), "methods").endsWith("(default: spectral,lfai-ws,exact)"));
    }

    void examplesInTheHelpParse()
    {
        for (const Command& command : allCommands()) {
            std::vector<Command> explained = command.subcommands;
            explained.push_back(command);
            for (const Command& each : explained) {
                std::vector<std::string> words;
                std::istringstream text(each.example);
                for (std::string word; text >> std::quoted(word);) {
                    words.push_back(word);
                }
                const Call call = callOf(command, std::span(words).subspan(2));
                QVERIFY2(Arguments::parse(call.command.syntax, call.words).ok(), each.example.c_str());
                QVERIFY2(each.subcommands.size() > 0 || call.command.name == each.name, each.example.c_str());
            }
        }
    }

    void refusesWrongCommandLines_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        QTest::newRow("nothing") << QStringList{} << "Usage";
        QTest::newRow("a misspelt command") << QStringList{"tran", "x"} << "did you mean train?";
        QTest::newRow("a misspelt option") << QStringList{"train", "x", "--stpes", "5"} << "did you mean --steps?";
        QTest::newRow("an unknown example")
            << QStringList{"new", "--example", "plain-languag", "x"} << "did you mean plain-language?";
    }
    void refusesWrongCommandLines()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        const Ran ran = run(words);
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains(said), qPrintable(ran.errors));
    }

    void refusesWrongWords_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        QTest::newRow("no value") << QStringList{"x", "--steps"} << "--steps needs a value";
        QTest::newRow("a wrong value") << QStringList{"x", "--steps", "ten"} << "expected a whole number";
        QTest::newRow("a fraction") << QStringList{"x", "--steps=1.5"} << "expected a whole number";
        QTest::newRow("a value too small") << QStringList{"x", "--steps", "0"} << "at least 1";
        QTest::newRow("a value too large") << QStringList{"x", "--steps", "1e300"} << "at most 1000000000000";
        QTest::newRow("no number at all") << QStringList{"x", "--steps", "1e999"} << "expected a whole number";
        QTest::newRow("hexadecimal") << QStringList{"x", "--steps", "0x10"} << "expected a whole number";
        QTest::newRow("threads without end") << QStringList{"x", "--threads", "100000"} << "at most 1024";
        QTest::newRow("no time") << QStringList{"x", "--time-limit", "5"} << "expected a time such as 45s";
        QTest::newRow("an empty path") << QStringList{"x", "--run", ""} << "--run got \"\", expected DIR";
        QTest::newRow("an empty argument") << QStringList{""} << "the argument PROJECT is empty";
        QTest::newRow("a value for a flag") << QStringList{"x", "--json=1"} << "--json takes no value";
        QTest::newRow("a missing argument") << QStringList{} << "missing argument PROJECT";
        QTest::newRow("an argument too many") << QStringList{"a", "b"} << "unexpected argument \"b\"";
    }
    void refusesWrongWords()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        std::vector<std::string> given;
        for (const QString& word : words) {
            given.push_back(word.toStdString());
        }
        const Result<Arguments> parsed = Arguments::parse(runCommands().front().syntax, given); // of train
        QVERIFY(!parsed.ok());
        QVERIFY2(QString::fromStdString(parsed.error().text()).contains(said), parsed.error().text().c_str());
    }

    /// Whatever names a project takes --set, and refuses a field that there is not before it does anything.
    void everyCommandOfAProjectTakesFields()
    {
        std::vector<std::string> without;
        for (const Command& command : allCommands()) {
            const bool takes = std::ranges::count(command.syntax.options, std::string("set"), &OptionSpec::name) > 0;
            if (!takes || command.name == "fork") { // those of a run, which is read first
                without.push_back(command.name);
                continue;
            }
            std::vector<QStringList> lines{{QString::fromStdString(command.name), "plain-language"}};
            if (command.name == "diff") {
                lines = {{"diff", "plain-language", "plain-language"}};
            } else if (command.name == "import") {
                lines = {{"import", "x.safetensors", "--onto", "plain-language"}, {"import", "folder", "-o", "made"}};
            } else if (command.name == "analyze") {
                lines = {{"analyze", "gap", "plain-language"},
                         {"analyze", "theory", "plain-language"},
                         {"analyze", "coefficients", "run"},
                         {"analyze", "theory"}};
            }
            for (const QStringList& line : lines) {
                const Ran ran = run(line + QStringList{"--set", "training.batc=2"});
                QVERIFY2(ran.code == 1, qPrintable(line.join(' ') + ": " + ran.errors));
                QVERIFY2(ran.errors.contains("--set"), qPrintable(line.join(' ') + ": " + ran.errors));
            }
        }
        for (const Command& command : allCommands()) {
            const bool named = std::ranges::any_of(command.syntax.positionals, [](const PositionalSpec& each) {
                return each.name == "PROJECT" && each.help == projectArgument().help;
            });
            QVERIFY2(!named || std::ranges::count(without, command.name) == 0, command.name.c_str());
        }
        for (const char* const name : {"train", "sweep", "bench", "validate", "info", "diff", "analyze", "import"}) {
            QVERIFY2(std::ranges::count(without, std::string(name)) == 0, name);
        }
    }

    void noOptionIsListedTwice()
    {
        for (const Command& command : allCommands()) {
            std::set<std::string> names;
            for (const OptionSpec& option : command.syntax.options) {
                QVERIFY2(names.insert(option.name).second, (command.name + " --" + option.name).c_str());
            }
        }
    }

    void fieldsOfADifferenceAreTheSecondProjects()
    {
        const Ran ran = run({"diff", "plain-language", "plain-language", "--set", "training.batch=3"});
        QCOMPARE(ran.code, 0);
        QVERIFY2(ran.output.contains("3") && ran.output.count('\n') == 1, qPrintable(ran.output));
    }

    void everyFailureIsJsonWhereJsonIsAskedFor_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("code");
        QTest::newRow("nothing") << QStringList{"--json"} << 1;
        QTest::newRow("an unknown command") << QStringList{"bogus", "--json"} << 1;
        QTest::newRow("before the command") << QStringList{"--json", "bogus"} << 1;
        QTest::newRow("an unknown option") << QStringList{"train", "--json", "--nope"} << 1;
        QTest::newRow("asked for after the mistake") << QStringList{"train", "--nope", "--json"} << 1;
        QTest::newRow("a missing argument") << QStringList{"train", "--json"} << 1;
        QTest::newRow("a wrong number") << QStringList{"train", "x", "--steps", "ten", "--json"} << 1;
        QTest::newRow("no project") << QStringList{"info", "nowhere", "--json"} << 2;
        QTest::newRow("no run") << QStringList{"eval", "nowhere", "--json"} << 3;
        QTest::newRow("no folder") << QStringList{"runs", "nowhere", "--json"} << 1;
    }
    void everyFailureIsJsonWhereJsonIsAskedFor()
    {
        QFETCH(QStringList, words);
        QFETCH(int, code);
        const Ran ran = run(words);
        QCOMPARE(ran.code, code);
        QCOMPARE(ran.output.count('\n'), 1);
        const QJsonObject error = json(ran).object()["error"].toObject();
        QCOMPARE(error["code"].toInt(), code);
        QVERIFY(!error["message"].toString().isEmpty());
        QVERIFY(!ran.errors.isEmpty());
    }

    void helpAndVersionAreJsonToo()
    {
        QCOMPARE(json(run({"--version", "--json"})).object()["program"].toString(), QString("residua-cli"));
        QCOMPARE(json(run({"--help", "--json"})).object()["commands"].toArray().size(),
                 static_cast<qsizetype>(allCommands().size()));
        QCOMPARE(json(run({"train", "--help", "--json"})).object()["command"].toString(), QString("train"));
    }

    void explainsEveryTopic()
    {
        const Ran list = run({"explain"});
        QCOMPARE(list.code, 0);
        for (const resources::HelpTopic& topic : resources::helpTopics()) {
            QVERIFY2(list.output.contains("  " + QString::fromStdString(topic.name) + " "), topic.name.c_str());
        }
        const Ran page = run({"explain", "ANCRe"});
        QCOMPARE(page.code, 0);
        QVERIFY(page.output.startsWith("ANCRe: learned shortcuts\n"));
        QVERIFY(page.output.contains("x_j = F_j(x_{j−1})"));
        QCOMPARE(run({"explain", "ancre_outgoing"}).output, page.output); // a preset's key finds its method
        const QJsonObject told = json(run({"explain", "patchify", "--json"})).object();
        QCOMPARE(told["name"].toString(), QString("nodes-images"));
        QVERIFY(told["text"].toString().startsWith("# "));
        QCOMPARE(json(run({"explain", "--json"})).array().size(), qsizetype(resources::helpTopics().size()));
    }

    /// An example without a page of its name tells what it is and how it is made.
    void explainsEveryExample()
    {
        for (const projects::ExampleCard& card : projects::exampleCards()) {
            const Ran told = run({"explain", card.name});
            QVERIFY2(told.code == 0, qPrintable(told.errors));
            const bool hasPage = resources::findTopic(card.name) != nullptr;
            QVERIFY2(hasPage || told.output.contains(QString("new --example ") + card.name), qPrintable(told.output));
        }
        QVERIFY(run({"explain", "plain-language"}).output.contains("residua-cli explain plain "));
        QCOMPARE(json(run({"explain", "ancre-language", "--json"})).object()["topology"].toString(), QString("ancre"));
    }

    void anUnknownTopicIsAnsweredWithTheNearest()
    {
        const Ran mentioned = run({"explain", "bert"});
        QCOMPARE(mentioned.code, 1);
        QVERIFY2(mentioned.errors.contains("mentioned in") && mentioned.errors.contains("recipes"),
                 qPrintable(mentioned.errors));
        const Ran near = run({"explain", "highwya"});
        QCOMPARE(near.code, 1);
        QVERIFY2(near.errors.contains("did you mean highway?"), qPrintable(near.errors));
        const Ran far = run({"explain", "zzzzzzzz"});
        QCOMPARE(far.code, 1);
        QVERIFY2(far.errors.contains("residua-cli explain lists them"), qPrintable(far.errors));
    }

    /// Only code and single long words are wider than the terminal, and no mark of Markdown is left.
    void pagesFitTheTerminal()
    {
        for (const std::size_t width : {1, 40, 80, 200}) {
            for (const resources::HelpTopic& topic : resources::helpTopics()) {
                const QString text = QString::fromStdString(terminalText(topic.text, width));
                QVERIFY2(!text.contains("](") && !text.contains("\n#") && !text.contains("|---"), topic.name.c_str());
                for (const QString& line : text.split('\n')) {
                    const bool isCode =
                        line.startsWith("    ") && topic.text.find(line.toStdString()) != std::string::npos;
                    const bool isWord =
                        line.trimmed().startsWith("- ") ? line.count(' ') <= 3 : !line.trimmed().contains(' ');
                    const bool isTable = width < 80 && topic.text.find("\n|") != std::string::npos;
                    QVERIFY2(isCode || isWord || isTable ||
                                 line.size() <= qsizetype(std::max<std::size_t>(width, 22)) || !line.startsWith(' '),
                             qPrintable(line));
                }
            }
        }
    }

    void markdownBecomesText()
    {
        QCOMPARE(terminalText("# A *title*\n\none `code` and a [link](b.md), 2 * 3 * 4\n", 80),
                 std::string("A title\n\n  one code and a link, 2 * 3 * 4"));
        QCOMPARE(terminalText("- first words\n  that go on\n- second", 22),
                 std::string("  - first words that\n    go on\n  - second"));
        QCOMPARE(terminalText("    x = `y`  *z*\n", 10), std::string("    x = `y`  *z*")); // code as it is
        QCOMPARE(terminalText("|a|b|\n|---|---|\n|long|two words|\n", 80), std::string("  a     b\n  long  two words"));
        QCOMPARE(terminalText("[unclosed and `open", 80), std::string("  [unclosed and open"));
        QCOMPARE(terminalText("", 80), std::string());
    }

    void parsesWords()
    {
        const Syntax syntax{{{"A", "", Presence::Optional}, {"B", "", Presence::Optional}},
                            {{"rate", OptionKind::Real, "R", ""}, {"out", OptionKind::Text, "F", "", "o"}}};
        const std::vector<std::string> words{"-o", "-x", "--rate=1e-3", "--", "--json"};
        const Result<Arguments> arguments = Arguments::parse(syntax, words);
        QVERIFY(arguments.ok());
        QCOMPARE(arguments->text("out"), std::string("-x"));
        QCOMPARE(arguments->real("rate", 0), 1e-3);
        QCOMPARE(arguments->positional(0), std::string("--json"));
        QCOMPARE(arguments->positional(1), std::string());
        QVERIFY(!arguments->has("json"));
    }

private:
    static Ran run(const QStringList& words) { return runProcess(words); }
    static QJsonDocument json(const Ran& ran) { return ran.json(); }
};

} // namespace

RESIDUA_TEST(TestCliWords)
#include "tst_cli_words.moc"
