// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/network/network.h"
#include "engine/runs/checkpoint.h"
#include "engine/train/tensor_io.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace residua::engine {

using StoredTensors = std::map<std::string, StoredTensor>;

/// The parameter starts from these numbers, of its shape and any type.
struct ComputedStart {
    at::Tensor values;
};
/// The parameter starts as the stored tensor of this name, of its shape and any type.
struct StoredStart {
    std::string name;
};

/// What becomes of the optimiser's moments of a parameter.
enum class Moments {
    Fresh,   ///< they start anew
    Carried, ///< they are the stored moments of the tensor that the parameter starts as (StoredStart)
};

/// Where one parameter of the new network comes from.
struct Transfer {
    std::string parameter;
    std::variant<ComputedStart, StoredStart> from;
    Moments moments = Moments::Fresh;
};

/// What a plan did, each list sorted.
struct TransferReport {
    std::vector<std::string> kept;    ///< parameters that go on with their moments
    std::vector<std::string> added;   ///< those that start: fresh, computed, or as stored ones without their moments
    std::vector<std::string> dropped; ///< stored tensors that no parameter starts as or has the name of
};

/// How the parameters of a network are made from those of another that lies in a checkpoint or a file.
class TransferPlan {
public:
    /// Each parameter at most once; those that are not named start as the document's initialisation says.
    void add(Transfer transfer);
    /// The parameter as it is stored under the same name.
    void copy(const std::string& parameter, Moments moments);

    /// Writes every parameter of `network`. An error has the parameter as its place.
    [[nodiscard]] Status apply(const StoredTensors& stored, CompiledNetwork& network) const;
    /// `fresh`, the new optimiser's state, with what is carried from `stored`; both must outlive the result. What is
    /// copied whole keeps its bytes. Where nothing is stored it is the new one's (Optimiser::load).
    [[nodiscard]] Result<HostTensors> optimiserState(const StoredTensors& stored, const HostTensors& fresh) const;
    [[nodiscard]] TransferReport report(const StoredTensors& stored, std::vector<NamedParameter>& parameters) const;

private:
    /// Null where the parameter starts fresh.
    [[nodiscard]] const Transfer* find(const std::string& parameter) const;

    std::map<std::string, Transfer> m_transfers; ///< by parameter
};

} // namespace residua::engine
