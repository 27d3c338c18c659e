// SPDX-License-Identifier: GPL-3.0-or-later
// How much sooner the exact search is at the error of LFAI-WS than LFAI-WS itself, in one run:
//   bench_low_rank [out in rank]...
// For each layer and activation it prints both relative errors, the seconds of both, and the ratio: all of LFAI-WS's
// course (the paper's: 6 epochs at most, fewer where it stands still) over the exact search's time until it first was
// at or below LFAI-WS's error, and over the whole of the exact search. 10 is the aim. One thread each; the weights are
// N(0, 1/in).
#include "engine/maths/lowrank/low_rank_fit.h"
#include "projects/base/random.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace residua;
using namespace residua::engine;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Case {
    int out;
    int in;
    int rank;
};

LowRankProblem problemOf(const Case& of, Nonlinearity follows)
{
    LowRankProblem problem;
    problem.out = of.out;
    problem.in = of.in;
    problem.rank = of.rank;
    problem.follows = follows;
    problem.seed = 1;
    RandomStream draws(1, 1);
    problem.weight.resize(std::size_t(of.out) * std::size_t(of.in));
    for (double& value : problem.weight) {
        value = draws.gaussian() / std::sqrt(double(of.in));
    }
    return problem;
}

void measure(const Case& of, Nonlinearity follows)
{
    const LowRankProblem problem = problemOf(of, follows);
    auto start = Clock::now();
    const auto sampled = fitLowRank(problem, LowRankMethod::LfaiWs);
    const double sampledSeconds = since(start);
    if (!sampled) {
        std::printf("%s\n", sampled.error().text().c_str());
        return;
    }
    double reached = -1;
    LowRankWatch watch;
    start = Clock::now();
    watch.progress = [&](const LowRankProgress& progress) {
        if (reached < 0 && progress.error <= sampled->measures.relativeFunctionError) {
            reached = since(start);
        }
    };
    const auto exact = fitLowRank(problem, LowRankMethod::Exact, watch);
    const double exactSeconds = since(start);
    if (!exact) {
        std::printf("%s\n", exact.error().text().c_str());
        return;
    }
    std::printf("%5d x %-5d r %-4d %-5s  error lfai-ws %.6f exact %.6f   seconds lfai-ws %7.3f exact %7.3f, to equal "
                "error %7.3f   ratio %6.1f whole %6.1f\n",
                of.out, of.in, of.rank, std::string(nameOf(follows)).c_str(), sampled->measures.relativeFunctionError,
                exact->measures.relativeFunctionError, sampledSeconds, exactSeconds, reached, sampledSeconds / reached,
                sampledSeconds / exactSeconds);
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words)
{
    std::vector<Case> cases;
    for (int k = 1; k + 2 < count; k += 3) {
        cases.push_back({std::atoi(words[k]), std::atoi(words[k + 1]), std::atoi(words[k + 2])});
    }
    if (cases.empty()) {
        cases = {{64, 64, 8}, {256, 64, 16}, {512, 128, 32}, {128, 512, 32}};
    }
    for (const Case& of : cases) {
        for (const Nonlinearity follows : {Nonlinearity::Relu, Nonlinearity::Silu, Nonlinearity::Gelu}) {
            measure(of, follows);
        }
    }
    return 0;
}
