// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/console.h"
#include "engine/api/session.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace residua::cli {

/// Shows how far a run is: one line that is rewritten at most ten times a second on a terminal, a line now and then
/// elsewhere.
class ProgressBar {
public:
    ProgressBar(const Console& console, const engine::RunStarted& started, bool language);

    void update(const engine::Progress& progress);
    /// Leaves the last state as a line.
    void finish();
    [[nodiscard]] double lastLoss() const { return m_loss; }

private:
    [[nodiscard]] std::string figures() const;
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
