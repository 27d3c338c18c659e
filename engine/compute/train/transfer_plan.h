// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/compute/network/network.h"
#include "engine/compute/train/optimiser.h"
#include "projects/base/result.h"
#include "projects/huggingface/model_kinds.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace residua::engine {

/// The source of the optimiser's moments for a row's parameters.
enum class Moments {
    Fresh,   ///< start afresh
    Carried, ///< copied from those of the row's tensor
};

/// One row of a plan: the source of the values of one or several parameters.
struct Transfer {
    /// The name of the source tensor, the parameters that it holds, and their layout in it.
    projects::FileTensor tensor;
    /// If defined, the parameter starts from these numbers instead (of its shape, any type); the tensor's name then
    /// gives the source of carried moments.
    at::Tensor computed = {};
    Moments moments = Moments::Fresh;
    /// The index along `dimension` of the tensor that each of the one parameter's indices takes; −1: none, it starts as
    /// the document says. Empty: all, in order. Carried moments are taken in the same way.
    std::vector<std::int64_t> rows = {};
    std::int64_t dimension = 0;
};
/// Copies the rows of `from` (Transfer::rows) into `to`, and clears those without a source if `clears`.
void takeRows(const Transfer& row, const at::Tensor& from, at::Tensor to, bool clears);

/// A row with the parameters that it writes and, unless it is computed, the tensor that it reads.
struct TransferStep {
    Transfer row;
    std::string name;                   ///< of the tensor as stored, without the prefix if the stored name lacks it
    std::vector<at::Tensor> parameters; ///< in the order of FileTensor::parameters
    TensorFiles::Tensor stored;

    [[nodiscard]] std::uint64_t bytes() const { return row.computed.defined() ? 0 : stored.place.bytes; }
};

/// The result of matching a plan with the files that weights come from.
struct TransferReport {
    std::vector<TransferStep> steps; ///< the rows that can be executed, in order
    std::vector<Transfer> missing;   ///< rows without a tensor in the files
    /// A tensor that exists but does not fit: "got [2, 3], expected [3, 2]".
    struct Contradiction {
        Transfer row;
        std::string name; ///< in the files
        std::string what;
    };
    std::vector<Contradiction> contradictions;
    std::vector<std::string> unused; ///< tensors of the files that no row uses, sorted
};

/// A plan for making a network's parameters from other tensors: of a checkpoint, of a file, or of the same network when
/// it grows. Rows are executed in order; each parameter is in at most one. Engine thread.
class TransferPlan {
public:
    void add(Transfer row);
    /// Copies the parameter from the stored tensor of the same name.
    void copy(const std::string& parameter, Moments moments);
    /// Starts the parameter from these numbers.
    void start(const std::string& parameter, const at::Tensor& values);

    /// Matches each row with `files`. Ignores rows with a parameter that the network lacks. The names in the files may
    /// lack `prefix`.
    [[nodiscard]] TransferReport match(const TensorFiles& files, std::vector<NamedParameter>& parameters,
                                       const std::string& prefix = {}) const;

    /// Writes every parameter of `network`, one tensor at a time: by the rows, or by the document's initialisation if
    /// no row names it. The place of an error is the parameter or the tensor. Returns an error if `watch` cancels.
    [[nodiscard]] Status apply(const TensorFiles& files, CompiledNetwork& network, const PreparationWatch& watch) const;
    /// Reads carried moments into a new optimiser of that network. If `files` are empty, all moments start afresh.
    [[nodiscard]] Status applyMoments(const TensorFiles& files, const std::vector<NamedParameter>& parameters,
                                      Optimiser& optimiser) const;
    /// Executes the rows within one network, in order and with their moments; the rows name its own parameters.
    void applyWithin(std::vector<NamedParameter>& parameters, Optimiser& optimiser) const;

    /// True if a row writes the whole parameter.
    [[nodiscard]] bool makes(const std::string& parameter) const { return m_made.contains(parameter); }
    /// Returns the parameters with carried moments, sorted.
    [[nodiscard]] std::vector<std::string> carried() const;

private:
    std::vector<Transfer> m_rows;
    std::set<std::string> m_named; ///< parameters of rows
    std::set<std::string> m_made;  ///< those without an index that has no source
};

/// Executes one step: reads the tensor directly into its parameter or, if type or layout differ, through a buffer of
/// the tensor's size.
[[nodiscard]] Status carryOut(const TensorFiles& files, const TransferStep& step);

/// Returns the tensor of these parameters in the files' layout: concatenated along its rows, grouped and transposed as
/// the table says. unpacked() is its inverse.
[[nodiscard]] at::Tensor packed(const projects::FileTensor& tensor, const std::vector<at::Tensor>& parameters);
/// Returns the part of each parameter in `whole`, by the sizes of the parameters.
[[nodiscard]] std::vector<at::Tensor> unpacked(const projects::FileTensor& tensor, const at::Tensor& whole,
                                               const std::vector<at::Tensor>& parameters);
/// Returns the shape of the tensor for parameters of these shapes; at least one.
[[nodiscard]] std::vector<std::int64_t> packedShape(const projects::FileTensor& tensor,
                                                    const std::vector<std::vector<std::int64_t>>& parameters);

} // namespace residua::engine
