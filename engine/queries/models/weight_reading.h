// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/train/transfer_plan.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// Says how much of the work is done, at most some thirty times a second.
class ShareNews {
public:
    /// Nothing where it was told a moment ago, or where `all` is 0.
    [[nodiscard]] std::optional<double> take(std::uint64_t done, std::uint64_t all);

private:
    std::chrono::steady_clock::time_point m_next;
};

/// Carries out a plan one tensor after another, and tells how far it is. Engine thread.
class WeightReading {
public:
    /// `files` outlives it.
    WeightReading(const TensorFiles& files, std::vector<TransferStep> steps);

    [[nodiscard]] bool atEnd() const { return m_next == m_steps.size(); }
    /// One tensor; none at the end.
    [[nodiscard]] Status readNext();
    /// The share of the bytes that is read, now and then.
    [[nodiscard]] std::optional<double> takeShare() { return m_news.take(m_read, m_bytes); }

private:
    const TensorFiles& m_files;
    std::vector<TransferStep> m_steps;
    std::size_t m_next = 0;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_read = 0;
    ShareNews m_news;
};

} // namespace residua::engine
