// SPDX-License-Identifier: GPL-3.0-or-later
// The text of exported code. tests/engine/compute/network/tst_pytorch_folder compares what it computes.
#include "projects/cost/cost.h"
#include "projects/nodes/expression.h"
#include "projects/pytorch/graph_code.h"
#include "projects/pytorch/python_text.h"
#include "projects/pytorch/pytorch_code.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace residua;
using namespace residua::projects;
using residua::tests::contains;

namespace {

Project example(const std::string& name)
{
    return findExample(name)->project;
}

Result<PyTorchCode> codeOf(const Project& project, const std::vector<ExportedLayer>& layers = {})
{
    const Result<SoundProject> sound = soundProject(project);
    return sound ? pyTorchCodeOf(*sound, {layers}) : Result<PyTorchCode>(sound.error());
}

} // namespace

class TestPyTorchCode : public QObject {
    Q_OBJECT

private slots:
    void formulas_data();
    void formulas();
    void everyFunctionOfAFormulaIsWritten();
    void names_data();
    void names();
    void textCannotEndADocstring();
    void linesTakeTheDepthAndValues();
    void everyExampleIsWritten();
    void topologiesSayWhatTheyCompute_data();
    void topologiesSayWhatTheyCompute();
    void onlyWhatIsUsedIsThere();
    void parametersKeepTheirNames();
    void absentLayersAreLeftOut();
    void layersAfterAnAbsentOneAreRefused();
    void attentionByFeaturesIsWritten();
    void repetitionsAreProducts_data();
    void repetitionsAreProducts();
    void loopsVisitStoredLayers();
    void loopsThatAreNotWrittenAreRefused();
    void theReadmeSaysWhatIsLost();
};

void TestPyTorchCode::formulas_data()
{
    QTest::addColumn<QString>("formula");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* formula, const char* expected) { QTest::newRow(formula) << formula << expected; };
    row("x + y*2", "a + b * 2.0");
    row("(x + y)*2", "(a + b) * 2.0");
    row("x - (y - x)", "a - (b - a)");
    row("x - y - x", "a - b - a");
    row("x/(y*x)", "a / (b * a)");
    row("-x^2", "-a ** 2.0");
    row("(-x)^2", "(-a) ** 2.0");
    row("(x^y)^x", "(a ** b) ** a");
    row("x^y^x", "a ** b ** a");
    row("x*-y", "a * -b");
    row("x^-y", "a ** -b");
    row("mean(x*x)", "(a * a).mean(-1, keepdim=True)");
    row("max(x, 1, y)", "torch.maximum(torch.maximum(a, a.new_tensor(1.0)), b)");
    row("min(-1, x)", "torch.minimum(a.new_tensor(-1.0), a)");
    row("gelu(x) + exp(1)*y", "F.gelu(a) + 2.718281828459045 * b");
    row("sqrt(abs(x))", "torch.sqrt(torch.abs(a))");
    row("floor(x) - ceil(y)", "torch.floor(a) - torch.ceil(b)");
    row("round(round(x))", "round_half_away(round_half_away(a))");
}

void TestPyTorchCode::formulas()
{
    QFETCH(const QString, formula);
    QFETCH(const QString, expected);
    const Result<Expression> parsed = parseExpression(formula.toStdString());
    QVERIFY(parsed);
    HelperCode helpers{PythonNames{{}}};
    const Result<std::string> text = pythonFormula(*parsed, {{"x", "a"}, {"y", "b"}}, helpers);
    QVERIFY(text);
    QCOMPARE(QString::fromStdString(*text), expected);
    QCOMPARE(helpers.uses(Helper::RoundHalfAway), contains(*text, "round_half_away"));
}

void TestPyTorchCode::everyFunctionOfAFormulaIsWritten()
{
    for (const std::string& name : formulaFunctions()) {
        HelperCode helpers{PythonNames{{}}};
        const Result<Expression> parsed = parseExpression(name + "(x)");
        QVERIFY2(parsed, name.c_str());
        const Result<std::string> text = pythonFormula(*parsed, {{"x", "a"}}, helpers);
        QVERIFY2(text, name.c_str());
    }
}

void TestPyTorchCode::names_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("variable");
    QTest::addColumn<QString>("type");
    QTest::newRow("plain") << "up"
                           << "up"
                           << "Up";
    QTest::newRow("words") << "attn out"
                           << "attn_out"
                           << "AttnOut";
    QTest::newRow("dashes") << "transformer-qkv"
                            << "transformer_qkv"
                            << "TransformerQkv";
    QTest::newRow("a keyword") << "if"
                               << "if_"
                               << "If";
    QTest::newRow("a digit first") << "2nd"
                                   << "n2nd"
                                   << "Block2Nd";
    QTest::newRow("no letters") << "\u4e2d"
                                << "node"
                                << "Block";
    QTest::newRow("taken") << "taken"
                           << "taken_2"
                           << "Taken2";
    QTest::newRow("punctuation") << "a.b(c)\"\n"
                                 << "a_b_c"
                                 << "ABC";
}

void TestPyTorchCode::names()
{
    QFETCH(const QString, name);
    QFETCH(const QString, variable);
    QFETCH(const QString, type);
    PythonNames names({"taken", "Taken"});
    QCOMPARE(QString::fromStdString(names.of(name.toStdString())), variable);
    QCOMPARE(QString::fromStdString(names.classOf(name.toStdString())), type);
    QVERIFY(names.of(name.toStdString()) != variable.toStdString()); // each name once
}

void TestPyTorchCode::textCannotEndADocstring()
{
    Project project = example("plain-language");
    project.name = "a \"\"\"\nimport os\\";
    const Result<PyTorchCode> code = codeOf(project);
    QVERIFY(code);
    QVERIFY(code->model.starts_with("\"\"\"The network of the project a ''' import os'."));
}

void TestPyTorchCode::linesTakeTheDepthAndValues()
{
    PythonText text;
    text.define("f(x)", {"Doubles."});
    text.lines("\nif x:\n    %2\n    y = %1\n\nreturn %1 + %1%2", {"x", ""});
    QCOMPARE(QString::fromStdString(text.text()),
             QString("\n    def f(x):\n        \"\"\"Doubles.\"\"\"\n        if x:\n            y = x\n\n"
                     "        return x + x\n"));
}

void TestPyTorchCode::everyExampleIsWritten()
{
    for (const Example& each : examples()) {
        const Result<PyTorchCode> code = codeOf(each.project);
        if (std::ranges::any_of(each.project.towers,
                                [](const Tower& tower) { return !tower.network.weights.empty(); })) {
            QVERIFY(!code && code.error().message.find("uses the weights of") != std::string::npos);
            continue;
        }
        QVERIFY2(code.ok(), each.name.c_str());
        std::int64_t layers = each.project.network.depth();
        for (const Tower& tower : each.project.towers) {
            layers += tower.network.depth();
        }
        QCOMPARE(code->layers, layers);
        std::string all = code->model;
        for (const auto& [name, text] : code->files) {
            all += text;
        }
        QCOMPARE(code->files.size(), each.project.towers.empty() ? 0 : each.project.towers.size() + 1);
        for (const char* const part : {"class Stem(nn.Module):", "class Topology(nn.Module):", "class Head(nn.Module):",
                                       "class Network(nn.Module):", "def load("}) {
            QVERIFY2(contains(all, part), part);
        }
        QVERIFY(code->model == codeOf(each.project)->model);
        QVERIFY(!contains(all, "\t") && !contains(all, " \n") && !contains(all, "\n\n\n\n"));
    }
}

void TestPyTorchCode::topologiesSayWhatTheyCompute_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* preset, const QStringList& expected) {
        QTest::newRow(preset) << preset << expected;
    };
    row("plain", {"x_j = x_{j-1} + f_j(x_{j-1}).", "x = x + layer(x)"});
    row("grn-v1", {"m_j = \u03a3_i w_ij e_i", "The final output is a mix too.", "SOURCES = {j: range(j)"});
    row("grn-v3", {"w_ij = c_ij + ReLU(<v_j, e_i>) for each token", "open_relu(s)"});
    row("ancre-ingoing", {"x_j = f_j(x_{j-1}) + \u03a3_i w_ij e_i", "over the sources k of reader j, \u03c4 = 0.01"});
    row("ancre-outgoing", {"over the readers k of entry i", "softmax(dim=0)"});
    row("rezero", {"x_j = x_{j-1} + \u03b1_j f_j(x_{j-1})"});
    row("highway", {"x_j = t f_j(x_{j-1}) + (1 - t) x_{j-1}"});
    row("post-norm", {"x_j = norm_j(x_{j-1} + f_j(x_{j-1})).", "x = norm(x + layer(x))"});
    row("mhc", {"nearly doubly stochastic", "sinkhorn(carry, 20)"});
    row("ihc", {"Streams do not mix.", "streams = streams + write * branch", "return self.leave(streams)"});
    row("mhc-lite", {"all permutation matrices", "itertools.permutations(range(4))"});
    row("frac-static", {"2 fractions", "torch.cat(tuple(streams), -1)"});
    row("densenet", {"side by side, projected back"});
    row("attention-residuals", {"w_ij = softmax over i of <q_j, RMSNorm(e_i) * g_j>"});
}

void TestPyTorchCode::topologiesSayWhatTheyCompute()
{
    QFETCH(const QString, preset);
    QFETCH(const QStringList, expected);
    Project project = example("plain-language");
    const std::vector<TopologyPreset> presets = topologyPresets(project.network);
    const auto found = std::ranges::find(presets, preset.toStdString(), &TopologyPreset::name);
    project.stack().topology = {found->name, found->wiring};
    const Result<PyTorchCode> code = codeOf(project);
    QVERIFY2(code.ok(), code.ok() ? "" : code.error().text().c_str());
    QString words = QString::fromStdString(code->model).simplified();
    for (const QString& part : expected) {
        QVERIFY2(words.contains(part), qPrintable(part));
    }
}

void TestPyTorchCode::onlyWhatIsUsedIsThere()
{
    const std::string linear = codeOf(example("linear-ancre"))->model;
    for (const char* const part : {"Attention", "rotate", "LowRankLinear", "sinkhorn", "class Scale", "regulariser"}) {
        QVERIFY2(!contains(linear, part), part);
    }
    const std::string thin = codeOf(example("low-rank-language"))->model;
    QVERIFY(contains(thin, "class LowRankLinear") && contains(thin, "q_rank="));
    QVERIFY(!contains(thin, "LowRankConv2d"));
}

void TestPyTorchCode::parametersKeepTheirNames()
{
    const auto names = codeOf(example("grn-language"))->names;
    QCOMPARE(names.at("stem.embedding.weight"), std::string("stem.embedding.weight"));
    QCOMPARE(names.at("layers.8.norm_ffn.weight"), std::string("layers.8.norm_ffn.weight"));
    QCOMPARE(names.at("topology.coefficient"), std::string("topology.coefficient"));
    std::set<std::string> theirs;
    for (const auto& [ours, name] : names) {
        theirs.insert(name);
    }
    QCOMPARE(theirs.size(), names.size());
}

void TestPyTorchCode::absentLayersAreLeftOut()
{
    const Project project = example("grn-language");
    std::vector<ExportedLayer> layers(8);
    layers[5].factor = 0.25;
    layers[6].runs = layers[7].runs = false;
    const Result<PyTorchCode> code = codeOf(project, layers);
    QVERIFY(code);
    QCOMPARE(code->layers, 6);
    QVERIFY(code->names.contains("layers.6.up.weight") && !code->names.contains("layers.7.up.weight"));
    QVERIFY(contains(code->model, "factors = [1.0, 1.0, 1.0, 1.0, 1.0, 0.25]"));
    QVERIFY(contains(code->model, "dict.fromkeys(range(7, 9), torch.zeros_like(x))"));
    const std::string readme = pyTorchReadme(*soundProject(project), *code, {"first", 3, 10, 5, 7});
    QVERIFY(contains(readme, "2 of its 8 layers had not begun"));
    QVERIFY(contains(readme, "7 parameters of the checkpoint"));
}

void TestPyTorchCode::layersAfterAnAbsentOneAreRefused()
{
    std::vector<ExportedLayer> layers(8);
    layers[2].runs = false;
    const Result<PyTorchCode> code = codeOf(example("grn-language"), layers);
    QVERIFY(!code && contains(code.error().message, "the first ones of the stack"));
}

void TestPyTorchCode::attentionByFeaturesIsWritten()
{
    Project project = example("plain-language");
    for (Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["weights"] = std::string("performer");
        }
    }
    const Result<PyTorchCode> code = codeOf(project);
    QVERIFY2(code.ok(), code ? "" : code.error().text().c_str());
    QVERIFY(contains(code->model, "feature_attention(q, k, v, self.features, causal=True)"));
}

void TestPyTorchCode::repetitionsAreProducts_data()
{
    QTest::addColumn<QList<int>>("values");
    QTest::addColumn<QString>("text");
    QTest::newRow("a cycle") << QList<int>{1, 2, 3, 2, 3, 2, 3, 4} << "[1] + 3 * [2, 3] + [4]";
    QTest::newRow("in place") << QList<int>{1, 2, 2, 3, 3, 4} << "[1] + 2 * [2] + 2 * [3] + [4]";
    QTest::newRow("all") << QList<int>{1, 1, 1} << "3 * [1]";
    QTest::newRow("none") << QList<int>{1, 2, 3} << "[1, 2, 3]";
    QTest::newRow("long") << QList<int>{1, 2, 3, 4, 5, 6, 7, 8, 8} << "list(range(1, 8)) + 2 * [8]";
    QTest::newRow("left out") << QList<int>{1, 2, 3, 2, 3, 0, 0, 4} << "[1] + 2 * [2, 3] + 2 * [0] + [4]";
    QTest::newRow("cut") << QList<int>{1, 2, 3, 2} << "[1, 2, 3, 2]";
}

void TestPyTorchCode::repetitionsAreProducts()
{
    QFETCH(const QList<int>, values);
    QFETCH(const QString, text);
    QCOMPARE(QString::fromStdString(repeatingText({values.begin(), values.end()})), text);
}

void TestPyTorchCode::loopsVisitStoredLayers()
{
    Project project = example("plain-language"); // 8 layers
    Loop loop{.first = 2, .last = 3, .visits = 4, .injection = LoopInjection::Linear};
    loop.norm = LoopNorm::Exit;
    project.stack().loops = {loop};
    const Result<PyTorchCode> code = codeOf(project);
    QVERIFY2(code.ok(), code ? "" : code.error().text().c_str());
    const std::int64_t stored = project.stack().stored();
    QCOMPARE(code->stored, stored);
    QCOMPARE(code->layers, stored + 6);
    QVERIFY(!code->names.contains("layers." + std::to_string(stored + 1) + ".up.weight"));
    QCOMPARE(code->names.at("topology.loop.1.injection.weight"), std::string("topology.loop.1.injection.weight"));
    for (const char* const part :
         {"self.order = [1] + 4 * [2, 3] + [4", "layers = [self.layers[str(j)] for j in self.order]",
          "BEGINS = {2 + 2 * v: (\"1\", v + 1) for v in range(4)}",
          "class Loop(nn.Module):", "injection=\"linear\", norm=\"exit\""}) {
        QVERIFY2(contains(code->model, part), (part + code->model).c_str());
    }
    const std::string readme = pyTorchReadme(*soundProject(project), *code, {"first", 3, 10, 5, 0});
    QVERIFY(contains(readme, std::to_string(stored) + " layers, visited " + std::to_string(stored + 6) + " times"));
    QVERIFY(contains(pyTorchConfig(*soundProject(project), *code, {}), "\"visited_layers\""));
}

void TestPyTorchCode::loopsThatAreNotWrittenAreRefused()
{
    Project project = example("plain-language");
    project.stack().loops = {{.first = 2, .last = 3, .visits = 4}};
    std::vector<ExportedLayer> layers(static_cast<std::size_t>(project.stack().depth()));
    layers[3].factor = 0.5; // the second visit to layer 2
    const Result<PyTorchCode> scaled = codeOf(project, layers);
    QVERIFY(!scaled && contains(scaled.error().message, "visits of layer 2 by different factors"));
    Project noisy = project;
    noisy.stack().loops.front().injection = LoopInjection::Add;
    QVERIFY(codeOf(noisy));
    noisy.stack().loops.front().start = LoopStart::Noise;
    const Result<PyTorchCode> started = codeOf(noisy);
    QVERIFY(!started && contains(started.error().message, "starts as noise"));
    project.stack().loops.front().draw = VisitDraw::Poisson;
    project.stack().loops.front().mean = 2;
    QVERIFY(codeOf(project));
    const std::vector<TopologyPreset> presets = topologyPresets(project.network);
    const auto found = std::ranges::find(presets, std::string("attention-residuals"), &TopologyPreset::name);
    project.stack().topology = {found->name, found->wiring};
    const Result<PyTorchCode> fewer = codeOf(project);
    QVERIFY(!fewer && contains(fewer.error().message, "expected the draw \"all\""));
}

void TestPyTorchCode::theReadmeSaysWhatIsLost()
{
    Project project = example("staged-language");
    const Result<SoundProject> sound = soundProject(project);
    const Result<PyTorchCode> code = pyTorchCodeOf(*sound);
    const std::string readme = pyTorchReadme(*sound, *code, {"first", 3, 10, 1, 0});
    for (const char* const part :
         {"The optimiser's state", "learning rate's schedule", "leaves out parts of the network",
          "residua-cli resume RUN", "python check.py", "1 parameter, 12 layers"}) {
        QVERIFY2(contains(readme, part), part);
    }
    const std::string config = pyTorchConfig(*sound, *code, {"first", 3, 10, 1, 0});
    QVERIFY(contains(config, "\"layers\": 12") && contains(config, "\"step\": 3"));
    QVERIFY(!contains(config, "id2label"));
    const std::string named =
        pyTorchConfig(*sound, *code, {.name = "first", .step = 3, .steps = 10, .classes = {"ant", "bee", "ant"}});
    QVERIFY(contains(named, "\"id2label\"") && contains(named, "\"2\": \"ant\""));
    QVERIFY(contains(named, "\"label2id\"") && contains(named, "\"ant\": 0") && contains(named, "\"bee\": 1"));
}

RESIDUA_TEST(TestPyTorchCode)
#include "tst_pytorch_code.moc"
