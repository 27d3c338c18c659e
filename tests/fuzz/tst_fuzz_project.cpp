// SPDX-License-Identifier: GPL-3.0-or-later
// Broken projects: whatever a file holds, it is read or refused, judged, costed, compared, drawn and expanded without a
// crash, without a hang and in little memory. RESIDUA_FUZZ_ROUNDS makes it long, RESIDUA_RANDOM_SEED repeats it.
#include "editor/scenes/block_scene.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/folds.h"
#include "editor/scenes/matrix_scene.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/project_bounds.h"
#include "projects/base/utf8.h"
#include "projects/check/validate.h"
#include "projects/commands/typing.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/diff/diff.h"
#include "projects/file/json.h"
#include "projects/layers/shortcut_cost.h"
#include "projects/library/presets.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/retrofit.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_project.h"
#include "tests/support/random_document.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <cmath>

using namespace residua;
using namespace residua::projects;

namespace {

/// Every example, every block and every topology, and documents that only a program would write.
std::vector<Project> seeds()
{
    std::vector<Project> seeds;
    for (const Example& example : examples()) {
        seeds.push_back(example.project);
    }
    for (const BlockPreset& preset : blockPresets()) {
        Project project = findExample("ancre-language")->project;
        project.network.blocks = {{preset.name, preset.name, preset.graph}};
        project.stack().segments = {{preset.name, 3}};
        seeds.push_back(std::move(project));
    }
    for (TopologyPreset& preset : topologyPresets(6)) {
        Project project = findExample("ancre-language")->project;
        project.stack().segments.front().repeat = 6;
        project.stack().topology = {preset.name, std::move(preset.wiring)};
        project.stack().schedule.stages = {{0, 3, {1, 6}}, {500, 6, {1, 6}}};
        project.sweeps = {{"s", {axisFrom("/topology=plain,grn-v1,0:2"), axisFrom("/seeds/init=1,2")}}};
        seeds.push_back(std::move(project));
    }
    for (std::uint32_t i = 0; i < 10; ++i) {
        seeds.push_back(tests::RandomDocument(i, tests::Values::Any).document().project);
    }
    return seeds;
}

/// Returns an objection unless an error names a place, has no library's words, and is no longer than a screen.
QString objectionTo(const Error& error)
{
    constexpr std::size_t kLongest = 200'000; // a name may be 64 KiB long
    const std::string text = error.text();
    const bool told = !error.place.empty() && !error.message.empty() && text.size() < kLongest && isUtf8(text);
    return told && text.find("json.exception") == std::string::npos ? QString()
                                                                    : "badly told: " + QString::fromStdString(text);
}

std::vector<GraphRef> graphsOf(const Project& project)
{
    std::vector<GraphRef> refs{GraphRef::stem(), GraphRef::head(), GraphRef::block(""), GraphRef{}};
    for (const Block& block : project.network.blocks) {
        refs.push_back(GraphRef::block(block.name));
    }
    refs.resize(std::min<std::size_t>(refs.size(), 12));
    return refs;
}

void draw(const Document& document)
{
    const Project& project = document.project;
    editor::DepthScene depth;
    depth.rebuild(project, document.layout.groups, {});
    for (float x = -50; x < 500; x += 90) {
        (void)depth.hitTest({x, 20}, 4);
    }
    (void)depth.skyline(64);
    depth.rebuild(project, document.layout.groups, editor::foldableRuns(project.network));
    editor::MatrixScene matrix;
    matrix.rebuild(project);
    (void)matrix.stroke({0, 0}, {200, 200});
    for (const GraphRef& ref : graphsOf(project)) {
        editor::BlockScene block;
        block.rebuild(document, ref);
        (void)block.hitTest({10, 10}, 5);
        (void)block.tidied();
        (void)viewOf(block);
    }
    projects::Selection selection;
    selection.layers = {1, 2};
    for (const char* text : {"3:7", "i:i+2", "2 mlp", "ancre-ingoing", "group x"}) {
        (void)projects::typed(document, selection, text);
    }
    const auto sound = soundProject(project);
    (void)projects::costLines(project, sound ? std::optional(*sound) : std::nullopt, {1, 3});
}

QString judge(const Project& project, const Project& original)
{
    const std::vector<Problem> problems = validate(project);
    for (const Problem& problem : problems) {
        if (!problem.path.starts_with('/') || problem.place.empty() || problem.message.empty()) {
            return "a problem without a place: " + QString::fromStdString(problem.text());
        }
    }
    const Result<CostReport> cost = costOf(project);
    if (!cost && !hasErrors(problems)) {
        return "validates and has no cost: " + QString::fromStdString(cost.error().text());
    }
    if (cost && !(cost->total.activationBytes >= 0 && std::isfinite(cost->total.trainFlops))) {
        return "has an absurd cost";
    }
    if (cost) {
        (void)expectedFlopShare(project, *cost);
        (void)trainingFlops(project, cost->total);
    }
    (void)averageLength(project.stack().schedule, project.network.depth(), project.training.steps);
    (void)learningRateAt(project.training, project.stack().schedule, 17);
    for (const GraphRef& ref : graphsOf(project)) {
        (void)resolveGraph(project, ref);
    }
    if (diff(project, project).size() > 0) {
        return "differs from itself";
    }
    (void)diff(original, project);
    (void)diff(project, original);
    DepthMix apart;
    apart.ports = MixPorts::Qkv;
    (void)rewired(project, Topology{"dca", apart});
    if (!hasErrors(problems)) {
        (void)departureFromPlain(project.stack().topology.wiring, project.network.depth());
    }
    const auto outline = engine::Dataset::outline(project);
    if (outline && !*outline) {
        if (QString wrong = objectionTo(outline->error()); !wrong.isEmpty() || !hasErrors(problems)) {
            return "validates and cannot be generated: " + QString::fromStdString(outline->error().text());
        }
    }
    const std::array<std::int64_t, 3> steps{1, 10, 100};
    (void)engine::boundsOf(project, steps);
    for (std::size_t i = 0; i < std::min<std::size_t>(project.sweeps.size(), 2); ++i) {
        if (const auto members = expand(project, project.sweeps[i]); !members) {
            if (QString wrong = objectionTo(members.error()); !wrong.isEmpty()) {
                return wrong;
            }
        }
    }
    return {};
}

/// Reads `text`, and what it makes of it; empty where all is as it should be.
QString objection(const std::string& text, const Project& original, int& accepted)
{
    const auto read = projectFromJson(text);
    if (!read) {
        return objectionTo(read.error());
    }
    ++accepted;
    const auto again = projectFromJson(toJson(*read));
    if (!again || !(*again == *read)) {
        return "is not what it was when read again: " + QString::fromStdString(again ? "" : again.error().text());
    }
    if (QString wrong = judge(*read, original); !wrong.isEmpty()) {
        return wrong;
    }
    Layout layout;
    layout.positions[GraphRef::stem()][NodeId{1}] = {1e300, -1e300};
    layout.positions[GraphRef::head()][NodeId{2}] = {0, 5e-324};
    layout.groups = {{"all", -5, 1'000'000'000'000}, {"one", 2, 2}};
    draw({*read, layout});
    return {};
}

} // namespace

class TestFuzzProject : public QObject {
    Q_OBJECT

private slots:
    void brokenProjectsAreAnswered()
    {
        fuzz::limitMemory(std::uint64_t{6} << 30);
        const std::vector<Project> originals = seeds();
        const std::uint64_t first = fuzz::seed();
        const int count = fuzz::rounds(3000);
        int accepted = 0;
        for (int round = 0; round < count; ++round) {
            const std::uint64_t seed = first + static_cast<std::uint64_t>(round);
            fuzz::watchRound(seed);
            fuzz::ProjectMutator mutator(seed);
            const Project& original = originals[seed % originals.size()];
            const std::string text = mutator.mutated(treeOf(original));
            const QString wrong = objection(text, original, accepted);
            QVERIFY2(wrong.isEmpty(), qPrintable(QString("RESIDUA_RANDOM_SEED=%1: %2\n%3")
                                                     .arg(seed)
                                                     .arg(wrong, QString::fromStdString(text.substr(0, 5000)))));
        }
        qInfo("%d of %d were documents", accepted, count);
        QVERIFY(count < 100 || accepted > count / 10);
    }
};

RESIDUA_TEST(TestFuzzProject)
#include "tst_fuzz_project.moc"
