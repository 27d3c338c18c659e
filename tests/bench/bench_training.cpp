// SPDX-License-Identifier: GPL-3.0-or-later
// Training speed of the language model that peers are measured on: 8 LLaMA-style layers, width 256, 4 heads, 256
// tokens, byte vocabulary, AdamW. Prints one line that compare_training.sh reads:
//   bench_training [--topology NAME] [--steps N] [--warmup N] [--batch N] [--threads N] [--device cpu|cuda:N]
//   [--precision fp32|bf16] [--residual fp32|bf16|both] [--record DIR]
// With --residual both two networks in bf16 take their steps in turn, one with its residual in fp32 and one with it in
// bf16: what the first costs, as ratios.
// With --record also what observing and recording the run cost, in a new run directory DIR, as a share of the training.
#include "engine/train/trainer.h"

#include "engine/api/environment.h"
#include "engine/observe/observer.h"
#include "engine/runtime/device.h"
#include "engine/session/recorder.h"
#include "engine/session/training_loop.h"
#include "projects/cost/cost.h"
#include "projects/library/examples.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "tests/bench/bench_options.h"

#include <ATen/Parallel.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace residua;

struct Options {
    std::string topology = "plain";
    std::string device = "cpu";
    std::string precision = "fp32";
    std::string residual = "fp32";
    std::string record; ///< empty: nothing is recorded
    std::int64_t steps = 8;
    std::int64_t warmup = 2;
    std::int64_t batch = 8;
    int threads = 2;
};

Options parse(int argc, char** argv)
{
    Options options;
    tests::readOptions(argc, argv, "bench_training: see the head of its source\n",
                       {{"--topology", &options.topology},
                        {"--device", &options.device},
                        {"--precision", &options.precision},
                        {"--residual", &options.residual},
                        {"--record", &options.record},
                        {"--steps", &options.steps},
                        {"--warmup", &options.warmup},
                        {"--batch", &options.batch},
                        {"--threads", &options.threads}});
    return options;
}

projects::Project makeProject(const Options& options)
{
    constexpr std::int64_t kDepth = 8;
    projects::Project project = projects::findExample("plain-language")->project;
    const auto presets = projects::topologyPresets(kDepth);
    const auto topology = std::ranges::find(presets, options.topology, &projects::TopologyPreset::name);
    if (topology == presets.end()) {
        std::fprintf(stderr, "bench_training: no topology preset is named %s\n", options.topology.c_str());
        std::exit(2);
    }
    const projects::BlockPreset& block = blockPresetFor(topology->wiring);
    project.data.source = projects::SyntheticLanguage{.vocabulary = 256, .levels = 4, .tokens = 200'000};
    project.network.width = 256;
    project.network.tieHead = false;
    project.network.blocks = {{block.name, block.name, block.graph}};
    project.network.stack = {{block.name, kDepth}};
    project.topology = {options.topology, topology->wiring};
    project.training.sequenceLength = 256;
    project.training.batch = options.batch;
    project.training.steps = options.steps + options.warmup;
    project.training.clipNorm = 0;
    project.training.determinism = projects::Determinism::Fast;
    project.training.precision = options.precision == "bf16" ? projects::Precision::Bf16 : projects::Precision::Fp32;
    project.training.residualPrecision =
        options.residual == "bf16" ? projects::ResidualPrecision::Bf16 : projects::ResidualPrecision::Fp32;
    return project;
}

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of all threads; on a machine that others use too it says more than the clock does.
double processorSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// What a run does beside training, as often as a run does it.
class Recording {
public:
    Recording(engine::Trainer& trainer, engine::RunWriter writer, const Options& options)
        : m_trainer(trainer),
          m_observer(trainer.network()),
          m_recorder(std::move(writer), options.device, options.steps)
    {
    }

    void afterStep()
    {
        const double start = now();
        const std::int64_t step = m_trainer.stepsDone();
        engine::Progress progress;
        if (engine::dueAfter(m_trainer.project().training, step).observation) {
            progress.matrices = m_observer.observe(step);
        }
        progress.steps = m_trainer.takeRecords();
        m_recorder.add(progress, step);
        if (const Status flushed = m_recorder.flushIfDue(); !flushed) {
            std::fprintf(stderr, "bench_training: %s\n", flushed.error().text().c_str());
        }
        m_seconds += now() - start;
    }
    [[nodiscard]] double seconds() const { return m_seconds; }

private:
    engine::Trainer& m_trainer;
    engine::Observer m_observer;
    engine::Recorder m_recorder;
    double m_seconds = 0;
};

std::optional<Recording> makeRecording(engine::Trainer& trainer, const Options& options)
{
    if (options.record.empty()) {
        return std::nullopt;
    }
    engine::RunInfo info;
    info.name = trainer.project().name;
    Result<engine::RunWriter> writer = engine::RunWriter::create(options.record, info, trainer.project(), ".");
    if (!writer) {
        std::fprintf(stderr, "bench_training: %s\n", writer.error().text().c_str());
        std::exit(1);
    }
    return std::optional<Recording>(std::in_place, trainer, std::move(*writer), options);
}

engine::Trainer trainerOf(const Options& options)
{
    Result<engine::TrainerParts> parts = engine::openParts(makeProject(options), ".", options.device);
    if (!parts) {
        std::fprintf(stderr, "bench_training: %s\n", parts.error().text().c_str());
        std::exit(1);
    }
    return engine::Trainer(std::move(*parts));
}

double secondsOfStep(engine::Trainer& trainer)
{
    const double start = now();
    if (const Status stepped = trainer.step(); !stepped) {
        std::fprintf(stderr, "bench_training: %s\n", stepped.error().text().c_str());
        std::exit(1);
    }
    engine::synchronise(trainer.device());
    return now() - start;
}

int compareResiduals(Options options)
{
    options.precision = "bf16";
    options.residual = "fp32";
    engine::Trainer single = trainerOf(options);
    options.residual = "bf16";
    engine::Trainer rounded = trainerOf(options);
    std::vector<double> ratios;
    for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
        const double seconds = secondsOfStep(single);
        const double ratio = seconds / secondsOfStep(rounded);
        if (step >= options.warmup) {
            ratios.push_back(ratio);
        }
    }
    std::ranges::sort(ratios);
    const auto kept = [](const engine::Trainer& trainer) {
        return projects::costOf(trainer.project())->total.activationBytes;
    };
    std::printf(
        "residua %s: a residual in fp32 takes %.3f times as long a step as one in bf16 (median), and by the cost "
        "%.3f times the memory of activations\n",
        options.topology.c_str(), ratios[ratios.size() / 2], kept(single) / kept(rounded));
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    engine::startPrepared(argv);
    const Options options = parse(argc, argv);
    at::set_num_threads(options.threads);
    if (options.residual == "both") {
        return compareResiduals(options);
    }
    engine::Trainer trainer = trainerOf(options);
    std::optional<Recording> recording = makeRecording(trainer, options);
    std::vector<double> seconds;
    double processorStart = 0;
    for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
        if (step == options.warmup) {
            processorStart = processorSeconds();
        }
        const double taken = secondsOfStep(trainer);
        if (step >= options.warmup) {
            seconds.push_back(taken);
        }
        if (recording) {
            recording->afterStep();
        }
    }
    const double processor = (processorSeconds() - processorStart) / static_cast<double>(options.steps);
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    const auto units = static_cast<double>(trainer.unitsPerStep());
    if (recording) {
        const double training = std::accumulate(seconds.begin(), seconds.end(), 0.0);
        std::printf("residua %s: observing and recording took %.3f %% of the training (at most 1 %% is wanted)\n",
                    options.topology.c_str(), 100 * recording->seconds() / training);
        return 0;
    }
    std::printf(
        "residua %s: %.0f tokens/s (median; best %.0f; %.0f per processor second), loss %.4f, %lld parameters\n",
        options.topology.c_str(), units / median, units / seconds.front(), units / processor,
        trainer.takeRecords().back().loss, static_cast<long long>(trainer.parameterCount()));
    return 0;
}
