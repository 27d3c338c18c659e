// SPDX-License-Identifier: GPL-3.0-or-later
// How a run begins: fresh, or from what an earlier process left of it.
#include "engine/compute/session/active_run.h"

#include "engine/compute/session/rank_run.h"
#include "engine/compute/session/resume_point.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
Result<std::unique_ptr<ActiveRun>> ActiveRun::start(const StartRun& command, const EventSink& sink,
                                                    const PreparationWatches& watches)
{
    Result<std::unique_ptr<ActiveRun>> run = begin(command, sink, heedingRanks(watches));
    return run ? std::move(run) : Result<std::unique_ptr<ActiveRun>>(refusedToRanks(run.error()));
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::resume(const ResumeRun& command, const EventSink& sink,
                                                     const PreparationWatches& watches)
{
    Result<std::unique_ptr<ActiveRun>> run = begin(command, sink, heedingRanks(watches));
    return run ? std::move(run) : Result<std::unique_ptr<ActiveRun>>(refusedToRanks(run.error()));
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::begin(const StartRun& command, const EventSink& sink,
                                                    const PreparationWatches& watches)
{
    PreparedRun prepared{command.project, command.projectDirectory, command.device};
    prepared.runDirectory = command.runDirectory;
    const Result<std::string> device = callRanks(prepared, watches.ranks);
    if (!device) {
        return device.error();
    }
    prepared.device = *device;
    Result<std::unique_ptr<Trainer>> trainer = makeTrainer(prepared, watches);
    if (!trainer) {
        return trainer.error();
    }
    Result<DataFingerprint> data = fingerprintOf(command.project, command.projectDirectory, watches.data);
    if (!data) {
        return data.error();
    }
    if (const Status same = checkData(*data, Ranks::joinedOfProcess()); !same) {
        return same.error();
    }
    RunInfo info;
    info.name = nameForRun(command);
    info.membership = command.membership;
    info.device = *device;
    info.steps = command.project.training.steps;
    Result<RunWriter> writer =
        command.runDirectory.empty()
            ? RunWriter::createIn(command.runFolder, info, command.project, command.projectDirectory, std::move(*data))
            : RunWriter::create(command.runDirectory, info, command.project, command.projectDirectory,
                                std::move(*data));
    if (!writer) {
        return writer.error();
    }
    std::unique_ptr<ActiveRun> run(new ActiveRun(command.run, std::move(*trainer), std::move(*writer), *device, sink));
    run->m_pauseAt = command.pauseAfter;
    run->m_waitsForDisk = command.waitsForDisk;
    run->guarded([&] { run->announce(); });
    run->guarded([&] { run->m_loop.observe(); });
    return run;
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::begin(const ResumeRun& command, const EventSink& sink,
                                                    const PreparationWatches& watches)
{
    // Held before anything is read: another process may be about to write a newer checkpoint.
    Result<FileDescriptor> held = RunWriter::hold(command.of.runDirectory);
    if (!held) {
        return held.error();
    }
    if (const auto file = readRunFile(command.of.runDirectory); file && file->remote) {
        return Error{command.of.runDirectory.string(),
                     "records a run at " + file->remote->place + ", and is resumed there"};
    }
    Result<OpenedRun> opened = openRun(command.of, LargeFiles::EveryByte, watches.data);
    if (!opened) {
        return opened.error();
    }
    projects::Project& project = opened->project;
    goOnTo(project, command.steps.value_or(opened->info.steps), &opened->notes);
    Result<std::optional<CheckpointFiles>> checkpoint = checkpointToResume(command, opened->info, opened->notes);
    if (!checkpoint) {
        return checkpoint.error();
    }
    const bool again = !checkpoint->has_value();
    const std::int64_t done = again ? 0 : (*checkpoint)->state.step;
    // A run that was killed after the checkpoint of its last step lacks the note that it has finished, and gets it
    // below.
    const bool onlyNote = done == project.training.steps && opened->info.status != RunStatus::Finished;
    if (done >= project.training.steps && !onlyNote) {
        return Error{command.of.runDirectory.string(),
                     "all " + std::to_string(done) + " steps are done: give a larger total"};
    }
    PreparedRun prepared{
        project,          opened->projectDirectory, command.device, *std::move(checkpoint), command.of.runDirectory,
        opened->reading()};
    const Result<std::string> device = callRanks(prepared, watches.ranks);
    if (!device) {
        return device.error();
    }
    prepared.device = *device;
    Result<std::unique_ptr<Trainer>> trainer = makeTrainer(prepared, watches);
    if (!trainer) {
        return trainer.error();
    }
    if (const Status same = checkData(opened->data, Ranks::joinedOfProcess()); !same) {
        return same.error();
    }
    Result<RunWriter> writer = RunWriter::reopen(command.of.runDirectory, done, std::move(*held));
    if (!writer) {
        return writer.error();
    }
    writer->setSource(opened->projectDirectory, opened->data);
    std::unique_ptr<ActiveRun> run(new ActiveRun(command.run, std::move(*trainer), std::move(*writer), *device, sink));
    run->m_waitsForDisk = command.waitsForDisk;
    run->goOnFrom(*opened, again ? std::nullopt : std::optional(done));
    if (onlyNote || opened->info.status == RunStatus::Failed) { // perhaps in what was due after its last step
        run->guarded([&] { run->makeUp(done); });
    }
    if (onlyNote) {
        run->guarded([&] { run->finish({.status = RunStatus::Finished}); });
    }
    return run;
}

void ActiveRun::goOnFrom(const OpenedRun& opened, std::optional<std::int64_t> checkpoint)
{
    m_checkpointStep = checkpoint.value_or(-1);
    const std::int64_t step = checkpoint.value_or(0);
    m_recorder.goOnFrom(step, valuesUpTo(m_recorder.directory(), step));
    guarded([this] { announce(); });
    for (const std::string& note : opened.notes) {
        m_sink(Notice{m_id, note});
    }
    if (threads() != opened.info.threads && threads() > 0 && opened.info.threads > 0) {
        m_sink(Notice{m_id, "computes with " + std::to_string(threads()) + " threads and did with " +
                                std::to_string(opened.info.threads) + ": the last bits of sums may differ"});
    }
    if (!checkpoint) {
        m_sink(Notice{m_id, "the run had no checkpoint yet and begins again"});
        guarded([this] { m_loop.observe(); });
    }
    const std::int64_t done = checkpoint.value_or(0);
    if (opened.otherData) {
        m_recorder.event(done, RunEventKind::OtherData, *opened.otherData);
    }
    m_recorder.event(done, RunEventKind::Resumed, "on " + m_device);
}

void ActiveRun::makeUp(std::int64_t step)
{
    if (step == 0) {
        return; // nothing is due before the first
    }
    Due due = dueAfter(trainer().project().training, step);
    if (const auto reader = RunReader::open(m_recorder.directory())) {
        std::erase_if(due.measures, [&](const Measure* measure) {
            return !reader->metric(measure->record, step - 1).empty() ||
                   std::ranges::binary_search(reader->matrixSteps(measure->record), step);
        });
    }
    if (const Status made = m_loop.measure(due); !made) {
        failKept(made.error());
    }
}

} // namespace residua::engine
