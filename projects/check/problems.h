// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Private to projects: what the parts of validate() share; cost and transfer ask for the used blocks.
namespace residua::projects {

/// Gathers problems in document order, the first thousand errors and the first thousand warnings: a hostile file has
/// millions, and nobody reads on. How many more there are is then the last of them.
class Problems {
public:
    explicit Problems(const Project& project) : m_project(project) {}

    void error(const std::string& path, const std::string& place, const std::string& message);
    void warning(const std::string& path, const std::string& place, const std::string& message);
    /// The same for a field, whose place is then in the words of the schema.
    void error(const std::string& path, const std::string& message);
    void warning(const std::string& path, const std::string& message);

    /// An error for each field at or below the pointer that holds a number outside its range in the schema.
    void checkRanges(std::string_view pointer);
    /// minimum ≤ value ≤ maximum, ends that depend on other fields. Says nothing where the range was refused already.
    void within(const std::string& path, double value, double minimum, double maximum);
    /// value ≤ maximum, an end that depends on other fields; the lower end is the one in the schema. Says nothing where
    /// the range was refused already.
    void atMost(const std::string& path, std::int64_t value, std::int64_t maximum);

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

    const Project& m_project;
    std::set<std::string> m_outOfRange; ///< pointers
    Kept m_errors;
    Kept m_warnings;
};

void validateData(const Project& project, Problems& problems);
void validateNetwork(const Project& project, Problems& problems);
void validateTopology(const Project& project, Problems& problems);
void validateTraining(const Project& project, Problems& problems);
void validateSchedule(const Project& project, Problems& problems);
/// Checks the fields of the training plan that say how large a step is.
void validateStepSizes(Problems& problems);

/// The blocks that layers are made of, each once, in document order.
[[nodiscard]] std::vector<const Block*> usedBlocks(const Network& network);

} // namespace residua::projects
