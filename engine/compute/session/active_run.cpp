// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/active_run.h"

#include "engine/base/api/environment.h"
#include "engine/compute/ranks/ranks.h"
#include "engine/compute/runtime/compute.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/session/rank_run.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>

namespace residua::engine {
namespace {

// Reading the ring makes a GPU wait for the host, so it is done less often there.
constexpr std::chrono::milliseconds kPublishOnCpu{34};
constexpr std::chrono::milliseconds kPublishOnGpu{100};
constexpr std::chrono::milliseconds kHeed{100}; ///< how often it is seen what other processes ask for

/// What is left after a failure; `step` is the newest checkpoint's, or negative if there is none.
std::string checkpointNote(std::int64_t step)
{
    return step >= 0 ? "the checkpoint of step " + std::to_string(step) + " is intact" : "there is no checkpoint yet";
}

/// What to tell about the first step whose loss or gradient is not a finite number.
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

/// Calls the other ranks, if there are any, and makes the trainer on the device that this rank then has, which becomes
/// that of `run`.
Result<std::unique_ptr<Trainer>> trainerWithRanks(PreparedRun& run, const PreparationWatches& watches)
{
    run.device = RESIDUA_TRY(callRanks(run, watches.ranks));
    return makeTrainer(run, watches);
}

} // namespace

ActiveRun::ActiveRun(RunId id, std::unique_ptr<Trainer> trainer, RunWriter writer, std::string device,
                     const EventSink& sink)
    : m_id(id),
      m_sink(sink),
      m_device(std::move(device)),
      m_loop(std::move(trainer)),
      m_recorder(std::move(writer), m_device, threads(), m_loop.lastStep())
{
}

ActiveRun::~ActiveRun()
{
    if (const Result<Ranks*> ranks = Ranks::ofProcess(); ranks && *ranks) {
        (*ranks)->end();
    }
}

std::int64_t ActiveRun::threads()
{
    return trainer().device().is_cpu() ? at::get_num_threads() : 0;
}

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
    std::unique_ptr<Trainer> trainer = RESIDUA_TRY(trainerWithRanks(prepared, watches));
    DataFingerprint data = RESIDUA_TRY(fingerprintOf(command.project, command.projectDirectory, watches.data));
    RESIDUA_TRY(checkData(data, Ranks::joinedOfProcess()));
    RunInfo info;
    info.name = nameForRun(command);
    info.membership = command.membership;
    info.device = prepared.device;
    info.steps = command.project.training.steps;
    RunWriter writer =
        RESIDUA_TRY(command.runDirectory.empty() ? RunWriter::createIn(command.runFolder, info, command.project,
                                                                       command.projectDirectory, std::move(data))
                                                 : RunWriter::create(command.runDirectory, info, command.project,
                                                                     command.projectDirectory, std::move(data)));
    std::unique_ptr<ActiveRun> run(
        new ActiveRun(command.run, std::move(trainer), std::move(writer), prepared.device, sink));
    run->m_pauseAt = command.pauseAfter;
    run->m_stopAfter = command.stopAfter;
    run->m_waitsForDisk = command.waitsForDisk;
    run->guarded([&] { run->announce(); });
    run->guarded([&] { run->m_loop.observe(); });
    return run;
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::begin(const ResumeRun& command, const EventSink& sink,
                                                    const PreparationWatches& watches)
{
    // Held before anything is read: another process may be about to write a newer checkpoint.
    FileDescriptor held = RESIDUA_TRY(RunWriter::hold(command.of.runDirectory));
    if (const auto file = readRunFile(command.of.runDirectory); file && file->remote) {
        return Error{command.of.runDirectory.string(),
                     "records a run at " + file->remote->place + ", and is resumed there"};
    }
    OpenedRun opened = RESIDUA_TRY(openRun(command.of, LargeFiles::EveryByte, watches.data));
    projects::Project& project = opened.project;
    goOnTo(project, command.steps.value_or(opened.info.steps), &opened.notes);
    std::optional<CheckpointFiles> checkpoint = RESIDUA_TRY(checkpointToResume(command, opened.info, opened.notes));
    const bool again = !checkpoint.has_value();
    const std::int64_t done = again ? 0 : checkpoint->state.step;
    // A run that was killed after the checkpoint of its last step lacks the note that it has finished, and gets it
    // below.
    const bool onlyNote = done == project.training.steps && opened.info.status != RunStatus::Finished;
    if (done >= project.training.steps && !onlyNote) {
        return Error{command.of.runDirectory.string(),
                     "all " + std::to_string(done) + " steps are done: give a larger total"};
    }
    PreparedRun prepared{
        project,         opened.projectDirectory, command.device, std::move(checkpoint), command.of.runDirectory,
        opened.reading()};
    std::unique_ptr<Trainer> trainer = RESIDUA_TRY(trainerWithRanks(prepared, watches));
    RESIDUA_TRY(checkData(opened.data, Ranks::joinedOfProcess()));
    RunWriter writer = RESIDUA_TRY(RunWriter::reopen(command.of.runDirectory, done, std::move(held)));
    writer.setSource(opened.projectDirectory, opened.data);
    std::unique_ptr<ActiveRun> run(
        new ActiveRun(command.run, std::move(trainer), std::move(writer), prepared.device, sink));
    run->m_stopAfter = command.stopAfter;
    run->m_waitsForDisk = command.waitsForDisk;
    run->goOnFrom(opened, again ? std::nullopt : std::optional(done));
    if (onlyNote || opened.info.status == RunStatus::Failed) { // perhaps in what was due after its last step
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
    const std::string anew = checkpoint ? trainer().whyCollectedAnew() : std::string();
    if (!anew.empty()) {
        m_sink(Notice{m_id, anew});
    }
    m_recorder.event(done, RunEventKind::Resumed, "on " + m_device + (anew.empty() ? "" : "; " + anew));
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

void ActiveRun::announce()
{
    m_recorder.setClasses(trainer().dataset().classes());
    // Before anyone hears of the run: who stops it at a step is answered from the steps that its file plans.
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
        if (trainer().stepsDone() == m_stopAfter) {
            finish({.status = RunStatus::Stopped, .text = "as far as it was asked for"});
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
    if (constexpr auto kRankPace = std::chrono::seconds(1); Clock::now() - m_ranksTold >= kRankPace) {
        std::vector<MetricRow> rows = trainer().takeRankRows();
        m_ranksTold = rows.empty() ? m_ranksTold : Clock::now();
        std::ranges::move(rows, std::back_inserter(progress.rows));
    }
    m_recorder.add(progress);
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
    if (const std::string& why = trainer().graphs().why(); why != m_withoutGraphs) {
        m_withoutGraphs = why;
        m_recorder.event(trainer().stepsDone(), RunEventKind::Kernels, why);
        m_sink(Notice{m_id, why});
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
    // A checkpoint never holds a state whose losses were not looked at.
    RESIDUA_TRY(publish(m_loop.read()));
    const std::int64_t step = trainer().stepsDone();
    if (step == m_checkpointStep) {
        return Done{};
    }
    // First the rows, so that a run that is killed after the checkpoint goes on without a hole.
    RESIDUA_TRY(m_recorder.flush());
    tellNotes();
    RESIDUA_TRY(trainer().writeCheckpoint(m_recorder.directory()));
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
    const RunPaused paused{m_id, trainer().stepsDone(), {}};
    if (const Status written = m_recorder.add(paused); !written) {
        holdUp(written.error());
        return;
    }
    m_sink(paused);
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
    const RunPaused paused{m_id, trainer().stepsDone(), error};
    if (isFirst) {
        (void)m_recorder.add(paused); // what of the record can be written; else it waits in memory
    }
    m_sink(paused);
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
    const RunContinued continued{m_id};
    if (const Status written = m_recorder.add(continued); !written) {
        holdUp(written.error());
        return;
    }
    m_sink(continued);
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
        const Ranks* const ranks = Ranks::joinedOfProcess();
        if (const auto why = ranks != nullptr ? ranks->stopAsked() : std::nullopt; why && m_state != State::Ended) {
            m_sink(Notice{m_id, *why});
            guarded(
                [&] { m_unwritten ? fail(m_unwritten->error) : finish({.status = RunStatus::Stopped, .text = *why}); });
        }
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
    // Where the disk or the memory is what failed, this may not succeed either; the event below tells all the same.
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
