// SPDX-License-Identifier: GPL-3.0-or-later
// The networks that tst_pytorch_folder writes as PyTorch code and compares.
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::tests {

inline constexpr std::int64_t kPyTorchDepth = 4;

struct PyTorchCase {
    std::string name;
    projects::Project project;
    std::int64_t step = 0; ///< after which it is exported
    std::int64_t time = 5; ///< tokens of the sample
};

/// Named: a line for each is in the output of the test.
class PyTorchCases {
public:
    void add(std::string name, projects::Project project, std::int64_t step = 0);
    [[nodiscard]] const std::vector<PyTorchCase>& all() const { return m_all; }

    /// Every topology, with a block that has the ports which it feeds.
    void addTopologies();
    /// Labelled texts with a padding mask, under wirings of each kind of site.
    void addConditions();
    /// Options of mixes that no preset sets.
    void addMixOptions();
    void addOtherWirings();
    /// A block and a stem with the kinds that presets lack; odd names on purpose.
    void addSequenceKinds();
    void addImageKinds();
    /// Attentions of each kind, some in one class and some in several.
    void addAttentions();
    void addNetworks();
    /// A network that grows, between and within its stages, under every way of wiring it.
    void addStages();
    /// Loops under every way of wiring them: in both orders, with a changed state, and with visits that are not made.
    void addLoops();
    /// Towers that read each other's values, and losses between them.
    void addTowers();
    /// The examples, in single precision and at their own sizes.
    void addExamples();

private:
    std::vector<PyTorchCase> m_all;
};

} // namespace residua::tests
