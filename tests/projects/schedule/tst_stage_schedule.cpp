// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/stage_cost.h"
#include "projects/edit/edit.h"
#include "projects/file/json.h"
#include "projects/library/schedule_presets.h"
#include "projects/schedule/kept_parts.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace residua::projects;

namespace {

std::vector<std::int64_t> lengthsInSteps(const StageSchedule& schedule, std::int64_t steps)
{
    std::vector<std::int64_t> counts;
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        counts.push_back((s + 1 < schedule.stages.size() ? schedule.stages[s + 1].start : steps) -
                         schedule.stages[s].start);
    }
    return counts;
}

} // namespace

class TestStageSchedule : public QObject {
    Q_OBJECT
private slots:
    void keepProbabilityIsThatOfTheOthers()
    {
        QCOMPARE(keepProbability({0, 6, {1, 12}}, 12), 0.4);
        QCOMPARE(keepProbability({0, 12, {1, 12}}, 12), 1.0);
        QCOMPARE(keepProbability({0, 2, {1, 2}}, 2), 1.0);
    }

    void proportionalStagesAreThePapersExample()
    {
        // RaPTr §4.3: 400k steps over 12-16-20-24 are 40k, 80k, 120k, 160k, on average 20 layers.
        const auto made = makeStages({}, {12, 16, 20, 24}, StageSplit::Proportional, 24, 400'000);
        QVERIFY(made.ok());
        QCOMPARE(lengthsInSteps(*made, 400'000), (std::vector<std::int64_t>{40'000, 80'000, 120'000, 160'000}));
        QCOMPARE(averageLength(*made, 24, 400'000), 20.0);
        QCOMPARE(made->stages[1].always, (std::vector<std::int64_t>{1, 24}));
    }

    void targetAverageMovesStepsToTheLastStage()
    {
        const auto made = makeStages({}, {6, 12, 18, 24}, StageSplit::TargetAverage, 24, 400'000, 20);
        QVERIFY(made.ok());
        QVERIFY(std::abs(averageLength(*made, 24, 400'000) - 20) < 1e-3);
        // RaPTr appendix E: proportional stages are nearer, and 22k steps move from each of the first three.
        const std::vector<std::int64_t> papers{18'000, 58'000, 98'000, 226'000};
        const auto counts = lengthsInSteps(*made, 400'000);
        for (std::size_t s = 0; s < papers.size(); ++s) {
            QVERIFY(std::abs(counts[s] - papers[s]) <= (s == 3 ? 700 : 300)); // the paper rounds to thousands
        }
        // Equal stages are on average 15 layers long, proportional ones 18: from the former to 16.
        const auto low =
            lengthsInSteps(*makeStages({}, {6, 12, 18, 24}, StageSplit::TargetAverage, 24, 400'000, 16), 400'000);
        QCOMPARE(low[0], low[1]);
        QCOMPARE(low[1], low[2]);
        QVERIFY(low[3] > low[2]);
        QVERIFY(!makeStages({}, {6, 12}, StageSplit::TargetAverage, 24, 1000, 13).ok());
        QVERIFY(!makeStages({}, {6, 6}, StageSplit::TargetAverage, 24, 1000, 8).ok());
    }

    void fullModelPhaseIsPaidForByTheLastStage()
    {
        // RaPTr §4.2: 30k steps of the full model first shift the borders of 40k, 120k and 240k by as much.
        StageSchedule before;
        before.fullModelSteps = 30'000;
        const auto made = makeStages(before, {12, 16, 20, 24}, StageSplit::Proportional, 24, 400'000);
        QVERIFY(made.ok());
        std::vector<std::int64_t> starts;
        for (const Stage& stage : made->stages) {
            starts.push_back(stage.start);
        }
        QCOMPARE(starts, (std::vector<std::int64_t>{30'000, 70'000, 150'000, 270'000}));
        QCOMPARE(averageLength(*made, 24, 400'000), 20.0); // both phases are of 24 layers
        before.fullModelSteps = 160'000;
        const auto refused = makeStages(before, {12, 16, 20, 24}, StageSplit::Proportional, 24, 400'000);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("160000") != std::string::npos);
    }

    /// The phase has one meaning however it is set: by the field, in the window or by withField, or in the text form.
    void fullModelPhaseIsPaidForWhereverItIsSet()
    {
        Project project = findExample("staged-language")->project;
        project.training.steps = 400'000;
        project.stack().schedule = *scheduleFrom("raptr 6-8-10-12 proportional", 12, 400'000);
        const StageSchedule expected = *scheduleFrom("raptr 6-8-10-12 proportional full 30000", 12, 400'000);
        QCOMPARE(expected.stages.front().start, std::int64_t{30'000});
        QCOMPARE(expected.stages.back().start, std::int64_t{270'000});

        const auto byField = withField(project, "/schedule/full_model_steps", FieldValue{"30000"});
        QVERIFY(byField.ok());
        QVERIFY(byField->stack().schedule == expected);
        Document document{project, {}};
        const auto edit = fieldEdit(project, "/schedule/full_model_steps", std::int64_t{30'000});
        QVERIFY(applyEdit(document, *edit).ok());
        QVERIFY(document.project.stack().schedule == expected);

        // Set again it stays, set to 0 the borders come back.
        QVERIFY(withFullModelSteps(expected, 30'000) == expected);
        QVERIFY(withFullModelSteps(expected, 0) == project.stack().schedule);
        // A file whose first stage paid for the phase is read as it is.
        project.stack().schedule.fullModelSteps = 30'000;
        QVERIFY(projectFromJson(toJson(project))->stack().schedule == project.stack().schedule);
        QVERIFY(!scheduleFrom("raptr 6-8-10-12 full many", 12, 400'000).ok());
    }

    /// RaPTr's D.2: from 6 to 9 layers, copies between 4 and 5, 5 and 6, and after 6, with all of their parameters.
    void lemonIsThereAsBothPapersHaveIt()
    {
        const auto copies = scheduleFrom("lemon-raptr 6-9-12", 12, 300);
        QVERIFY(copies.ok());
        const Growth growth = growthOf(copies->growth, 6, 9);
        QCOMPARE(growth.source, (std::vector<std::int64_t>{1, 2, 3, 4, 4, 5, 5, 6, 6}));
        QCOMPARE(growth.isNew, (std::vector<bool>{false, false, false, false, true, false, true, false, true}));
        QVERIFY(copies->growthWrites == GrowthWrites::Copied && copies->growthWarmup == 0);
        StageSchedule own = *scheduleFrom("lemon 6-9-12", 12, 300);
        QVERIFY(own.growthWrites == GrowthWrites::Zero);
        own.growthWrites = GrowthWrites::Copied;
        QVERIFY(own == *copies);
    }

    void spansCoverEveryStep()
    {
        StageSchedule schedule{{{100, 6, {1, 12}}, {300, 12, {1, 12}}}};
        const auto plain = spansOf(schedule, 12, 400);
        QCOMPARE(plain, (std::vector<StageSpan>{{0, 100, StageSpan::kFull, 12}, {100, 300, 0, 6}, {300, 400, 1, 12}}));
        schedule.fullModelSteps = 150;
        QCOMPARE(spansOf(schedule, 12, 400)[0], (StageSpan{0, 150, StageSpan::kFull, 12}));
        QCOMPARE(spansOf(schedule, 12, 400)[1], (StageSpan{150, 300, 0, 6}));
        QCOMPARE(spansOf({}, 12, 400), (std::vector<StageSpan>{{0, 400, StageSpan::kFull, 12}}));
        QCOMPARE(averageLength({}, 12, 400), 12.0);
    }

    void flopAreSavedInProportionToWhatIsLeftOut()
    {
        Project project = findExample("linear-ancre")->project;
        const auto report = costOf(project);
        QVERIFY(report.ok());
        QCOMPARE(expectedFlopShare(project, *report), 1.0);
        const auto depth = project.network.depth();
        project.stack().schedule.stages = {{0, static_cast<double>(depth), {1, depth}}};
        QCOMPARE(expectedFlopShare(project, *report), 1.0);
        project.stack().schedule.stages = {{0, 2, {1, depth}}}; // the first and the last layer alone
        double inner = 0;
        for (std::size_t layer = 1; layer + 1 < report->layers.size(); ++layer) {
            inner += report->layers[layer].trainFlops;
        }
        QVERIFY(inner > 0);
        QVERIFY(std::abs(expectedFlopShare(project, *report) - (1 - inner / report->total.trainFlops)) < 1e-12);
    }

    /// Heads, parts and layers together: a layer's FLOP times how often it is kept, less what its left-out parts take.
    void flopOfHeadsAndPartsAreSavedToo()
    {
        Project project = findExample("plain-language")->project; // 8 layers, 4 heads
        const auto report = costOf(project);
        const auto& nodes = report->nodes.at(GraphRef::block("transformer"));
        const auto flopOf = [&](const char* name) {
            const Graph& graph = project.network.blocks.front().graph;
            return nodes.at(std::ranges::find(graph.nodes, name, &Node::name)->id).trainFlops;
        };
        const double attention = flopOf("attention");
        const double mlp = flopOf("gate") + flopOf("up") + flopOf("down");
        const double total = report->total.trainFlops;
        project.stack().schedule.stages = {{0, 4, {}}};
        project.stack().schedule.sampling = DropSampling::FixedSize;
        project.stack().schedule.axis = DropAxis::Heads;
        QVERIFY(std::abs(expectedFlopShare(project, *report) - (1 - 8 * attention / 2 / total)) < 1e-12);
        project.stack().schedule.axis = DropAxis::Mlp;
        QVERIFY(std::abs(expectedFlopShare(project, *report) - (1 - 8 * mlp / 2 / total)) < 1e-12);
        project.stack().schedule.axis = DropAxis::All;
        const double layer = report->layers.front().trainFlops;
        const double kept = 8 * 0.5 * (layer - (attention + mlp) / 2);
        QVERIFY(std::abs(expectedFlopShare(project, *report) - (1 - (8 * layer - kept) / total)) < 1e-12);
        // Each by itself with 1/2, and one of four where none would be drawn: 1/2 + (1/2)^4/4.
        project.stack().schedule.axis = DropAxis::Mlp;
        project.stack().schedule.sampling = DropSampling::Bernoulli;
        const double share = 0.5 + 0.0625 / 4;
        QVERIFY(std::abs(expectedFlopShare(project, *report) - (1 - 8 * mlp * (1 - share) / total)) < 1e-12);
    }

    /// Activations of what a step keeps: as expected, and at most.
    void activationsAreThoseOfWhatIsKept()
    {
        Project project = findExample("plain-language")->project; // 8 layers, 4 heads
        project.training.steps = 100;
        const auto report = costOf(project);
        const double all = report->total.activationBytes;
        const double layer = report->layers.front().activationBytes;
        const auto nodes = report->nodes.at(GraphRef::block("transformer"));
        const auto& parts = project.network.blocks.front().graph.nodes;
        const auto bytesOf = [&](const char* name) {
            return nodes.at(std::ranges::find(parts, name, &Node::name)->id).activationBytes;
        };
        const auto close = [](double a, double b) { return std::abs(a - b) < 1e-9 * b; };
        const auto first = [&] { return costsOfSpans(project, *report).front(); };
        QVERIFY(layer > 0 && 8 * layer < all);
        QCOMPARE(costsOfSpans(project, *report).size(), std::size_t{1});
        QCOMPARE(first().activationBytes, all);
        project.stack().schedule.stages = {{0, 4, {1, 8}}, {50, 8, {1, 8}}};
        QVERIFY(close(first().activationBytes, all - 4 * layer));
        QVERIFY(close(first().peakActivationBytes, all)); // each is drawn by itself
        QVERIFY(close(costsOfSpans(project, *report).back().activationBytes, all));
        project.stack().schedule.sampling = DropSampling::FixedSize;
        QVERIFY(close(first().peakActivationBytes, all - 4 * layer));
        project.stack().schedule.sampling = DropSampling::First;
        QVERIFY(close(first().peakActivationBytes, all - 4 * layer));
        project.stack().schedule.axis = DropAxis::Heads;
        QVERIFY(close(first().activationBytes, all - 8 * bytesOf("attention") / 2));
        project.stack().schedule.axis = DropAxis::Mlp;
        Project renamed = project; // and the figures are those from before
        renamed.network.blocks.front().name = "other";
        renamed.network.stack().segments.front().block = "other";
        QCOMPARE(costsOfSpans(renamed, *report).front().activationBytes, all);
        const double hidden = (all - first().activationBytes) / 8 * 2;
        QVERIFY(hidden >= bytesOf("gate") + bytesOf("up") && hidden < layer - bytesOf("attention"));
    }

    /// Where layers are computed again, what they hold inside is there once.
    void layersThatAreComputedAgainKeepTheirOutput()
    {
        Project project = findExample("plain-language")->project;
        project.training.activations = Activations::Recompute;
        const auto report = costOf(project);
        const double all = report->total.activationBytes;
        const double layer = report->layers.front().activationBytes;
        project.stack().schedule.stages = {{0, 4, {}}};
        const auto near = [&](double bytes) {
            return std::abs(bytes - costsOfSpans(project, *report)[0].activationBytes);
        };
        QVERIFY(near(all - 4 * layer) < 1e-9 * all);
        project.stack().schedule.axis = DropAxis::Heads;
        project.stack().schedule.sampling = DropSampling::FixedSize;
        const auto& nodes = report->nodes.at(GraphRef::block("transformer"));
        const auto& parts = project.network.blocks.front().graph.nodes;
        const double attention = nodes.at(std::ranges::find(parts, "attention", &Node::name)->id).activationBytes;
        QVERIFY(near(all - attention / 2) < 1e-9 * all);
    }

    /// PLD (algorithm 1): over all steps the mean of α(t) = (1 − ᾱ)·e^(−γ_f·t/T) + ᾱ, and layer i of L from 0 stays
    /// with 1 − i/L·(1 − α(t)).
    void aCurveHasTheMeanOfItsSteps()
    {
        constexpr std::int64_t kDepth = 6;
        constexpr std::int64_t kSteps = 1000;
        const StageSchedule schedule = *scheduleFrom("pld 0.4", kDepth, kSteps);
        double sum = 0;
        for (std::int64_t t = 1; t <= kSteps; ++t) {
            const double alpha = 0.6 * std::exp(-100.0 * static_cast<double>(t) / kSteps) + 0.4;
            for (std::int64_t i = 0; i < kDepth; ++i) {
                sum += 1 - static_cast<double>(i) / kDepth * (1 - alpha);
            }
        }
        QVERIFY(std::abs(averageLength(schedule, kDepth, kSteps) - sum / kSteps) < 1e-9);
        QVERIFY(averageLength(schedule, kDepth, 3) > 0); // fewer steps than stretches
    }

    void presetsTakeLengthsInWords()
    {
        const auto lengths = [](const char* text) { return stageLengthsText(*scheduleFrom(text, 12, 1200)); };
        QCOMPARE(lengths("raptr"), std::string("6-8-10-12"));
        QCOMPARE(lengths("bert2bert"), std::string("3-6-12"));
        QCOMPARE(lengths("stacking 4-8-12"), std::string("4-8-12"));
        QCOMPARE(scheduleFrom("raptr 6-12", 12, 1200)->stages[0].always, (std::vector<std::int64_t>{1, 12}));
        QCOMPARE(scheduleFrom("raptr-free 6-12", 12, 1200)->stages[0].always, std::vector<std::int64_t>());
        QCOMPARE(scheduleFrom("raptr 6-8-10-12 proportional", 12, 1000)->stages[1].start, std::int64_t{100});
        QVERIFY(std::abs(averageLength(*scheduleFrom("raptr 6-8-10-12 average 10", 12, 12000), 12, 12000) - 10) < 1e-2);
        QCOMPARE(scheduleFrom("pld 0.6", 12, 100)->curveFloor, 0.6);
        QVERIFY(scheduleFrom("raptr visits", 12, 100)->unit == DropUnit::Visit);
        QCOMPARE(lengths("raptr-free 6-12 proportional full 5 visits"), std::string("6-12"));
        QCOMPARE(scheduleFrom("msg", 12, 5000)->growthWarmup, std::int64_t{50});
        // Stochastic depth with p_L = 0.5 keeps Σ(1 − l/L·0.5) layers on average.
        QCOMPARE(scheduleFrom("stochastic-depth", 12, 100)->stages[0].averageLength, 12 - 0.5 * 6.5);
        for (const char* const wrong : {"", "rapter", "raptr 6-x", "raptr 6-12 sometimes", "raptr 6-12 average",
                                        "pld 0", "pld 2", "raptr 8-4", "raptr 6-13"}) {
            QVERIFY2(!scheduleFrom(wrong, 12, 1000), wrong);
        }
        QVERIFY(scheduleFrom("rapter", 12, 1).error().text().find("did you mean \"raptr\"?") != std::string::npos);
    }

    /// A visit is always kept if one of its layers is, and so are layers outside loops. The other visits share
    /// one probability, and the average stays that of the stage.
    void wholeVisitsAreKeptTogether()
    {
        Stack stack;
        stack.segments = {{"block", 5}};
        stack.loops = {{.first = 2, .last = 3, .visits = 4}, {.first = 4, .last = 4, .visits = 1}};
        stack.schedule = *scheduleFrom("raptr-free 7-11 visits", stack.depth(), 100); // 1, 2 3 four times, 4 5
        const auto always = [&] { return drawnSchedule(stack.schedule, stack).stages.front().always; };
        QCOMPARE(always(), (std::vector<std::int64_t>{1, 10, 11}));
        stack.schedule.stages.front().always = {5, 11}; // layer 3@2
        QCOMPARE(always(), (std::vector<std::int64_t>{1, 4, 5, 10, 11}));
        const StageSchedule drawn = drawnSchedule(stack.schedule, stack);
        const StageSpan span = spansOf(drawn, 11, 100).front();
        const double other = 2.0 / 6;
        QCOMPARE(keepShares(drawn, span, 11, 100).layers,
                 (std::vector<double>{1, other, other, 1, 1, other, other, other, other, 1, 1}));
        QVERIFY(std::abs(expectedLength(drawn, span, 11, 100) - 7) < 1e-12);
        QCOMPARE(nameOf(drawn, span, 11), std::string("7 of 11 layers by whole visits"));
        stack.schedule.unit = DropUnit::Layer;
        QCOMPARE(drawnSchedule(stack.schedule, stack), stack.schedule);
    }

    /// Another number of steps leaves every stage its share.
    void stretchesWithTheTraining()
    {
        StageSchedule schedule = *scheduleFrom("msg 6-8-10-12", 12, 400);
        schedule = stretched(schedule, 400, 40);
        QCOMPARE(lengthsInSteps(schedule, 40), (std::vector<std::int64_t>{10, 10, 10, 10}));
        QCOMPARE(schedule.growthWarmup, std::int64_t{1});
        QCOMPARE(stretched(schedule, 40, 40), schedule);
        QCOMPARE(stageLengthsText(stretched(schedule, 40, 2)), std::string("6-10")); // 8 and 12 would have no step
        QCOMPARE(stretched(schedule, 40, 1).stages.size(), std::size_t{1});
        QCOMPARE(stretched(schedule, 20, 40), schedule); // its last stage begins at 30
    }

    /// In the window, in the terminal and in a sweep.
    void theStepsOfTheTrainingScaleTheStages()
    {
        Project project = findExample("ancre-language")->project;
        project.training.steps = 100;
        project.stack().schedule = *scheduleFrom("raptr 4-5-6-8 full 5", 8, 100);
        const std::vector<std::int64_t> before = lengthsInSteps(project.stack().schedule, 100);
        std::vector<std::int64_t> expected;
        for (const std::int64_t steps : before) {
            expected.push_back(30 * steps);
        }
        Document document{project, {}};
        const auto edit = fieldEdit(project, "/training/steps", std::int64_t{3000});
        QVERIFY(applyEdit(document, *edit).ok());
        QCOMPARE(titleOf(*edit), std::string("Set steps to 3000; its stages keep their shares"));
        QCOMPARE(document.project.training.steps, std::int64_t{3000});
        QCOMPARE(lengthsInSteps(document.project.stack().schedule, 3000), expected);
        QCOMPARE(document.project.stack().schedule.fullModelSteps, std::int64_t{150});
        const auto byField = withField(project, "/training/steps", FieldValue{"3000"});
        QVERIFY(byField.ok() && *byField == document.project);
        // A sweep that sets both has the stages that it names, whichever comes first.
        const auto both = withField(project, "/", FieldValue{R"({"/schedule": "raptr 4-8", "/training/steps": 3000})"});
        QVERIFY(both.ok());
        QCOMPARE(both->stack().schedule, *scheduleFrom("raptr 4-8", 8, 3000));
    }

    void changesKeepTheScheduleGrowing()
    {
        const StageSchedule schedule{{{0, 6, {1, 12}}, {100, 8, {1, 12}}, {200, 12, {1, 12}}}};
        QCOMPARE(withStart(schedule, 1, 150, 300).stages[1].start, std::int64_t(150));
        QCOMPARE(withStart(schedule, 1, 0, 300).stages[1].start, std::int64_t(1));
        QCOMPARE(withStart(schedule, 1, 500, 300).stages[1].start, std::int64_t(199));
        QCOMPARE(withStart(schedule, 2, 500, 300).stages[2].start, std::int64_t(299));
        QCOMPARE(withLength(schedule, 1, 7, 12).stages[1].averageLength, 7.0);
        QCOMPARE(withLength(schedule, 1, 2, 12).stages[1].averageLength, 6.0);
        QCOMPARE(withLength(schedule, 0, 0, 12).stages[0].averageLength, 2.0);
        QCOMPARE(withLength(schedule, 2, 99, 12).stages[2].averageLength, 12.0);
        const StageSchedule split = withSplit(schedule, 150, 12);
        QCOMPARE(split.stages[2], (Stage{150, 10, {1, 12}}));
        QCOMPARE(withSplit(schedule, 100, 12), schedule);
        QCOMPARE(withoutStage(split, 2), schedule);
        QCOMPARE(withoutStage(schedule, 0).stages.front(), (Stage{0, 8, {1, 12}}));
        QVERIFY(withoutStage({{{0, 6, {}}}}, 0).stages.empty());
        QCOMPARE(withSplit({}, 5, 12).stages, (std::vector<Stage>{{5, 12, {1}}}));
    }

    void notationIsReadAndWritten()
    {
        const auto lengths = stageLengthsFrom("6-8-10-12");
        QVERIFY(lengths.ok());
        QCOMPARE(*lengths, (std::vector<double>{6, 8, 10, 12}));
        QCOMPARE(stageLengthsText(*makeStages({}, *lengths, StageSplit::Equal, 12, 100)), std::string("6-8-10-12"));
        for (const char* wrong : {"", "6-", "a", "8-6", "6--8"}) {
            QVERIFY2(!stageLengthsFrom(wrong).ok(), wrong);
        }
        QVERIFY(!makeStages({}, {1, 12}, StageSplit::Equal, 12, 100).ok());
        QVERIFY(!makeStages({}, {6, 12}, StageSplit::Equal, 12, 1).ok());
        QCOMPARE(recommendedLengths(12), (std::vector<double>{6, 8, 10, 12}));
        QCOMPARE(recommendedLengths(1), (std::vector<double>{1}));
    }

    /// A training that is made longer keeps what it has done: every step's shares are those of before.
    void aLongerTrainingKeepsItsSchedule()
    {
        StageSchedule curve;
        curve.course = DropCourse::Curve;
        curve.sampling = DropSampling::DeeperSeldomer;
        curve.curveRate = 3;
        const StageSchedule on = continued(curve, 40, 100);
        for (const std::int64_t step : {1, 20, 40}) {
            const auto before = keepShares(curve, spansOf(curve, 6, 40).front(), 6, 40, step).layers;
            const auto after = keepShares(on, spansOf(on, 6, 100).front(), 6, 100, step).layers;
            for (std::size_t l = 0; l < 6; ++l) {
                QVERIFY(std::abs(before[l] - after[l]) < 1e-14);
            }
        }
        const StageSchedule staged = *makeStages({}, {2, 4, 6}, StageSplit::Equal, 6, 60);
        QVERIFY(continued(staged, 60, 100) == staged);
    }
};

RESIDUA_TEST(TestStageSchedule)
#include "tst_stage_schedule.moc"
