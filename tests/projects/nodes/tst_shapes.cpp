// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"
#include "projects/nodes/expression.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/shape.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

using namespace residua::projects;
using residua::tests::graphFrom;
using residua::tests::languageProject;
using residua::tests::vectorProject;

namespace {

/// The output's shape, or every error, one a line.
QString outcome(const Project& project, const GraphRef& ref)
{
    const ResolvedGraph shapes = resolveGraph(project, ref);
    QStringList lines;
    for (const auto& [node, error] : shapes.errors) {
        lines << QString::fromStdString(error.text());
    }
    if (const OutputPort* const out = shapes.outputPort(kOutputPort)) {
        lines << QString::fromStdString(out->shape.text());
    }
    return lines.join('\n');
}

} // namespace

class TestShapes : public QObject {
    Q_OBJECT

private slots:
    void language_data();
    void language();
    void inputsWithoutAWireAreKnown();
    void outputPortsHaveNames();
    void vectors_data();
    void vectors();
    void stemsAndHeads();
    void images();
    void namedSizes();
    void cycles();
    void orderFollowsTheWires();
    void tiedHead();
    void activationsAreInTheirTableAlone();
    void tableIsSound();
    void aFurtherInputIsNamed();
};

void TestShapes::language_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* graph, const char* expected) { QTest::newRow(graph) << graph << expected; };
    row("x input; y output; x > y", "[batch, time, 128]");
    row("x input; a linear out=64; y output; x > a; a > y", "[batch, time, 64]");
    row("x input; a linear out=4*d; b linear; y output; x > a; a > b; b > y", "[batch, time, 128]");
    row("x input; a linear out=vocab; y output; x > a; a > y", "[batch, time, 64]");
    row("x input; a linear out=in; y output; x > a; a > y",
        "[block test · node a] parameter out: unknown name in; known here: d, seq, vocab");
    row("x input; a linear out=0; y output; x > a; a > y",
        "[block test · node a] parameter out: got 0, expected at least 1");
    row("x input; a linear out=d/3; y output; x > a; a > y",
        "[block test · node a] parameter out: d/3 = 42.6667, expected a whole number of at least 1");
    row("x input; a linear out=1.5; y output; x > a; a > y",
        "[block test · node a] parameter out: expected a whole number or a formula");
    row("x input; a linear wide=64; y output; x > a; a > y",
        "[block test · node a] parameter wide: linear has no parameter of this name");
    row("x input; a linear bias=1; y output; x > a; a > y",
        "[block test · node a] parameter bias: expected true or false");
    row("x input; a activation function=swish; y output; x > a; a > y",
        "[block test · node a] parameter function: got swish, expected one of relu, gelu, gelu_tanh, silu, tanh, "
        "sigmoid, identity");
    row("x input; a liner; y output; x > a; a > y", "[block test · node a] unknown kind liner");
    row("x input; a attention heads=4; y output; x > a.q; x > a.k; x > a.v; a > y", "[batch, time, 128]");
    row("x input; a attention heads=3; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] width 128 is not a multiple of 3 heads; give the features per head to "
        "choose them freely");
    row("x input; a attention heads=8 kv_heads=3; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] 8 heads are not a multiple of 3 key-value heads");
    row("x input; a attention heads=128; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] rotary positions need an even number of features per head, got 1");
    row("x input; a attention weights=performer; y output; x > a.q; x > a.k; x > a.v; a > y", "[batch, time, 128]");
    row("x input; a attention weights=linear; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] parameter weights: got linear, expected one of softmax, performer");
    row("x input; a attention weights=performer features=0; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] parameter features: got 0, expected at least 1");
    row("x input; a attention weights=performer features_start=random; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] parameter features_start: got random, expected one of fitted, drawn");
    row("x input; a attention weights=performer dropout=0.1; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · node a] parameter dropout: it leaves out single attention weights, which a performer never "
        "forms: expected 0, or weights by softmax");
    constexpr const char* kWired = "; y output; x > a.q; x > a.k; x > a.v; a > y";
    for (const char* const good :
         {"window=1", "rope=false rotary_share=0.3", "rotary_share=0.5", "rope_scaling=linear", "bias=qkv qk_norm=all",
          "rope_scaling=llama3 rope_low_frequency=2", "rope_high_frequency=0.5", "qk_norm=head norm_eps=0"}) {
        row((std::string("x input; a attention ") + good + kWired).c_str(), "[batch, time, 128]");
    }
    const std::pair<const char*, const char*> wrong[] = {
        {"bias=true", "bias: got true, expected one of none, qk, qkv, all"},
        {"bias=some", "bias: got some, expected one of none, qk, qkv, all"},
        {"qk_norm=heads", "qk_norm: got heads, expected one of none, head, all"},
        {"window=-1", "window: got -1, expected at least 0"},
        {"window=8 causal=false", "window: it counts earlier tokens, and without causal a token sees later ones too: "
                                  "expected 0, or causal"},
        {"window=8 weights=performer",
         "window: a performer sums over all earlier tokens: expected 0, or weights by softmax"},
        {"rotary_share=0.1", "rotary_share: 3 of 32 features per head would rotate: expected an even number of at "
                             "least 2"},
        {"rotary_share=0.01", "rotary_share: 0 of 32 features per head would rotate: expected an even number of at "
                              "least 2"},
        {"rotary_share=1.5", "rotary_share: got 1.5, expected at most 1"},
        {"rope_scaling=yarn", "rope_scaling: got yarn, expected one of none, linear, llama3"},
        {"rope_scaling=llama3 rope_low_frequency=4",
         "rope_high_frequency: got 4, expected more than rope_low_frequency, which is 4"},
    };
    for (const auto& [params, error] : wrong) {
        row((std::string("x input; a attention ") + params + kWired).c_str(),
            (std::string("[block test · node a] parameter ") + error).c_str());
    }
    row("x input; n linear out=64; a attention heads=4; y output; n > a.k; x > n; x > a.q; x > a.v; a > y",
        "[block test · wire n.out > a.k] width 64 does not match 128");
    row("x input; a attention; y output; x > a.q; x > a.v; a > y", "[block test · node a] input k is not wired");
    row("x input; g linear out=256; u linear out=64; s swiglu; y output; x > g; x > u; g > s.gate; u > s.up; s > y",
        "[block test · wire u.out > s.up] width 64 does not match 256");
    row("x input; a linear out=64; s add; y output; x > a; x > s.in1; a > s.in2; s > y",
        "[block test · wire a.out > s.in2] width 64 does not match 128");
    row("x input; g linear out=1; m multiply; y output; x > g; x > m.in1; g > m.in2; m > y", "[batch, time, 128]");
    row("x input; a linear out=64; c concat; y output; x > a; x > c.in1; a > c.in2; x > c.in3; c > y",
        "[batch, time, 320]");
    row("x input; s add; y output; x > s.in1; x > s.in3; s > y", "[block test · node s] input in2 is not wired");
    row("x input; f expression formula=x*sigmoid(g)+1; g linear; y output; x > g; g > f.g; x > f.x; f > y",
        "[batch, time, 128]");
    row("x input; f expression formula=x-mean(x); y output; x > f.x; f > y", "[batch, time, 128]");
    row("x input; f expression formula=mean(x*x); y output; x > f.x; f > y", "[batch, time, 1]");
    row("x input; f expression formula=a*b; l linear out=64; y output; x > l; x > f.a; l > f.b; f > y",
        "[block test · node f] width 64 does not match 128");
    row("x input; f expression formula=1+2; y output; f > y", "[block test · node f] formula 1+2 reads no input");
    row("x input; f expression formula=a+; y output; f > y",
        "[block test · node f] formula column 3: expected a number, a name or '(', got the end");
    row("x input; g parameter; m multiply; y output; g > m.in1; x > m.in2; m > y", "[batch, time, 128]");
    row("x input; g parameter features=d; s add; y output; x > s.in1; g > s.in2; s > y", "[batch, time, 128]");
    row("x input; g parameter features=d; f expression formula=mean(x)*g; y output; x > f.x; g > f.g; f > y",
        "[batch, time, 128]");
    row("x input; g parameter; h parameter features=3; m multiply; y output; g > m.in1; h > m.in2; m > y", "[3]");
    row("x input; g parameter features=3 rows=2; y output; g > y", "[2, 3]");
    row("x input; g parameter features=64; m multiply; y output; x > m.in1; g > m.in2; m > y",
        "[block test · wire g.out > m.in2] shape [64] does not match the last dimensions of [batch, time, 128]");
    row("x input; g parameter rows=2; m multiply; y output; x > m.in1; g > m.in2; m > y",
        "[block test · wire g.out > m.in2] shape [2, 1] does not match the last dimensions of [batch, time, 128]");
    row("x input; g parameter; a activation; y output; g > a; a > y",
        "[block test · wire g.out > a.in] got [1], expected at least 2 dimensions");
    row("x input; n batch_norm; y output; x > n; n > y", "[batch, time, 128]");
    row("x input; p mean_pool; y output; x > p; p > y", "[batch, 128]");
    row("x input; p mean_pool keep_dimensions=true; y output; x > p; p > y", "[batch, 1, 128]");
    row("x input; p mean_pool keep_dimensions=true; m multiply; y output; x > p; p > m.in1; x > m.in2; m > y",
        "[batch, time, 128]");
    row("x input; p mean_pool; m multiply; y output; x > p; p > m.in1; x > m.in2; m > y",
        "[block test · wire x.out > m.in2] shape [batch, time, 128] does not match [batch, 128]");
    row("x input; l linear out=64; p mean_pool keep_dimensions=true; m multiply; y output; x > l; l > p; p > m.in1; "
        "x > m.in2; m > y",
        "[block test · wire x.out > m.in2] width 128 does not match 64");
    row("x input; d dropout of=examples last_rate=1; y output; x > d; d > y",
        "[block test · node d] parameter last_rate: got 1, expected at most 0.99");
    row("x input; d dropout of=rows; y output; x > d; d > y",
        "[block test · node d] parameter of: got rows, expected one of elements, examples");
    row("x input; p first_token; y output; x > p; p > y", "[batch, 128]");
    row("x input; c class_token; y output; x > c; c > y", "[block test · wire x.out > c.in] got [batch, time, 128], "
                                                          "expected a known number of positions; in a text the first "
                                                          "token is the class token");
    row("x input; c conv1d kernel=3 groups=d; y output; x > c; c > y", "[batch, time, 128]");
    row("x input; c conv1d groups=3; y output; x > c; c > y",
        "[block test · node c] 128 input and 128 output channels are not multiples of 3 groups: expected a divisor of "
        "both");
    row("x input; c conv2d; y output; x > c; c > y",
        "[block test · wire x.out > c.in] got [batch, time, 128], expected [batch, channels, height, width]");
    row("x input; f flatten; y output; x > f; f > y",
        "[block test · wire x.out > f.in] got [batch, time, 128], expected dimensions of known size after batch");
    row("x input; e token_embedding; y output; x > e; e > y",
        "[block test · wire x.out > e.in] got [batch, time, 128], expected tokens [batch, time]");
    row("x input; a linear out=64; b liner; c linear; y output; x > a; a > b; b > c; c > y",
        "[block test · node b] unknown kind liner");
    row("x input; a linear; y output; x.port > a; a > y", "[block test · wire x.port > a.in] there is no such output");
}

void TestShapes::language()
{
    QFETCH(QString, graph);
    QFETCH(QString, expected);
    QCOMPARE(outcome(languageProject(graph.toStdString()), GraphRef::block("test")), expected);
}

void TestShapes::inputsWithoutAWireAreKnown()
{
    const auto unwired = [](const char* graph) {
        const Project project = languageProject(graph);
        const ResolvedGraph shapes = resolveGraph(project, GraphRef::block("test"));
        std::set<std::string> names;
        for (const NodeId id : shapes.unwired) {
            names.insert(findGraph(project, GraphRef::block("test"))->find(id)->name);
        }
        return names;
    };
    using Names = std::set<std::string>;
    QVERIFY(unwired("x input; y output; x > y").empty());
    QCOMPARE(unwired("x input; a attention; y output; x > a.q; x > a.v; a > y"), Names{"a"});
    QCOMPARE(unwired("x input; a linear; b linear; y output; x > b; b > y"), Names{"a"});
    QVERIFY(unwired("x input; a linear wide=64; y output; x > a; a > y").empty()); // another error
}

/// "output" first, the others as in the document, which is not the order in which they are worked out.
void TestShapes::outputPortsHaveNames()
{
    const Graph graph = GraphBuilder()
                            .node("b", "output", {{"port", std::string("b")}})
                            .node("a", "output", {{"port", std::string("a")}})
                            .node("x", "input")
                            .node("up", "linear", {{"out", std::string("64")}})
                            .node("y", "output")
                            .wire("x", "up")
                            .wire("up", "b")
                            .wire("x", "a")
                            .wire("x", "y")
                            .build();
    const ResolvedGraph resolved = resolveGraph(graph, GraphRef::block("test"), Sizes{}, Shape{{kBatch, 16}});
    QStringList ports;
    for (const OutputPort& port : resolved.outputPorts) {
        ports << QString::fromStdString(port.name + " " + port.shape.text());
    }
    QCOMPARE(ports, (QStringList{"output [batch, 16]", "b [batch, 64]", "a [batch, 16]"}));
    QCOMPARE(resolved.outputPort("b")->from, (PortRef{graph.nodes[3].id, "out"}));
    QVERIFY(!resolved.outputPort("c"));
}

void TestShapes::vectors_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* graph, const char* expected) { QTest::newRow(graph) << graph << expected; };
    row("x input; a linear out=in; y output; x > a; a > y", "[batch, 100]");
    row("x input; a linear rank=3; y output; x > a; a > y", "[batch, 100]");
    row("x input; a linear rank=100; y output; x > a; a > y", "[batch, 100]");
    row("x input; a linear rank=0; y output; x > a; a > y",
        "[block test · node a] parameter rank: got 0, expected at least 1");
    row("x input; a linear rank=101; y output; x > a; a > y",
        "[block test · node a] rank 101 is above the smaller side of weight, which is 100 × 100; expected at most 100, "
        "a share, or full");
    row("x input; a linear rank=1.5; y output; x > a; a > y",
        "[block test · node a] parameter rank: got the share 1.5, expected more than 0 and at most 1");
    row("x input; a linear rank=-0.5; y output; x > a; a > y",
        "[block test · node a] parameter rank: got the share -0.5, expected more than 0 and at most 1");
    row("x input; a linear rank=true; y output; x > a; a > y",
        "[block test · node a] parameter rank: expected a whole number or a formula");
    row("x input; f flatten; y output; x > f; f > y", "[batch, 100]");
    row("x input; a attention; y output; x > a.q; x > a.k; x > a.v; a > y",
        "[block test · wire x.out > a.q] got [batch, 100], expected [batch, time, features]");
    row("x input; a linear out=vocab; y output; x > a; a > y",
        "[block test · node a] parameter out: unknown name vocab; known here: d, in, out");
}

void TestShapes::vectors()
{
    QFETCH(QString, graph);
    QFETCH(QString, expected);
    QCOMPARE(outcome(vectorProject(graph.toStdString()), GraphRef::block("test")), expected);
}

void TestShapes::stemsAndHeads()
{
    Project project = languageProject("x input; y output; x > y");
    QCOMPARE(outcome(project, GraphRef::stem()), "[batch, time, 128]");
    QCOMPARE(outcome(project, GraphRef::head()), "[batch, time, 64]");
    project.network.stem = graphFrom("x input; l linear; y output; x > l; l > y");
    QCOMPARE(outcome(project, GraphRef::stem()),
             "[stem · wire x.out > l.in] got tokens [batch, time], expected real values; a token_embedding makes them");
    project.data.source = TextData{"a.txt", {TokeniserKind::Characters, "", 70}};
    QCOMPARE(outcome(project, GraphRef::head()), "[batch, time, 70]");
    project.data.source = TextData{"a.txt", {TokeniserKind::Bytes, "", 70}};
    QCOMPARE(outcome(project, GraphRef::head()), "[batch, time, 256]");
    QCOMPARE(outcome(project, GraphRef::block("none")), "");
}

void TestShapes::images()
{
    const auto infer = [](const char* kind, std::map<std::string, ParamValue> params, Shape in) -> QString {
        const auto complete = evaluateParams(Node{NodeId{1}, kind, "n", std::move(params)}, Sizes{{{"d", 8}}});
        const auto out = findNodeKind(kind)->shapeRule(*complete, std::vector{in});
        return QString::fromStdString(out ? (*out)[0].text() : out.error().text());
    };
    const Shape image{{kBatch, 3, 32, 32}};
    QCOMPARE(infer("conv2d", {}, image), "[batch, 8, 32, 32]");
    QCOMPARE(infer("conv2d", {{"rank", 0.5}, {"groups", std::int64_t{1}}}, image), "[batch, 8, 32, 32]");
    QCOMPARE(infer("conv2d", {{"out", std::int64_t{9}}, {"rank", 0.5}, {"groups", std::int64_t{3}}}, image),
             "a convolution in 3 groups has no rank below full: expected full, or one group");
    QCOMPARE(infer("conv2d", {{"stride", std::int64_t{2}}}, image), "[batch, 8, 16, 16]");
    QCOMPARE(infer("conv2d", {{"kernel", std::int64_t{40}}}, image),
             "[in] kernel 40 is larger than the padded input [batch, 3, 32, 32]");
    QCOMPARE(infer("conv2d", {{"stride", std::int64_t{2}}}, Shape{{kBatch, 3, 2, 1}}),
             "[in] stride 2 is larger than a side of [batch, 3, 2, 1]: expected larger pictures, or a smaller stride");
    QCOMPARE(infer("conv2d", {{"groups", std::int64_t{2}}}, image),
             "3 input and 8 output channels are not multiples of 2 groups: expected a divisor of both");
    QCOMPARE(infer("patchify", {}, image), "[batch, 64, 8]");
    const Shape patches{{kBatch, 64, 48}};
    QCOMPARE(infer("unpatchify", {{"patch", std::int64_t{4}}, {"columns", std::int64_t{8}}}, patches), "[batch, 3072]");
    QCOMPARE(infer("unpatchify", {{"patch", std::int64_t{5}}, {"columns", std::int64_t{8}}}, patches),
             "[in] has 48 features, expected a multiple of 25, the pixels of a patch");
    QCOMPARE(infer("unpatchify", {{"columns", std::int64_t{7}}}, patches),
             "[in] got [batch, 64, 48], expected rows of 7 positions");
    QCOMPARE(infer("slice", {{"first", std::int64_t{2}}}, Shape{{kBatch, 10}}), "[batch, 8]");
    QCOMPARE(infer("slice", {{"first", std::int64_t{3}}}, Shape{{kBatch, 10}}),
             "[in] has 10 features, expected at least 11, the end of the slice");
    QCOMPARE(infer("one_position", {}, Shape{{kBatch, 10}}), "[batch, 1, 10]");
    const Shape numbers{{kBatch}, Element::Token};
    QCOMPARE(infer("step_embedding", {{"features", std::int64_t{6}}}, numbers), "[batch, 6]");
    QCOMPARE(infer("step_embedding", {{"features", std::int64_t{7}}}, numbers),
             "[features] got 7, expected an even number");
    QCOMPARE(infer("patchify", {{"patch", std::int64_t{5}}}, image),
             "[in] sides of [batch, 3, 32, 32] are not multiples of the patch 5");
    QCOMPARE(infer("flatten", {}, image), "[batch, 3072]");
    QCOMPARE(infer("batch_norm", {}, image), QString::fromStdString(image.text()));
    QCOMPARE(infer("mean_pool", {}, Shape{{kBatch, 64, 8}}), "[batch, 8]");
    QCOMPARE(infer("mean_pool", {}, Shape{{kBatch, 7, 5, 8}}), "[batch, 8]");
    QCOMPARE(infer("mean_pool", {{"keep_dimensions", true}}, Shape{{kBatch, 7, 5, 8}}), "[batch, 1, 1, 8]");
    QCOMPARE(infer("features_last", {}, image), "[batch, 32, 32, 3]");
    const std::map<std::string, ParamValue> last{{"layout", std::string("features_last")}};
    const Shape states{{kBatch, 9, 6, 16}};
    QCOMPARE(infer("batch_norm", {}, states), "[batch, 9, 6, 16]");
    QCOMPARE(infer("conv2d", last, states), "[batch, 9, 6, 8]");
    QCOMPARE(infer("conv2d", {{"layout", std::string("features_last")}, {"stride", std::int64_t{2}}}, states),
             "[batch, 5, 3, 8]");
    QCOMPARE(infer("conv2d", {{"layout", std::string("features_last")}, {"groups", std::int64_t{3}}}, states),
             "16 input and 8 output channels are not multiples of 3 groups: expected a divisor of both");
    QCOMPARE(infer("conv2d", last, Shape{{kBatch, 64, 8}}),
             "[in] got [batch, 64, 8], expected [batch, height, width, features]");
    QCOMPARE(infer("pool2d", {}, image), "[batch, 3, 16, 16]");
    QCOMPARE(infer("pool2d", last, states), "[batch, 4, 3, 16]");
    QCOMPARE(infer("pool2d", {{"kernel", std::int64_t{3}}, {"padding", std::int64_t{1}}}, image), "[batch, 3, 16, 16]");
    QCOMPARE(infer("pool2d", {{"padding", std::int64_t{2}}}, image),
             "padding 2 is above half of the kernel 2: a window would read nothing of the image");
    QCOMPARE(infer("pool2d", {{"kernel", std::int64_t{33}}}, image),
             "[in] kernel 33 is larger than the padded input [batch, 3, 32, 32]");
    QCOMPARE(infer("segment_embedding", {}, Shape{{kBatch, kTime, 8}}), "[batch, time, 8]");
    QCOMPARE(infer("class_token", {}, Shape{{kBatch, 64, 8}}), "[batch, 65, 8]");
    QCOMPARE(infer("first_token", {}, Shape{{kBatch, 65, 8}}), "[batch, 8]");
}

void TestShapes::namedSizes()
{
    Project project = languageProject("x input; y output; x > y");
    QCOMPARE(sizesOf(project)->named, (std::map<std::string, std::int64_t>{{"d", 128}, {"seq", 32}, {"vocab", 64}}));
    project.stack().width = 0;
    QCOMPARE(sizesOf(project).error().text(), std::string("[network · width] got 0, expected 1 to 100000000"));
    project = vectorProject("x input; y output; x > y");
    project.data.source = BooleanPolynomial{};
    QCOMPARE(sizesOf(project)->named, (std::map<std::string, std::int64_t>{{"d", 100}, {"in", 100}, {"out", 1}}));
}

void TestShapes::cycles()
{
    const Project project =
        languageProject("x input; a add; b linear; c linear; y output; x > a.in1; b > a.in2; a > b; b > c; c > y");
    const auto order = topologicalOrder(project.network.blocks[0].graph);
    QCOMPARE(order.error().text(), std::string("wires form a cycle: a > b > a"));
    const ResolvedGraph shapes = resolveGraph(project, GraphRef::block("test"));
    QCOMPARE(shapes.errors.size(), std::size_t{4});
    QCOMPARE(shapes.errors.at(NodeId{4}).place, std::string("block test · node c"));
    QVERIFY(shapes.errors.at(NodeId{4}).message.ends_with("the cycle a > b > a"));
}

void TestShapes::orderFollowsTheWires()
{
    const Graph graph =
        graphFrom("y output; c add; b linear; a linear; x input; x > a; x > b; a > c.in1; b > c.in2; c > y");
    const auto order = topologicalOrder(graph);
    QVERIFY(order.ok());
    QCOMPARE(order->size(), graph.nodes.size());
    for (const Wire& wire : graph.wires) {
        QVERIFY(std::ranges::find(*order, wire.from.node) < std::ranges::find(*order, wire.to.node));
    }
}

void TestShapes::tiedHead()
{
    Project project = languageProject("x input; y output; x > y");
    QVERIFY(!tiedNodes(project.network).has_value());
    project.network.tieHead = true;
    project.network.head = graphFrom("x input; l linear; m linear out=vocab; y output; x > l; l > m; m > y");
    const auto tied = tiedNodes(project.network);
    QVERIFY(tied.has_value());
    QCOMPARE(tied->embedding, NodeId{2});
    QCOMPARE(tied->linear, NodeId{3});
    // One of less than full rank has no table to share.
    project.network.head = graphFrom("x input; l linear; m linear out=vocab rank=4; y output; x > l; l > m; m > y");
    QCOMPARE(tiedNodes(project.network)->linear, NodeId{2});
    project.network.stem = graphFrom("x input; y output; x > y");
    QVERIFY(!tiedNodes(project.network).has_value());
}

void TestShapes::activationsAreInTheirTableAlone()
{
    const std::vector<std::string>& offered = findNodeKind("activation")->params.front().choices;
    QCOMPARE(offered.size(), activations().size());
    for (const Activation& activation : activations()) {
        QVERIFY(std::ranges::find(offered, activation.name) != offered.end());
        QCOMPARE(findActivation(activation.name)->name, activation.name);
        const Activation* const fitted = findActivation(activation.fittedAs);
        QVERIFY(activation.fittedAs.empty() || (fitted != nullptr && fitted->fittedAs == fitted->name));
    }
    QVERIFY(findActivation("sine") == nullptr && findActivation("") == nullptr);
}

void TestShapes::tableIsSound()
{
    std::set<std::string> keys;
    for (const NodeKind& kind : nodeKinds()) {
        QVERIFY2(keys.insert(kind.key).second, kind.key.c_str());
        QVERIFY2(!kind.title.empty() && !kind.summary.empty() && !kind.category.empty(), kind.key.c_str());
        QVERIFY2(kind.shapeRule != nullptr, kind.key.c_str());
        for (const ParamSpec& param : kind.params) {
            QVERIFY2(!param.title.empty() && !param.help.empty(), (kind.key + "." + param.name()).c_str());
            QCOMPARE(!param.choices.empty(), param.type == ParamType::Choice);
            QVERIFY2(param.type != ParamType::Formula || parseExpression(std::get<std::string>(param.defaultValue)),
                     (kind.key + "." + param.name()).c_str());
        }
        const auto params =
            evaluateParams(Node{NodeId{1}, kind.key, "n", {}}, Sizes{{{"d", 8}, {"vocab", 16}, {"seq", 4}}});
        QVERIFY2(params.ok(), params ? "" : params.error().text().c_str());
        QCOMPARE(params->size(), kind.params.size());
    }
    QVERIFY(findNodeKind("no such kind") == nullptr);
}

void TestShapes::aFurtherInputIsNamed()
{
    const Graph graph = GraphBuilder()
                            .node("input", "input")
                            .node("sum", "add")
                            .node("linear", "linear")
                            .node("formula", "expression")
                            .wire("input", "sum.in3")
                            .build();
    const auto next = [&](const char* name) {
        return nextInputPort(*std::ranges::find(graph.nodes, name, &Node::name), graph).value_or("none");
    };
    QCOMPARE(next("sum"), std::string("in4"));
    QCOMPARE(next("linear"), std::string("none"));
    QCOMPARE(next("formula"), std::string("none")); // its ports are the names of the formula
    QCOMPARE(nextInputPort(Node{NodeId{9}, "no such kind", "n", {}}, graph).value_or("none"), std::string("none"));
}

RESIDUA_TEST(TestShapes)
#include "tst_shapes.moc"
