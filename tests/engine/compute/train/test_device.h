// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace residua::tests {

/// The device that the GPU tests use: RESIDUA_TEST_DEVICE, or cuda:0 if it is not set. With "cpu" the same tests
/// compare the CPU with itself.
[[nodiscard]] std::string testDevice();
/// The second device of the same kind: cuda:1, or cuda:0 if the tests use cuda:1. The CPU is its own second device.
[[nodiscard]] std::string secondDevice();

/// Loads the backend of the device. Returns why the device cannot be used, or an empty string if it can.
[[nodiscard]] std::string deviceProblem(const std::string& device);

/// Returns why the kernels that were built, or that RESIDUA_KERNELS names, are not used on the device. Empty if they
/// are used, if none were built, and for the CPU.
[[nodiscard]] std::string kernelProblem(const std::string& device);

/// The largest distances that a unit has seen, by group.
class LargestDistances {
public:
    /// `where` names the case. A NaN counts as the largest.
    void add(const std::string& group, double distance, const std::string& where);
    /// Prints one line per group.
    void print() const;

private:
    struct Largest {
        double distance = -1;
        std::string where;
        long count = 0;
    };
    std::map<std::string, Largest> m_groups;
};

} // namespace residua::tests
