// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how much of the FLOP that a partial network saves is saved on the clock.
#include "engine/base/api/environment.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/trainer.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/library/schedule_presets.h"
#include "projects/shipped/examples.h"
#include "tests/bench/bench_options.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace residua;

constexpr const char* kHelp =
    R"(bench_stages [options]: time saved by training a part of 12 LLaMA-style layers of width 256

  --steps N, --warmup N           measured steps of each network, default 6, and steps before them, default 1
  --batch N, --length N           sequences in a step, default 8, and tokens in a sequence, default 128
  --device cpu|cuda:N             default cpu
  --threads N                     of the CPU, default 2

A network that trains a fixed part and one that trains all take their steps in turn. Prints for each kind of part its
share of the FLOP, its share of the time (median of the ratios), and the share of the saved FLOP that is saved on the
clock, beside the wanted share. The first line is a schedule that leaves nothing out. The last lines are the time of
going over a border between stages, without its validation, in steps of the whole network.
)";

struct Options {
    std::string device = "cpu";
    std::int64_t steps = 6;
    std::int64_t warmup = 1;
    std::int64_t batch = 8;
    std::int64_t length = 128;
    int threads = 2;
};

Options parse(int argc, char** argv)
{
    Options options;
    tests::readOptions(argc, argv, kHelp,
                       {{"--device", &options.device},
                        {"--steps", &options.steps},
                        {"--warmup", &options.warmup},
                        {"--batch", &options.batch},
                        {"--length", &options.length},
                        {"--threads", &options.threads}});
    return options;
}

projects::Project projectOf(const Options& options, projects::StageSchedule schedule)
{
    projects::Project project = projects::findExample("staged-language")->project;
    project.data.source = projects::SyntheticLanguage{.vocabulary = 256, .levels = 4, .tokens = 100'000};
    project.stack().width = 256;
    project.training.sequenceLength = options.length;
    project.training.batch = options.batch;
    project.training.steps = 1000;
    project.training.determinism = projects::Determinism::Fast;
    project.stack().schedule = std::move(schedule);
    return project;
}

engine::Trainer trainerOf(const projects::Project& project, const Options& options)
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, options.device);
    if (!parts) {
        std::fprintf(stderr, "bench_stages: %s\n", parts.error().text().c_str());
        std::exit(1);
    }
    return engine::Trainer(std::move(*parts));
}

double secondsOf(engine::Trainer& trainer, const auto& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    engine::synchronise(trainer.device());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double secondsOfStep(engine::Trainer& trainer)
{
    const double seconds = secondsOf(trainer, [&] {
        if (const Status stepped = trainer.step(); !stepped) {
            std::fprintf(stderr, "bench_stages: %s\n", stepped.error().text().c_str());
            std::exit(1);
        }
    });
    if (trainer.stepsDone() % engine::Trainer::kMostWaiting == 0) {
        (void)trainer.takeRecords();
    }
    return seconds;
}

double medianOf(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// How long a step of `partial` takes, in steps of the whole network without a schedule, taken by turns.
double ratioOf(const projects::Project& partial, const Options& options)
{
    engine::Trainer whole = trainerOf(projectOf(options, {}), options);
    engine::Trainer part = trainerOf(partial, options);
    std::vector<double> ratios;
    for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
        const double all = secondsOfStep(whole);
        const double some = secondsOfStep(part);
        if (step >= options.warmup) {
            ratios.push_back(some / all);
        }
    }
    return medianOf(ratios);
}

/// `wanted`: percent of what is saved that should be saved on the clock; 0: nothing is said of it.
void report(const char* name, double flop, const projects::Project& partial, double wanted, const Options& options)
{
    const double time = ratioOf(partial, options);
    std::printf(
        "residua %s: %.1f %% of the FLOP in %.1f %% of the time: %.1f %% of what is saved is saved on the clock", name,
        100 * flop, 100 * time, 100 * (1 - time) / (1 - flop));
    wanted > 0 ? std::printf(" (wanted: %.0f %%)\n", wanted) : std::printf("\n");
}

/// A schedule that leaves nothing out, and so should take nothing.
void allLayers(const Options& options)
{
    projects::StageSchedule schedule;
    schedule.stages = {{0, 12, {}}};
    std::printf("residua a schedule of all layers: %.3f of a step without one (wanted: 1)\n",
                ratioOf(projectOf(options, schedule), options));
}

/// `layers` of 12 layers' worth of the axis, in every step as many.
void compare(const char* name, projects::DropAxis axis, double layers, double wanted, const Options& options)
{
    projects::StageSchedule schedule;
    schedule.axis = axis;
    schedule.sampling = projects::DropSampling::FixedSize;
    schedule.stages = {{0, layers, {}}};
    const projects::Project partial = projectOf(options, schedule);
    const double flop = projects::expectedFlopShare(partial, *projects::costOf(partial));
    report(name, flop, partial, wanted, options);
}

/// Measures a network whose MLPs have at most half of the features: no part can be left out for less.
void halfAsWide(const Options& options)
{
    projects::Project half = projectOf(options, {});
    const double flop = projects::costOf(half)->total.trainFlops;
    for (projects::Node& node : half.network.blocks.front().graph.nodes) {
        if (node.name == "gate" || node.name == "up") {
            node.params["out"] = "(" + std::get<std::string>(node.params["out"]) + ")/2";
        }
    }
    report("MLPs of half the width", projects::costOf(half)->total.trainFlops / flop, half, 0, options);
}

void border(const char* preset, const Options& options)
{
    projects::Project project = projectOf(options, *projects::scheduleFrom(preset, 12, 4));
    project.stack().schedule.stages[1].start = 1;
    project.data.validationFraction = 0;
    project.training.validateEvery = 0;
    project.training.validationBatches = 1; // whose losses are taken on both sides
    engine::Trainer whole = trainerOf(projectOf(options, {}), options);
    (void)secondsOfStep(whole);
    const double step = secondsOfStep(whole);
    engine::Trainer grown = trainerOf(project, options);
    (void)secondsOfStep(grown);
    const double seconds = secondsOf(grown, [&] { (void)grown.beginStage(); });
    std::printf("residua border of %s: %.2f steps of the whole network (wanted: less than 1)\n", preset,
                seconds / step);
}

} // namespace

int main(int argc, char** argv)
{
    engine::startPrepared(argv);
    const Options options = parse(argc, argv);
    at::set_num_threads(options.threads);
    allLayers(options);
    for (const double layers : {3.0, 6.0, 9.0}) {
        const std::string name = std::to_string(static_cast<int>(layers)) + " of 12 layers";
        compare(name.c_str(), projects::DropAxis::Layers, layers, 98, options);
    }
    compare("half of the heads", projects::DropAxis::Heads, 6, 85, options);
    compare("half of each MLP", projects::DropAxis::Mlp, 6, 85, options);
    halfAsWide(options);
    border("raptr 6-12", options);
    border("lemon 6-12", options);
    return 0;
}
