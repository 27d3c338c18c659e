// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/named_parameter.h"
#include "engine/runtime/compute.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace residua::engine {

/// What a parameter is, which decides how it starts and whether it decays.
enum class Role {
    Matrix,         ///< [out, in]: by the document's law; decays
    ResidualMatrix, ///< a matrix that writes to the residual: the law's scale over √(2L) where the document says so;
                    ///< decays
    Table, ///< an embedding: normal, with the document's scale under the normal law and 0.02 under the others; decays
    Gain,  ///< ones; does not decay
    Bias,  ///< zeros; does not decay
};

/// Makes a network's parameters, in the order of the calls. The numbers of each come from a generator of its own, keyed
/// by seeds.init and the name: a node more or less changes no other parameter's start. They are drawn in double
/// precision on the CPU, so every device and precision starts alike.
class Parameters {
public:
    Parameters(const Compute& compute, const projects::Initialisation& initialisation, std::int64_t seed,
               std::int64_t depth);

    /// A new parameter; its name must be new.
    at::Tensor add(const std::string& name, at::IntArrayRef shape, Role role);
    /// The same, starting from `values` (any type and device).
    at::Tensor addValues(const std::string& name, const at::Tensor& values, Decay decay);

    [[nodiscard]] const Compute& compute() const { return m_compute; }
    [[nodiscard]] std::vector<NamedParameter>& all() { return m_parameters; }

private:
    [[nodiscard]] at::Tensor draw(const std::string& name, at::IntArrayRef shape, Role role) const;

    Compute m_compute;
    projects::Initialisation m_initialisation;
    std::int64_t m_seed;
    std::int64_t m_depth;
    std::vector<NamedParameter> m_parameters;
    std::set<std::string> m_names;
};

/// Puts the rows of several matrices [·, in] one after another in memory and makes the parameters views of it, so that
/// one product serves all. Names and values stay. The whole as one tensor without gradient.
[[nodiscard]] at::Tensor joinRows(std::vector<at::Tensor>& matrices);

} // namespace residua::engine
