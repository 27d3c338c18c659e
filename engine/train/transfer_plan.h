// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/tensor_files.h"
#include "engine/host/preparation.h"
#include "engine/init/named_parameter.h"
#include "engine/network/network.h"
#include "engine/train/optimiser.h"
#include "projects/base/result.h"
#include "projects/huggingface/decoder_kinds.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace residua::engine {

/// What becomes of the optimiser's moments of a row's parameters.
enum class Moments {
    Fresh,   ///< they start anew
    Carried, ///< they are those of the tensor that the row names
};

/// One row of a plan: what the numbers of one or several parameters are made from.
struct Transfer {
    /// The tensor's name where the weights come from, the parameters that it holds, and how they lie in it.
    projects::FileTensor tensor;
    /// Defined: the parameter starts from these numbers instead, of its shape and any type; the tensor's name then says
    /// whose moments are carried.
    at::Tensor computed = {};
    Moments moments = Moments::Fresh;
};

/// A row with the parameters that it writes and, unless it is computed, the tensor that it reads.
struct TransferStep {
    Transfer row;
    std::string name;                   ///< of the tensor, as it is stored: without the prefix where that lacks there
    std::vector<at::Tensor> parameters; ///< in the order of FileTensor::parameters
    TensorFiles::Tensor stored;

    [[nodiscard]] std::uint64_t bytes() const { return row.computed.defined() ? 0 : stored.place.bytes; }
};

/// What a plan finds in the files that weights are taken from.
struct TransferReport {
    std::vector<TransferStep> steps; ///< the rows that can be carried out, in order
    std::vector<Transfer> missing;   ///< the files have no such tensor
    /// A tensor that is there and does not fit: "got [2, 3], expected [3, 2]".
    struct Contradiction {
        Transfer row;
        std::string name; ///< in the files
        std::string what;
    };
    std::vector<Contradiction> contradictions;
    std::vector<std::string> unused; ///< tensors of the files that no row names, sorted
};

/// How parameters of a network are made from tensors of others: of a checkpoint, of a file, or of the same network
/// where it grows. Rows in order; each parameter is in one of them at most. Engine thread.
class TransferPlan {
public:
    void add(Transfer row);
    /// The parameter as it is stored under the same name.
    void copy(const std::string& parameter, Moments moments);
    /// The parameter from these numbers.
    void start(const std::string& parameter, const at::Tensor& values);

    /// What each row finds in `files`. Rows with a parameter that the network lacks count for nothing. `prefix` is what
    /// names may lack in the files.
    [[nodiscard]] TransferReport match(const TensorFiles& files, std::vector<NamedParameter>& parameters,
                                       const std::string& prefix = {}) const;

    /// Writes every parameter of `network`, a tensor at a time: by the rows, and those that no row names as the
    /// document's initialisation says. An error has the parameter or the tensor as its place; one too where `watch`
    /// gives it up.
    [[nodiscard]] Status apply(const TensorFiles& files, CompiledNetwork& network, const PreparationWatch& watch) const;
    /// Reads what is carried into a new optimiser of that network. Where `files` hold nothing all moments start anew.
    [[nodiscard]] Status applyMoments(const TensorFiles& files, const std::vector<NamedParameter>& parameters,
                                      Optimiser& optimiser) const;
    /// The same within one network: its rows name parameters of it, and are carried out in order, with their moments.
    void applyWithin(std::vector<NamedParameter>& parameters, Optimiser& optimiser) const;

    /// Whether a row makes the parameter.
    [[nodiscard]] bool makes(const std::string& parameter) const { return m_made.contains(parameter); }
    /// The parameters whose moments are carried, sorted.
    [[nodiscard]] std::vector<std::string> carried() const;

private:
    std::vector<Transfer> m_rows;
    std::set<std::string> m_made;
};

/// Carries one out: reads the tensor straight to where its parameter lies, or where its type or layout is another,
/// through memory of its own size.
[[nodiscard]] Status carryOut(const TensorFiles& files, const TransferStep& step);

/// The tensor of these parameters, as the files have it: one after another in its rows, those of each group together,
/// and transposed, as the table says. unpacked() is its inverse.
[[nodiscard]] at::Tensor packed(const projects::FileTensor& tensor, const std::vector<at::Tensor>& parameters);
/// The part of each parameter in `whole`, by the sizes of the parameters.
[[nodiscard]] std::vector<at::Tensor> unpacked(const projects::FileTensor& tensor, const at::Tensor& whole,
                                               const std::vector<at::Tensor>& parameters);
/// The shape of the tensor of parameters of these shapes, of which there is one at least.
[[nodiscard]] std::vector<std::int64_t> packedShape(const projects::FileTensor& tensor,
                                                    const std::vector<std::vector<std::int64_t>>& parameters);

} // namespace residua::engine
