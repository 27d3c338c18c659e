// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/init/factor_fits.h"
#include "engine/init/feature_fits.h"
#include "engine/init/named_parameter.h"
#include "engine/ops/weight.h"
#include "engine/runtime/compute.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <functional>
#include <optional>
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
    Features, ///< [.., r, e] of an attention's kernel: rows of N(0, I), orthogonal among each e; does not decay
    Given,    ///< by values that no seed changes
};

/// How a parameter starts.
struct ParameterStart {
    Role role = Role::Matrix;
    double factor = 1; ///< of what the role says
    /// The deviation of the normal law that a matrix starts from, whatever the document's law; 0: by the document's.
    double deviation = 0;
    /// Role::Given: in double on the host, of the parameter's shape or one number for all elements.
    at::Tensor values;
    /// The activation that all readers of the node's output apply to it ("relu"), where the parameter is the matrix
    /// that makes that output; empty: none.
    std::string follows;
};

/// A weight that is held in two factors.
struct FactoredWeight {
    std::string name;                ///< that it would have whole: "layers.1.up.weight"
    std::vector<std::int64_t> shape; ///< of the whole
    ParameterStart start;            ///< of the whole
    std::size_t u = 0;               ///< its factors among all()
    std::size_t v = 0;
};

/// The parameters of a network that is being built, in the order of their declaration, and how each starts. To declare
/// one takes memory and writes nothing to it; fill() is a step of its own, left out where a checkpoint or a transfer
/// gives the values.
///
/// The numbers of each parameter come from a generator of its own, keyed by seeds.init and the name: a node more or
/// less changes no other parameter's start. They are drawn in double precision on the CPU, so every device and
/// precision starts alike.
class InitPlan {
public:
    /// Matrices that write to the residual start `residualFactor` times as large as their role says.
    InitPlan(const Compute& compute, const projects::Initialisation& initialisation, std::int64_t seed,
             std::int64_t depth, double residualFactor = 1);

    /// Declares a parameter; its name must be new. It decays as its role says.
    at::Tensor add(const std::string& name, at::IntArrayRef shape, Role role);
    at::Tensor add(const std::string& name, at::IntArrayRef shape, ParameterStart start, Decay decay);
    /// Declares the weight `name`, which ends with "weight"; with a rank, its factors, which end with "v" and "u"
    /// instead.
    Weight addWeight(const std::string& name, at::IntArrayRef shape, ParameterStart start,
                     std::optional<std::int64_t> rank);
    /// Declares the features of an attention, whose `parameter` this fills in.
    at::Tensor addFeatures(const std::string& name, at::IntArrayRef shape, AttentionFeatures attention);
    /// One that starts from `value` everywhere, or from `values` (any type and device).
    at::Tensor addConstant(const std::string& name, at::IntArrayRef shape, double value, Decay decay);
    at::Tensor addValues(const std::string& name, const at::Tensor& values, Decay decay);

    /// Keeps elements of the parameter `name` as they are in training (NamedParameter::held).
    void hold(const std::string& name, const at::Tensor& elements);

    /// Says which slices of a declared parameter are of which head or MLP part; of an undefined tensor nothing.
    void divide(const at::Tensor& parameter, const PartSlices& slices);

    void setFits(FitSetting setting) { m_fits = std::move(setting); }

    /// Writes the start of every parameter that `wanted` names, of all where it is empty. Under a method of its own
    /// (Initialisation::lowRank) the factors of a weight are fitted to the draw of the whole one; a weight of zeros has
    /// a u of zeros and a v that is drawn, so that it can learn. After them the features of attentions are fitted to
    /// the softmax of the queries and keys that the weights then give. An error where `watch`, told what share is done,
    /// gives it up.
    [[nodiscard]] Status fill(const PreparationWatch& watch = {},
                              const std::function<bool(const std::string& name)>& wanted = {});
    /// The start of a whole weight, in double on the host.
    [[nodiscard]] at::Tensor wholeOf(const FactoredWeight& weight) const;
    /// The fit of the weight's factors to `whole` ([out, in, …], any real type), for inputs of those second moments
    /// (FactorFit::inputMoments). Nothing where `whole` is all zeros: u becomes zeros then and v stays as it is, so
    /// that a v that was drawn lets u learn.
    [[nodiscard]] std::optional<FactorFit> fitOf(const FactoredWeight& weight, const at::Tensor& whole,
                                                 const at::Tensor& inputMoments);
    /// What is to be told of the fits of the last fill().
    [[nodiscard]] const std::vector<std::string>& notes() const { return m_fitted.notes; }
    /// What they have left; without weights where nothing was fitted.
    [[nodiscard]] const Gap& gap() const { return m_fitted.gap; }

    [[nodiscard]] const Compute& compute() const { return m_compute; }
    [[nodiscard]] std::vector<NamedParameter>& all() { return m_parameters; }
    /// How each of all() starts.
    [[nodiscard]] const std::vector<ParameterStart>& starts() const { return m_starts; }
    [[nodiscard]] const std::vector<FactoredWeight>& factored() const { return m_factored; }
    [[nodiscard]] const std::vector<AttentionFeatures>& attentions() const { return m_attentions; }
    /// The fits of an attention's features, by the weights and features as they are now.
    [[nodiscard]] std::vector<AttentionProblem> problemsOf(const AttentionFeatures& attention) const;

private:
    /// The numbers that a parameter starts from, before the start's factor.
    [[nodiscard]] at::Tensor valuesOf(const std::string& name, at::IntArrayRef shape,
                                      const ParameterStart& start) const;
    [[nodiscard]] at::Tensor valuesOf(std::size_t index) const;
    [[nodiscard]] Status fitFactors(const std::vector<const FactoredWeight*>& weights, const PreparationWatch& watch);
    [[nodiscard]] Status fitFeatures(const std::vector<const AttentionFeatures*>& attentions,
                                     const PreparationWatch& watch);

    Compute m_compute;
    projects::Initialisation m_initialisation;
    std::int64_t m_seed;
    std::int64_t m_depth;
    double m_residualFactor;
    std::vector<NamedParameter> m_parameters;
    std::vector<ParameterStart> m_starts;
    std::set<std::string> m_names;
    std::vector<FactoredWeight> m_factored;
    std::vector<AttentionFeatures> m_attentions;
    FitSetting m_fits;
    FitsReport m_fitted;
};

} // namespace residua::engine
