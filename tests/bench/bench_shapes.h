// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/trainer.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <string>

namespace residua::tests {

/// The sizes of a network that peer_pytorch.py has as well.
struct BenchShape {
    std::string name;
    std::string block; ///< a BlockPreset: "transformer" or "gpt"
    std::int64_t layers = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    std::int64_t vocabulary = 0; ///< or classes
    std::int64_t length = 0;     ///< tokens of a sequence
    bool tied = false;           ///< the head has the embedding's weights
    bool isExample = false;      ///< the example or recipe of this name, on its data
};

/// small, llama130m and llama1b-2048, -8192 (ANCRe, table 2), gpt2-124m, small-vit, small-dit, small-bert, small-ul2,
/// small-resnet, small-efficientnet or point-maze. Null for another name.
[[nodiscard]] const BenchShape* findShape(const std::string& name);

/// A project of this shape whose depth is wired by the topology preset `topology`. Its training plan is the default,
/// apart from the sequence length. The error says which preset is unknown.
[[nodiscard]] Result<projects::Project> projectOf(const BenchShape& shape, const std::string& topology);

/// Opens a project of this shape on uniformly random tokens in place of its data, or an example on its own.
[[nodiscard]] Result<engine::TrainerParts> openOnRandomTokens(const projects::Project& project, const BenchShape& shape,
                                                              const std::string& device);

/// Returns the FLOP of training on one token by the usual count 6·N + 6·L·d·T, where N leaves out an embedding that
/// the head does not share.
[[nodiscard]] double trainingFlopPerToken(const projects::Project& project, const BenchShape& shape);

} // namespace residua::tests
