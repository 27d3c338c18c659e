// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"
#include "engine/api/session.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace residua::cli {

/// Shows the progress of a run as the console's status, at most ten times a second, within the columns of a terminal.
class ProgressBar {
public:
    ProgressBar(const Console& console, const engine::RunStarted& started);

    void update(const engine::Progress& progress);
    /// Leaves the last state as a line.
    void finish();
    /// Returns the current line in at most `columns` columns. Less important figures are omitted if there is no room.
    [[nodiscard]] std::string line(std::size_t columns) const;

private:
    /// Returns as many figures as fit into the columns, at least the first.
    [[nodiscard]] std::string fitting(std::size_t columns) const;
    /// Returns the figures of at most this rank; 1 is the most important.
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
