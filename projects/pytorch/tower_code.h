// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/pytorch/pytorch_code.h"

#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: a tower as a class, and several towers as a network of these.

/// Python's variables for the values of towers, by the values' names.
using ValueVariables = std::map<std::string, std::string>;
[[nodiscard]] ValueVariables valueVariables(const Project& project);

/// True if the tower's objective trains the variances of diffusion.
[[nodiscard]] bool learnsVariance(const Project& project, const Network& network);
/// Returns the loss of the network's objective, an expression of `output` and its target. One that trains the variances
/// also reads the input `x` and the condition kTimestep.
[[nodiscard]] std::string objectiveText(const Project& project, const Network& network, const std::string& x);

/// The code of one tower of several.
struct TowerCode {
    PyTorchCode code; ///< `model` has no load()
    /// The arguments of forward() after its input, by variable: the names of conditions and values.
    std::map<std::string, std::string> arguments;
    std::vector<std::string> values; ///< what forward() returns, by name
    bool regularises = false;        ///< true if the class has regulariser()
};
/// Returns the code of the first tower of the view as a part of several.
[[nodiscard]] Result<TowerCode> towerCodeOf(const Project& view, const std::vector<ExportedLayer>& layers,
                                            const ValueVariables& variables);

/// Returns the code of all towers that losses need. `layers` is that of pyTorchCodeOf().
[[nodiscard]] Result<PyTorchCode> codeOfTowers(const Project& project,
                                               const std::vector<std::vector<ExportedLayer>>& layers);

/// Sets the text of model.py, which ends with load(), and the digest of all files.
void finish(PyTorchCode& code, std::string text);
/// Returns the docstring and the imports of a module, then its body, then load() if `loads`.
[[nodiscard]] std::string moduleOf(const std::vector<std::string>& doc, const std::string& body, bool loads);

} // namespace residua::projects
