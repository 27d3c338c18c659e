// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the parts of validate() share. Private to this folder.
namespace residua::projects {

/// Gathers problems in document order, the first thousand errors and the first thousand warnings: a hostile file has
/// millions, and nobody reads on. How many more there are is then the last of them.
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

    /// The first of them, as an error of its own.
    [[nodiscard]] std::optional<Error> firstError() const;
    /// Errors first, else in the order found.
    [[nodiscard]] std::vector<Problem> take();

private:
    struct Kept {
        std::vector<Problem> listed;
        std::size_t characters = 0;
        std::size_t unlisted = 0;
    };
    static void add(Kept& kept, Problem problem);

    Kept m_errors;
    Kept m_warnings;
};

void validateData(const Project& project, Problems& problems);
void validateNetwork(const Project& project, Problems& problems);
void validateTopology(const Project& project, Problems& problems);
void validateTraining(const Project& project, Problems& problems);
/// Of the training plan, what says how large a step is.
void validateStepSizes(const TrainingPlan& plan, Problems& problems);

/// The blocks that layers are made of, each once, in document order.
[[nodiscard]] std::vector<const Block*> usedBlocks(const Network& network);

} // namespace residua::projects
