// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_trace.h"

#include "engine/compute/runtime/device.h"

#include <kineto/ActivityType.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace residua::tests {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

/// Work of the device: a kernel, a copy or a fill of a GPU, an operator of the CPU.
struct Work {
    std::uint64_t lane = 0; ///< stream or thread; works of one lane may contain each other, but do not overlap
    std::uint64_t start = 0;
    std::uint64_t end = 0; ///< in ns
    std::string name;
    std::uint64_t own = 0; ///< ns outside the works that it contains
};

bool isWork(const profiler::KinetoEvent& event, c10::Device device)
{
    const auto type = static_cast<libkineto::ActivityType>(event.activityType());
    if (device.is_cpu()) {
        return type == libkineto::ActivityType::CPU_OP;
    }
    return type == libkineto::ActivityType::CONCURRENT_KERNEL || type == libkineto::ActivityType::GPU_MEMCPY ||
           type == libkineto::ActivityType::GPU_MEMSET;
}

std::vector<Work> worksOf(const profiler::ProfilerResult& result, c10::Device device)
{
    std::vector<Work> works;
    for (const profiler::KinetoEvent& event : result.events()) {
        if (isWork(event, device)) {
            const std::uint64_t lane =
                device.is_cpu() ? event.startThreadId() : static_cast<std::uint64_t>(event.deviceResourceId());
            works.push_back({lane, event.startNs(), event.endNs(), event.name(), event.durationNs()});
        }
    }
    std::ranges::sort(works, {}, [](const Work& work) { return std::tuple(work.lane, work.start, ~work.end); });
    std::vector<Work*> open;
    for (Work& work : works) {
        while (!open.empty() && (open.back()->lane != work.lane || open.back()->end <= work.start)) {
            open.pop_back();
        }
        if (!open.empty()) {
            open.back()->own -= std::min(open.back()->own, work.end - work.start);
        }
        open.push_back(&work);
    }
    return works;
}

/// The time from the first work to the end of the last, and how much of it no work covers.
struct Idleness {
    std::uint64_t span = 0;
    std::uint64_t idle = 0; ///< in ns
};

Idleness idlenessOf(std::vector<Work> works)
{
    Idleness idleness;
    if (works.empty()) {
        return idleness;
    }
    std::ranges::sort(works, {}, &Work::start);
    std::uint64_t end = works.front().start;
    for (const Work& work : works) {
        idleness.idle += work.start > end ? work.start - end : 0;
        end = std::max(end, work.end);
    }
    idleness.span = end - works.front().start;
    return idleness;
}

void printTable(const std::vector<Work>& works, int steps)
{
    struct Row {
        std::string name;
        std::int64_t count = 0;
        double microseconds = 0;
    };
    std::map<std::string, Row> byName;
    double total = 0;
    for (const Work& work : works) {
        Row& row = byName[work.name];
        row.name = work.name;
        ++row.count;
        row.microseconds += 1e-3 * static_cast<double>(work.own);
        total += 1e-3 * static_cast<double>(work.own);
    }
    std::vector<Row> rows;
    for (const auto& [name, row] : byName) {
        rows.push_back(row);
    }
    std::ranges::sort(rows, std::greater(), &Row::microseconds);
    std::printf("| launches a step | us a step | share | name |\n|---|---|---|---|\n");
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 15); ++i) {
        std::printf("| %.1f | %.1f | %.1f %% | `%.110s` |\n", static_cast<double>(rows[i].count) / steps,
                    rows[i].microseconds / steps, 100 * rows[i].microseconds / total, rows[i].name.c_str());
    }
}

} // namespace

void traceSteps(c10::Device device, int steps, const std::string& path, const std::function<void()>& step)
{
    // On a GPU its own activity alone: recording the operators would slow the host down and show the device idle.
    const std::set<ActivityType> activities{device.is_cpu() ? ActivityType::CPU : ActivityType::CUDA};
    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
    profiler::prepareProfiler(config, activities);
    step();
    engine::synchronise(device);
    profiler::enableProfiler(config, activities);
    for (int i = 0; i < steps; ++i) {
        step();
    }
    engine::synchronise(device);
    const std::unique_ptr<profiler::ProfilerResult> result = profiler::disableProfiler();
    result->save(path);
    const std::vector<Work> works = worksOf(*result, device);
    const Idleness idleness = idlenessOf(works);
    std::printf("  trace of %d steps in %s: %.0f %s a step, %.2f ms a step, the device idle for %.1f %% of it\n", steps,
                path.c_str(), static_cast<double>(works.size()) / steps, device.is_cpu() ? "operators" : "launches",
                1e-6 * static_cast<double>(idleness.span) / steps,
                idleness.span == 0 ? 0.0
                                   : 100 * static_cast<double>(idleness.idle) / static_cast<double>(idleness.span));
    printTable(works, steps);
}

} // namespace residua::tests
