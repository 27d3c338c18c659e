// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/cost.h"
#include "projects/shipped/examples.h"
#include "tests/projects/problem_rows.h"
#include "tests/support/graph_text.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

using namespace residua::projects;
using namespace residua::tests;

class TestValidate : public QObject {
    Q_OBJECT

private slots:
    void network_data();
    void network();
    void dataAndTraining_data();
    void dataAndTraining();
    void anEndBelowTheLeastLeavesTheLeast();
    void errorsComeFirst();
    void anEmptyDocumentIsExplained();
    void anyDocumentIsJudged();
    void millionsOfProblemsAreNotListed();
};

void TestValidate::network_data()
{
    rows();
    const auto row = [](const char* name, ProjectChange change, const char* expected) {
        QTest::newRow(name) << change << expected;
    };
    const auto block = [&row](const char* graph, const char* expected) {
        row(
            graph, [graph](Project& p) { p.network.blocks[0].graph = graphFrom(graph); }, expected);
    };
    block("", "E /network/blocks/0/graph [block test] has no nodes");
    block("x input; y output", "E /network/blocks/0/graph/nodes/1 [block test · node y] input in is not wired\n"
                               "W /network/blocks/0/graph/nodes/0 [block test · node x] its output is not used");
    block("x input; y output; x > y; a linear; x > a",
          "W /network/blocks/0/graph/nodes/2 [block test · node a] its output is not used");
    block("x input; y output; x.up > y",
          "E /network/blocks/0/graph/wires/0 [block test · wire x.up > y.in] input has no output up");
    block("x input; y output; x > y.up",
          "E /network/blocks/0/graph/wires/0 [block test · wire x.out > y.up] output has no input up");
    block("x input; y output; x > y; b > y",
          "E /network/blocks/0/graph/wires/0 [block test · wire #0.out > y.in] there is no node 0\n"
          "E /network/blocks/0/graph/wires/1 [block test · wire x.out > y.in] the input has another wire already");
    block("x input; x linear; y output; x > y",
          "E /network/blocks/0/graph/nodes/1/name [block test · node x] the name is taken by another node\n"
          "E /network/blocks/0/graph/nodes/1 [block test · node x] input in is not wired\n"
          "W /network/blocks/0/graph/nodes/1 [block test · node x] its output is not used");
    block("x input; a liner; y output; x > a; a > y",
          "E /network/blocks/0/graph/nodes/1 [block test · node a] unknown kind liner");
    block("x input; a add; b linear; y output; x > a.in1; b > a.in2; a > b; a > y",
          "E /network/blocks/0/graph/wires [block test] wires form a cycle: a > b > a");
    block("x input; a linear out=64; y output; x > a; a > y",
          "E /network/blocks/0/graph [block test] yields [batch, time, 64], expected [batch, time, 128]");
    block("x input port=q; y output; x > y", "E /network/blocks/0/graph/nodes [block test] input ports are q, expected "
                                             "input, or q, k, v and perhaps residual");
    block("x input; y output; z output; x > y; x > z",
          "E /network/blocks/0/graph/nodes [block test] expected one output node, its port named output");
    block("x input; a attention heads=3; y output; x > a.q; x > a.k; x > a.v; a > y",
          "E /network/blocks/0/graph/nodes/1 [block test · node a] width 128 is not a multiple of 3 heads; give the "
          "features per head to choose them freely");
    block("x input; n rms_norm share=m; y output; x > n; n > y",
          "E /network/blocks/0/graph/nodes/1/params/share [block test · node n] shares weights with m, expected a "
          "rms_norm of this graph that has its own");
    row(
        "width", [](Project& p) { p.stack().width = 0; },
        "E /network/width [network · width] got 0, expected 1 to 1000000");
    row(
        "head width", [](Project& p) { p.network.head = graphFrom("x input; y output; x > y"); },
        "E /network/head [head] yields [batch, time, 128], expected [batch, time, 64]");
    row(
        "stem ports", [](Project& p) { p.network.stem.nodes[0].params["port"] = std::string("tokens"); },
        "E /network/stem/nodes [stem] input ports are tokens, expected input");
    row(
        "no layers", [](Project& p) { p.stack().segments.clear(); },
        "E /network/stack [network · stack] has no layers\nW /network/blocks/0 [block test] no layer uses it");
    row(
        "unknown block",
        [](Project& p) {
            p.stack().segments.push_back({"other", 1});
        },
        "E /network/stack/1/block [network · segment 2 · block] there is no block other");
    row(
        "repeat", [](Project& p) { p.stack().segments[0].repeat = 0; },
        "E /network/stack/0/repeat [network · segment 1 · layers] got 0, expected 1 to 4096");
    row(
        "depth", [](Project& p) { p.stack().segments[0].repeat = 5000; },
        "E /network/stack/0/repeat [network · segment 1 · layers] got 5000, expected 1 to 4096\n"
        "E /network/stack [network · stack] got 5000 layers, expected at most 4096");
    row(
        "block names", [](Project& p) { p.network.blocks.push_back(p.network.blocks[0]); },
        "E /network/blocks/1/name [block test] the name is taken by another block");
    row(
        "node numbers",
        [](Project& p) {
            p.network.head.nodes[2].id = NodeId{2};
            p.network.head.wires.pop_back();
        },
        "E /network/head/nodes/2/id [head · node y] number 2 is taken by another node\n"
        "W /network/head/nodes/1 [head · node l] its output is not used");
    row(
        "objective", [](Project& p) { p.network.objective = Objective::MeanSquaredError; },
        "E /network/objective [network · objective] mean squared error needs target vectors, the data is token "
        "sequences");
    row(
        "tie with nothing",
        [](Project& p) {
            p.network.tieHead = true;
            p.network.head.nodes[1].params["rank"] = std::int64_t{4};
        },
        "E /network/tie_head [network · tied head] expected a token_embedding in the stem and a linear in the head to "
        "share a table");
    row(
        "network's rank", [](Project& p) { p.network.rank = FixedRank{0}; },
        "E /network/rank/rank [network · rank of weights · rank] got 0, expected 1 to 1000000");
    row(
        "network's scale", [](Project& p) { p.network.rank = RankScale{1.25}; },
        "E /network/rank/scale [network · rank of weights · rank scale] got 1.25, expected more than 0 and at most 1");
    row(
        "a rank above a side", [](Project& p) { p.network.rank = FixedRank{129}; },
        "E /network/blocks/0/graph/nodes/1 [block test · node a] rank 129 is above the smaller side of weight, which "
        "is 128 × 128; expected at most 128, a share, or full");
    row(
        "a rank that spares nothing", [](Project& p) { p.network.rank = FixedRank{65}; },
        "W /network/blocks/0/graph/nodes/1 [block test · node a] rank 65 costs more than the full weight, 128 × 128; "
        "below 64 it costs less");
    row(
        "a rank at which it costs the same", [](Project& p) { p.network.rank = FixedRank{64}; }, "");
    row(
        "an activation that no factors are fitted under",
        [](Project& p) {
            p.network.rank = RankScale{0.25};
            p.initialisation.lowRank = LowRankMethod::Exact;
            p.network.blocks[0].graph =
                graphFrom("x input; a linear; t activation function=tanh; y output; x > a; a > t; t > y");
        },
        "W /network/blocks/0/graph/nodes/1 [block test · node a] is followed by tanh, which factors are not fitted "
        "under (relu, silu and gelu are): they start as if nothing followed");
    row(
        "tie of another size",
        [](Project& p) {
            p.network.tieHead = true;
            p.network.head = graphFrom("x input; a linear out=96; l linear out=vocab; y output; x > a; a > l; l > y");
        },
        "E /network/tie_head [network · tied head] the table is 64 × 128, the head's weight 64 × 96");
}

void TestValidate::network()
{
    check(languageProject(kPlainBlock));
}

void TestValidate::dataAndTraining_data()
{
    rows();
    const auto row = [](const char* name, ProjectChange change, const char* expected) {
        QTest::newRow(name) << change << expected;
    };
    row(
        "no path",
        [](Project& p) {
            p.data.source = TextData{"", {TokeniserKind::Characters, "", 64}};
        },
        "E /data/source/path [data · file or folder] names no file");
    row(
        "no model",
        [](Project& p) {
            p.data.source = TextData{"a.txt", {TokeniserKind::SentencePiece, "", 64}};
        },
        "E /data/source/tokeniser/model [data · tokeniser · model file] names no SentencePiece model");
    row(
        "no tokenizer.json",
        [](Project& p) {
            p.data.source = TextData{"a.txt", {TokeniserKind::TokenizerJson, "", 64}};
        },
        "E /data/source/tokeniser/model [data · tokeniser · model file] names no tokenizer.json");
    row(
        "bytes with another vocabulary",
        [](Project& p) {
            p.data.source = TextData{"a.txt", {TokeniserKind::Bytes, "", 512}};
        },
        "E /data/source/tokeniser/vocabulary [data · tokeniser · vocabulary] got 512, expected 256: text as bytes has "
        "that many tokens");
    row(
        "no parts",
        [](Project& p) {
            p.data.source = MixtureData{{}, {TokeniserKind::Characters, "", 64}};
        },
        "E /data/source/parts [data · parts] there are none, expected at least one text to draw from");
    row(
        "parts",
        [](Project& p) {
            p.data.source =
                MixtureData{{{"a.txt"}, {"b.jsonl", "text", 0}, {"", "text", 1}, {"c.jsonl", "", 1e10}, {"d.txt", ""}},
                            {TokeniserKind::Characters, "", 64}};
        },
        "E /data/source/parts/1/weight [data · part 2 · weight] got 0, expected more than 0 and at most 1000000000\n"
        "E /data/source/parts/3/weight [data · part 4 · weight] got 1e+10, expected more than 0 and at most "
        "1000000000\n"
        "E /data/source/parts/2/path [data · part 3 · file or folder] names no file\n"
        "E /data/source/parts/3/field [data · part 4 · key or column] names no key");
    row(
        "ready-made tokens in a mixture",
        [](Project& p) {
            p.data.source = MixtureData{{{"a.bin.zst"}}, {TokeniserKind::Characters, "", 64}};
        },
        "E /data/source/parts/0/path [data · part 1 · file or folder] \"a.bin.zst\" is ready-made tokens, expected "
        "text "
        "or JSON Lines, which the tokeniser of the mixture reads");
    row(
        "no model of a mixture",
        [](Project& p) {
            p.data.source = MixtureData{{{"a.txt"}}, {TokeniserKind::SentencePiece, "", 64}};
        },
        "E /data/source/tokeniser/model [data · tokeniser · model file] names no SentencePiece model");
    row(
        "fractions",
        [](Project& p) {
            p.data.validationFraction = 0.5;
            p.data.testFraction = 0.5;
        },
        "E /data [data] validation and test take 1 of the data, expected less than 1");
    row(
        "fraction", [](Project& p) { p.data.testFraction = -0.1; },
        "E /data/test_fraction [data · test share] got -0.1, expected at least 0 and below 1");
    row(
        "nothing to validate on", [](Project& p) { p.data.validationFraction = 0; },
        "E /training/validate_every [training · validate every] got 100 steps, expected 0 where no data is set apart "
        "for validation");
    row(
        "steps", [](Project& p) { p.training.steps = 0; },
        "E /training/steps [training · steps] got 0, expected 1 to 1000000000000");
    row(
        "batch", [](Project& p) { p.training.batch = 0; },
        "E /training/batch [training · batch] got 0, expected 1 to 10000000");
    row(
        "sequence", [](Project& p) { p.training.sequenceLength = 0; },
        "E /training/sequence_length [training · sequence length] got 0, expected 1 to 10000000");
    row(
        "rate", [](Project& p) { p.training.learningRate.peak = 0; },
        "E /training/learning_rate/peak [training · learning rate · peak] got 0, expected more than 0");
    row(
        "rate that is no number",
        [](Project& p) { p.training.learningRate.peak = std::numeric_limits<double>::quiet_NaN(); },
        "E /training/learning_rate/peak [training · learning rate · peak] got nan, expected more than 0");
    row(
        "warm-up", [](Project& p) { p.training.steps = 100; },
        "W /training/learning_rate/warmup_steps [training · learning rate · warm-up] warm-up of 100 steps fills all "
        "100");
    row(
        "betas", [](Project& p) { p.training.optimiser = AdamW{.beta1 = 1.0}; },
        "E /training/optimiser/beta1 [training · optimiser · β₁] got 1, expected at least 0 and below 1");
    row(
        "momentum", [](Project& p) { p.training.optimiser = Sgd{.momentum = -1}; },
        "E /training/optimiser/momentum [training · optimiser · momentum] got -1, expected at least 0 and below 1");
    row(
        "clip", [](Project& p) { p.training.clipNorm = -1; },
        "E /training/clip_norm [training · clip norm] got -1, expected at least 0");
    row(
        "full batch", [](Project& p) { p.training.batching = BatchKind::Full; },
        "E /training/batching [training · batching] the full set as one batch is for regression on a fixed set, the "
        "data is a language");
    row(
        "seeds", [](Project& p) { p.seeds.order = -1; },
        "E /seeds/order [seeds · order of batches] got -1, expected at least 0");
    row(
        "initialisation", [](Project& p) { p.initialisation.scale = -1; },
        "E /initialisation/scale [initialisation · scale] got -1, expected 0 to 1000");
    row(
        "stages fall",
        [](Project& p) {
            p.stack().segments[0].repeat = 8;
            p.stack().schedule.stages = {{0, 6, {1, 8}}, {500, 4, {1}}};
        },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] keep probability falls from "
        "66.7 % to 42.9 %, expected it to stay or grow\n"
        "E /schedule/stages/1/always [schedule · stage 2 · always] leaves out a layer that the stage before always "
        "keeps");
    row(
        "stages out of bounds",
        [](Project& p) {
            p.stack().segments[0].repeat = 4;
            p.stack().schedule.stages = {{0, 5, {1, 9}}, {0, 4, {1, 9}}};
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 5, expected 2 to 4\n"
        "E /schedule/stages/0/always [schedule · stage 1 · always] got layer 9, expected 1 to 4\n"
        "E /schedule/stages/1/always [schedule · stage 2 · always] got layer 9, expected 1 to 4\n"
        "E /schedule/stages/1/start [schedule · stage 2 · start] got step 0, expected one after 0");
    row(
        "polynomial",
        [](Project& p) {
            p = findExample("boolean-polynomial")->project;
            p.data.source = BooleanPolynomial{.variables = 6, .degree = 6, .termsPerDegree = 2};
        },
        "E /data/source/terms_per_degree [data · terms per degree] got 2, expected 1 to 1");
    row(
        "full batch of an endless set",
        [](Project& p) {
            p = findExample("boolean-polynomial")->project;
            p.training.batching = BatchKind::Full;
        },
        "E /training/batching [training · batching] the full set as one batch is for regression on a fixed set, the "
        "data is drawn without end");
    row(
        "full batch of pictures",
        [](Project& p) {
            p = findExample("small-vit")->project;
            p.training.batching = BatchKind::Full;
        },
        "E /training/batching [training · batching] the full set as one batch is for regression on a fixed set, the "
        "data is labelled");
    row(
        "endless language",
        [](Project& p) { p.data.source = SyntheticLanguage{.vocabulary = 64, .levels = 4, .tokens = 4'000'000'000}; },
        "E /data/source [data] the examples take 22.4 GiB while they are generated, expected at most 4 GiB: make fewer "
        "or smaller ones, or read them from a token file");
    row(
        "wide polynomial",
        [](Project& p) {
            p = findExample("boolean-polynomial")->project;
            p.data.source = BooleanPolynomial{.dim = 100'000};
            p.data.testFraction = 0.1;
        },
        "E /data/source [data] the examples take 9.16 GiB while they are generated, expected at most 4 GiB: make fewer "
        "or smaller ones");
    row(
        "slow polynomial",
        [](Project& p) {
            p = findExample("boolean-polynomial")->project;
            p.data.source = BooleanPolynomial{.dim = 5000, .variables = 5000, .degree = 1000, .termsPerDegree = 10};
        },
        "E /data/source [data] each sample multiplies 5005000 variables, expected at most 1000000: fewer terms per "
        "degree, or a lower degree");
    row(
        "large regression",
        [](Project& p) {
            p = findExample("linear-ancre")->project;
            std::get<LinearRegression>(p.data.source).samples = 100'000'000;
        },
        "E /data/source [data] the examples take 35.8 GiB while they are generated, expected at most 4 GiB: make fewer "
        "or smaller ones");
    row(
        "full batch beside a large one that is not used",
        [](Project& p) {
            p = findExample("linear-ancre")->project;
            p.training.batch = 10'000'000;
            p.training.steps = 1'000'000'000;
        },
        "");
    row(
        "full batch of a large set",
        [](Project& p) {
            p = findExample("linear-ancre")->project;
            std::get<LinearRegression>(p.data.source).samples = 1'000'000;
            p.training.steps = 10'000'000'000;
        },
        "E /training/steps [training · steps] come to 1e+16 samples, expected at most 9007199254740992");
    row(
        "a language of one sequence",
        [](Project& p) {
            p.data.source = SyntheticLanguage{.tokens = 64};
            p.training.sequenceLength = 64;
        },
        "E /data/source/tokens [data · length] leave 58 for the training split, expected at least 65: one sequence and "
        "the token after it");
    row(
        "endless batch",
        [](Project& p) {
            p.training.batch = 10'000'000;
            p.training.sequenceLength = 10'000'000;
            p.training.accumulate = 1'000'000;
        },
        "E /training/batch [training · batch] one micro-batch takes 1.42 PiB, expected at most 4 GiB: make it smaller "
        "and accumulate more of them\n"
        "E /training/steps [training · steps] come to 1e+23 tokens, expected at most 9007199254740992\n"
        "E /data/source/tokens [data · length] leave 900000 for the training split, expected at least 10000001: one "
        "sequence and the token after it");
    row(
        "endless training",
        [](Project& p) {
            p.training.steps = 1'000'000'000'000;
            p.training.accumulate = 1000;
        },
        "E /training/steps [training · steps] come to 5.12e+17 tokens, expected at most 9007199254740992");
    row(
        "checkpoints kept by less than nothing",
        [](Project& p) {
            p.training.keepEvery = -1;
            p.training.keepBest = -2;
        },
        "E /training/keep_every [training · keep every] got -1, expected 0 to 1000000000000\n"
        "E /training/keep_best [training · keep best] got -2, expected 0 to 1000000");
    row(
        "the best of what is never validated",
        [](Project& p) {
            p.training.keepBest = 1;
            p.training.validateEvery = 0;
        },
        "W /training/keep_best [training · keep best] keeps the checkpoints of least validation loss, but nothing "
        "is "
        "validated: see validate every");
    row(
        "vectors and tokens",
        [](Project& p) {
            p = findExample("linear-ancre")->project;
            p.network.objective = Objective::NextToken;
        },
        "E /network/objective [network · objective] next token needs token sequences, the data is vectors");
    row(
        "shares of the hidden tokens",
        [](Project& p) {
            p.network.objective = Objective::MaskedToken;
            p.data.masking.random = 0.5;
        },
        "E /data/masking/random [data · masking · become random] and the share that becomes the mask are 1.3 of the "
        "chosen tokens, expected at most 1");
}

void TestValidate::dataAndTraining()
{
    check(languageProject(kPlainBlock));
}

/// Where an end that depends on another field lies below the least value, the least is right: what is wrong is the
/// other field, which is said there.
void TestValidate::anEndBelowTheLeastLeavesTheLeast()
{
    Project project;
    project.data.source = LowRankRegression{.dim = 0, .rank = 1};
    project.training.steps = -1;
    project.stack().schedule = {.stages = {{0, 4, {1}}}, .fullModelSteps = 0};
    const auto problemsAt = [&project](const char* path) {
        const std::vector<Problem> problems = validate(project);
        return std::ranges::count(problems, path, &Problem::path);
    };
    QCOMPARE(problemsAt("/data/source/rank"), 0);
    QCOMPARE(problemsAt("/data/source/dim"), 1);
    QCOMPARE(problemsAt("/schedule/full_model_steps"), 0);
    std::get<LowRankRegression>(project.data.source).rank = 2;
    QCOMPARE(problemsAt("/data/source/rank"), 1);
}

void TestValidate::errorsComeFirst()
{
    Project project = languageProject(kPlainBlock);
    project.network.blocks.push_back({"spare", "", graphFrom(kPlainBlock)});
    project.seeds.data = -1;
    const std::vector<Problem> problems = validate(project);
    QCOMPARE(problems.size(), std::size_t{2});
    QVERIFY2(problems[0].text().starts_with("[seeds · data] got -1"), problems[0].text().c_str());
    QCOMPARE(problems[1].text(), std::string("[block spare] no layer uses it"));
    QVERIFY(hasErrors(problems));
    QVERIFY(!hasErrors({problems[1]}));
}

void TestValidate::anEmptyDocumentIsExplained()
{
    QCOMPARE(problemsOf(Project{}), "E /network/stem [stem] has no nodes\n"
                                    "E /network/stack [network · stack] has no layers\n"
                                    "E /network/head [head] has no nodes");
}

/// Whatever a file can hold is judged and costed without a crash, and what is without errors has a cost.
void TestValidate::anyDocumentIsJudged()
{
    for (const auto values : {residua::tests::Values::Plausible, residua::tests::Values::Any}) {
        for (std::uint32_t round = 0; round < 200; ++round) {
            const Project project =
                residua::tests::RandomDocument(residua::tests::randomSeed() + round, values).document().project;
            const std::vector<Problem> problems = validate(project);
            const auto cost = costOf(project);
            const auto sound = soundProject(project);
            const auto shortcut = sound ? costOfShortcut(*sound, {0, 2}) : sound.error();
            QVERIFY2(hasErrors(problems) || cost.ok(), cost ? "" : cost.error().text().c_str());
            QVERIFY(!shortcut.ok() || shortcut->parameters >= 0);
            for (const Problem& problem : problems) {
                QVERIFY2(problem.path.starts_with('/') && !problem.place.empty(), problem.text().c_str());
            }
        }
    }
}

/// The last one says how many more there are; errors are not lost behind warnings.
void TestValidate::millionsOfProblemsAreNotListed()
{
    Project project = languageProject(kPlainBlock);
    auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    ExplicitSources sources;
    for (std::int64_t target = 100; target < 3100; ++target) {
        sources.shortcuts.push_back({0, target});
    }
    mix.sources = sources;
    const std::vector<Problem> problems = validate(project);
    const auto last = std::ranges::find(problems, "document", &Problem::place);
    QVERIFY(last != problems.end());
    QCOMPARE(last - problems.begin(), 1000);
    // None of them is read, so two readers have no source either.
    QVERIFY2(last->text().starts_with("[document] has 2002 more"), last->text().c_str());
    QVERIFY(hasErrors(problems));
}

RESIDUA_TEST(TestValidate)
#include "tst_validate.moc"
