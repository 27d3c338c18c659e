// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/json.h"
#include "projects/file/store.h"

#include "projects/base/json_tree.h"
#include "projects/schema/json_write.h"
#include "projects/shipped/examples.h"
#include "tests/projects/mix_of.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <QtTest>

#include <limits>

using namespace residua;
using namespace residua::projects;
using residua::tests::asQString;
using residua::tests::mixOf;

namespace residua::projects {

/// A document of one version, and of the next one with two more fields.
struct Earlier {
    std::int64_t steps = 100;
    std::vector<Stage> stages = {};
};
struct Later {
    bool late = false;
    std::int64_t steps = 100;
    std::vector<Stage> stages = {};
    std::string word = "none";
};
template <>
struct Fields<Earlier> {
    static constexpr void visit(auto&& v)
    {
        v({"steps", "steps", "Counts."}, &Earlier::steps);
        v({"stages", "stages", "Lists."}, &Earlier::stages);
    }
};
template <>
struct Fields<Later> {
    static constexpr void visit(auto&& v)
    {
        v({"late", "late", "Is new."}, &Later::late);
        v({"steps", "steps", "Counts."}, &Later::steps);
        v({"stages", "stages", "Lists."}, &Later::stages);
        v({"word", "word", "Is new."}, &Later::word);
    }
};

} // namespace residua::projects

namespace {

/// A small project of which every line is known.
Project tiny()
{
    Project project;
    Graph& graph = project.network.blocks.emplace_back(Block{"mlp", "", {}}).graph;
    graph.nodes = {{NodeId{1}, "input", "in", {{"port", std::string("input")}}},
                   {NodeId{2}, "linear", "up", {{"bias", true}, {"out", std::string("4*d")}}}};
    graph.wires = {{{NodeId{1}, "out"}, {NodeId{2}, "in"}}};
    project.stack().segments = {{"mlp", 12}};
    return project;
}

/// Lines of `b` that `a` lacks and the other way round.
QStringList changedLines(const Project& a, const Project& b)
{
    const QStringList before = asQString(toJson(a)).split('\n');
    const QStringList after = asQString(toJson(b)).split('\n');
    QStringList changed;
    for (const QString& line : before) {
        if (!after.contains(line)) {
            changed << "-" + line.trimmed();
        }
    }
    for (const QString& line : after) {
        if (!before.contains(line)) {
            changed << "+" + line.trimmed();
        }
    }
    return changed;
}

} // namespace

class TestJson : public QObject {
    Q_OBJECT

private slots:
    void nestingIsCountedOutsideTexts()
    {
        QVERIFY(!residua::tooDeep("[{}]", 2));
        const auto deep = residua::tooDeep("[{}]", 1);
        QVERIFY(deep && deep->at == 1);
        QCOMPARE(deep->message, std::string("is nested deeper than 1 levels"));
        QVERIFY(!residua::tooDeep("[\"[[[\", \"\\\"[[\", {}]", 2));
        QVERIFY(!residua::tooDeep("[][][]", 1));
    }

    void aKeyThatIsGivenTwiceIsFound()
    {
        QVERIFY(!residua::keyGivenTwice({}));
        QVERIFY(!residua::keyGivenTwice({"b", "a", "ab"}));
        QCOMPARE(std::string(residua::keyGivenTwice({"b", "a", "b"}).value_or("")), std::string("b"));
    }

    /// The text of what differs from the defaults stays when a version adds fields, and has all that is set.
    void fieldsThatAreAddedDoNotChangeWhatIsSet()
    {
        const std::vector<Stage> stages(2);
        const auto text = [](const auto& value) { return printJson(toTree(value, InFiles::IfSet)); };
        QCOMPARE(text(Later{.steps = 7, .stages = stages}), text(Earlier{7, stages}));
        QVERIFY(text(Later{.late = true, .steps = 7}) != text(Earlier{7}));
        QVERIFY(printJson(toTree(Later{})) != printJson(toTree(Earlier{})));
        for (const Example& example : examples()) {
            JsonValue tree = *parseJson(changedFields(example.project));
            std::get<JsonObject>(tree.data).push_back({"schema", {std::int64_t{kSchemaVersion}}});
            const Result<Project> again = projectFromTree(std::move(tree));
            QVERIFY2(again && *again == example.project, again ? "" : again.error().text().c_str());
        }
    }

    void examplesKeepTheirBytes()
    {
        QVERIFY(!examples().empty());
        for (const ExampleFile& file : exampleFiles()) {
            const Example* const example = findExample(std::string(file.name));
            QVERIFY2(example != nullptr, std::string(file.name).c_str());
            QCOMPARE(asQString(toJson(example->project)), asQString(std::string(file.text)));
        }
        for (const Example& example : examples()) {
            const std::string text = toJson(example.project);
            const auto read = projectFromJson(text);
            QVERIFY2(read.ok(), qPrintable(asQString(example.name + ": " + (read ? "" : read.error().text()))));
            QVERIFY2(*read == example.project, example.name.c_str());
            QCOMPARE(asQString(toJson(*read)), asQString(text));
        }
    }

    void randomDocumentsKeepTheirBytes()
    {
        tests::RandomDocument random(tests::randomSeed(), tests::Values::Any);
        for (int i = 0; i < 1000; ++i) {
            const Document document = random.document();
            const std::string project = toJson(document.project);
            const std::string layout = toJson(document.layout);
            const auto readProject = projectFromJson(project);
            const auto readLayout = layoutFromJson(layout);
            QVERIFY2(readProject.ok(),
                     qPrintable(asQString(readProject ? "" : readProject.error().text() + "\n" + project)));
            QVERIFY2(readLayout.ok(), qPrintable(asQString(readLayout ? "" : readLayout.error().text())));
            QVERIFY((Document{*readProject, *readLayout} == document));
            QCOMPARE(asQString(toJson(*readProject)), asQString(project));
            QCOMPARE(asQString(toJson(*readLayout)), asQString(layout));
        }
    }

    void eachThingIsALine()
    {
        Project project = tiny();
        mixOf(project).sources = ExplicitSources{{{0, 1}, {0, 3}}};
        mixOf(project).states = {{{2, 5}, ShortcutState::Frozen},
                                 {{2, 6}, ShortcutState::frozenAt(0.25)},
                                 {{2, 7}, ShortcutState::frozenAsLearned()}};
        project.stack().schedule.stages = {{100, 6, {1, 12}}};
        const QStringList lines = asQString(toJson(project)).split('\n');
        for (const char* expected :
             {R"(  "schema": 6,)",
              R"(            {"id": 2, "kind": "linear", "name": "up", "params": {"bias": true, "out": "4*d"}})",
              R"(            "1.out > 2.in")", R"(      {"block": "mlp", "repeat": 12})", R"(          "0:3")",
              R"(        "2:5": "frozen",)", R"(        "2:6": {"frozen": 0.25},)",
              R"(        "2:7": {"frozen": "learned"})",
              R"(      {"start": 100, "average_length": 6.0, "always": [1, 12]})", R"(    "learning_rate": {)",
              R"(      "warmup_steps": 100,)", R"(    "tie_head": false,)"}) {
            QVERIFY2(lines.contains(expected), expected);
        }
        Layout layout;
        layout.positions[GraphRef::stem()][NodeId{3}] = {10, -2.5};
        layout.groups = {{"early", 1, 4}};
        QCOMPARE(
            asQString(toJson(layout)),
            asQString(
                "{\n  \"schema\": 6,\n  \"positions\": {\n    \"stem\": {\n      \"3\": [10.0, -2.5]\n    }\n  },\n"
                "  \"groups\": [\n    {\"name\": \"early\", \"first\": 1, \"last\": 4}\n  ]\n}\n"));
    }

    void oneChangeIsOneLine()
    {
        Project a = tiny();
        Project b = a;
        b.network.stack().width = 512;
        QCOMPARE(changedLines(a, b), QStringList({"-\"width\": 256,", "+\"width\": 512,"}));
        b = a;
        b.network.blocks[0].graph.nodes[1].params["out"] = std::string("2*d");
        QCOMPARE(changedLines(a, b).size(), 2);
        mixOf(a).sources = ExplicitSources{{{0, 1}, {0, 2}, {1, 2}}};
        b = a;
        std::get<ExplicitSources>(mixOf(b).sources)
            .shortcuts.erase(std::get<ExplicitSources>(mixOf(b).sources).shortcuts.begin());
        QCOMPARE(changedLines(a, b), QStringList({"-\"0:1\","}));
    }

    void numbersComeBackToTheSameBits()
    {
        for (const double value : {0.1, 1.0, -0.0, 5e-324, 1e22, 1.0 / 3.0, std::numeric_limits<double>::max()}) {
            Project project;
            project.training.learningRate.peak = value;
            const auto read = projectFromJson(toJson(project));
            QVERIFY(read.ok());
            QCOMPARE(std::signbit(read->training.learningRate.peak), std::signbit(value));
            QVERIFY(read->training.learningRate.peak == value);
        }
        // A parameter stays the number that it was: 1.0 is not 1.
        Project project = tiny();
        project.network.blocks[0].graph.nodes[1].params = {{"a", 1.0}, {"b", std::int64_t{1}}};
        QVERIFY(*projectFromJson(toJson(project)) == project);
    }

    void absentKeysKeepTheirDefaults()
    {
        const auto read = projectFromJson(R"({"schema": 1, "training": {"steps": 7}})");
        QVERIFY(read.ok());
        Project expected;
        expected.training.steps = 7;
        QVERIFY(*read == expected);
    }

    /// A preset of schema 1 keeps its name if its meaning has not changed.
    void oldPresetsAreStillTheirs()
    {
        const auto read = [](const char* wiring) {
            return std::get<DepthMix>(
                projectFromJson(std::string(R"({"schema": 1, "topology": {"preset": "plain", "wiring": )") + wiring +
                                "}}")
                    ->stack()
                    .topology.wiring);
        };
        QVERIFY(read(R"({"kind": "depth_mix"})") == DepthMix());
        QCOMPARE(read(R"({"kind": "depth_mix", "sites": "both"})").sitePairs, SitePairs::Any);
        QCOMPARE(read(R"({"kind": "depth_mix", "weight": "per_token"})").hiddenMultiple, std::int64_t{1});
    }

    void readingSortsWhatIsKeptSorted()
    {
        const auto read = projectFromJson(R"({"schema": 1, "topology": {"wiring": {"kind": "depth_mix",
            "sources": {"kind": "explicit", "shortcuts": ["1:3", "0:1"]}}}, "network": {"stem": {"nodes": [],
            "wires": ["3.out > 4.in", "1.out > 3.in"]}}})");
        QVERIFY(read.ok());
        const auto& sources = std::get<ExplicitSources>(std::get<DepthMix>(read->stack().topology.wiring).sources);
        QVERIFY((sources.shortcuts == std::vector<Shortcut>{{0, 1}, {1, 3}}));
        QVERIFY((read->network.stem.wires ==
                 std::vector<Wire>{{{NodeId{1}, "out"}, {NodeId{3}, "in"}}, {{NodeId{3}, "out"}, {NodeId{4}, "in"}}}));
    }

    void errorsNameThePlace_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("place");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const QString& text, const char* place, const char* message) {
            QTest::newRow(name) << text << place << message;
        };
        const auto in = [](const char* body) { return QString(R"({"schema": 1, %1})").arg(body); };
        row("empty", "", "line 1, column 1", "got the end of the text, expected a value: an object");
        row("syntax", "{\n  \"schema\": 1,\n  \"name\": oops\n}", "line 3, column 11",
            "got \"oops\", expected a value");
        row("unclosed", "{\"schema\": 1", "line 1, column 13", "got the end of the text, expected ',' and another key");
        row("no colon", "{\"schema\" 1}", "line 1, column 11", "got \"1\", expected ':' after the key");
        row("comma at the end", "{\"schema\": 1,\n}", "line 2, column 1", "got '}', expected ',' and another key");
        row("key without quotes", "{schema: 1}", "line 1, column 2", "got \"schema\", expected a key in double quotes");
        row("list without commas", "[1 2]", "line 1, column 4", "got \"2\", expected ',' and another value, or ']'");
        row("two values", "{} {}", "line 1, column 4", "expected the end: a document is one value");
        row("not a number", in(R"("training": {"clip_norm": NaN})"), "line 1, column 41",
            "got \"NaN\", expected a value");
        row("leading zero", in(R"("training": {"steps": 01})"), "line 1, column 37",
            "got \"01\", expected ',' and another key");
        row("fraction without digits", in(R"("training": {"clip_norm": 1.})"), "line 1, column 43",
            "got '}', expected a digit");
        row("lone minus", "-", "line 1, column 2", "got the end of the text, expected a digit");
        row("overflow", in(R"("training": {"clip_norm": 1e999})"), "line 1, column 41",
            "the number 1e999 is too large to be held");
        row("unclosed text", "{\"schema", "line 1, column 9", "got the end of the text, expected a closing quote");
        row("line break in a text", "{\"a\nb\": 1}", "line 1, column 4", "a text ends with its line here");
        row("odd escape", in(R"("name": "\x")"), "line 1, column 25", "expected one of");
        row("short escape", in(R"("name": "\u12")"), "line 1, column 28", "four hexadecimal digits");
        row("lone surrogate", in(R"("name": "\ud83d")"), "line 1, column 30", "half of a pair");
        row("control character", QString("\x01"), "line 1, column 1", "got the byte 0x01, expected a value");
        row("not an object", "[]", "document", "is a list; expected an object");
        row("no schema", "{}", "/schema", "is missing; expected a schema from 0 to 6");
        row("newer", R"({"schema": 7})", "/schema", "a newer Residua wrote");
        row("odd schema", R"({"schema": "1"})", "/schema", "is the text \"1\"; expected a schema from 0 to 6");
        row("negative schema", R"({"schema": -1})", "/schema", "is -1; expected");
        row("unknown key", in(R"("training": {"stepz": 7})"), "/training/stepz", "did you mean \"steps\"?");
        row("key with slash", in(R"("a/b~c": 7)"), "/a~1b~0c", "is no key that is known here");
        row("repeated key", in(R"("seeds": {"init": 1, "init": 2})"), "/seeds/init", "is given twice");
        row("wrong type", in(R"("training": {"steps": "many"})"), "/training/steps",
            "is the text \"many\"; expected a whole number");
        row("real for whole", in(R"("training": {"steps": 1.5})"), "/training/steps",
            "is 1.5; expected a whole number");
        row("too large", in(R"("training": {"steps": 9223372036854775808})"), "/training/steps",
            "expected a whole number");
        row("null", in(R"("training": {"clip_norm": null})"), "/training/clip_norm", "is null; expected a number");
        row("text for flag", in(R"("network": {"tie_head": 1})"), "/network/tie_head", "is 1; expected true or false");
        row("unknown name", in(R"("training": {"precision": "fp23"})"), "/training/precision",
            "did you mean \"fp32\"?");
        row("no kind", in(R"("topology": {"wiring": {}})"), "/topology/wiring/kind",
            "is missing; expected one of \"depth_mix\"");
        row("unknown kind", in(R"("training": {"optimiser": {"kind": "adam"}})"), "/training/optimiser/kind",
            "did you mean \"adamw\"?");
        row("key of another kind", in(R"("training": {"optimiser": {"kind": "sgd", "beta1": 0.9}})"),
            "/training/optimiser/beta1", "expected \"kind\", \"momentum\", \"weight_decay\"");
        row("no id", in(R"("network": {"stem": {"nodes": [{"kind": "linear", "name": "a"}]}})"),
            "/network/stem/nodes/0/id", "is missing");
        row("id too large",
            in(R"("network": {"stem": {"nodes": [{"id": 4294967296, "kind": "linear", "name": "a"}]}})"),
            "/network/stem/nodes/0/id", "from 0 to 4294967294");
        row("twin ids",
            in(R"("network": {"stem": {"nodes": [{"id": 1, "kind": "a", "name": "a"}, {"id": 1, "kind": "a", "name": "b"}]}})"),
            "/network/stem/nodes/1/id", "is 1, which an earlier node has");
        row("twin names",
            in(R"("network": {"head": {"nodes": [{"id": 1, "kind": "a", "name": "a"}, {"id": 2, "kind": "a", "name": "a"}]}})"),
            "/network/head/nodes/1/name", "is \"a\", which an earlier node has");
        row("twin blocks", in(R"("network": {"blocks": [{"name": "a"}, {"name": "a"}]})"), "/network/blocks/1/name",
            "an earlier block has");
        row("twin wires", in(R"("network": {"stem": {"wires": ["1.a > 2.b", "1.a > 2.b"]}})"), "/network/stem/wires/1",
            "repeats the wire");
        row("odd wire", in(R"("network": {"stem": {"wires": ["1.a -> 2.b"]}})"), "/network/stem/wires/0",
            "expected a wire");
        row("odd parameter",
            in(R"("network": {"stem": {"nodes": [{"id": 1, "kind": "a", "name": "a", "params": {"x": [1]}}]}})"),
            "/network/stem/nodes/0/params/x", "is a list; expected true, false, a number or a text");
        row("backward shortcut", in(R"("topology": {"wiring": {"kind": "depth_mix", "states": {"5:2": "frozen"}}})"),
            "/topology/wiring/states/5:2", "source < target");
        row("twin shortcuts",
            in(R"("topology": {"wiring": {"kind": "depth_mix", "sources": {"kind": "explicit", "shortcuts": ["0:1", "0:1"]}}})"),
            "/topology/wiring/sources/shortcuts/1", "repeats the shortcut 0:1");
        row("too many nodes",
            in(qPrintable("\"network\": {\"stem\": {\"nodes\": [" + QString("1, ").repeated(1024) + "1]}}")),
            "/network/stem/nodes", "has 1025 entries; expected at most 1024");
        row("too many layers",
            in(R"("network": {"stack": [{"block": "a", "repeat": 4000}, {"block": "a", "repeat": 97}]})"),
            "/network/stack", "has 4097 layers; expected at most 4096");
        row("endless layers", in(R"("network": {"stack": [{"block": "a", "repeat": 9223372036854775807}]})"),
            "/network/stack", "layers; expected at most 4096");
        row("endless name", in(qPrintable("\"name\": \"" + QString(70'000, 'n') + "\"")), "/name",
            "is 70000 bytes long; expected at most 65536");
        row("deep", QString("[").repeated(100), "line 1, column 65", "is nested deeper than 64 levels");
    }

    void errorsNameThePlace()
    {
        QFETCH(QString, text);
        QFETCH(QString, place);
        QFETCH(QString, message);
        const auto read = projectFromJson(text.toStdString());
        QVERIFY(!read.ok());
        const QString gotPlace = asQString(read.error().place);
        QVERIFY2(gotPlace == place, qPrintable(asQString(read.error().text())));
        QVERIFY2(asQString(read.error().message).contains(message), qPrintable(asQString(read.error().text())));
    }

    void encodings()
    {
        const std::string text = R"({"schema": 1, "name": "größer 深"})";
        const auto marked = projectFromJson("\xEF\xBB\xBF" + text);
        QVERIFY2(marked.ok(), marked ? "" : marked.error().text().c_str());
        QCOMPARE(asQString(marked->name), QString("größer 深"));
        std::string little;
        std::string big;
        for (const char16_t unit : asQString(text).toStdU16String()) {
            const char low = static_cast<char>(unit & 0xFF);
            const char high = static_cast<char>(unit >> 8);
            little += {low, high};
            big += {high, low};
        }
        const std::vector<std::pair<std::string, const char*>> others{
            {little, "UTF-16LE"},
            {big, "UTF-16BE"},
            {"\xFF\xFE" + little, "UTF-16LE"},
            {"\xFE\xFF" + big, "UTF-16BE"},
            {std::string("\xFF\xFE\0\0", 4), "UTF-32LE"},
            {std::string("\0\0\xFE\xFF", 4), "UTF-32BE"},
            {std::string("{\0\0\0", 4), "UTF-32LE"},
            {std::string("\0\0\0{", 4), "UTF-32BE"},
        };
        for (const auto& [wide, encoding] : others) {
            const auto read = projectFromJson(wide);
            QVERIFY(!read.ok());
            QCOMPARE(asQString(read.error().place), QStringLiteral("document"));
            QVERIFY2(read.error().message.find(encoding) != std::string::npos, read.error().message.c_str());
        }
        const auto latin = projectFromJson("{\"schema\": 1, \"name\": \"gr\xF6\xDF\"}");
        QVERIFY(!latin.ok());
        QCOMPARE(asQString(latin.error().place), asQString("line 1, column 26"));
    }

    void escapesAreRead()
    {
        const std::string escapes = "\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\u6df1\\ud83d\\ude42";
        const auto read = projectFromJson("{\"schema\": 1, \"name\": \"" + escapes + "\"}");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(asQString(read->name), QString("\"\\/\b\f\n\r\tä深🙂"));
        QVERIFY(*projectFromJson(toJson(*read)) == *read);
        const auto tiny = projectFromJson(R"({"schema": 1, "training": {"clip_norm": 1e-999}})");
        QVERIFY(tiny.ok());
        QCOMPARE(tiny->training.clipNorm, 0.0);
    }

    void layoutErrorsNameThePlace()
    {
        const auto odd = layoutFromJson(R"({"schema": 1, "positions": {"stem": {"x": [1, 2]}}})");
        QVERIFY(!odd.ok());
        QCOMPARE(asQString(odd.error().place), asQString("/positions/stem/x"));
        const auto three = layoutFromJson(R"({"schema": 1, "positions": {"stem": {"1": [1, 2, 3]}}})");
        QVERIFY(!three.ok());
        QCOMPARE(asQString(three.error().place), asQString("/positions/stem/1"));
        const auto graph = layoutFromJson(R"({"schema": 1, "positions": {"middle": {"1": [1, 2]}}})");
        QVERIFY(!graph.ok());
        QCOMPARE(asQString(graph.error().place), asQString("/positions/middle"));
    }

    void hugeInputIsRefused()
    {
        const std::string huge((std::size_t{64} << 20) + 1, ' ');
        const auto read = projectFromJson(huge);
        QVERIFY(!read.ok());
        QVERIFY2(asQString(read.error().message).contains("at most 64 MiB"), read.error().text().c_str());
        std::string many = "[0";
        for (int i = 0; i < 4'100'000; ++i) {
            many += ",0";
        }
        const auto counted = projectFromJson(many + "]");
        QVERIFY(!counted.ok());
        QVERIFY2(asQString(counted.error().message).contains("more than 4000000 values"),
                 counted.error().text().c_str());
        QCOMPARE(asQString(counted.error().place), asQString("document"));
    }

    void unrepresentableNumbersAreWrittenAsNull()
    {
        Project project;
        project.training.clipNorm = std::numeric_limits<double>::quiet_NaN();
        const auto read = projectFromJson(toJson(project));
        QVERIFY(!read.ok());
        QCOMPARE(asQString(read.error().place), asQString("/training/clip_norm"));
    }
};

RESIDUA_TEST(TestJson)
#include "tst_json.moc"
