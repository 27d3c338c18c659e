// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/project.h"
#include "projects/validate.h"

#include <cstdint>
#include <string>
#include <vector>

/// What the parts of validate() share. Private to this folder.
namespace residua::projects {

/// Gathers problems in document order.
class Problems {
public:
    void error(const std::string& path, const std::string& place, const std::string& message);
    void warning(const std::string& path, const std::string& place, const std::string& message);

    /// "got 0, expected at least 1"; not a number fails too.
    void atLeast(const std::string& path, const std::string& place, double value, double minimum);
    void atLeast(const std::string& path, const std::string& place, std::int64_t value, std::int64_t minimum);
    /// minimum ≤ value ≤ maximum.
    void within(const std::string& path, const std::string& place, double value, double minimum, double maximum);
    void within(const std::string& path, const std::string& place, std::int64_t value, std::int64_t minimum,
                std::int64_t maximum);
    /// 0 ≤ value < 1.
    void belowOne(const std::string& path, const std::string& place, double value);
    /// value > 0 and finite.
    void positive(const std::string& path, const std::string& place, double value);

    [[nodiscard]] bool clean() const { return m_found.empty(); }
    /// Errors first, else in the order found.
    [[nodiscard]] std::vector<Problem> take();

private:
    std::vector<Problem> m_found;
};

void validateData(const Project& project, Problems& problems);
void validateNetwork(const Project& project, Problems& problems);
void validateTopology(const Project& project, Problems& problems);
void validateTraining(const Project& project, Problems& problems);

/// The blocks that layers are made of, each once, in document order.
[[nodiscard]] std::vector<const Block*> usedBlocks(const Network& network);

} // namespace residua::projects
