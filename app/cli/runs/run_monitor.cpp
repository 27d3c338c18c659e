// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/run_monitor.h"

#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/nodes/example_schema.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace residua::cli {
namespace {

/// Follows one run: sends it commands, and updates the outcome and the display for each of its events.
class Following {
public:
    Following(const Console& console, Show show, const Computing& computing)
        : m_console(console),
          m_show(show),
          m_computing(computing),
          m_limit(computing.timeLimit.get()),
          m_background(computing.place.kind == engine::EngineRemote::Kind::Background),
          m_detach(computing.detach),
          m_engine(computing.threads, computing.place)
    {
    }

    [[nodiscard]] RunOutcome outcomeOf(const engine::Command& command)
    {
        m_engine.post(command);
        while (!m_ended) {
            std::visit(*this, m_engine.next(m_limit != nullptr ? m_limit->next() : std::nullopt));
        }
        return std::move(m_outcome);
    }

    void operator()(const engine::Event& event)
    {
        if (engine::runIdOf(event).value_or(kRun) != kRun) {
            return; // of the run that the background engine had before
        }
        std::visit(
            [this]<class Told>(const Told& told) {
                if constexpr (requires { take(told); }) {
                    take(told);
                }
            },
            event);
        leaveIfWanted();
        if (m_limit != nullptr) {
            m_limit->heard(TimeLimit::Clock::now());
        }
    }
    void operator()(Signal signal)
    {
        if (signal == Signal::Checkpoint) {
            m_engine.post(engine::WriteCheckpoint{kRun});
        } else if (m_background && signal == Signal::Terminate) {
            m_detach = true; // also before the run has begun, which it then does without this process
            leaveIfWanted();
        } else if (m_outcome.stopCause == StopCause::None) {
            m_console.remark(
                m_outcome.began()   ? "stopping after this step, with a checkpoint (Ctrl-C: quit at once, without)"
                : m_outcome.trained ? "asking rank 0 to stop the run, with a checkpoint (Ctrl-C: quit at once)"
                                    : "stopping before the first step (Ctrl-C: quit at once)");
            stop(StopCause::Signal);
        } else if (signal == Signal::Interrupt) {
            quit();
        }
    }
    void operator()(TimeUp)
    {
        switch (m_limit->due(TimeLimit::Clock::now())) {
        case TimeLimit::Act::Nothing:
            break;
        case TimeLimit::Act::Checkpoint:
            m_engine.post(engine::WriteCheckpoint{kRun});
            break;
        case TimeLimit::Act::Stop:
            m_console.remark("the time limit is near: stopping after this step, with a checkpoint");
            stop(StopCause::TimeLimit);
            break;
        }
    }

private:
    void take(const engine::RunStarted& event)
    {
        m_outcome.started = event;
        m_outcome.trained = true;
        if (m_limit != nullptr) {
            m_limit->started(TimeLimit::Clock::now());
        }
        if (m_show == Show::Progress) {
            show(event);
        }
        keepPlace(m_computing, {}, m_console);
    }
    void show(const engine::RunStarted& event)
    {
        m_console.progress("training on " + event.device + ": " + groupedText(event.parameters) + " parameters, " +
                           groupedText(event.unitsPerStep) + " " + projects::unitWord(event.unit) + "s a step, steps " +
                           groupedText(event.firstStep) + " to " + groupedText(event.steps));
        m_console.line("run " + event.runDirectory.string());
        m_console.value({{"event", "started"},
                         {"run", event.runDirectory.string()},
                         {"device", event.device},
                         {"firstStep", event.firstStep},
                         {"steps", event.steps},
                         {"parameters", event.parameters},
                         {"unitsPerStep", event.unitsPerStep}});
        m_bar.emplace(m_console, event);
    }
    void take(const engine::Progress& event)
    {
        if (m_show == Show::NothingButKeepSteps) {
            m_outcome.steps.insert(m_outcome.steps.end(), event.steps.begin(), event.steps.end());
        }
        m_outcome.peakBytes = std::max(m_outcome.peakBytes, event.peakBytes);
        engine::setValues(m_outcome.last.values, event);
        if (!m_bar) {
            return;
        }
        m_bar->update(event);
        for (const engine::StepRecord& record : event.steps) {
            m_console.value({{"event", "step"},
                             {"step", record.step},
                             {"loss", record.loss},
                             {"rate", record.learningRate},
                             {"gradientNorm", record.gradientNorm},
                             {"units", record.tokens},
                             {"seconds", record.seconds}});
        }
        tellValidations(event);
    }
    void take(const engine::CheckpointWritten& event)
    {
        m_outcome.checkpointStep = event.step;
        if (m_limit != nullptr) {
            m_limit->checkpointed(TimeLimit::Clock::now());
        }
        if (m_show == Show::Progress) {
            m_console.value({{"event", "checkpoint"}, {"step", event.step}, {"path", event.path.string()}});
        }
    }
    void take(const engine::Notice& event)
    {
        m_console.remark("note: " + event.text);
        m_console.value({{"event", "notice"}, {"text", event.text}});
    }
    void take(const engine::RunEnded& event)
    {
        m_outcome.ended = event;
        m_ended = true;
        if (m_bar) {
            m_bar->finish();
            m_console.value({{"event", "ended"},
                             {"status", engine::textOf(event.status)},
                             {"reason", reasonOf(event)},
                             {"step", event.step}});
        }
    }

    /// Writes one value for each validation, with all its quantities.
    void tellValidations(const engine::Progress& event) const
    {
        constexpr std::string_view kSplit = "/validation";
        std::map<std::int64_t, nlohmann::json> values;
        for (const engine::MetricRow& row : event.rows) {
            if (row.name.ends_with(kSplit)) {
                values[row.step][row.name.substr(0, row.name.size() - kSplit.size())] = row.value;
            }
        }
        for (auto& [step, value] : values) {
            value.update({{"event", "validation"}, {"step", step}});
            m_console.value(value);
        }
    }

    [[nodiscard]] std::string reasonOf(const engine::RunEnded& event) const
    {
        if (event.status != engine::RunStatus::Stopped) {
            return event.error.text();
        }
        switch (m_outcome.stopCause) {
        case StopCause::None:
            return "another process";
        case StopCause::Signal:
            return "signal";
        case StopCause::TimeLimit:
            return "time limit";
        }
        return {};
    }

    /// Ends the display of a run that continues without this process.
    void leaveIfWanted()
    {
        if (m_detach && m_outcome.began() && !m_ended) {
            m_outcome.left = true;
            m_ended = true;
            if (m_bar) {
                m_bar->finish();
            }
        }
    }

    void stop(StopCause cause)
    {
        m_outcome.stopCause = cause;
        m_engine.post(engine::Stop{kRun});
    }

    /// Ends the process at once, even during a step, because the user does not want to wait.
    [[noreturn]] void quit()
    {
        const std::string last = m_outcome.checkpointStep >= 0
                                     ? "the last checkpoint is that of step " + groupedText(m_outcome.checkpointStep)
                                     : "this process has written none";
        m_console.fail(Exit::Quit, {"", "interrupted again: quit at once, without waiting for a checkpoint; " + last});
        _exit(static_cast<int>(Exit::Quit));
    }

    const Console& m_console;
    Show m_show;
    const Computing& m_computing;
    TimeLimit* m_limit;
    bool m_background;
    bool m_detach; ///< the run is left training once it has begun
    std::optional<ProgressBar> m_bar;
    RunOutcome m_outcome;
    bool m_ended = false;
    EngineClient m_engine;
};

constexpr std::chrono::milliseconds kBetweenUpdates{100};
constexpr std::size_t kWidestBar = 20;
constexpr std::size_t kNarrowestBar = 8;
constexpr std::size_t kBarFrame = 3;     ///< "[", "]" and a space
constexpr std::size_t kSpareColumns = 3; ///< columns for the "^C" that the terminal adds, and for its last column

} // namespace

RunOutcome follow(const engine::Command& command, const Console& console, Show show, const Computing& computing)
{
    return Following(console, show, computing).outcomeOf(command);
}

std::string resultText(const engine::RunInfo& run, const projects::Project* project)
{
    std::string text = "loss " + lossText(run.loss());
    if (std::isfinite(run.validationLoss())) {
        text += ", validation " + lossText(run.validationLoss());
    }
    for (const engine::MetricTraits& column : engine::ratingColumns(std::span(&run, 1))) {
        text += ", " + column.title + " " + lossText(run.last(column.name));
    }
    const std::string measures =
        project != nullptr ? engine::measuresText(*project, run.rating("loss")) : std::string();
    return text + (measures.empty() ? "" : ", " + measures);
}

Exit concludeStopped(const RunOutcome& outcome, const std::string& howToGoOn, const Console& console)
{
    const bool byTime = outcome.stopCause == StopCause::TimeLimit;
    if (!outcome.began()) {
        return byTime ? console.fail(Exit::RunFailed, {"--time-limit", "the time was over before the training began; "
                                                                       "expected more than its preparation takes"})
                      : console.fail(Exit::Quit, {"", "interrupted before the training began: nothing was written"});
    }
    console.line("stopped at step " + groupedText(outcome.ended.step) + (byTime ? " by the time limit" : "") +
                 ", checkpoint written; " + howToGoOn);
    return byTime ? Exit::TimeLimit : Exit::Interrupted;
}

ProgressBar::ProgressBar(const Console& console, const engine::RunStarted& started)
    : m_console(console), m_shown(Clock::now())
{
    m_progress.add(started);
}

void ProgressBar::update(const engine::Progress& progress)
{
    m_progress.add(progress);
    const auto now = Clock::now();
    if (now - m_shown < kBetweenUpdates) {
        return;
    }
    m_shown = now;
    const std::size_t columns = m_console.width();
    m_console.status(!m_console.rewritesProgress() ? progressText(m_progress)
                     : columns > kSpareColumns     ? line(columns - kSpareColumns)
                                                   : line(0));
}

void ProgressBar::finish()
{
    m_console.progress(m_console.rewritesProgress() ? fitting(m_console.width()) : progressText(m_progress));
}

std::string ProgressBar::fitting(std::size_t columns) const
{
    int rank = kProgressRanks;
    while (rank > 1 && columnsOf(progressText(m_progress, rank)) > columns) {
        --rank;
    }
    return progressText(m_progress, rank);
}

std::string ProgressBar::line(std::size_t columns) const
{
    const std::string text = fitting(columns);
    const std::size_t filled = columnsOf(text) + kBarFrame;
    const std::size_t room = columns > filled ? std::min(columns - filled, kWidestBar) : 0;
    return room >= kNarrowestBar ? bar(room) + " " + text : clipped(text, columns);
}

std::string progressText(const engine::RunProgress& progress, int rank)
{
    std::string text = "step " + groupedText(progress.step) + "/" + groupedText(progress.steps);
    text += rank >= 2 ? "  loss " + lossText(progress.loss) : "";
    if (rank >= 4 && std::isfinite(progress.validationLoss)) {
        text += "  validation " + lossText(progress.validationLoss);
    }
    if (progress.unitsPerSecond > 0) {
        const std::string unit = projects::unitWord(progress.unit) + std::string("s/s");
        text += rank >= 5 ? "  " + groupedText(std::llround(progress.unitsPerSecond)) + " " + unit : "";
        const bool isLeft = rank >= 3 && progress.step < progress.steps && progress.unitsPerStep > 0;
        text += isLeft ? "  " + durationText(progress.secondsLeft()) + " left" : "";
    }
    return text;
}

std::string ProgressBar::bar(std::size_t width) const
{
    const double share =
        m_progress.steps > 0 ? static_cast<double>(m_progress.step) / static_cast<double>(m_progress.steps) : 0;
    const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
    return "[" + std::string(full, '=') + std::string(width - full, ' ') + "]";
}

} // namespace residua::cli
