// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/recorder.h"

#include "engine/base/api/run_progress.h"

#include <algorithm>
#include <chrono>

namespace residua::engine {
namespace {

constexpr double kShortestPause = 1;                          ///< seconds between flushes
constexpr double kLongestPause = 30;                          ///< the most of its curves that a killed run may lose
constexpr double kLongestWait = 60;                           ///< at the end, for another process that holds the store
constexpr std::size_t kMostClassBytes = std::size_t{1} << 19; ///< escaped six times as many; run.json may have 4 MiB
constexpr std::size_t kBytesAround = 8;                       ///< of each name in run.json
constexpr double kShareOfTime = 0.01;                         ///< the fraction of the time that writing may take

double secondsNow()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

void FlushPace::flushed(double begin, double end)
{
    m_next = end + std::clamp((end - begin) / kShareOfTime, kShortestPause, kLongestPause);
}

Recorder::Recorder(RunWriter writer, const std::string& device, std::int64_t threads, std::int64_t steps)
    : m_writer(std::move(writer)), m_info(m_writer.info())
{
    m_info.device = device;
    m_info.threads = threads;
    m_info.steps = steps;
}

void Recorder::setClasses(std::vector<std::string> classes)
{
    std::size_t bytes = 0;
    for (const std::string& name : classes) {
        bytes += name.size() + kBytesAround;
    }
    if (bytes <= kMostClassBytes) {
        m_info.classes = std::move(classes);
    }
}

void Recorder::goOnFrom(std::int64_t step, const std::map<std::string, double>& values)
{
    if (m_info.step != step) {
        m_info.values.clear(); // those of the same step are valid if the store is lost
    }
    for (const auto& [name, value] : values) {
        m_info.values[name] = value;
    }
    m_info.step = step;
}

void Recorder::add(const Progress& progress)
{
    for (const StepRecord& record : progress.steps) {
        m_writer.step(record);
        m_info.step = record.step;
    }
    for (const MetricRow& row : progress.rows) {
        m_writer.metric(row.name, row.step, row.value);
    }
    setValues(m_info.values, progress);
    for (const Matrix& matrix : progress.matrices) {
        m_writer.matrix(matrix);
    }
    for (const StageRecord& stage : progress.stages) {
        add(stage);
    }
    m_unitsPerSecond = progress.unitsPerSecond;
    m_peakBytes = progress.peakBytes;
}

Status Recorder::add(const RunPaused& paused)
{
    event(paused.step, RunEventKind::Paused, paused.error.message.empty() ? "" : paused.error.text());
    return flush(RunStatus::Paused);
}

Status Recorder::add(const RunContinued& /*continued*/)
{
    event(m_info.step, RunEventKind::Continued, "");
    return flush(RunStatus::Running);
}

void Recorder::event(std::int64_t step, RunEventKind kind, const std::string& text)
{
    m_writer.event({step, kind, text});
}

void Recorder::add(const StageRecord& stage)
{
    event(stage.step, RunEventKind::Stage, stageText(stage));
    if (stage.step > 0) {
        for (const auto& [name, loss] : kStageMetrics) {
            m_writer.metric(name, stage.step, stage.*loss);
        }
        m_writer.metric(metric::kStageJump, stage.step, stage.trainAfter - stage.trainBefore);
    }
}

Status Recorder::flushIfDue()
{
    return m_pace.due(secondsNow()) ? flush() : Done{};
}

Status Recorder::flush(RunStatus status, const std::string& message)
{
    m_info.status = status;
    m_info.message = message;
    Status flushed = flush();
    const bool ends = status != RunStatus::Running && status != RunStatus::Paused;
    for (const double begin = secondsNow(); ends && flushed && m_writer.isBuffered();) {
        if (secondsNow() - begin > kLongestWait) {
            m_notes.emplace_back("the last records of the run are lost: another process held its store to the end");
            break;
        }
        flushed = m_writer.flush(); // each waits for the store a while
    }
    return flushed;
}

std::vector<std::string> Recorder::takeNotes()
{
    std::vector<std::string> notes = m_writer.takeNotes();
    notes.insert(notes.end(), m_notes.begin(), m_notes.end());
    m_notes.clear();
    return notes;
}

Status Recorder::flush()
{
    const double begin = secondsNow();
    if (m_unitsPerSecond > 0 && m_info.step > m_figuresStep) {
        m_figuresStep = m_info.step;
        m_writer.metric(metric::kThroughput, m_info.step, m_unitsPerSecond);
        m_writer.metric(metric::kPeakBytes, m_info.step, static_cast<double>(m_peakBytes));
    }
    Status flushed = m_writer.flush();
    if (flushed) {
        flushed = m_writer.update(m_info);
    }
    m_pace.flushed(begin, secondsNow());
    return flushed;
}

} // namespace residua::engine
