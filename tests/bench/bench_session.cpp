// SPDX-License-Identifier: GPL-3.0-or-later
// The price of a step in a session, for the comparison of an engine in a process of its own with one inside: this file
// makes bench_session and bench_session_inside, which compare_session.py runs by turns.
#include "engine/base/api/session.h"
#include "projects/shipped/examples.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <future>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace residua;

/// Trains the run in a session on one thread. Returns the training seconds after each step.
std::vector<double> trained(const engine::StartRun& start)
{
    std::vector<double> seconds;
    std::promise<engine::RunEnded> ended;
    {
        engine::Session session(
            [&](const engine::Event& event) {
                if (const auto* progress = std::get_if<engine::Progress>(&event)) {
                    std::ranges::transform(progress->steps, std::back_inserter(seconds), &engine::StepRecord::seconds);
                } else if (const auto* end = std::get_if<engine::RunEnded>(&event)) {
                    ended.set_value(*end);
                }
            },
            1);
        session.post(start);
        if (const engine::RunEnded end = ended.get_future().get(); end.hasFailed()) {
            std::fprintf(stderr, "bench_session: %s\n", end.error.text().c_str());
            std::exit(1);
        }
    }
    return seconds;
}

} // namespace

/// bench_session EXAMPLE STEPS: prints the median of the milliseconds of a step, and the processor seconds of this
/// process alone.
int main(int argc, char** argv)
{
    const projects::Example* const example = argc == 3 ? projects::findExample(argv[1]) : nullptr;
    if (example == nullptr) {
        std::fprintf(stderr, "bench_session EXAMPLE STEPS\n");
        return 1;
    }
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("residua-bench-" + std::to_string(getpid()));
    engine::StartRun start;
    start.run = engine::RunId{1};
    start.project = example->project;
    start.project.training.steps = std::atoll(argv[2]);
    start.project.training.validateEvery = 0;
    start.project.training.checkpointEvery = 0;
    start.projectDirectory = folder;
    start.runDirectory = folder / "run";
    std::filesystem::create_directories(folder);
    const std::vector<double> seconds = trained(start);
    std::filesystem::remove_all(folder);
    std::vector<double> steps;
    for (std::size_t i = seconds.size() / 4; i + 1 < seconds.size(); ++i) {
        steps.push_back(1000 * (seconds[i + 1] - seconds[i]));
    }
    std::ranges::nth_element(steps, steps.begin() + std::ssize(steps) / 2);
    std::printf("%.4f %.4f\n", steps[steps.size() / 2], static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}
