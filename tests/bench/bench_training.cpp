// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the training speed of language networks whose sizes the PyTorch peer has too (peer_pytorch.py).
#include "engine/base/api/environment.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/session/training_loop.h"
#include "engine/compute/train/observer.h"
#include "engine/runs/store/recorder.h"
#include "projects/cost/cost.h"
#include "projects/library/schedule_presets.h"
#include "projects/studies/sweep_grid.h"
#include "tests/bench/bench_options.h"
#include "tests/bench/bench_shapes.h"
#include "tests/bench/bench_steps.h"
#include "tests/bench/bench_trace.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace residua;
using tests::BenchShape;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

constexpr const char* kHelp =
    R"(bench_training [options]: training speed of language networks on random tokens, AdamW, gradient clipping

  --shape NAME            small (default; 8 layers, width 256, T 256, 256 tokens), llama130m (ANCRe, table 2; T 256,
                          32,000 tokens), llama1b-2048 and llama1b-8192 (ANCRe, table 2; T 2,048 or 8,192), gpt2-124m
                          (T 1024, 50,304 tokens), or the examples small-vit, small-dit, small-resnet,
                          small-efficientnet (pictures count as tokens), small-bert, small-ul2, or the recipe point-maze
  --topologies LIST       topology presets, default plain; --topology is the same
  --residual LIST         fp32 (default), bf16, or entries: fp32, with mixes of branches and their entries in bf16;
                          several are separated by commas
  --precision NAME        fp32, bf16 or fp8; default bf16, for small ones fp32
  --tokens N | --batch N  tokens or sequences in a step; default 8 sequences
  --optimiser NAME        an optimiser with its defaults, as "muon" or "adafactor" (default: AdamW)
  --schedule TEXT         one stage of a schedule's preset, as "raptr 5": steps train 5 random layers on average
  --steps N, --warmup N   measured steps of each network, default 8, and steps before them, default 2
  --device cpu|cuda:N     default cpu
  --deterministic         deterministic operators; default fast
  --seconds N             no further round begins after so many; default 0, which sets no limit
  --peak-tflops N         of the device, for the MFU; default 989 on a GPU (H100, bf16)
  --threads N             of the CPU, default 2
  --trace FILE            traces 3 steps of each network after the measurement, writes FILE (of several networks
                          FILE-TOPOLOGY-RESIDUAL) in Chrome's format and prints the 25 kernels with the most time
  --record DIR            instead of speed, the cost of observing and recording the run, in a new run directory DIR

The networks take their steps in turn, in rounds. On a GPU steps are timed by events, and the host waits only at the end
of a turn. Prints one line for each network, in the form of peer_pytorch.py:
  tokens/s        of the median step
  MFU             (6N + 6LdT) FLOP a token over the peak; N is without an embedding that the head does not share
  peak            GiB that the network and its steps hold at most; on the CPU the memory of the process so far
  predicted       GiB by the cost of the document
  time x TOPOLOGY time of a step over that of the first topology with the same residual, median of the rounds
  process         GiB of the host's memory that the process holds at most, if steps run as graphs
)";

struct Options {
    std::string shape = "small";
    std::vector<std::string> topologies{"plain"};
    std::vector<std::string> residuals{"fp32"};
    std::string precision; ///< empty: that of the shape
    std::string device = "cpu";
    std::string schedule;  ///< empty: every step trains all layers
    std::string optimiser; ///< empty: that of the shape
    std::string trace;     ///< empty: none
    std::string record;    ///< empty: nothing is recorded
    std::int64_t tokens = 0;
    std::int64_t batch = 8;
    std::int64_t steps = 8;
    std::int64_t warmup = 2;
    double seconds = 0;
    double peakTflops = 0;
    bool isDeterministic = false;
    int threads = 2;
};

[[noreturn]] void fail(const std::string& message)
{
    std::fprintf(stderr, "bench_training: %s\n", message.c_str());
    std::exit(1);
}

Options parse(int argc, char** argv)
{
    Options options;
    tests::readOptions(argc, argv, kHelp,
                       {{"--shape", &options.shape},
                        {"--topologies", &options.topologies},
                        {"--topology", &options.topologies},
                        {"--residual", &options.residuals},
                        {"--precision", &options.precision},
                        {"--device", &options.device},
                        {"--trace", &options.trace},
                        {"--record", &options.record},
                        {"--schedule", &options.schedule},
                        {"--optimiser", &options.optimiser},
                        {"--tokens", &options.tokens},
                        {"--batch", &options.batch},
                        {"--steps", &options.steps},
                        {"--warmup", &options.warmup},
                        {"--seconds", &options.seconds},
                        {"--peak-tflops", &options.peakTflops},
                        {"--deterministic", &options.isDeterministic},
                        {"--threads", &options.threads}});
    options.steps = std::max<std::int64_t>(options.steps, 1);
    options.precision = !options.precision.empty()                                            ? options.precision
                        : options.shape.starts_with("small") || options.shape == "point-maze" ? "fp32"
                                                                                              : "bf16";
    if (options.peakTflops == 0 && options.device != "cpu") {
        options.peakTflops = 989;
    }
    return options;
}

const BenchShape& shapeOf(const Options& options)
{
    const BenchShape* const shape = tests::findShape(options.shape);
    if (shape == nullptr) {
        fail("unknown shape " + options.shape);
    }
    return *shape;
}

projects::Project makeProject(const Options& options, const std::string& topology, const std::string& residual)
{
    const BenchShape& shape = shapeOf(options);
    Result<projects::Project> project = tests::projectOf(shape, topology);
    if (!project) {
        fail(project.error().text());
    }
    projects::TrainingPlan& plan = project->training;
    plan.batch = options.tokens > 0 ? std::max<std::int64_t>(options.tokens / shape.length, 1) : options.batch;
    plan.steps = std::max<std::int64_t>(options.warmup + options.steps, plan.steps);
    plan.determinism = options.isDeterministic ? projects::Determinism::Deterministic : projects::Determinism::Fast;
    plan.precision = options.precision == "bf16"  ? projects::Precision::Bf16
                     : options.precision == "fp8" ? projects::Precision::Fp8
                                                  : projects::Precision::Fp32;
    plan.residualPrecision = residual == "bf16" ? projects::ResidualPrecision::Bf16 : projects::ResidualPrecision::Fp32;
    plan.entryPrecision = residual == "entries" ? projects::EntryPrecision::Branch : projects::EntryPrecision::Residual;
    if (!options.schedule.empty()) {
        Result<projects::StageSchedule> schedule =
            projects::scheduleFrom(options.schedule, project->network.depth(), plan.steps);
        if (!schedule) {
            fail(schedule.error().text());
        }
        project->stack().schedule = *std::move(schedule);
    }
    if (!options.optimiser.empty()) {
        project = projects::withField(*project, "/training/optimiser", {options.optimiser});
    }
    if (!project) {
        fail(project.error().text());
    }
    return *std::move(project);
}

engine::Trainer trainerOf(const projects::Project& project, const Options& options)
{
    Result<engine::TrainerParts> parts = tests::openOnRandomTokens(project, shapeOf(options), options.device);
    if (!parts) {
        fail(parts.error().text());
    }
    return engine::Trainer(std::move(*parts));
}

/// A network that is measured, with its measurements.
struct Member {
    Member(const Options& options, c10::Device device, const std::string& topologyName, const std::string& residualName)
        : topology(topologyName),
          residual(residualName),
          project(makeProject(options, topology, residual)),
          before(tests::allocatedBytes(device)),
          trainer(trainerOf(project, options))
    {
        (void)tests::timedSteps(trainer, options.warmup, 0);
        (void)trainer.takeRecords();
        own = tests::allocatedBytes(device) - before;
    }

    /// Takes measured steps. On a GPU one more step comes before them, in which the host gets ahead of the device.
    void takeTurn(std::int64_t steps)
    {
        const std::int64_t held = tests::allocatedBytes(trainer.device());
        engine::resetPeakBytes(trainer.device());
        const double processorBefore = tests::processorSeconds();
        const std::vector<double> times = tests::timedSteps(trainer, trainer.device().is_cpu() ? 0 : 1, steps);
        processor += tests::processorSeconds() - processorBefore;
        seconds.insert(seconds.end(), times.begin(), times.end());
        rounds.push_back(tests::medianOf(times));
        loss = trainer.takeRecords().back().loss;
        peak = std::max(peak, engine::peakBytes(trainer.device()) - held + own);
    }

    std::string topology;
    std::string residual;
    projects::Project project;
    std::int64_t before = 0; ///< bytes of the device that others hold
    engine::Trainer trainer;
    std::int64_t own = 0;        ///< bytes of parameters and moments
    std::int64_t peak = 0;       ///< bytes
    std::vector<double> seconds; ///< of each step
    std::vector<double> rounds;  ///< of the median step of each round
    double processor = 0;        ///< seconds in all
    double loss = 0;
};
using Members = std::vector<std::unique_ptr<Member>>;

/// The same network with the first topology.
const Member* referenceOf(const Members& members, const Member& member)
{
    const auto found =
        std::ranges::find_if(members, [&](const auto& each) { return each->residual == member.residual; });
    return found->get() == &member ? nullptr : found->get();
}

/// "time 1.312 x plain, "; empty for the reference itself.
std::string ratioText(const Members& members, const Member& member)
{
    const Member* const reference = referenceOf(members, member);
    if (reference == nullptr) {
        return {};
    }
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(member.rounds.size(), reference->rounds.size()); ++i) {
        ratios.push_back(member.rounds[i] / reference->rounds[i]);
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "time %.3f x ", tests::medianOf(ratios));
    return text.data() + reference->topology + ", ";
}

/// "; llama130m, 32768 tokens, bf16, residual fp32": the settings that end each line.
std::string settingsOf(const Options& options, std::int64_t tokens, const std::string& residual)
{
    return "; " + options.shape + ", " + std::to_string(tokens) + " tokens, " + options.precision +
           (options.precision != "fp32" ? ", residual " + residual : std::string()) +
           (options.isDeterministic ? ", deterministic" : "");
}

/// ", 96 % of the steps as 2 graphs, process 1.20 GiB"; empty if they are computed directly.
std::string graphsOf(const Member& member)
{
    const std::size_t graphs = member.trainer.graphs().recorded();
    const std::string& why = member.trainer.graphs().why();
    if (!why.empty() || graphs == 0) {
        return why.empty() ? std::string() : ", " + why;
    }
    std::array<char, 96> text{};
    const engine::Trainer& trainer = member.trainer;
    std::snprintf(text.data(), text.size(), ", %.0f %% of the steps as %zu graph%s, process %.2f GiB",
                  100 * static_cast<double>(trainer.graphs().launched()) / static_cast<double>(trainer.stepsDone()),
                  graphs, graphs == 1 ? "" : "s", static_cast<double>(engine::peakBytes(at::kCPU)) / kGiB);
    return text.data();
}

/// ", 120,000 environment steps/s, which take 2.1 % of the time": what acting adds to a step before which worlds act.
/// Empty for data that do not come from acting, and if no measured step acts.
std::string actingOf(const Options& options, const Member& member)
{
    const auto* const world = std::get_if<projects::WorldData>(&member.project.data.source);
    if (world == nullptr) {
        return {};
    }
    std::vector<double> acting; // seconds of the steps that act, and of the others
    std::vector<double> others;
    for (std::size_t i = 0; i < member.seconds.size(); ++i) {
        const bool acts = (options.warmup + static_cast<std::int64_t>(i)) % world->updates == 0;
        (acts ? acting : others).push_back(member.seconds[i]);
    }
    if (acting.empty() || others.empty()) {
        return {};
    }
    const double seconds = std::max(tests::medianOf(acting) - tests::medianOf(others), 1e-9);
    const double share = seconds / (seconds + static_cast<double>(world->updates) * tests::medianOf(others));
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), ", %.0f environment steps/s, which take %.1f %% of the time",
                  static_cast<double>(world->environments * world->unroll) / seconds, 100 * share);
    return text.data();
}

void print(const Options& options, const Members& members, const Member& member)
{
    const double median = tests::medianOf(member.seconds);
    const auto tokens = static_cast<double>(member.trainer.unitsPerStep());
    const projects::Cost cost = projects::costOf(member.project)->total;
    std::printf("residua %s: %.0f tokens/s, %.2f ms a step (median of %zu; best %.2f), ", member.topology.c_str(),
                tokens / median, 1e3 * median, member.seconds.size(), 1e3 * *std::ranges::min_element(member.seconds));
    if (options.peakTflops > 0) {
        const double flop = tests::trainingFlopPerToken(member.project, shapeOf(options));
        std::printf("MFU %.1f %%, ", 100 * flop * tokens / median / (1e12 * options.peakTflops));
    }
    if (member.trainer.device().is_cpu()) {
        std::printf("%.0f per processor second, ",
                    tokens * static_cast<double>(member.seconds.size()) / member.processor);
    }
    std::printf("peak %.2f GiB, predicted %.2f GiB, %sloss %.4f, %lld parameters%s%s%s\n",
                static_cast<double>(member.peak) / kGiB,
                (cost.weightBytes + cost.optimiserBytes + cost.activationBytes) / kGiB,
                ratioText(members, member).c_str(), member.loss,
                static_cast<long long>(member.trainer.parameterCount()), actingOf(options, member).c_str(),
                graphsOf(member).c_str(), settingsOf(options, member.trainer.unitsPerStep(), member.residual).c_str());
}

/// Calls `work`; prints what it throws, and returns false then. A topology that needs more memory than there is does
/// not end the measurement of the others.
bool attempt(const std::string& topology, const std::string& residual, const std::function<void()>& work)
{
    try {
        work();
        return true;
    } catch (const std::exception& error) {
        const std::string text = error.what();
        std::printf("residua %s: failed, residual %s: %s\n", topology.c_str(), residual.c_str(),
                    text.substr(0, text.find('\n')).c_str());
        return false;
    }
}

Members makeMembers(const Options& options, c10::Device device)
{
    Members members;
    for (const std::string& residual : options.residuals) {
        for (const std::string& topology : options.topologies) {
            attempt(topology, residual,
                    [&] { members.push_back(std::make_unique<Member>(options, device, topology, residual)); });
        }
    }
    return members;
}

void measure(const Options& options, Members& members)
{
    const auto begin = std::chrono::steady_clock::now();
    // On the CPU a turn is one step, because other programs disturb it for longer than that.
    const std::int64_t turn =
        options.device == "cpu" ? 1 : std::min((options.steps + 3) / 4, engine::Trainer::kMostWaiting / 2);
    for (std::int64_t done = 0; done < options.steps; done += turn) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (done > 0 && options.seconds > 0 && passed.count() > options.seconds) {
            std::printf("ended after %lld of %lld steps: --seconds %g\n", static_cast<long long>(done),
                        static_cast<long long>(options.steps), options.seconds);
            break;
        }
        std::erase_if(members, [&](const auto& member) {
            return !attempt(member->topology, member->residual,
                            [&] { member->takeTurn(std::min(turn, options.steps - done)); });
        });
    }
    for (const auto& member : members) {
        print(options, members, *member);
    }
    std::fflush(stdout);
}

void trace(const Options& options, const Members& members)
{
    constexpr int kSteps = 3;
    for (const auto& member : members) {
        std::filesystem::path file = options.trace;
        if (members.size() > 1) {
            file.replace_filename(file.stem().string() + "-" + member->topology + "-" + member->residual +
                                  file.extension().string());
        }
        std::printf("%s, residual %s\n", member->topology.c_str(), member->residual.c_str());
        tests::traceSteps(member->trainer.device(), kSteps, file.string(), [&] {
            if (const Status stepped = member->trainer.step(); !stepped) {
                fail(stepped.error().text());
            }
        });
        (void)member->trainer.takeRecords();
    }
}

/// Does what a run does beside training, as often as a run does it, and prints its share of the time.
void measureRecording(const Options& options)
{
    const projects::Project project = makeProject(options, options.topologies.front(), options.residuals.front());
    engine::Trainer trainer = trainerOf(project, options);
    engine::RunInfo info;
    info.name = project.name;
    Result<engine::RunWriter> writer = engine::RunWriter::create(options.record, info, project, ".");
    if (!writer) {
        fail(writer.error().text());
    }
    engine::Observer observer(trainer.network());
    engine::Recorder recorder(std::move(*writer), options.device, 0, options.steps);
    double training = 0;
    double recording = 0;
    for (std::int64_t step = 1; step <= options.warmup + options.steps; ++step) {
        training += tests::timedSteps(trainer, 0, 1).front();
        const auto begin = std::chrono::steady_clock::now();
        engine::Progress progress;
        if (engine::dueAfter(project.training, step).observation) {
            progress.matrices = observer.observe(step);
        }
        progress.steps = trainer.takeRecords();
        recorder.add(progress);
        if (const Status flushed = recorder.flushIfDue(); !flushed) {
            fail(flushed.error().text());
        }
        recording += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    std::printf("residua %s: observing and recording took %.3f %% of the training (at most 1 %% is wanted)\n",
                options.topologies.front().c_str(), 100 * recording / training);
}

void printMachine(c10::Device device)
{
    for (const engine::DeviceInfo& info : engine::listDevices()) {
        if (info.key == (device.is_cpu() ? "cpu" : device.str())) {
            std::printf("%s: %s\n", info.key.c_str(), info.name.c_str());
        }
    }
    if (!device.is_cpu()) {
        std::string why;
        std::printf("custom kernels: %s\n", engine::cudaKernels(why) != nullptr ? "in use" : why.c_str());
    }
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    engine::startPrepared(argv);
    const Options options = parse(argc, argv);
    at::set_num_threads(options.threads);
    const Result<c10::Device> device = engine::openDevice(options.device);
    if (!device) {
        fail(device.error().text());
    }
    if (!options.record.empty()) {
        measureRecording(options);
        return 0;
    }
    printMachine(*device);
    Members members = makeMembers(options, *device);
    measure(options, members);
    if (!options.trace.empty()) {
        trace(options, members);
    }
    return members.empty() ? 1 : 0;
}
