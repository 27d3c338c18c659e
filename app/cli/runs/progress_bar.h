// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"
#include "engine/api/session.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace residua::cli {

/// Shows how far a run is as the console's status, at most ten times a second; on a terminal it fits into its columns.
class ProgressBar {
public:
    ProgressBar(const Console& console, const engine::RunStarted& started);

    void update(const engine::Progress& progress);
    /// Leaves the last state as a line.
    void finish();
    /// What is shown now, in at most so many columns: where they are few, the less important is left out.
    [[nodiscard]] std::string line(std::size_t columns) const;

private:
    /// As many of the figures as fit into the columns; the first in any case.
    [[nodiscard]] std::string fitting(std::size_t columns) const;
    /// The figures of at most this rank, 1 being the most important.
    [[nodiscard]] std::string figures(int rank) const;
    [[nodiscard]] std::string bar(std::size_t width) const;

    using Clock = std::chrono::steady_clock;
    const Console& m_console;
    std::string m_unit; ///< "tokens/s"
    std::int64_t m_steps = 0;
    std::int64_t m_unitsPerStep = 1;
    std::int64_t m_step = 0;
    double m_loss = 0;
    double m_validationLoss = 0;
    double m_unitsPerSecond = 0;
    Clock::time_point m_shown{};
};

} // namespace residua::cli
