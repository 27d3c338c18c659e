// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/run_mirror.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_directory.h"

#include <optional>
#include <utility>
#include <variant>

namespace residua::engine {

namespace fs = std::filesystem;

Result<RunMirror> RunMirror::begin(const StartRun& command, const RunStarted& started, const RunFile& there,
                                   RemoteRun remote)
{
    RunInfo info;
    info.name = nameForRun(command);
    info.membership = command.membership;
    info.device = started.device;
    info.steps = started.steps;
    info.reading = there.info.reading;
    RunWriter writer = RESIDUA_TRY(
        command.runDirectory.empty()
            ? RunWriter::createIn(command.runFolder, info, command.project, command.projectDirectory, there.data)
            : RunWriter::create(command.runDirectory, info, command.project, command.projectDirectory, there.data));
    writer.setRemote(std::move(remote), there.identity);
    Recorder recorder(std::move(writer), started.device, there.info.threads, started.steps);
    recorder.setClasses(there.info.classes);
    const Status written = recorder.flush(RunStatus::Running);
    return written ? Result<RunMirror>(RunMirror(std::move(recorder))) : written.error();
}

Result<RunMirror> RunMirror::resume(const fs::path& directory, FileDescriptor held, const RunStarted& started,
                                    const RunFile& there, RemoteRun remote)
{
    RunWriter writer = RESIDUA_TRY(RunWriter::reopen(directory, started.firstStep, std::move(held)));
    writer.setRemote(std::move(remote), there.identity);
    Recorder recorder(std::move(writer), started.device, there.info.threads, started.steps);
    recorder.setClasses(there.info.classes);
    recorder.goOnFrom(started.firstStep, valuesUpTo(directory, started.firstStep));
    recorder.event(started.firstStep, RunEventKind::Resumed, "on " + started.device);
    const Status written = recorder.flush(RunStatus::Running);
    return written ? Result<RunMirror>(RunMirror(std::move(recorder))) : written.error();
}

Status RunMirror::conclude(const fs::path& directory, FileDescriptor held, const RunFile& there)
{
    RunWriter writer = RESIDUA_TRY(RunWriter::reopen(directory, there.info.step, std::move(held)));
    Recorder recorder(std::move(writer), there.info.device, there.info.threads, there.info.steps);
    recorder.setClasses(there.info.classes);
    recorder.goOnFrom(there.info.step, valuesUpTo(directory, there.info.step));
    return recorder.flush(RunStatus::Finished);
}

Status RunMirror::add(const Event& event)
{
    return std::visit(
        [this]<class Told>(const Told& told) -> Status {
            if constexpr (requires { record(told); }) {
                return record(told);
            } else {
                return Done{};
            }
        },
        event);
}

Status RunMirror::record(const Progress& progress)
{
    m_recorder.add(progress);
    return m_recorder.flushIfDue();
}

Status RunMirror::record(const CheckpointWritten& written)
{
    m_recorder.event(written.step, RunEventKind::Checkpoint, "");
    return m_recorder.flush();
}

Status RunMirror::record(const RunEnded& ended)
{
    clearStopRequest(directory());
    if (ended.status == RunStatus::Finished || ended.status == RunStatus::Stopped) {
        const bool finished = ended.status == RunStatus::Finished;
        m_recorder.event(ended.step, finished ? RunEventKind::Finished : RunEventKind::Stopped, "");
    } else if (ended.status == RunStatus::Failed) {
        m_recorder.event(ended.step, RunEventKind::Failed, ended.error.text());
    }
    return m_recorder.flush(ended.status, ended.hasFailed() ? ended.error.text() : "");
}

bool RunMirror::isToStop() const
{
    const std::optional<std::int64_t> step = readStopRequest(directory());
    return step && m_recorder.lastStep() >= *step;
}

} // namespace residua::engine
