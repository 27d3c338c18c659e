// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

// Functions for all readers of a run's events: window, terminal, recorder and the connections to an engine.
namespace residua::engine {

/// Returns the run that a command or an event is about; nullopt for the others.
template <class Message>
[[nodiscard]] std::optional<RunId> runIdOf(const Message& message)
{
    return std::visit(
        []<class Part>(const Part& part) -> std::optional<RunId> {
            if constexpr (requires { part.run; }) {
                return part.run;
            } else {
                return std::nullopt;
            }
        },
        message);
}
/// Returns the query that an event answers; nullopt for events of runs and for the progress of a query.
[[nodiscard]] std::optional<QueryTag> answeredBy(const Event& event);

/// Joins `next` to `progress` as if the engine had sent them as one.
void merge(Progress& progress, Progress next);
/// Removes the records for which `isErased(record)` is true.
template <class Predicate>
void eraseRecords(Progress& progress, Predicate isErased)
{
    std::erase_if(progress.steps, isErased);
    std::erase_if(progress.rows, isErased);
    std::erase_if(progress.matrices, isErased);
    std::erase_if(progress.stages, isErased);
}
/// Sets the last value of each metric that rates a run (RunInfo::values).
void setValues(std::map<std::string, double>& values, const Progress& progress);

/// The state of a run according to its events.
struct RunProgress {
    std::int64_t step = 0;
    std::int64_t steps = 0;
    std::int64_t unitsPerStep = 0;
    projects::Unit unit = projects::Unit::Token;
    double loss = kNoLoss;           ///< the last one; NaN before the first
    double validationLoss = kNoLoss; ///< the last one; NaN before the first
    double seconds = 0;              ///< of training, including earlier parts of a resumed run
    double unitsPerSecond = 0;

    void add(const RunStarted& started);
    void add(const Progress& progress);
    /// Returns the seconds left at the current speed; negative if unknown.
    [[nodiscard]] double secondsLeft() const;
};

} // namespace residua::engine
