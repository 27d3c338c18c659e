// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/progress_bar.h"

#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <cmath>

namespace residua::cli {
namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr std::size_t kWidestBar = 20;
constexpr std::size_t kNarrowestBar = 8;
constexpr std::size_t kBarFrame = 3;     ///< "[", "]" and a space
constexpr std::size_t kSpareColumns = 3; ///< columns for the "^C" that the terminal adds, and for its last column
constexpr int kRanks = 5;                ///< ranks of the figures

} // namespace

ProgressBar::ProgressBar(const Console& console, const engine::RunStarted& started)
    : m_console(console),
      m_unit(projects::unitWord(started.unit) + std::string("s/s")),
      m_steps(started.steps),
      m_unitsPerStep(std::max<std::int64_t>(started.unitsPerStep, 1)),
      m_step(started.firstStep),
      m_loss(std::nan("")),
      m_validationLoss(std::nan("")),
      m_shown(Clock::now())
{
}

void ProgressBar::update(const engine::Progress& progress)
{
    if (!progress.steps.empty()) {
        m_step = progress.steps.back().step;
        m_loss = progress.steps.back().loss;
    }
    m_validationLoss = progress.last(engine::metric::kValidationLoss).value_or(m_validationLoss);
    m_unitsPerSecond = progress.unitsPerSecond;
    const auto now = Clock::now();
    if (now - m_shown < kPause) {
        return;
    }
    m_shown = now;
    const std::size_t columns = m_console.width();
    m_console.status(!m_console.rewritesProgress() ? figures(kRanks)
                     : columns > kSpareColumns     ? line(columns - kSpareColumns)
                                                   : line(0));
}

void ProgressBar::finish()
{
    m_console.progress(m_console.rewritesProgress() ? fitting(m_console.width()) : figures(kRanks));
}

std::string ProgressBar::fitting(std::size_t columns) const
{
    int rank = kRanks;
    while (rank > 1 && columnsOf(figures(rank)) > columns) {
        --rank;
    }
    return figures(rank);
}

std::string ProgressBar::line(std::size_t columns) const
{
    const std::string text = fitting(columns);
    const std::size_t filled = columnsOf(text) + kBarFrame;
    const std::size_t room = columns > filled ? std::min(columns - filled, kWidestBar) : 0;
    return room >= kNarrowestBar ? bar(room) + " " + text : clipped(text, columns);
}

std::string ProgressBar::figures(int rank) const
{
    std::string text = "step " + groupedText(m_step) + "/" + groupedText(m_steps);
    text += rank >= 2 ? "  loss " + lossText(m_loss) : "";
    if (rank >= 4 && std::isfinite(m_validationLoss)) {
        text += "  validation " + lossText(m_validationLoss);
    }
    if (m_unitsPerSecond > 0) {
        const double left = static_cast<double>(m_steps - m_step) * static_cast<double>(m_unitsPerStep);
        text += rank >= 5 ? "  " + groupedText(std::llround(m_unitsPerSecond)) + " " + m_unit : "";
        text += rank >= 3 && m_step < m_steps ? "  " + durationText(left / m_unitsPerSecond) + " left" : "";
    }
    return text;
}

std::string ProgressBar::bar(std::size_t width) const
{
    const double share = m_steps > 0 ? static_cast<double>(m_step) / static_cast<double>(m_steps) : 0;
    const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
    return "[" + std::string(full, '=') + std::string(width - full, ' ') + "]";
}

} // namespace residua::cli
