// SPDX-License-Identifier: GPL-3.0-or-later
// How close the mixing kernels come to the copy bandwidth of the machine, measured in the same run.
#include "tests/bench/bench_device.h"
#include "tests/bench/bench_options.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

using namespace residua;
using namespace residua::kernels;
using residua::tests::BenchDevice;

constexpr const char* kHelp =
    R"(bench_depth_mix [options]: bandwidth of the mixing kernels as a share of the copy bandwidth

  --device cpu|cuda   default cpu; on cuda the kernels are those of the library that RESIDUA_KERNELS names, or of the
                      build tree
  --kinds LIST        of gated (GRN-v3, DCA), scalar (ANCRe, GRN-v1), feature (GRN-v2), token (MUDD), gated-norm;
                      default all
  --types LIST        of bf16, fp32; default both
  --t LIST            sources of a mix, which are the readers of the gather; default 25
  --d LIST            features; default 768
  --outputs LIST      mixes of one stack, 1 to 4; default those that each kind has in its paper
  --bytes N           size of a stack of t sources, default 2e9 on cuda and 256e6 on the CPU: far beyond the caches
  --rounds N          measurements of each line, default 9
  --seconds N         the bench ends after so many with the lines it has; default 0, which sets no limit
  --threads N         of the CPU, default all

Prints the bandwidth of a copy by the runtime and, on cuda, by a kernel of the bench: bytes read and written per
second. Then one line for each kernel and case: kernel, kind, element type, t, d, outputs, tokens; median time; GB/s,
which are the bytes that must move (kernels/depth_mix.h) over that time; their share of the faster copy's GB/s, as the
median and range of rounds that measure both in turn. A share above 1 is possible: reading is cheaper than writing.
The data are random.
)";

struct Options {
    std::string device = "cpu";
    std::vector<std::string> kinds{"gated", "scalar", "feature", "token", "gated-norm"};
    std::vector<std::string> types{"bf16", "fp32"};
    std::vector<std::int64_t> sources{25};
    std::vector<std::int64_t> widths{768};
    std::vector<std::int64_t> outputs; ///< empty: those of the kind
    double bytes = 0;
    int rounds = 9;
    double seconds = 0;
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
};

struct MixKind {
    std::string_view name;
    WeightKind weightKind;
    GateKind gateKind;
    GateInput gateInput;
    std::vector<std::int64_t> outputs;
};

const MixKind kKinds[] = {
    {"gated", WeightKind::perFeature, GateKind::reluOutside, GateInput::raw, {3, 1}},
    {"scalar", WeightKind::scalar, GateKind::none, GateInput::raw, {1}},
    {"feature", WeightKind::perFeature, GateKind::none, GateInput::raw, {1}},
    {"token", WeightKind::none, GateKind::token, GateInput::raw, {4}},
    {"gated-norm", WeightKind::perFeature, GateKind::reluOutside, GateInput::normalised, {3}},
};

struct BenchCase {
    const MixKind* kind = nullptr;
    bool isBf16 = false;
    std::int64_t sources = 1;
    std::int64_t width = 1;
    std::int64_t outputs = 1;
    bool gather = true; ///< false where only the outputs differ from the case before: the gather has none
};

/// Hands out parts of one allocation, aligned to 256 bytes. Reads no memory, so any address serves to learn the size.
class Arena {
public:
    explicit Arena(void* begin) : m_next(static_cast<char*>(begin)) {}

    void* take(double bytes)
    {
        const std::size_t rounded = (std::size_t(bytes) + 255) / 256 * 256;
        m_used += rounded;
        return std::exchange(m_next, reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(m_next) + rounded));
    }
    [[nodiscard]] std::size_t used() const { return m_used; }

private:
    char* m_next;
    std::size_t m_used = 0;
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

const void* after(const void* begin, double bytes)
{
    return static_cast<const char*>(begin) + std::size_t(bytes);
}

/// As many readers as the stack has sources, whose gradients are the sources: the first entry of a network of that
/// depth.
void setGather(Problem& problem, Arena& arena, double tensor)
{
    const MixStack& stack = problem.forward.stack;
    const double weight = stack.weightKind == WeightKind::perFeature ? 4.0 * double(stack.width) : 4.0;
    for (int k = 0; k < stack.sources; ++k) {
        const double token = 4.0 * k * double(stack.tokens);
        MixReader& reader = problem.readers.emplace_back();
        reader.outGrad = problem.sources[std::size_t(k)];
        reader.weight = stack.weights == nullptr ? nullptr : after(stack.weights, k * weight);
        reader.token = after(isRelu(stack.gateKind) ? problem.forward.gateLogits : stack.tokenWeights, token);
        reader.gateGrad = after(problem.backward.tokenGrad, token);
        reader.gateVector = stack.gateVectors;
        reader.weightKind = stack.weightKind;
        reader.gateKind = stack.gateKind;
        reader.gateInput = stack.gateInput;
    }
    MixGather& gather = problem.gather;
    gather.dataType = stack.dataType;
    gather.tokens = stack.tokens;
    gather.width = stack.width;
    gather.readers = stack.sources;
    gather.reader = problem.readers.data();
    gather.own = arena.take(tensor);
    gather.source = arena.take(tensor);
    gather.rstd = problem.forward.rstd;
    gather.sourceGrad = arena.take(tensor);
}

/// The bytes that must move, as kernels/depth_mix.h states them.
void countBytes(Problem& problem, double tensor, double perToken)
{
    const MixStack& stack = problem.forward.stack;
    const bool relu = isRelu(stack.gateKind);
    const bool normalised = stack.gateInput == GateInput::normalised;
    const double gate = stack.gateKind == GateKind::none ? 0 : perToken * stack.outputs;
    const double rstd = normalised ? perToken : 0;
    const double tensors = double(stack.sources + stack.outputs) * tensor;
    problem.forwardBytes = tensors + gate + rstd;
    problem.backwardBytes = tensors + gate * (relu ? 2 : 1) + rstd; // relu gates: reads the logits, writes q
    problem.gatherBytes =
        (stack.sources + 2 + (normalised ? 1 : 0)) * tensor + gate / stack.outputs * (relu ? 2 : 1) + rstd;
}

void setBackward(Problem& problem, BenchDevice& device, Arena& arena, double weights, double gates)
{
    const MixStack& stack = problem.forward.stack;
    MixWeightGrad& backward = problem.backward;
    backward.stack = stack;
    backward.gateLogits = problem.forward.gateLogits;
    backward.rstd = problem.forward.rstd;
    if (stack.weightKind != WeightKind::none)
        backward.weightGrad = arena.take(weights);
    if (stack.gateKind != GateKind::none)
        backward.tokenGrad = arena.take(gates);
    if (isRelu(stack.gateKind))
        backward.gateVectorGrad = arena.take(4.0 * stack.outputs * double(stack.width));
    backward.workspaceBytes = device.workspace(backward);
    backward.workspace = arena.take(double(backward.workspaceBytes));
}

void makeProblem(Problem& problem, BenchDevice& device, Arena& arena, const BenchCase& which, double bytes)
{
    const double element = which.isBf16 ? 2 : 4;
    MixStack& stack = problem.forward.stack;
    stack.dataType = which.isBf16 ? DataType::bfloat16 : DataType::float32;
    stack.tokens = std::max<std::int64_t>(1, std::int64_t(bytes / (double(which.sources * which.width) * element)));
    stack.width = which.width;
    stack.sources = std::int32_t(which.sources);
    stack.outputs = std::int32_t(which.outputs);
    stack.weightKind = which.kind->weightKind;
    stack.gateKind = which.kind->gateKind;
    stack.gateInput = which.kind->gateInput;
    const double tensor = double(stack.tokens * stack.width) * element;
    const double perToken = 4.0 * double(stack.tokens) * stack.sources;
    const double gates = perToken * stack.outputs;
    const double weights = 4.0 * stack.outputs * stack.sources * double(stack.width);
    for (int s = 0; s < stack.sources; ++s)
        problem.sources.push_back(arena.take(tensor));
    stack.source = problem.sources.data();
    if (stack.weightKind != WeightKind::none)
        stack.weights = arena.take(weights);
    stack.tokenWeights = arena.take(gates);
    stack.gateVectors = arena.take(4.0 * stack.outputs * double(stack.width));
    problem.forward.gateLogits = arena.take(gates);
    problem.forward.rstd = arena.take(perToken);
    for (int o = 0; o < stack.outputs; ++o) {
        problem.forward.out[o] = arena.take(tensor);
        problem.backward.outGrad[o] = arena.take(tensor);
    }
    setBackward(problem, device, arena, weights, gates);
    setGather(problem, arena, tensor);
    countBytes(problem, tensor, perToken);
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

class Bench {
public:
    Bench(BenchDevice& device, const Options& options) : m_device(device), m_options(options)
    {
        for (const std::string& kind : options.kinds)
            addCases(kind);
        const Arena nowhere(reinterpret_cast<void*>(std::uintptr_t(256)));
        for (const BenchCase& each : m_cases) {
            Arena arena = nowhere;
            Problem problem;
            makeProblem(problem, device, arena, each, options.bytes);
            m_bytes = std::max(m_bytes, arena.used());
        }
    }

    void run()
    {
        std::printf("%s; %.2f GB of random data\n", m_device.name().c_str(), double(m_bytes) / 1e9);
        m_memory = m_device.allocate(m_bytes);
        fill();
        measureCopies();
        std::printf("%-10s %-10s %-4s %3s %4s %1s %9s %10s %7s %7s\n", "kernel", "kind", "type", "t", "d", "O", "N",
                    "us", "GB/s", "of copy");
        for (std::size_t i = 0; i < m_cases.size(); ++i) {
            if (isOver()) {
                std::printf("ended after %zu of %zu cases: --seconds %g\n", i, m_cases.size(), m_options.seconds);
                return;
            }
            runCase(m_cases[i]);
        }
    }

private:
    void addCases(std::string_view name)
    {
        const MixKind* const kind = std::ranges::find(kKinds, name, &MixKind::name);
        if (kind == std::end(kKinds))
            throw std::runtime_error("unknown kind " + std::string(name));
        const std::vector<std::int64_t>& outputs = m_options.outputs.empty() ? kind->outputs : m_options.outputs;
        for (const std::string& type : m_options.types) {
            if (type != "bf16" && type != "fp32")
                throw std::runtime_error("unknown element type " + type);
            for (const std::int64_t d : m_options.widths)
                for (const std::int64_t t : m_options.sources)
                    for (const std::int64_t o : outputs) {
                        if (d < 1 || t < 1 || t > kMaxSources || o < 1 || o > kMaxOutputs)
                            throw std::runtime_error("d is at least 1, t 1 to 512, outputs 1 to 4");
                        m_cases.push_back({kind, type == "bf16", t, d, o, o == outputs.front()});
                    }
        }
    }

    /// Every 2 bytes are a bf16 number of 0.5 to 2 with a random sign, so that every 4 are such a float too.
    void fill()
    {
        std::vector<std::uint64_t> block(std::min<std::size_t>(m_bytes, 64 << 20) / sizeof(std::uint64_t));
        std::uint64_t state = 1;
        for (std::uint64_t& word : block) {
            state = state * 6364136223846793005 + 1442695040888963407;
            word = ((state ^ (state >> 29)) & 0x80ff80ff80ff80ff) | 0x3f003f003f003f00;
        }
        const std::size_t piece = block.size() * sizeof(std::uint64_t);
        m_device.write(m_memory, block.data(), piece);
        for (std::size_t done = piece; done < m_bytes; done += piece)
            m_device.copy(static_cast<char*>(m_memory) + done, m_memory, std::min(piece, m_bytes - done));
    }

    /// Seconds of one copy of half the bytes to the other half.
    double copySeconds(bool byKernel)
    {
        const std::size_t bytes = copyBytes() / 2;
        char* const to = static_cast<char*>(m_memory) + bytes;
        return m_device.seconds(
            [&] { byKernel ? void(m_device.copyByKernel(to, m_memory, bytes)) : m_device.copy(to, m_memory, bytes); });
    }

    /// Bytes that a copy reads and writes.
    [[nodiscard]] std::size_t copyBytes() const { return std::size_t(m_options.bytes) / 512 * 512; }

    void measureCopies()
    {
        double best = 0;
        for (const bool byKernel : {false, true}) {
            if (byKernel && !m_device.copyByKernel(m_memory, m_memory, 0))
                break;
            std::vector<double> times;
            for (int round = -1; round < m_options.rounds; ++round) {
                const double time = copySeconds(byKernel);
                if (round >= 0)
                    times.push_back(time);
            }
            const double bandwidth = double(copyBytes()) / median(times);
            std::printf("copy by %s: %.1f us, %.1f GB/s\n", byKernel ? "a kernel" : "the runtime", median(times) * 1e6,
                        bandwidth / 1e9);
            m_copyByKernel = bandwidth > best ? byKernel : m_copyByKernel;
            best = std::max(best, bandwidth);
        }
    }

    void runCase(const BenchCase& which)
    {
        Problem problem;
        Arena arena(m_memory);
        makeProblem(problem, m_device, arena, which, m_options.bytes);
        report("forward", which, problem, problem.forwardBytes, [&] { return m_device.run(problem.forward); });
        report("weightGrad", which, problem, problem.backwardBytes, [&] { return m_device.run(problem.backward); });
        if (which.gather)
            report("gather", which, problem, problem.gatherBytes, [&] { return m_device.run(problem.gather); });
    }

    /// Prints one line. The copy is measured between the rounds, so that both see the same machine.
    void report(const char* kernel, const BenchCase& which, const Problem& problem, double bytes,
                const std::function<kernels::Status()>& work)
    {
        std::printf("%-10s %-10s %-4s %3lld %4lld %1lld %9lld ", kernel, which.kind->name.data(),
                    which.isBf16 ? "bf16" : "fp32", static_cast<long long>(which.sources),
                    static_cast<long long>(which.width), static_cast<long long>(which.outputs),
                    static_cast<long long>(problem.forward.stack.tokens));
        std::vector<double> times;
        std::vector<double> shares;
        for (int round = -1; round < m_options.rounds && (times.empty() || !isOver()); ++round) {
            const double copy = copySeconds(m_copyByKernel);
            kernels::Status status = kernels::Status::ok;
            const double time = m_device.seconds([&] { status = work(); });
            if (status != kernels::Status::ok) {
                std::printf("%s %s\n", describe(status), m_device.lastError().c_str());
                return;
            }
            if (round < 0)
                continue; // warm-up
            times.push_back(time);
            shares.push_back(bytes / time / (double(copyBytes()) / copy));
        }
        const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
        std::printf("%10.1f %7.1f %7.2f  [%.2f .. %.2f]\n", median(times) * 1e6, bytes / median(times) / 1e9,
                    median(shares), *low, *high);
        std::fflush(stdout);
    }

    [[nodiscard]] bool isOver() const
    {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_begin;
        return m_options.seconds > 0 && passed.count() > m_options.seconds;
    }

    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
    BenchDevice& m_device;
    const Options& m_options;
    std::vector<BenchCase> m_cases;
    std::size_t m_bytes = 0; ///< that the largest case needs
    void* m_memory = nullptr;
    bool m_copyByKernel = false;
};

} // namespace

int main(int argc, char** argv)
{
    Options options;
    tests::readOptions(argc, argv, kHelp,
                       {{"--device", &options.device},
                        {"--kinds", &options.kinds},
                        {"--types", &options.types},
                        {"--t", &options.sources},
                        {"--d", &options.widths},
                        {"--outputs", &options.outputs},
                        {"--bytes", &options.bytes},
                        {"--rounds", &options.rounds},
                        {"--seconds", &options.seconds},
                        {"--threads", &options.threads}});
    const bool onCuda = options.device == "cuda";
    options.bytes = options.bytes > 0 ? std::max(options.bytes, 1e6) : onCuda ? 2e9 : 256e6;
    options.rounds = std::max(options.rounds, 1);
    options.threads = std::max(options.threads, 1);
    if (!onCuda && options.device != "cpu")
        return std::fprintf(stderr, "bench_depth_mix: unknown device %s\n", options.device.c_str()), 2;
    try {
        std::string why;
        const auto device = onCuda ? tests::cudaDevice(why) : tests::cpuDevice(options.threads);
        if (!device)
            return std::fprintf(stderr, "bench_depth_mix: %s\n", why.c_str()), 1;
        Bench(*device, options).run();
    } catch (const std::exception& error) {
        return std::fprintf(stderr, "bench_depth_mix: %s\n", error.what()), 1;
    }
}
