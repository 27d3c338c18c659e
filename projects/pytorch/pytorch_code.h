// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// What evaluation after a step does with a layer of the stack.
struct ExportedLayer {
    bool runs = true;  ///< false: a growing network has not come to it
    double factor = 1; ///< of its branch
};

/// A network as PyTorch code that needs nothing else.
struct PyTorchCode {
    /// model.py: a class for the stem, each block, the topology and the head, and Network, which joins them. Input:
    /// int64 [batch, time] tokens, or real [batch, inputs]; output: logits [batch, time, vocab] or [batch, outputs].
    std::string model;
    /// Where each parameter of the network is in the state_dict: "topology.3.weight" → "topology.project.2.weight".
    /// Those of nodes that nothing reads, and of layers that are not there, are absent.
    std::map<std::string, std::string> names;
    std::int64_t layers = 0; ///< those that are there
};

/// The network as evaluation after some step runs it: `layers` has one for each layer of the stack, or none, for all.
/// An error names what has no counterpart.
[[nodiscard]] Result<PyTorchCode> pyTorchCodeOf(const SoundProject& project,
                                                const std::vector<ExportedLayer>& layers = {});

/// What the files beside the code tell.
struct ExportedRun {
    std::string name;       ///< of the run
    std::int64_t step = 0;  ///< of its checkpoint
    std::int64_t steps = 0; ///< planned in all
    std::int64_t parameters = 0;
    std::int64_t leftOut = 0; ///< numbers of the checkpoint that are not there
    bool drawn = false;       ///< outputs are recorded of drawn tokens, because the data could not be read
};

/// config.json: what the network is, for programs. model.py does not read it.
[[nodiscard]] std::string pyTorchConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run);
/// check.py: loads the folder and compares it with the recorded outputs; ends with 1 where they differ.
[[nodiscard]] std::string pyTorchCheck();
/// README.md: how the folder is used, what is lost, and how training goes on here.
[[nodiscard]] std::string pyTorchReadme(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run);

} // namespace residua::projects
