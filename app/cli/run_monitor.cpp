// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_monitor.h"

#include "app/cli/engine_link.h"
#include "app/cli/progress_bar.h"
#include "engine/api/run_reader.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cmath>
#include <optional>

namespace residua::cli {
namespace {

/// What each event changes and shows.
class Monitor {
public:
    Monitor(bool language, const Console& console, Show show) : m_language(language), m_console(console), m_show(show)
    {
        m_outcome.validationLoss = std::nan("");
    }

    void operator()(const engine::RunStarted& event)
    {
        m_outcome.started = event;
        if (m_show == Show::Nothing) {
            return;
        }
        m_console.line("training on " + event.device + ": " + grouped(event.parameters) + " parameters, " +
                       grouped(event.unitsPerStep) + (m_language ? " tokens" : " samples") + " a step, steps " +
                       grouped(event.firstStep) + " to " + grouped(event.steps));
        m_console.line("run " + event.runDirectory.string());
        m_console.value({{"event", "started"},
                         {"run", event.runDirectory.string()},
                         {"device", event.device},
                         {"firstStep", event.firstStep},
                         {"steps", event.steps},
                         {"parameters", event.parameters},
                         {"unitsPerStep", event.unitsPerStep}});
        m_bar.emplace(m_console, event, m_language);
    }
    void operator()(const engine::Progress& event)
    {
        m_outcome.steps.insert(m_outcome.steps.end(), event.steps.begin(), event.steps.end());
        m_outcome.peakBytes = std::max(m_outcome.peakBytes, event.peakBytes);
        for (const engine::ValidationRecord& record : event.validations) {
            m_outcome.validationLoss = record.loss;
        }
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
        for (const engine::ValidationRecord& record : event.validations) {
            m_console.value({{"event", "validation"}, {"step", record.step}, {"loss", record.loss}});
        }
    }
    void operator()(const engine::CheckpointWritten& event)
    {
        m_outcome.checkpointStep = event.step;
        if (m_show == Show::Progress) {
            m_console.value({{"event", "checkpoint"}, {"step", event.step}, {"path", event.path.string()}});
        }
    }
    void operator()(const engine::Notice& event)
    {
        m_console.remark("note: " + event.text);
        m_console.value({{"event", "notice"}, {"text", event.text}});
    }
    void operator()(const engine::RunEnded& event)
    {
        m_outcome.ended = event;
        m_ended = true;
        if (m_bar) {
            m_bar->finish();
            m_console.value({{"event", "ended"}, {"status", engine::toString(event.status)}, {"step", event.step}});
        }
    }
    template <class Other>
    void operator()(const Other&)
    {
    }

    void interrupt() { m_outcome.interrupted = true; }
    [[nodiscard]] bool interrupted() const { return m_outcome.interrupted; }
    [[nodiscard]] bool started() const { return !m_outcome.started.runDirectory.empty(); }
    [[nodiscard]] bool ended() const { return m_ended; }
    [[nodiscard]] RunOutcome outcome() { return std::move(m_outcome); }

private:
    bool m_language;
    const Console& m_console;
    Show m_show;
    std::optional<ProgressBar> m_bar;
    RunOutcome m_outcome;
    bool m_ended = false;
};

} // namespace

RunOutcome follow(const engine::Command& command, engine::RunId run, bool language, const Console& console, Show show)
{
    Monitor monitor(language, console, show);
    EngineLink link;
    link.post(command);
    while (!monitor.ended()) {
        if (const std::optional<engine::Event> event = link.next()) {
            std::visit(monitor, *event);
        } else if (monitor.interrupted()) {
            _exit(static_cast<int>(Exit::Interrupted)); // the user will not wait: not even for the step under way
        } else {
            monitor.interrupt();
            console.remark(monitor.started()
                               ? "stopping after this step, with a checkpoint (again: quit at once, without)"
                               : "stopping before the first step (again: quit at once)");
            link.post(engine::Stop{run});
        }
    }
    return monitor.outcome();
}

} // namespace residua::cli
