// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_bar.h"

#include <algorithm>
#include <cmath>

namespace residua::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalPause{100};
constexpr std::chrono::seconds kPlainPause{5};
constexpr std::size_t kWidestBar = 20;

} // namespace

ProgressBar::ProgressBar(const Console& console, const engine::RunStarted& started, bool language)
    : m_console(console),
      m_unit(language ? "tokens/s" : "samples/s"),
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
    if (!progress.validations.empty()) {
        m_validationLoss = progress.validations.back().loss;
    }
    m_unitsPerSecond = progress.unitsPerSecond;
    const auto now = Clock::now();
    if (m_console.onTerminal() && now - m_shown >= kTerminalPause) {
        m_shown = now;
        const std::string text = figures();
        const std::size_t columns = m_console.width();
        // An en dash stands for an unknown loss; its extra bytes only shorten the bar.
        const std::size_t room = columns > text.size() + 4 ? std::min(columns - text.size() - 4, kWidestBar) : 0;
        m_console.status(room >= 8 ? bar(room) + " " + text : text.substr(0, columns - 1));
    } else if (!m_console.onTerminal() && now - m_shown >= kPlainPause) {
        m_shown = now;
        m_console.line(figures());
    }
}

void ProgressBar::finish()
{
    m_console.line(figures());
}

std::string ProgressBar::figures() const
{
    std::string text = "step " + grouped(m_step) + "/" + grouped(m_steps) + "  loss " + lossText(m_loss);
    if (std::isfinite(m_validationLoss)) {
        text += "  validation " + lossText(m_validationLoss);
    }
    if (m_unitsPerSecond > 0) {
        const auto left = static_cast<double>((m_steps - m_step) * m_unitsPerStep) / m_unitsPerSecond;
        text += "  " + grouped(std::llround(m_unitsPerSecond)) + " " + m_unit;
        text += m_step < m_steps ? "  " + durationText(left) + " left" : "";
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
