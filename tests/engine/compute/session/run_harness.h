// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "projects/model/project.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace residua::tests {

inline constexpr engine::RunId kRun{1};

/// A language model that takes milliseconds a step: 2 layers of width 16 with dropout, ANCRe, a synthetic language.
[[nodiscard]] projects::Project quickLanguage(std::int64_t steps);
/// Full-batch gradient descent on a linear network.
[[nodiscard]] projects::Project quickVectors(std::int64_t steps);

/// A session that keeps every event and can wait for one.
class SessionProbe {
public:
    explicit SessionProbe(const engine::EngineRemote& place = {});

    void post(engine::Command command) { m_session->post(std::move(command)); }
    /// Ends the session as its owner would.
    void close() { m_session.reset(); }

    /// Waits until `accepts` holds for some event, old or new; false after a minute without.
    bool waitUntil(const std::function<bool(const engine::Event&)>& accepts);
    template <class Kind>
    bool waitFor()
    {
        return waitUntil([](const engine::Event& event) { return std::holds_alternative<Kind>(event); });
    }
    /// All events of a kind so far.
    template <class Kind>
    [[nodiscard]] std::vector<Kind> all()
    {
        const std::scoped_lock lock(m_mutex);
        std::vector<Kind> found;
        for (const engine::Event& event : m_events) {
            if (const auto* kind = std::get_if<Kind>(&event)) {
                found.push_back(*kind);
            }
        }
        return found;
    }
    /// Losses by step, from the progress events of a run.
    [[nodiscard]] std::map<std::int64_t, double> losses(engine::RunId run);

private:
    std::mutex m_mutex; ///< guards m_events
    std::condition_variable m_came;
    std::vector<engine::Event> m_events;
    std::unique_ptr<engine::Session> m_session; ///< last: its thread uses the others
};

/// Starts `run` in the folder that is named after it below `folder`, where the paths of its data begin too.
[[nodiscard]] engine::StartRun startIn(const std::filesystem::path& folder, engine::RunId run,
                                       const projects::Project& project);
/// Trains kRun to `step` in a session of its own, which then stops it; false where it did not come so far.
[[nodiscard]] bool trainTo(const projects::Project& project, const std::filesystem::path& runDirectory,
                           std::int64_t step, const std::string& device = "cpu");
/// Resumes kRun in a session of its own and trains to the end; returns why that failed, else nothing.
[[nodiscard]] std::string resumeToEnd(const std::filesystem::path& runDirectory, const std::string& device = "cpu");
/// Trains to the end in a session of its own; returns the losses by step.
[[nodiscard]] std::map<std::int64_t, double> lossesOf(const projects::Project& project,
                                                      const std::filesystem::path& runDirectory,
                                                      const std::string& device = "cpu");
/// The losses that a run directory has recorded.
[[nodiscard]] std::map<std::int64_t, double> recordedLosses(const std::filesystem::path& runDirectory);

} // namespace residua::tests
