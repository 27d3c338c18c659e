// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "projects/shipped/examples.h"

#include <chrono>
#include <stdexcept>

namespace residua::tests {
namespace {

projects::Project exampleNamed(const std::string& name)
{
    const projects::Example* const example = projects::findExample(name);
    if (example == nullptr) {
        throw std::runtime_error("no example " + name);
    }
    return example->project;
}

} // namespace

projects::Project quickLanguage(std::int64_t steps)
{
    projects::Project project = exampleNamed("ancre-language");
    project.data.source = projects::SyntheticLanguage{.vocabulary = 24, .levels = 2, .tokens = 4000};
    project.stack().width = 16;
    project.stack().segments = {{project.stack().segments.front().block, 2}};
    for (projects::Node& node : project.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{2};
            node.params["dropout"] = 0.1;
        }
    }
    project.training.steps = steps;
    project.training.batch = 4;
    project.training.sequenceLength = 16;
    project.training.learningRate.warmupSteps = 4;
    project.training.validateEvery = 0;
    project.training.validationBatches = 2;
    project.training.checkpointEvery = 0;
    project.training.observeEvery = 5;
    return project;
}

projects::Project quickVectors(std::int64_t steps)
{
    projects::Project project = exampleNamed("linear-ancre");
    project.training.steps = steps;
    project.training.validateEvery = 0;
    return project;
}

SessionProbe::SessionProbe(const engine::EngineRemote& place)
{
    const auto take = [this](engine::Event event) {
        const std::scoped_lock lock(m_mutex);
        m_events.push_back(std::move(event));
        m_came.notify_all();
    };
    m_session = std::make_unique<engine::Session>(take, 0, place);
}

bool SessionProbe::waitUntil(const std::function<bool(const engine::Event&)>& accepts)
{
    std::unique_lock lock(m_mutex);
    std::size_t seen = 0;
    return m_came.wait_for(lock, std::chrono::minutes(2), [&] {
        while (seen < m_events.size()) {
            if (accepts(m_events[seen++])) {
                return true;
            }
        }
        return false;
    });
}

std::map<std::int64_t, double> SessionProbe::losses(engine::RunId run)
{
    std::map<std::int64_t, double> losses;
    for (const engine::Progress& progress : all<engine::Progress>()) {
        for (const engine::StepRecord& record : progress.steps) {
            if (progress.run == run) {
                losses[record.step] = record.loss;
            }
        }
    }
    return losses;
}

engine::StartRun startIn(const std::filesystem::path& folder, engine::RunId run, const projects::Project& project)
{
    engine::StartRun start;
    start.run = run;
    start.project = project;
    start.projectDirectory = folder;
    start.runDirectory = folder / ("run-" + std::to_string(static_cast<std::uint64_t>(run)));
    return start;
}

bool trainTo(const projects::Project& project, const std::filesystem::path& runDirectory, std::int64_t step,
             const std::string& device)
{
    SessionProbe probe;
    engine::StartRun start;
    start.run = kRun;
    start.project = project;
    start.runDirectory = runDirectory;
    start.device = device;
    start.pauseAfter = step;
    probe.post(start);
    const bool came = probe.waitFor<engine::RunPaused>();
    probe.post(engine::Stop{kRun});
    return probe.waitFor<engine::RunEnded>() && came;
}

std::string resumeToEnd(const std::filesystem::path& runDirectory, const std::string& device)
{
    SessionProbe probe;
    engine::ResumeRun resume;
    resume.run = kRun;
    resume.of.runDirectory = runDirectory;
    resume.device = device;
    probe.post(resume);
    if (!probe.waitFor<engine::RunEnded>()) {
        return "it did not end";
    }
    const engine::RunEnded ended = probe.all<engine::RunEnded>()[0];
    return ended.status == engine::RunStatus::Finished ? "" : "it did not finish: " + ended.error.text();
}

std::map<std::int64_t, double> lossesOf(const projects::Project& project, const std::filesystem::path& runDirectory,
                                        const std::string& device)
{
    SessionProbe probe;
    engine::StartRun start;
    start.run = kRun;
    start.project = project;
    start.runDirectory = runDirectory;
    start.device = device;
    probe.post(start);
    probe.waitFor<engine::RunEnded>();
    return probe.losses(kRun);
}

std::map<std::int64_t, double> recordedLosses(const std::filesystem::path& runDirectory)
{
    std::map<std::int64_t, double> losses;
    const Result<engine::RunReader> reader = engine::RunReader::open(runDirectory);
    if (reader) {
        for (const engine::MetricPoint& point : reader->metric(engine::metric::kLoss)) {
            losses[point.step] = point.value;
        }
    }
    return losses;
}

} // namespace residua::tests
