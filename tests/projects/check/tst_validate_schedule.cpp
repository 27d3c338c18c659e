// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/schedule_presets.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/shipped/examples.h"
#include "tests/projects/problem_rows.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace residua;
using namespace residua::projects;
using namespace residua::tests;

namespace {

/// Eight transformer layers over 1,000 steps.
Project language()
{
    Project project = findExample("plain-language")->project;
    project.training.steps = 1000;
    return project;
}

void useGate(Project& project, BranchGateKind kind)
{
    project.stack().topology.wiring = BranchGate{.gate = kind};
}

void useHeads(Project& project, std::int64_t heads, std::int64_t keyValueHeads)
{
    for (Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = heads;
            node.params["kv_heads"] = keyValueHeads;
        }
    }
}

void useTopology(Project& project, const std::string& name)
{
    const auto presets = topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, name, &TopologyPreset::name);
    project.stack().topology = {preset->name, preset->wiring};
}

/// Visits layers 3 to 6 of 8 three times, and leaves out whole visits.
void useVisits(Project& project, std::vector<Stage> stages)
{
    project.stack().loops = {{.first = 3, .last = 6, .visits = 3}};
    project.stack().schedule.stages = std::move(stages);
    project.stack().schedule.unit = DropUnit::Visit;
}

/// Returns the messages of validate() about the schedule's growth.
QString growthProblems(const Project& project)
{
    QStringList lines;
    for (const QString& line : problemsOf(project).split('\n')) {
        if (line.contains("/schedule/growth ")) {
            lines << line;
        }
    }
    return lines.join('\n');
}

} // namespace

class TestValidateSchedule : public QObject {
    Q_OBJECT

private slots:
    void mistakesAreNamed_data();
    void mistakesAreNamed();
    void keepsTheFunctionOrSaysNot_data();
    void keepsTheFunctionOrSaysNot();
    void withoutShortcutsNothingPasses();
    void everyPresetIsSound_data();
    void everyPresetIsSound();
};

void TestValidateSchedule::mistakesAreNamed_data()
{
    rows();
    const auto row = [](const char* name, ProjectChange change, const char* expected) {
        QTest::newRow(name) << change << expected;
    };
    row(
        "below the always-kept set",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 2, {1, 4, 8}}};
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 2, expected 3 to 8");
    row(
        "a part of a layer",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 4.5, {1, 8}}};
            p.stack().schedule.sampling = DropSampling::FixedSize;
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 4.5, expected a whole number "
        "where every step trains the same number of layers");
    row(
        "too few for the deeper ones alone",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 2, {}}};
            p.stack().schedule.sampling = DropSampling::DeeperSeldomer;
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 2, expected at least 3.5: "
        "leaving out the deeper ones more often comes to no less");
    row(
        "whole visits without a loop",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 4, {}}};
            p.stack().schedule.unit = DropUnit::Visit;
        },
        "E /schedule/unit [schedule · unit] leaves out whole visits, but the network has no loop; expected the unit "
        "\"layer\", or layers that are visited several times");
    row(
        "no visit on average",
        [](Project& p) { // 1 2, three visits of 3 to 6, 7 8
            useVisits(p, {{0, 7, {}}});
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 7, which keeps 0.75 of the 3 "
        "visits of loop 1, expected at least 1");
    row(
        "a part of a visit in every step",
        [](Project& p) {
            useVisits(p, {{0, 10, {3}}}); // all of the first visit
            p.stack().schedule.sampling = DropSampling::FixedSize;
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 10, which keeps 1.5 of the 3 "
        "visits of loop 1, expected a whole number");
    row(
        "fewer than the layers outside loops and an always-kept visit",
        [](Project& p) {
            useVisits(p, {{0, 7, {4}}});
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 7, expected 8 to 16");
    row(
        "whole visits of which the first train",
        [](Project& p) {
            useVisits(p, {{0, 16, {}}});
            p.stack().schedule.sampling = DropSampling::First;
        },
        "E /schedule/sampling [schedule · sampling] leaves out whole visits, which are drawn alike; expected "
        "\"bernoulli\" or \"fixed_size\", or the draw \"rising\" of a loop for visits that are added");
    row(
        "whole visits along a curve",
        [](Project& p) {
            useVisits(p, {});
            p.stack().schedule.course = DropCourse::Curve;
        },
        "E /schedule/course [schedule · course] leaves out whole visits, which are drawn by the stages; expected "
        "those");
    row(
        "whole visits of a drawn number",
        [](Project& p) {
            useVisits(p, {{0, 12, {}}});
            p.stack().loops.front().draw = VisitDraw::Uniform;
        },
        "E /network/loops/0/draw [network · loop 1 · visits of a step] draws the number of visits, and the stages "
        "leave out whole "
        "visits; expected \"all\", or the schedule's unit \"layer\"");
    row(
        "whole visits of which the last have a gradient",
        [](Project& p) {
            useVisits(p, {{0, 12, {}}});
            p.stack().loops.front().gradientVisits = 2;
            p.stack().loops.front().injection = LoopInjection::Add; // else the layers before have no gradient
        },
        "E /network/loops/0/gradient_visits [network · loop 1 · visits with gradient] got 2, expected 0 (all) where "
        "the stages leave out whole visits, the last ones too");
    row(
        "parts of weights whose states are whole",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 4, {}}};
            p.stack().schedule.axis = DropAxis::Heads;
            p.stack().schedule.absentWeights = AbsentWeights::Untouched;
            p.training.groups = {{.role = ParameterRole::Hidden, .optimiser = Galore{}}};
        },
        "E /schedule/axis [schedule · axis] leaves out parts of weights and keeps what the optimiser holds of them, "
        "but "
        "Adafactor and GaLore hold it of whole weights: expected layers, or another optimiser");
    // Layers 1, 2 and 3 five times, 4 to 8: executed numbers 2 to 11 are the loop's.
    const auto grows = [](Project& p, double length, GrowthSource growth) {
        p.stack().loops = {{.first = 2, .last = 3, .visits = 5}};
        p.stack().schedule.sampling = DropSampling::First;
        p.stack().schedule.growth = growth;
        p.stack().schedule.stages = {{0, length, {}}, {500, 16, {}}};
    };
    row(
        "half of a loop", [grows](Project& p) { grows(p, 7, GrowthSource::Fresh); },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] trains 7 layers, of which loop 1 "
        "makes number 2 to 11; expected all of its visits or none");
    row(
        "before a loop", [grows](Project& p) { grows(p, 1, GrowthSource::Fresh); }, "");
    row(
        "behind a loop", [grows](Project& p) { grows(p, 11, GrowthSource::Fresh); }, "");
    row(
        "a loop with a state that comes later",
        [grows](Project& p) {
            grows(p, 1, GrowthSource::Fresh);
            p.stack().loops.front().gate = true;
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] trains 1 layer, of which loop 1 "
        "makes number 2 to 11, and changes the residual between visits; expected all of them");
    row(
        "copies in a network with loops", [grows](Project& p) { grows(p, 11, GrowthSource::Top); },
        "E /schedule/growth [schedule · new layers] copies layers of a network with loops, whose weights serve several "
        "of "
        "them; expected new layers as initialised, or loops whose number of visits rises");
    row(
        "a border past the end",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 4, {1}}, {1000, 8, {1}}};
        },
        "E /schedule/stages/1/start [schedule · stage 2 · start] got 1000, expected 0 to 999");
    row(
        "stages beside a curve",
        [](Project& p) {
            p.stack().schedule.stages = {{0, 4, {1}}};
            p.stack().schedule.course = DropCourse::Curve;
        },
        "W /schedule/stages [schedule · stages] are not read: the kept share goes by a curve");
    row(
        "ᾱ",
        [](Project& p) {
            p.stack().schedule.course = DropCourse::Curve;
            p.stack().schedule.curveFloor = 0;
        },
        "E /schedule/curve_floor [schedule · ᾱ] got 0, expected more than 0 and at most 1");
    row(
        "growth to a depth that is not there",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("stacking 4-8", 8, 1000);
            p.stack().schedule.stages.back().averageLength = 9;
        },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] got 9, expected 1 to 8");
    row(
        "more than doubled", [](Project& p) { p.stack().schedule = *scheduleFrom("stacking 2-8", 8, 1000); },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] grows from 2 to 8 layers, expected "
        "at most 4: a layer is copied once");
    row(
        "shrinks",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("stacking 4-8", 8, 1000);
            std::swap(p.stack().schedule.stages[0].averageLength, p.stack().schedule.stages[1].averageLength);
        },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] falls from 8 to 4 layers, expected "
        "it to stay or grow");
    row(
        "a growing network has no full phase",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("stacking 4-8", 8, 1000);
            p.stack().schedule.fullModelSteps = 10;
        },
        "E /schedule/full_model_steps [schedule · full model steps] got 10, expected 0: a network that grows has no "
        "layers to begin with but the first");
    row(
        "copies of another block",
        [](Project& p) {
            p.network.blocks.push_back(p.network.blocks.front());
            p.network.blocks.back().name = "other";
            p.stack().segments = {{p.network.blocks.front().name, 6}, {"other", 2}};
            p.stack().schedule = *scheduleFrom("stacking 6-8", 8, 1000);
        },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] layer 7 of block other would be a "
        "copy of layer 5 of block transformer, expected layers of one block");
    row(
        "copies without growth",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("raptr", 8, 1000);
            p.stack().schedule.growth = GrowthSource::Top;
        },
        "W /schedule/growth [schedule · new layers] layers are made where the first ones train alone: see sampling");
    row(
        "a warm-up without growth", [](Project& p) { p.stack().schedule.growthWarmup = 10; },
        "W /schedule/growth_warmup [schedule · opened within] layers are made where the first ones train alone: see "
        "sampling");
    row(
        "copies of heads",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("msg-heads", 8, 1000);
            p.stack().schedule.growth = GrowthSource::Top;
        },
        "E /schedule/growth [schedule · new layers] copies layers, but it is not layers that are left out: see axis");
    row(
        "heads that write nothing",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("msg-heads", 8, 1000);
            p.stack().schedule.growthWrites = GrowthWrites::Zero;
        },
        "W /schedule/growth_writes [schedule · new layers write] is of new layers alone: new heads and MLP parts write "
        "from the first, unless they open over a warm-up");
    row(
        "moments of parts",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("msg-mlp", 8, 1000);
            p.stack().schedule.growthMoments = GrowthMoments::Empty;
        },
        "W /schedule/growth_moments [schedule · new moments] is of new layers alone: heads and MLP parts are no "
        "copies, "
        "and begin without any");
    row(
        "parts that do not divide",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("raptr-mlp", 8, 1000);
            p.stack().schedule.mlpParts = 7;
        },
        "E /schedule/mlp_parts [schedule · MLP parts] the MLP of block transformer has 352 hidden features, expected a "
        "multiple of 7 parts");
    row(
        "heads that do not divide",
        [](Project& p) {
            p.stack().segments.front().repeat = 12;
            useHeads(p, 4, 0);
            p.stack().schedule = *scheduleFrom("msg-heads 6-8-9-12", 12, 1000);
        },
        "E /schedule/stages/1/average_length [schedule · stage 2 · average length] got 8, which keeps 2.67 of the 4 "
        "heads of block transformer, expected a whole number");
    row(
        "always the same number of parts",
        [](Project& p) {
            p.stack().schedule = *scheduleFrom("raptr-mlp 3-8", 8, 1000);
            p.stack().schedule.sampling = DropSampling::FixedSize;
        },
        "E /schedule/stages/0/average_length [schedule · stage 1 · average length] got 3, which keeps 1.5 of the 4 MLP "
        "parts of block transformer, expected a whole number");
    row(
        "heads of one key",
        [](Project& p) {
            useHeads(p, 4, 1);
            p.stack().schedule = *scheduleFrom("raptr-heads", 8, 1000);
        },
        "W /schedule/axis [schedule · axis] the heads of block transformer share one key-value head, with which they "
        "stay: leaving out heads saves nothing there");
    row(
        "heads of nothing",
        [](Project& p) {
            p = findExample("boolean-polynomial")->project;
            p.stack().schedule = *scheduleFrom("raptr-heads", 20, p.training.steps);
        },
        "E /schedule/axis [schedule · axis] no block has attention heads to leave out");
    row(
        "a value residual without its first layer",
        [](Project& p) {
            useGate(p, BranchGateKind::ValueResidual);
            p.stack().schedule = *scheduleFrom("raptr-free", 8, 1000);
        },
        "E /schedule/stages [schedule · stages] a value residual takes the first layer's values, expected layer 1 "
        "among "
        "the always-kept");
}

void TestValidateSchedule::mistakesAreNamed()
{
    check(language());
}

/// Where new layers count nothing at first, the wiring decides whether the function is kept: it is told beforehand
/// where the equations say that it is not.
void TestValidateSchedule::keepsTheFunctionOrSaysNot_data()
{
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<QString>("topology");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* schedule, const char* topology, const char* why) {
        QTest::addRow("%s, %s", schedule, topology) << QString(schedule) << QString(topology) << QString(why);
    };
    row("lemon", "plain", "");
    row("msg", "plain", "");
    row("msg", "grn-v2", "");
    row("msg", "ancre-ingoing", "");
    row("msg", "rezero", "");
    row("stacking", "ancre-ingoing", ""); // promises nothing
    for (const char* const topology : {"grn-v2", "dca", "ancre-ingoing", "denseformer"}) {
        row("lemon", topology, "shortcuts belong to places, and layers move to others");
    }
    row("msg", "attention-residuals", "attention over the depth weighs the new entries too");
    row("lemon", "hyper-static", "the weights of the streams belong to places, and layers move to others");
    row("msg-between", "rezero", "the gates belong to places, and layers move to others");
    row("msg", "highway", "the gate of a new layer lets only a part of its input through");
    row("msg", "post-norm", "the norm after a new layer normalises what it passes on");
    row("msg", "laurel-rw", "the weight of the residual of a new layer begins below 1");
    row("lemon", "densenet", "the projections belong to places, and layers move to others");
}

void TestValidateSchedule::keepsTheFunctionOrSaysNot()
{
    QFETCH(QString, schedule);
    QFETCH(QString, topology);
    QFETCH(QString, why);
    Project project = language();
    useTopology(project, topology.toStdString());
    project.stack().schedule = *scheduleFrom(schedule.toStdString() + " 4-8", 8, 1000);
    QCOMPARE(growthProblems(project),
             why.isEmpty() ? QString()
                           : "W /schedule/growth [schedule · new layers] new layers count nothing at first, but the "
                             "network will not compute what it did: " +
                                 why);
}

void TestValidateSchedule::withoutShortcutsNothingPasses()
{
    Project project = language();
    useTopology(project, "none");
    QVERIFY(!problemsOf(project).contains("/schedule"));
    project.stack().schedule = *scheduleFrom("raptr", 8, 1000);
    QVERIFY2(problemsOf(project).contains("W /schedule/axis [schedule · axis]"), qPrintable(problemsOf(project)));
    project.stack().schedule = *scheduleFrom("raptr-heads", 8, 1000);
    QVERIFY(!problemsOf(project).contains("without shortcuts"));
}

/// Every preset trains a language model of any depth, and says what it was made of.
void TestValidateSchedule::everyPresetIsSound_data()
{
    QTest::addColumn<QString>("preset");
    for (const SchedulePreset& preset : schedulePresets()) {
        QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
    }
}

void TestValidateSchedule::everyPresetIsSound()
{
    QFETCH(QString, preset);
    for (const std::int64_t depth : {1, 2, 3, 8, 12, 24}) {
        for (const std::int64_t steps : {8, 1000}) {
            Project project = language();
            project.stack().segments.front().repeat = depth;
            project.training.steps = steps;
            project.training.learningRate.warmupSteps = 0;
            const Result<StageSchedule> made = scheduleFrom(preset.toStdString(), depth, steps);
            QVERIFY(made);
            project.stack().schedule = *made;
            QCOMPARE(problemsOf(project), "");
            QCOMPARE(trainsAll(project.stack().schedule), preset == "none");
        }
    }
}

RESIDUA_TEST(TestValidateSchedule)
#include "tst_validate_schedule.moc"
