// SPDX-License-Identifier: GPL-3.0-or-later
// The sizes that papers print, counted.
#include "projects/check/validate.h"
#include "projects/commands/new_project.h"
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/model/data_source.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

using namespace residua::projects;
using residua::tests::underTopology;

class TestPaperSizes : public QObject {
    Q_OBJECT

private slots:
    void recipesHaveThePapersSizes_data();
    void recipesHaveThePapersSizes();
    void lowRankConvolutions_data();
    void lowRankConvolutions();
    void albertAsItsPaperCounts();
    void hyperloopBaselines_data();
    void hyperloopBaselines();
    void recipesFitTheirData();
    void recipesHoldTogether_data();
    void recipesHoldTogether();
    void visionTransformerSizes();
    void muddFormerAsReleased();
    void newProjectUnderMuddIsTheAuthors();
    void contrastiveReinforcementLearning_data();
    void contrastiveReinforcementLearning();
};

void TestPaperSizes::recipesHaveThePapersSizes_data()
{
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<qint64>("parameters");
    const auto row = [](const char* recipe, qint64 parameters) { QTest::newRow(recipe) << recipe << parameters; };
    row("dca-lm1b", 49'653'040);
    row("dca-vit-s16", 22'122'472);
    row("vit-ti16", 5'716'456);
    row("vit-b16", 87'006'184);
    // The published sizes count the fixed positions of 256 patches.
    row("ancre-dit-s2", 32'963'360 - 256 * 384);
    row("ancre-dit-b2", 130'512'416 - 256 * 768);
    row("ancre-dit-l2", 458'102'816 - 256 * 1024);
    row("ancre-dit-xl2", 675'129'632 - 256 * 1152);
    row("resnet-20", 269'722);
    row("resnet-32", 464'154);
    row("resnet-44", 658'586);
    row("resnet-56", 853'018);
    row("resnet-110", 1'727'962);
    row("resnet-18", 11'689'512);
    row("resnet-50", 25'557'032);
    row("nlra-resnet-50", 9'831'100);
    row("efficientnet-b0", 5'288'548);
    row("efficientnet-b1", 7'794'184);
    row("efficientnet-b2", 9'109'994);
    row("efficientnet-b3", 12'233'232);
    row("efficientnet-b4", 19'341'616);
    row("efficientnet-b5", 30'389'784);
    row("efficientnet-b6", 43'040'704);
    row("efficientnet-b7", 66'347'960);
    row("efficientnet-b8", 87'413'142);
    row("efficientnet-b9", 146'055'712);
    row("ancre-llama-60m", 58'073'600);
    row("ancre-llama-130m", 134'105'856);
    row("ancre-llama-350m", 367'969'280);
    row("ancre-llama-1b", 1'339'082'752);
    // As BertForMaskedLM: the norm that ends the layers has as many weights as the two token types, which are left out.
    row("raptr-bert-base", 109'514'298);
    row("raptr-bert-large", 335'174'458);
    row("raptr-ul2", 1'676'511'232);
    // Loops: stored weights, with the table of tokens, which Hyperloop's sizes leave out.
    row("universal-transformer", 12'592'128 + 6 * 1024 + 2048 + 32'768 * 1024);
    row("albert-base", 11'221'424);
    row("huginn", 3'564'976'800);
    row("ouro-1.4b", 1'434'652'673);
    row("hyperloop-136m", 135'545'856 + 150'573 + 32'000 * 1024);
    row("hyperloop-579m", 579'381'248 + 301'101 + 32'000 * 2048);
    row("hyperloop-990m", 990'455'808 + 301'101 + 32'000 * 2048);
    row("deeploop", 12 * 7'079'424 + 50'257 * 768 + 768 + 24 * 768);
    // Actor, steps, goals and the entropy coefficient.
    row("ancre-crl-humanoid-16", 1'139'746 + 1'151'040 + 1'078'848 + 1);
    row("ancre-crl-humanoid-64", 4'322'338 + 4'333'632 + 4'261'440 + 1);
    row("ancre-crl-ant-maze-16", 1'073'680 + 1'087'552 + 1'078'592 + 1);
    row("ancre-crl-ant-maze-64", 4'256'272 + 4'270'144 + 4'261'184 + 1);
    row("middle-cycle", 12 * 9'832'320 + 49'152 * 960 + 960);
}

/// Without the weights of the topology.
/// A project of a recipe says its own sizes, and its outputs are those of its data.
void TestPaperSizes::recipesFitTheirData()
{
    const PictureData three{.path = "pictures", .validationPath = {}, .classes = 3};
    NewProject wanted = proposalFor(three, "dca-vit-s16");
    const auto whole = projectFrom(wanted);
    QVERIFY(whole.ok());
    QCOMPARE(whole->description, findRecipe("dca-vit-s16")->summary);
    QCOMPARE(*classCountOf(whole->data.source), 3);
    wanted.depth = 2;
    const auto small = projectFrom(wanted);
    QVERIFY(small.ok());
    QVERIFY(small->description.empty()); // the summary names 12 layers
}

void TestPaperSizes::recipesHaveThePapersSizes()
{
    QFETCH(QString, recipe);
    QFETCH(qint64, parameters);
    const Recipe* const found = findRecipe(recipe.toStdString());
    QVERIFY(found != nullptr);
    Source source = found->project.data.source;
    if (auto* const pictures = std::get_if<PictureData>(&source)) {
        *pictures = {
            .path = "imagenet", .validationPath = {}, .classes = pictures->classes}; // the recipe says the rest
    }
    NewProject wanted = proposalFor(source, found->name);
    QCOMPARE(wanted.topology, found->topology);
    wanted.topology = found->project.stack().topology.preset;
    const auto project = projectFrom(wanted);
    QVERIFY2(project.ok(), project ? "" : project.error().text().c_str());
    const auto report = costOf(*project);
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->total.parameters, parameters);
    QCOMPARE(project->stack().schedule.stages.empty(), found->schedule.empty());
    if (recipe.startsWith("raptr-bert")) { // with BERT's pooler and two classes, as BertForPreTraining
        Project paired = *project;
        paired.data.masking.nextSentence = true;
        paired.network = withNextSentence(std::move(paired.network), true);
        const auto both = costOf(paired);
        QVERIFY2(both.ok(), both ? "" : both.error().text().c_str());
        const std::int64_t width = paired.network.stack().width;
        const std::int64_t segments = 2 * width; // that the recipe leaves out
        QCOMPARE(both->total.parameters, parameters + segments + width * width + width + 2 * width + 2);
        QCOMPARE(both->total.parameters - segments, width == 768 ? 110'106'428 : 336'226'108);
    }
}

void TestPaperSizes::lowRankConvolutions_data()
{
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<qint64>("convolutions");      // in factors
    QTest::addColumn<QList<qint64>>("parameters"); // at the shares 0.05, 0.10, 0.15 and 0.20, with the last one too
    const auto row = [](const char* recipe, qint64 convolutions, const QList<qint64>& parameters) {
        QTest::newRow(recipe) << recipe << convolutions << parameters;
    };
    row("nlra-resnet-50", 53, {4'039'997, 5'974'930, 7'896'167, 9'831'100});
    row("nlra-efficientnet-b0", 32, {2'335'933, 2'515'405, 2'710'125, 2'889'702});
    row("nlra-efficientnet-b3", 51, {4'378'817, 4'863'673, 5'360'457, 5'845'442});
    row("nlra-efficientnet-b7", 107, {19'123'969, 22'051'393, 25'074'625, 28'002'250});
    row("nlra-efficientnet-b9", 107, {39'883'945, 46'536'361, 53'045'065, 59'697'778});
}

/// With every convolution without groups in factors; the recipes of EfficientNets leave the last one whole.
void TestPaperSizes::lowRankConvolutions()
{
    QFETCH(QString, recipe);
    QFETCH(qint64, convolutions);
    QFETCH(QList<qint64>, parameters);
    Project project = findRecipe(recipe.toStdString())->project;
    const auto factoredIn = [](const Graph& graph) {
        return std::ranges::count_if(graph.nodes,
                                     [](const Node& node) { return node.params.contains(kUnfoldingParam); });
    };
    qint64 factored = 0;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const Network& stage = index == 0 ? project.network : project.towers[index - 1].network;
        factored += factoredIn(stage.stem) + factoredIn(stage.head) +
                    stage.stack().stored() * factoredIn(stage.blocks.front().graph);
    }
    QCOMPARE(factored, convolutions);
    for (Node& node : project.network.head.nodes) {
        if (node.name == "conv_top") {
            node.params["rank"] = 0.2;
            node.params[kUnfoldingParam] = std::string(kBySide);
        }
    }
    for (qsizetype i = 0; i < parameters.size(); ++i) {
        const double share = 0.05 * static_cast<double>(i + 1);
        for (std::size_t index = 0; index < towerCount(project); ++index) {
            (index == 0 ? project.network : project.towers[index - 1].network).rank = RankScale{share};
        }
        for (Graph* const graph : graphsOf(project)) {
            for (Node& node : graph->nodes) {
                if (hasOwnRank(node)) {
                    node.params["rank"] = share;
                }
            }
        }
        const auto report = costOf(project);
        QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
        QCOMPARE(report->total.parameters, parameters[i]);
    }
}

/// ALBERT with pooler and token types, as its paper counts it: without the heads.
void TestPaperSizes::albertAsItsPaperCounts()
{
    Project project = findRecipe("albert-base")->project;
    project.data.masking.nextSentence = true;
    project.network = withNextSentence(std::move(project.network), true);
    const std::int64_t hiddenTokens = 768 * 128 + 128 + 2 * 128 + 30'000;
    QCOMPARE(costOf(project)->total.parameters - hiddenTokens - (2 * 768 + 2), 11'683'584);
}

/// Hyperloop's baselines: the same loops without streams, and the same executed depth without loops.
void TestPaperSizes::hyperloopBaselines_data()
{
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<qint64>("looped");
    QTest::addColumn<qint64>("plain");
    const auto row = [](const char* name, qint64 looped, qint64 plain) {
        QTest::newRow(name) << name << looped << plain;
    };
    row("hyperloop-136m", 135'545'856, 238'322'688);
    row("hyperloop-579m", 579'381'248, 990'455'808);
    row("hyperloop-990m", 990'455'808, 2'018'142'208);
}

void TestPaperSizes::hyperloopBaselines()
{
    QFETCH(QString, recipe);
    QFETCH(qint64, looped);
    QFETCH(qint64, plain);
    Project project = findRecipe(recipe.toStdString())->project;
    Stack& stack = project.stack();
    const std::int64_t table = 32'000 * stack.width;
    stack.loops.front().streams = LoopStreams::None;
    stack.loops.front().embedding = false;
    QCOMPARE(costOf(project)->total.parameters - table, looped);
    stack.segments.front().repeat = stack.depth();
    stack.loops.clear();
    QCOMPARE(costOf(project)->total.parameters - table, plain);
}

/// With the topology of the paper and with data that are named, a recipe has no errors.
void TestPaperSizes::recipesHoldTogether_data()
{
    recipesHaveThePapersSizes_data();
}

void TestPaperSizes::recipesHoldTogether()
{
    QFETCH(QString, recipe);
    const Recipe& found = *findRecipe(recipe.toStdString());
    Source source = found.project.data.source;
    std::visit(
        [](auto& each) {
            if constexpr (requires { each.path; }) {
                each.path = "data";
            }
        },
        source);
    if (Tokeniser* const tokeniser = tokeniserOf(source)) {
        tokeniser->model = "tokenizer";
    }
    const auto project = projectFrom(proposalFor(source, found.name));
    QVERIFY2(project.ok(), project ? "" : project.error().text().c_str());
    for (const Problem& problem : validate(*project)) {
        QVERIFY2(problem.severity != Severity::Error, problem.text().c_str());
    }
    QVERIFY(!projectFrom(proposalFor(LinearRegression{}, found.name)).ok());
    NewProject shallow = proposalFor(source, found.name);
    shallow.depth = 6;
    QVERIFY(projectFrom(shallow).ok()); // stages of the same shares
}

/// ViT-S/16 with learned positions: the mean over positions, and a class token.
void TestPaperSizes::visionTransformerSizes()
{
    Project project = findExample("small-vit")->project;
    project.data.source = PictureData{
        .path = "imagenet", .validationPath = {}, .height = 224, .width = 224, .channels = 3, .classes = 1000};
    project.stack().width = 384;
    project.stack().segments.front().repeat = 12;
    project.network.stem = patchStem(3, 224, 224);
    for (Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{6};
        }
    }
    const auto parameters = [&project] {
        const auto problems = validate(project);
        const bool valid =
            std::ranges::none_of(problems, [](const Problem& problem) { return problem.severity == Severity::Error; });
        const auto report = costOf(project);
        return valid && report ? report->total.parameters : -1;
    };
    QCOMPARE(parameters(), 21'974'632 + 196 * 384);
    project.network.stem =
        GraphBuilder()
            .node("input", "input")
            .node("image", "image",
                  {{"channels", std::int64_t{3}}, {"height", std::int64_t{224}}, {"width", std::int64_t{224}}})
            .node("patches", "patchify", {{"patch", std::int64_t{16}}})
            .node("class", "class_token")
            .node("positions", "position_embedding", {{"length", std::int64_t{197}}})
            .node("output", "output")
            .wire("input", "image")
            .wire("image", "patches")
            .wire("patches", "class")
            .wire("class", "positions")
            .wire("positions", "output")
            .build();
    std::ranges::find(project.network.head.nodes, "mean_pool", &Node::kind)->kind = "first_token";
    QCOMPARE(parameters(), 22'050'664); // timm's vit_small_patch16_224
}

/// MUDDFormer 2.8B as its authors have released it: norms on queries and keys, three norms before the attention from
/// layer 2 on, four times as many hidden features at the output, and the FFNs' width shifted from early to late layers,
/// which is what layers of blocks of their own say.
void TestPaperSizes::muddFormerAsReleased()
{
    constexpr std::int64_t kLayers = 32;
    constexpr std::int64_t kWidth = 2560;
    constexpr std::int64_t kHeadDim = 80;
    constexpr std::int64_t kVocabulary = 50'432;
    Project project = underTopology("mudd", "transformer-qkvr");
    std::get<SyntheticLanguage>(project.data.source).vocabulary = kVocabulary;
    project.stack().width = kWidth;
    project.network.tieHead = false;
    const Block one = project.network.blocks.front();
    const auto first = std::ranges::find(blockPresets(), std::string(kFirstMuddBlock), &BlockPreset::name);
    project.network.blocks.clear();
    project.stack().segments.clear();
    std::int64_t expected = 2 * kVocabulary * kWidth + kWidth;
    std::int64_t widest = 0;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
        const std::int64_t hidden = std::llround(6912 * (double(layer) / (kLayers - 1) + 0.5) / 128) * 128;
        Block block = layer == 0 ? Block{{}, {}, first->graph} : one;
        block.name = "layer " + std::to_string(layer + 1);
        int widened = 0;
        for (Node& node : block.graph.nodes) {
            if (node.kind == "linear" && node.params.contains("out")) {
                node.params["out"] = std::to_string(hidden);
                ++widened;
            }
            if (node.kind == "attention") {
                node.params["heads"] = kWidth / kHeadDim;
                QCOMPARE(node.params.at("qk_norm"), ParamValue(std::string("head")));
            }
        }
        QCOMPARE(widened, 2); // gate and up
        project.stack().segments.push_back({block.name, 1});
        project.network.blocks.push_back(std::move(block));
        const std::int64_t norms = layer == 0 ? 2 : 4;
        expected += 4 * kWidth * kWidth + 3 * kWidth * hidden + norms * kWidth + 2 * kHeadDim;
        // The entries that the next layer's reading weights are computed from, or the output.
        const bool last = layer + 1 == kLayers;
        const std::int64_t count = (last ? 1 : 4) * (layer + 2);
        const std::int64_t made = (count * (last ? 4 : 1) / 64 + 1) * 64;
        expected += kWidth * made + made * count + count;
        widest = std::max(widest, hidden);
    }
    QCOMPARE(widest, std::int64_t{10'368});
    project.stack().topology = underTopology("mudd", "transformer-qkvr").stack().topology;
    const auto report = costOf(project);
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->total.parameters, expected);
}

/// A new project under MUDD has the authors' norms without a further option.
void TestPaperSizes::newProjectUnderMuddIsTheAuthors()
{
    NewProject wanted = proposalFor(SyntheticLanguage{});
    wanted.depth = 4;
    wanted.topology = "mudd";
    const auto project = projectFrom(wanted);
    QVERIFY(project.ok());
    QVERIFY(!hasErrors(validate(*project)));
    for (const Block& block : project->network.blocks) {
        const auto attention = std::ranges::find(block.graph.nodes, std::string("attention"), &Node::kind);
        QCOMPARE(attention->params.at("qk_norm"), ParamValue(std::string("head")));
    }
    const auto report = costOf(*project);
    QVERIFY(report.ok());
    const std::int64_t width = project->stack().width;
    QCOMPARE(report->layers[1].parameters, report->layers[0].parameters + 2 * width);
    QCOMPARE(report->layers[3].parameters, report->layers[1].parameters);
    wanted.depth = 1;
    QVERIFY(!hasErrors(validate(*projectFrom(wanted))));
}

void TestPaperSizes::contrastiveReinforcementLearning_data()
{
    QTest::addColumn<qint64>("inputs");
    QTest::addColumn<qint64>("outputs");
    QTest::addColumn<qint64>("ofSixteen");
    QTest::addColumn<qint64>("ofSixtyFour");
    const auto row = [](const char* name, qint64 inputs, qint64 outputs, qint64 shallow, qint64 deep) {
        QTest::newRow(name) << inputs << outputs << shallow << deep;
    };
    // The outputs of an actor are the mean and the logarithm of the deviation of each action.
    row("humanoid, actor", 271, 2 * 17, 1'139'746, 4'322'338);
    row("humanoid, state and action", 285, 64, 1'151'040, 4'333'632);
    row("humanoid, goal", 3, 64, 1'078'848, 4'261'440);
    row("ant in the maze, actor", 31, 2 * 8, 1'073'680, 4'256'272);
    row("ant in the maze, state and action", 37, 64, 1'087'552, 4'270'144);
    row("ant in the maze, goal", 2, 64, 1'078'592, 4'261'184);
    row("arm, actor", 20, 2 * 5, 1'069'322, 4'251'914);
    row("arm, state and action", 22, 64, 1'083'712, 4'266'304);
}

/// The networks of ANCRe's figure 8: 16 and 64 layers of width 256 in blocks of four, plain and with shortcuts.
void TestPaperSizes::contrastiveReinforcementLearning()
{
    QFETCH(qint64, inputs);
    QFETCH(qint64, outputs);
    QFETCH(qint64, ofSixteen);
    QFETCH(qint64, ofSixtyFour);
    for (const auto& [layers, expected] : {std::pair(qint64{16}, ofSixteen), std::pair(qint64{64}, ofSixtyFour)}) {
        const qint64 blocks = layers / 4;
        Project project = sized("mlp-normed", blocks, 256, 1);
        project.data.source = PictureData{
            .path = "vectors", .validationPath = {}, .height = 1, .width = inputs, .channels = 1, .classes = outputs};
        project.network.objective = Objective::Classification;
        project.network.stem = GraphBuilder()
                                   .node("input", "input")
                                   .then("linear", "linear", {{"bias", true}})
                                   .then("norm", "layer_norm", {{"epsilon", 1e-6}})
                                   .then("swish", "activation", {{"function", std::string("silu")}})
                                   .then("output", "output")
                                   .build();
        project.network.head = GraphBuilder()
                                   .node("input", "input")
                                   .then("out", "linear", {{"out", outputs}, {"bias", true}})
                                   .then("output", "output")
                                   .build();
        const auto plain = costOf(project);
        QVERIFY2(plain.ok(), plain ? "" : plain.error().text().c_str());
        QCOMPARE(plain->total.parameters, expected);
        const auto presets = topologyPresets(project.network);
        const auto ancre = std::ranges::find(presets, "ancre-ingoing", &TopologyPreset::name);
        project.stack().topology = {ancre->name, ancre->wiring};
        QCOMPARE(costOf(project)->total.parameters, expected + blocks * (blocks + 1) / 2);
    }
}

RESIDUA_TEST(TestPaperSizes)
#include "tst_paper_sizes.moc"
