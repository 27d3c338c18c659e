// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Private to projects: shared by the parts of validate(). cost and transfer use usedBlocks().
namespace residua::projects {

/// Collects problems in document order: the first thousand errors and the first thousand warnings, because a hostile
/// file can have millions. The last problem then gives the number of the others.
class Problems {
public:
    explicit Problems(const Project& project) : m_project(project) {}

    void error(const std::string& path, const std::string& place, const std::string& message);
    void warning(const std::string& path, const std::string& place, const std::string& message);
    /// Report a problem of a field, with its place in the words of the schema.
    void error(const std::string& path, const std::string& message);
    void warning(const std::string& path, const std::string& message);

    /// Reports each field at or below the pointer with a number outside its range in the schema.
    void checkRanges(std::string_view pointer);
    /// Checks minimum ≤ value ≤ maximum, with limits from other fields. Does nothing if the range check has failed
    /// already.
    void within(const std::string& path, double value, double minimum, double maximum);
    /// Checks value ≤ maximum, with a limit from other fields; the schema has the lower limit. Does nothing if the
    /// range check has failed already.
    void atMost(const std::string& path, std::int64_t value, std::int64_t maximum);

    /// Returns the first error.
    [[nodiscard]] std::optional<Error> firstError() const;
    /// Returns the problems, errors first, otherwise in the order found.
    [[nodiscard]] std::vector<Problem> take();

private:
    struct Kept {
        std::vector<Problem> listed;
        std::size_t characters = 0;
        std::size_t unlisted = 0;
    };
    static void add(Kept& kept, Problem problem);

    const Project& m_project;
    std::set<std::string> m_outOfRange; ///< pointers of fields out of range
    Kept m_errors;
    Kept m_warnings;
};

void validateData(const Project& project, Problems& problems);
void validateNetwork(const Project& project, Problems& problems);
/// Checks one graph of the first tower. `expected` is the shape at its main output.
void validateGraph(const Project& project, const GraphRef& ref, const Shape& expected, Problems& problems);
void validateTopology(const Project& project, Problems& problems);
/// Checks the towers beside the first one, what towers read of each other, and the further losses.
void validateTowers(const Project& project, Problems& problems);
void validateTraining(const Project& project, Problems& problems);
void validateSchedule(const Project& project, Problems& problems);
/// Checks the fields of the training plan that determine the size of a step.
void validateStepSizes(Problems& problems);

/// Returns the blocks that layers use, without repetition, in document order.
[[nodiscard]] std::vector<const Block*> usedBlocks(const Network& network);

} // namespace residua::projects
