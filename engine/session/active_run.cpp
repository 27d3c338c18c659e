// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/active_run.h"

#include "engine/api/run_paths.h"
#include "engine/data/fingerprint.h"
#include "engine/data/mixture.h"
#include "engine/results/run_names.h"
#include "engine/results/run_reader.h"
#include "engine/results/stages.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/gap_record.h"
#include "engine/runs/stop_request.h"
#include "engine/runtime/compute.h"
#include "engine/runtime/device.h"
#include "engine/runtime/failure.h"
#include "engine/session/memory_report.h"
#include "engine/session/resume_point.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

// Reading the ring makes a GPU wait for the host, so it is done less often on a GPU.
constexpr std::chrono::milliseconds kPublishOnCpu{34};
constexpr std::chrono::milliseconds kPublishOnGpu{100};
constexpr std::chrono::milliseconds kHeed{100}; ///< the interval between checks for requests of other processes

Result<std::unique_ptr<Trainer>> makeTrainer(const projects::Project& project,
                                             const std::filesystem::path& projectDirectory, const std::string& device,
                                             FirstWeights weights, const PreparationWatches& watches)
{
    if (const Status valid = checkProject(project); !valid) {
        return valid.error();
    }
    Result<std::unique_ptr<Trainer>> made = Error{};
    const auto failure = attempt([&] {
        Result<TrainerParts> parts = openParts(project, projectDirectory, device, weights, watches);
        made = parts ? Result<std::unique_ptr<Trainer>>(std::make_unique<Trainer>(std::move(*parts)))
                     : Result<std::unique_ptr<Trainer>>(parts.error());
    });
    if (failure) {
        return describe(*failure, project, device);
    }
    return made;
}

Status restored(Trainer& trainer, const CheckpointFiles& checkpoint, const std::string& device)
{
    Status status = Done{};
    const auto failure = attempt([&] { status = trainer.restore(checkpoint); });
    return failure ? Status(describe(*failure, trainer.project(), device)) : status;
}

/// Returns the state of the checkpoints after a failure. `step` is that of the newest one; negative without one.
std::string checkpointNote(std::int64_t step)
{
    return step >= 0 ? "the checkpoint of step " + std::to_string(step) + " is intact" : "there is no checkpoint yet";
}

/// Returns the error for the first step with a loss or gradient that is not finite.
Error divergence(const StepRecord& record, const projects::TrainingPlan& plan, std::int64_t checkpointStep)
{
    const bool byLoss = !std::isfinite(record.loss);
    const double value = byLoss ? record.loss : record.gradientNorm;
    std::ostringstream text;
    text << "the " << (byLoss ? "loss" : "gradient's norm") << " is " << (std::isnan(value) ? "NaN" : "infinite")
         << " at a learning rate of " << record.learningRate << ": lower the rate, lengthen the warm-up"
         << (plan.clipNorm > 0 ? "" : ", clip the gradient") << " or check the data; "
         << checkpointNote(checkpointStep);
    return {"step " + std::to_string(record.step), text.str()};
}

/// Returns RunInfo::threads.
std::int64_t threadsOf(Trainer& trainer)
{
    return trainer.device().is_cpu() ? at::get_num_threads() : 0;
}

} // namespace

Result<std::unique_ptr<ActiveRun>> ActiveRun::start(const StartRun& command, const EventSink& sink,
                                                    const PreparationWatches& watches)
{
    Result<std::unique_ptr<Trainer>> trainer =
        makeTrainer(command.project, command.projectDirectory, command.device, FirstWeights::Initialised, watches);
    if (!trainer) {
        return trainer.error();
    }
    Result<DataFingerprint> data = fingerprintOf(command.project, command.projectDirectory, watches.data);
    if (!data) {
        return data.error();
    }
    RunInfo info;
    const bool given = command.membership || !command.runDirectory.empty();
    info.name = given ? command.project.name : nameForRun(command.runFolder, command.project);
    info.membership = command.membership;
    info.device = command.device;
    info.steps = command.project.training.steps;
    Result<RunWriter> writer =
        command.runDirectory.empty()
            ? RunWriter::createIn(command.runFolder, info, command.project, command.projectDirectory, std::move(*data))
            : RunWriter::create(command.runDirectory, info, command.project, command.projectDirectory,
                                std::move(*data));
    if (!writer) {
        return writer.error();
    }
    std::unique_ptr<ActiveRun> run(
        new ActiveRun(command.run, std::move(*trainer), std::move(*writer), command.device, sink));
    run->m_pauseAt = command.pauseAfter;
    run->m_waitsForDisk = command.waitsForDisk;
    run->guarded([&] { run->announce(); });
    run->guarded([&] { run->m_loop.observe(); });
    return run;
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::resume(const ResumeRun& command, const EventSink& sink,
                                                     const PreparationWatches& watches)
{
    // Held before anything is read, because another process may be about to write a newer checkpoint.
    Result<FileDescriptor> held = RunWriter::hold(command.runDirectory);
    if (!held) {
        return held.error();
    }
    Result<OpenedRun> opened = openRun(useOf(command), LargeFiles::EveryByte, watches.data);
    if (!opened) {
        return opened.error();
    }
    projects::Project& project = opened->project;
    goOnTo(project, command.steps.value_or(opened->info.steps), &opened->notes);
    const Result<std::optional<CheckpointFiles>> checkpoint = checkpointToResume(command, opened->info, opened->notes);
    if (!checkpoint) {
        return checkpoint.error();
    }
    const bool again = !checkpoint->has_value();
    const std::int64_t done = again ? 0 : (*checkpoint)->state.step;
    // A run that was killed after the checkpoint of its last step lacks the record that it has finished; it is added
    // below.
    const bool onlyNote = done == project.training.steps && opened->info.status != RunStatus::Finished;
    if (done >= project.training.steps && !onlyNote) {
        return Error{command.runDirectory.string(),
                     "all " + std::to_string(done) + " steps are done: give a larger total"};
    }
    Result<std::unique_ptr<Trainer>> trainer =
        makeTrainer(project, opened->projectDirectory, command.device,
                    again ? FirstWeights::Initialised : FirstWeights::Loaded, watches);
    if (!trainer) {
        return trainer.error();
    }
    if (const Status loaded = again ? Status(Done{}) : restored(**trainer, **checkpoint, command.device); !loaded) {
        return loaded.error();
    }
    Result<RunWriter> writer = RunWriter::reopen(command.runDirectory, done, std::move(*held));
    if (!writer) {
        return writer.error();
    }
    writer->setSource(opened->projectDirectory, opened->data);
    std::unique_ptr<ActiveRun> run(
        new ActiveRun(command.run, std::move(*trainer), std::move(*writer), command.device, sink));
    run->m_waitsForDisk = command.waitsForDisk;
    run->goOnFrom(*opened, again ? std::nullopt : std::optional(done));
    if (onlyNote || opened->info.status == RunStatus::Failed) { // it may have failed in work due after its last step
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
    m_recorder.goOnFrom(checkpoint.value_or(0));
    guarded([this] { announce(); });
    for (const std::string& note : opened.notes) {
        m_sink(Notice{m_id, note});
    }
    const std::int64_t threads = threadsOf(trainer());
    if (threads != opened.info.threads && threads > 0 && opened.info.threads > 0) {
        m_sink(Notice{m_id, "computes with " + std::to_string(threads) + " threads and did with " +
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
        return; // nothing is due before the first step
    }
    Due due = dueAfter(trainer().project().training, step);
    if (const auto reader = RunReader::open(m_recorder.directory())) {
        due.validation = due.validation && reader->metric(metric::kValidationLoss, step - 1).empty();
        due.stability = due.stability && !std::ranges::binary_search(reader->matrixSteps(matrix::kStability), step);
    }
    if (const Status made = m_loop.measure(due); !made) {
        failKept(made.error());
    }
}

ActiveRun::ActiveRun(RunId id, std::unique_ptr<Trainer> trainer, RunWriter writer, std::string device,
                     const EventSink& sink)
    : m_id(id),
      m_sink(sink),
      m_device(std::move(device)),
      m_loop(std::move(trainer)),
      m_recorder(std::move(writer), m_device, threadsOf(m_loop.trainer()), m_loop.lastStep())
{
}

void ActiveRun::announce()
{
    // Flushed before the run is announced: a request to stop at a step is answered from the planned steps in its file.
    Status written = m_recorder.flush(RunStatus::Running);
    m_sink(RunStarted{m_id, m_recorder.directory(), trainer().stepsDone(), m_loop.lastStep(),
                      trainer().parameterCount(), m_device, trainer().unitsPerStep(),
                      trainer().dataset().schema().unit()});
    if (const std::string warning = memoryWarning(trainer().project(), m_device); !warning.empty()) {
        m_sink(Notice{m_id, warning});
    }
    if (const std::string& why = trainer().network().withoutKernels(); !why.empty()) {
        const std::string note =
            why + "; LibTorch's operators compute the same, and deep mixes take several times as long";
        m_recorder.event(trainer().stepsDone(), RunEventKind::Kernels, note);
        m_sink(Notice{m_id, "custom kernels are not in use on " + m_device + ": " + note});
    }
    const kernels::CudaKernels* const table = kernelsOn(trainer().device()).table;
    m_slowCalls = table != nullptr ? table->singleElementCalls() : 0;
    const std::vector<DataPartOutline> parts = trainer().dataset().parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        m_sink(Notice{m_id, textOf(parts[i], i, trainer().project().training)});
    }
    for (const std::string& note : trainer().dataset().notes()) {
        m_sink(Notice{m_id, note});
    }
    const InitPlan& plan = trainer().network().initPlan();
    for (const std::string& note : plan.notes()) {
        m_sink(Notice{m_id, note});
    }
    if (written && !plan.gap().weights.empty()) { // fitted for this run, and not loaded
        written = writeGap(m_recorder.directory(), plan.gap());
    }
    if (!written) {
        fail(written.error());
    }
    tellNotes();
}

void ActiveRun::tellNotes()
{
    for (const std::string& note : m_recorder.takeNotes()) {
        m_recorder.event(trainer().stepsDone(), RunEventKind::Store, note);
        m_sink(Notice{m_id, note});
    }
}

void ActiveRun::guarded(const std::function<void()>& work)
{
    if (m_state == State::Ended) {
        return;
    }
    if (const auto failure = attempt(work)) {
        Error error = describe(*failure, trainer().project(), m_device);
        error.message += "; " + checkpointNote(m_checkpointStep);
        fail(error);
    }
}

void ActiveRun::advance()
{
    guarded([this] {
        StepOutcome outcome = m_loop.advance();
        const Status sound = outcome.found ? publish(std::move(*outcome.found)) : Done{};
        if (m_diverged) {
            fail(sound.error());
            return;
        }
        if (!outcome.status) {
            failKept(outcome.status.error());
            return;
        }
        if (outcome.due.last) {
            finish({.status = RunStatus::Finished});
            return;
        }
        if (const Status written = outcome.due.checkpoint ? writeCheckpoint() : sound; !written) {
            holdUp(written.error());
            return;
        }
        if (stopWhereAsked(); m_state == State::Ended) {
            return;
        }
        if (trainer().stepsDone() == m_pauseAt) {
            enterPause();
            return;
        }
        const auto interval = trainer().device().is_cpu() ? kPublishOnCpu : kPublishOnGpu;
        const bool due = Clock::now() - m_published >= interval;
        if (const Status published = due ? publish(m_loop.read()) : Done{}; !published) {
            holdUp(published.error());
        }
    });
}

Status ActiveRun::publish(Findings found)
{
    const std::optional<StepRecord>& diverged = found.diverged;
    Progress& progress = found.progress;
    progress.run = m_id;
    for (const StepRecord& record : progress.steps) {
        m_throughput.add(record);
    }
    progress.unitsPerSecond = m_throughput.unitsPerSecond();
    progress.peakBytes = peakBytes(trainer().device());
    m_recorder.add(progress, diverged ? diverged->step - 1 : trainer().stepsDone());
    for (const StageRecord& stage : progress.stages) {
        m_sink(Notice{m_id, "step " + std::to_string(stage.step + 1) + ": " + stageText(stage)});
    }
    m_sink(std::move(progress));
    m_published = Clock::now();
    const std::string slow =
        m_slowCalls ? slowKernelNote(kernelsOn(trainer().device()).table, *m_slowCalls) : std::string();
    if (!slow.empty()) {
        m_slowCalls.reset();
        m_recorder.event(trainer().stepsDone(), RunEventKind::Kernels, slow);
        m_sink(Notice{m_id, slow});
    }
    if (diverged) {
        m_diverged = true;
        return divergence(*diverged, trainer().project().training, m_checkpointStep);
    }
    const Status written = m_recorder.flushIfDue();
    tellNotes();
    return written;
}

Status ActiveRun::writeCheckpoint()
{
    // A checkpoint never holds a state with losses that were not checked.
    if (const Status published = publish(m_loop.read()); !published) {
        return published;
    }
    const std::int64_t step = trainer().stepsDone();
    if (step == m_checkpointStep) {
        return Done{};
    }
    // The rows are written first, so that a run killed after the checkpoint resumes without a gap in them.
    if (const Status written = m_recorder.flush(); !written) {
        return written;
    }
    tellNotes();
    if (const Status written = trainer().writeCheckpoint(m_recorder.directory()); !written) {
        return written;
    }
    m_checkpointStep = step;
    m_recorder.event(step, RunEventKind::Checkpoint, "");
    m_sink(CheckpointWritten{m_id, step, checkpointDirectory(m_recorder.directory(), step)});
    return Done{};
}

void ActiveRun::enterPause()
{
    if (const Status published = publish(m_loop.read()); !published) {
        holdUp(published.error());
        return;
    }
    m_state = State::Paused;
    m_pauseAt = 0;
    m_recorder.event(trainer().stepsDone(), RunEventKind::Paused, "");
    if (const Status written = m_recorder.flush(RunStatus::Paused); !written) {
        holdUp(written.error());
        return;
    }
    m_sink(RunPaused{m_id, trainer().stepsDone(), {}});
}

void ActiveRun::holdUp(const Error& error, std::optional<Ending> ending)
{
    if (!m_waitsForDisk || m_diverged) {
        fail(error);
        return;
    }
    m_state = State::Paused;
    m_pauseAt = 0;
    const bool isFirst = !m_unwritten;
    m_unwritten = Unwritten{error, std::move(ending)};
    if (isFirst) {
        m_recorder.event(trainer().stepsDone(), RunEventKind::Paused, error.text());
        (void)m_recorder.flush(RunStatus::Paused); // writes what it can; the rest stays in memory
    }
    m_sink(RunPaused{m_id, trainer().stepsDone(), error});
}

bool ActiveRun::isWrittenNow()
{
    if (m_unwritten->ending) {
        finish(Ending(*m_unwritten->ending));
        return false;
    }
    if (const Status written = writeCheckpoint(); !written) {
        holdUp(written.error());
        return false;
    }
    m_unwritten.reset();
    return true;
}

void ActiveRun::leavePause()
{
    if (m_state != State::Paused || (m_unwritten && !isWrittenNow())) {
        return;
    }
    m_state = State::Running;
    m_recorder.event(trainer().stepsDone(), RunEventKind::Continued, "");
    if (const Status written = m_recorder.flush(RunStatus::Running); !written) {
        holdUp(written.error());
        return;
    }
    m_sink(RunContinued{m_id});
}

void ActiveRun::pause()
{
    guarded([this] {
        if (m_state == State::Running) {
            enterPause();
        }
    });
}

void ActiveRun::goOn()
{
    guarded([this] {
        m_pauseAt = 0;
        leavePause();
    });
}

void ActiveRun::goOnFor(std::int64_t steps)
{
    guarded([&] {
        m_pauseAt = trainer().stepsDone() + std::max<std::int64_t>(steps, 1);
        leavePause();
    });
}

void ActiveRun::stop()
{
    guarded([this] { m_unwritten ? fail(m_unwritten->error) : finish({.status = RunStatus::Stopped}); });
}

void ActiveRun::heedRequests()
{
    if (const auto now = Clock::now(); now - m_heeded >= kHeed) {
        m_heeded = now;
        m_stopAt = readStopRequest(m_recorder.directory());
        guarded([this] { stopWhereAsked(); });
    }
}

void ActiveRun::stopWhereAsked()
{
    if (m_stopAt && trainer().stepsDone() >= *m_stopAt) {
        m_sink(Notice{m_id, "another process asked for the end of this run"});
        m_unwritten ? fail(m_unwritten->error)
                    : finish({.status = RunStatus::Stopped, .text = "asked for by another process"});
    }
}

void ActiveRun::checkpoint()
{
    guarded([this] {
        if (const Status written = writeCheckpoint(); !written) {
            holdUp(written.error());
        }
    });
}

void ActiveRun::finish(Ending ending)
{
    if (const Status written = writeCheckpoint(); !written) {
        holdUp(written.error(), std::move(ending));
        return;
    }
    if (!std::exchange(ending.isNoted, true)) {
        m_recorder.event(trainer().stepsDone(),
                         ending.status == RunStatus::Finished ? RunEventKind::Finished : RunEventKind::Stopped,
                         ending.text);
    }
    clearStopRequest(m_recorder.directory());
    if (const Status written = m_recorder.flush(ending.status); !written) {
        holdUp(written.error(), std::move(ending));
        return;
    }
    tellNotes();
    m_state = State::Ended;
    m_sink(RunEnded{m_id, ending.status, trainer().stepsDone(), {}});
}

void ActiveRun::failKept(const Error& error)
{
    const bool isGrown = trainer().isGrownAhead();
    Status kept = Done{};
    if (const auto failure = attempt([&] { kept = isGrown ? publish(m_loop.read()) : writeCheckpoint(); })) {
        kept = describe(*failure, trainer().project(), m_device);
    }
    std::string what = isGrown ? "; no checkpoint was written of the network that has just grown; " : "; ";
    if (!kept) {
        what += "nor is there a checkpoint of what it had come to: " + kept.error().text();
    } else if (m_checkpointStep >= 0) {
        what += "the checkpoint of step " + std::to_string(m_checkpointStep) +
                " is complete: put the data back as they were, and resume";
    } else {
        what += "there is no checkpoint yet";
    }
    fail({error.place, error.message + what});
}

void ActiveRun::fail(const Error& error)
{
    m_state = State::Ended;
    // If the disk or the memory has failed, this may fail too; the event below is sent anyway.
    Status written = Done{};
    const auto failure = attempt([&] {
        m_recorder.event(m_recorder.lastStep(), RunEventKind::Failed, error.text());
        written = m_recorder.flush(RunStatus::Failed, error.text());
    });
    const bool recorded = written && !failure;
    m_sink(RunEnded{m_id, RunStatus::Failed, m_recorder.lastStep(),
                    recorded ? error : Error{error.place, error.message + "; the run's record is incomplete"}});
}

} // namespace residua::engine
