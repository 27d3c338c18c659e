// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/base/result.h"
#include "projects/check/validate.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// The state of an executed layer of the stack in an evaluation after some step.
struct ExportedLayer {
    bool runs = true;  ///< false if a growing network does not have the layer yet
    double factor = 1; ///< scales its branch
};

/// A network as self-contained PyTorch code.
struct PyTorchCode {
    /// model.py: a class for the stem, each block, the topology and the head, and Network, which combines them. Input:
    /// int64 [batch, time] tokens, or real [batch, inputs]; output: logits [batch, time, vocab] or [batch, outputs].
    std::string model;
    /// The files beside it, by name: of several towers one each, tower_encoder.py.
    std::map<std::string, std::string> files;
    /// The state_dict name of each parameter of the network: "topology.3.weight" → "topology.project.2.weight".
    /// Parameters of unused nodes and of missing layers are absent.
    std::map<std::string, std::string> names;
    std::int64_t layers = 0;             ///< number of exported executed layers
    std::int64_t stored = 0;             ///< number of exported stored layers
    std::int64_t longest = 0;            ///< most tokens that the learned positions allow, or 0 for no limit
    std::vector<std::string> conditions; ///< the arguments of forward() after the input
    std::vector<std::string> labels;     ///< the further outputs, whose targets loss() takes
    std::vector<std::string> others;     ///< outputs of the other towers, by which values() has them
    /// Identifies the model's text: the constant CODE of model.py and "code" in config.json. load() refuses the weights
    /// of other code, because Python keeps the first module of a name that is imported.
    std::string digest;
};

/// True if the code can have the loss. It has no losses at exits, and none of an exit gate.
[[nodiscard]] bool isExported(const Loss& loss);
/// Returns the argument of forward() that is the condition of this name: "class_" for "class", which Python reserves.
[[nodiscard]] std::string conditionVariable(const std::string& condition);
/// Returns the network as an evaluation after some step runs it. `layers` has for each tower an entry for each layer of
/// its stack, or none to export all; it may be empty. The error names a part that has no PyTorch code.
[[nodiscard]] Result<PyTorchCode> pyTorchCodeOf(const SoundProject& project,
                                                const std::vector<std::vector<ExportedLayer>>& layers = {});

/// The data for the files beside the code.
struct ExportedRun {
    std::string name;       ///< of the run
    std::int64_t step = 0;  ///< of its checkpoint
    std::int64_t steps = 0; ///< planned for the run
    std::int64_t parameters = 0;
    std::int64_t leftOut = 0; ///< numbers of the checkpoint that are not exported
    bool drawn = false;       ///< true if the recorded outputs are for drawn tokens, because the data could not be read
    std::vector<std::string> classes = {}; ///< names of all classes by number; empty if they have none
};

/// Returns the members "id2label" and "label2id", by which transformers names the classes of a model. "label2id" has
/// the number of the first of equal names.
[[nodiscard]] JsonObject classNames(const std::vector<std::string>& names);

/// Returns config.json, which describes the network for programs. model.py does not read it.
[[nodiscard]] std::string pyTorchConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run);
/// Returns check.py, which loads the folder and compares it with the recorded outputs; exits with 1 if they differ.
[[nodiscard]] std::string pyTorchCheck();
/// Returns README.md: how to use the folder, what is lost, and how to continue the training in this program.
[[nodiscard]] std::string pyTorchReadme(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run);

} // namespace residua::projects
