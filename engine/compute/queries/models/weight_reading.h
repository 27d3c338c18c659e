// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/transfer_plan.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// Limits progress reports to about thirty a second.
class ShareNews {
public:
    /// Returns done / all; nullopt if the last report was a moment ago, or if `all` is 0.
    [[nodiscard]] std::optional<double> take(std::uint64_t done, std::uint64_t all);

private:
    std::chrono::steady_clock::time_point m_next;
};

/// Executes a transfer plan one tensor at a time and reports its progress. Engine thread.
class WeightReading {
public:
    /// `files` must outlive this.
    WeightReading(const TensorFiles& files, std::vector<TransferStep> steps);

    [[nodiscard]] bool atEnd() const { return m_next == m_steps.size(); }
    /// Reads one tensor; does nothing at the end.
    [[nodiscard]] Status readNext();
    /// Returns the fraction of the bytes that is read; nullopt between updates.
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
