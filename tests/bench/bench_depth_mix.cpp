// SPDX-License-Identifier: GPL-3.0-or-later
// How close the mixing kernels come to the copy bandwidth of the machine, measured in the same run:
//   bench_depth_mix [--threads n] [--rounds n] [--bytes n]
// For each case and kernel it prints the bytes that must move (depth_mix.h), the median time, and the ratio of the
// bandwidth reached to that of a copy; 0.85 is the aim. A ratio above 1 is possible: reading is cheaper than writing.
#include "tests/bench/bench_device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

using namespace residua;
using namespace residua::kernels;
using residua::tests::BenchDevice;

struct Options {
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
    int rounds = 9;
    double bytes = 256e6; ///< of a stack: well beyond the caches
};

struct BenchCase {
    const char* name;
    WeightKind weightKind;
    GateKind gateKind;
    GateInput gateInput;
    int outputs;
};

constexpr BenchCase kCases[] = {
    {"scalar (ANCRe, GRN-v1)", WeightKind::scalar, GateKind::none, GateInput::raw, 1},
    {"per feature (GRN-v2)", WeightKind::perFeature, GateKind::none, GateInput::raw, 1},
    {"gated (GRN-v3)", WeightKind::perFeature, GateKind::reluOutside, GateInput::raw, 1},
    {"gated x 3 (DCA)", WeightKind::perFeature, GateKind::reluOutside, GateInput::raw, 3},
    {"gated x 3, normalised", WeightKind::perFeature, GateKind::reluOutside, GateInput::normalised, 3},
    {"token x 4 (MUDD)", WeightKind::none, GateKind::token, GateInput::raw, 4},
};

struct Problem {
    MixForward forward;
    MixWeightGrad backward;
    MixGather gather;
    std::vector<const void*> sources;
    std::vector<MixReader> readers;
    double forwardBytes = 0;
    double backwardBytes = 0;
    double gatherBytes = 0;
};

void setGather(Problem& problem, BenchDevice& device, double tensor)
{
    const MixStack& stack = problem.forward.stack;
    MixGather& gather = problem.gather;
    // As many readers as the stack has sources, each O times: the first source of a network of that depth.
    for (int k = 0; k < stack.sources; ++k)
        problem.readers.push_back({problem.sources[k], stack.weights,
                                   isRelu(stack.gateKind) ? problem.forward.gateLogits : stack.tokenWeights,
                                   problem.backward.tokenGrad, stack.gateVectors, stack.weightKind, stack.gateKind,
                                   stack.gateInput});
    gather.dataType = stack.dataType;
    gather.tokens = stack.tokens;
    gather.width = stack.width;
    gather.readers = stack.sources;
    gather.reader = problem.readers.data();
    gather.own = device.allocate(std::size_t(tensor));
    gather.source = device.allocate(std::size_t(tensor));
    gather.rstd = problem.forward.rstd;
    gather.sourceGrad = device.allocate(std::size_t(tensor));
}

void makeProblem(Problem& problem, BenchDevice& device, const BenchCase& kind, DataType type, int width, int sources,
                 double bytes)
{
    const int element = type == DataType::bfloat16 ? 2 : 4;
    MixStack& stack = problem.forward.stack;
    stack.dataType = type;
    stack.tokens = std::max<std::int64_t>(1, std::int64_t(bytes / (double(sources) * width * element)));
    stack.width = width;
    stack.sources = sources;
    stack.outputs = kind.outputs;
    stack.weightKind = kind.weightKind;
    stack.gateKind = kind.gateKind;
    stack.gateInput = kind.gateInput;
    const double tensor = double(stack.tokens) * width * element;
    const double perToken = double(stack.tokens) * sources * 4;
    for (int s = 0; s < sources; ++s)
        problem.sources.push_back(device.allocate(std::size_t(tensor)));
    stack.source = problem.sources.data();
    stack.weights = device.allocate(std::size_t(4) * kind.outputs * sources * width);
    stack.tokenWeights = device.allocate(std::size_t(perToken) * kind.outputs);
    stack.gateVectors = device.allocate(std::size_t(4) * kind.outputs * width);
    problem.forward.gateLogits = device.allocate(std::size_t(perToken) * kind.outputs);
    problem.forward.rstd = device.allocate(std::size_t(perToken));
    for (int o = 0; o < kind.outputs; ++o) {
        problem.forward.out[o] = device.allocate(std::size_t(tensor));
        problem.backward.outGrad[o] = device.allocate(std::size_t(tensor));
    }
    problem.backward.stack = stack;
    problem.backward.gateLogits = problem.forward.gateLogits;
    problem.backward.rstd = problem.forward.rstd;
    if (kind.weightKind != WeightKind::none)
        problem.backward.weightGrad = device.allocate(std::size_t(4) * kind.outputs * sources * width);
    if (kind.gateKind != GateKind::none)
        problem.backward.tokenGrad = device.allocate(std::size_t(perToken) * kind.outputs);
    if (isRelu(kind.gateKind))
        problem.backward.gateVectorGrad = device.allocate(std::size_t(4) * kind.outputs * width);
    problem.backward.workspaceBytes = device.workspace(problem.backward);
    problem.backward.workspace = device.allocate(problem.backward.workspaceBytes);
    setGather(problem, device, tensor);

    const bool normalised = kind.gateInput == GateInput::normalised;
    const double scalars =
        (kind.gateKind == GateKind::none ? 0 : perToken * kind.outputs) + (normalised ? perToken : 0);
    problem.forwardBytes = (sources + kind.outputs) * tensor + scalars;
    problem.backwardBytes = (sources + kind.outputs) * tensor + scalars * (isRelu(kind.gateKind) ? 2 : 1);
    problem.gatherBytes =
        (sources + 2 + (normalised ? 1 : 0)) * tensor + (isRelu(kind.gateKind) ? 2 : 1) * scalars / kind.outputs;
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Prints one line; the copy is measured between the rounds, so that both see the same machine.
void report(BenchDevice& device, const Options& options, const char* kernel, double bytes,
            const std::function<Status()>& work)
{
    const auto copyBytes = std::size_t(options.bytes / 2);
    const void* from = device.allocate(copyBytes);
    void* to = device.allocate(copyBytes);
    std::vector<double> times;
    std::vector<double> ratios;
    Status status = Status::ok;
    for (int round = -1; round < options.rounds; ++round) {
        const double copy = device.seconds([&] { device.copy(to, from, copyBytes); });
        const double time = device.seconds([&] { status = work(); });
        if (status != Status::ok) {
            std::printf("    %-12s %s\n", kernel, describe(status));
            return;
        }
        if (round < 0)
            continue; // warm-up
        times.push_back(time);
        ratios.push_back(bytes / time / (2 * double(copyBytes) / copy));
    }
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("    %-12s %8.1f MB %9.3f ms %8.1f GB/s   of copy %.2f  [%.2f .. %.2f]\n", kernel, bytes / 1e6,
                median(times) * 1e3, bytes / median(times) / 1e9, median(ratios), *low, *high);
}

void benchDevice(BenchDevice& device, const Options& options)
{
    std::printf("%s\n", device.name().c_str());
    struct Shape {
        DataType type;
        int width, sources;
    };
    for (const Shape shape :
         {Shape{DataType::float32, 256, 9}, Shape{DataType::float32, 768, 25}, Shape{DataType::bfloat16, 768, 25}})
        for (const BenchCase& kind : kCases) {
            Problem problem;
            makeProblem(problem, device, kind, shape.type, shape.width, shape.sources, options.bytes);
            std::printf("  %s, %s, d = %d, t = %d, N = %lld\n", kind.name,
                        shape.type == DataType::bfloat16 ? "bf16" : "f32", shape.width, shape.sources,
                        static_cast<long long>(problem.forward.stack.tokens));
            report(device, options, "forward", problem.forwardBytes, [&] { return device.run(problem.forward); });
            report(device, options, "weightGrad", problem.backwardBytes, [&] { return device.run(problem.backward); });
            report(device, options, "gather", problem.gatherBytes, [&] { return device.run(problem.gather); });
            device.release();
        }
}

} // namespace

int main(int argc, char** argv)
{
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const double value = std::atof(argv[i + 1]);
        if (name == "--threads")
            options.threads = std::max(1, int(value));
        else if (name == "--rounds")
            options.rounds = std::max(1, int(value));
        else if (name == "--bytes")
            options.bytes = std::max(1e6, value);
        else
            return std::fprintf(stderr, "bench_depth_mix: unknown option %s (--threads, --rounds, --bytes)\n", argv[i]),
                   2;
    }
    benchDevice(*residua::tests::cpuDevice(options.threads), options);
    std::string why;
    if (const auto device = residua::tests::cudaDevice(why))
        benchDevice(*device, options);
    else
        std::printf("CUDA: %s\n", why.c_str());
}
