// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/split.h"
#include "engine/host/preparation.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The size of a training set that is drawn without end.
inline constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

/// What a data set holds: what its examples consist of, and tokens or samples by split (kEndless where training samples
/// are drawn without end).
struct DataOutline {
    projects::ExampleSchema schema;
    std::array<std::int64_t, kSplits> sizes{};
};

/// One of several texts of a data set, and its share of the examples.
struct DataPartOutline {
    std::string name; ///< its path, as the project has it
    double share = 0;
    std::array<std::int64_t, kSplits> sizes{};     ///< tokens by split
    std::array<std::int64_t, kSplits> evaluated{}; ///< of those, the inputs that fillSequential goes through
};

/// One micro-batch, reused from step to step.
struct Batch {
    std::vector<std::int64_t> tokens;  ///< [batch, time]: inputs
    std::vector<std::int64_t> targets; ///< [batch, time]: the next token of each
    std::vector<double> inputs;        ///< [batch, inputs]
    std::vector<double> outputs;       ///< [batch, outputs]
    std::int64_t batch = 0;
    std::int64_t time = 0; ///< 0 for vectors
};

/// Examples, prepared and checked. Torch-free. Immutable after open; any thread.
class Dataset {
public:
    virtual ~Dataset() = default;

    /// Opens, tokenises or generates, and checks: every input problem that can be known is an error here,
    /// before training starts, with the file (and line) as its place. `projectDirectory` is where relative paths
    /// start.
    /// A split of a text is contiguous: training tokens first, then validation, test at the end. Generated vectors
    /// keep the whole of `samples` for training and draw the fractions beside it.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::Project& project,
                                                               const std::filesystem::path& projectDirectory,
                                                               const PreparationWatch& watch = {});

    /// What open() would make of a source that generates its examples, told from its numbers alone, with the same
    /// errors; nullopt for files.
    [[nodiscard]] static std::optional<Result<DataOutline>> outline(const projects::Project& project);

    [[nodiscard]] virtual projects::ExampleSchema schema() const = 0;
    /// What was decided while opening that a person should know, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
    /// The texts that examples are drawn from by shares; empty where they are of one.
    [[nodiscard]] virtual std::vector<DataPartOutline> parts() const { return {}; }
    /// Tokens or samples in a split, of several texts those of all; kEndless where training samples are drawn without
    /// end.
    [[nodiscard]] virtual std::int64_t size(Split split) const = 0;
    /// Fills `batch` with `count` examples: the draws numbered `index` · count … of the seeded order.
    /// The same (split, seed, index, count) gives the same batch for ever: the cursor of a run is `index` alone.
    /// Windows of text start anywhere; of several texts each example is of one that is drawn by its share. Vectors come
    /// in a new order each epoch, each once. The split is not empty.
    /// An error where a file is no longer what it was when it was opened; the batch then holds nothing of use.
    [[nodiscard]] virtual Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                                      std::int64_t count) const = 0;
    /// Consecutive windows for evaluation, no overlap, no randomness; of several texts as many of each as their shares
    /// say, in every beginning too (MixtureOrder), until one of them has no more. The last batch may be shorter, and
    /// past the end (at once for an empty split) it has none: batch.batch says. An endless training set stands for its
    /// first 4096.
    [[nodiscard]] virtual Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                                std::int64_t count) const = 0;
    /// Every example of a split at once (full-batch gradient descent; finite vectors only).
    virtual void fillAll(Batch& batch, Split split) const = 0;

    /// Token sequences only. An error where text cannot be expressed in the vocabulary. Token files have no text: ids
    /// separated by spaces stand for it. encode begins as a document does. decode gives valid UTF-8.
    [[nodiscard]] virtual Result<std::vector<std::int64_t>> encode(const std::string& text) const = 0;
    [[nodiscard]] virtual std::string decode(const std::vector<std::int64_t>& tokens) const = 0;
};

} // namespace residua::engine
