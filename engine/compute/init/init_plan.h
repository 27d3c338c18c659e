// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/compute/init/parameter_fits.h"
#include "engine/compute/ops/weight.h"
#include "engine/compute/runtime/compute.h"
#include "projects/base/random.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// The role of a parameter, which decides its start and its weight decay.
enum class Role {
    Matrix, ///< [out, in]: by the document's law; decays
    /// a matrix that writes to the residual: the law's scale over √(2L) if the document says so; decays
    ResidualMatrix,
    Table, ///< an embedding: normal, with the document's scale under the normal law and 0.02 under the others; decays
    Gain,  ///< ones; does not decay
    Bias,  ///< zeros; does not decay
    Features, ///< [.., r, e] of an attention's kernel: rows of N(0, I), each block of e orthogonal; does not decay
    Drawn,    ///< normal, with the start's deviation; does not decay
    Given,    ///< by values that do not depend on the seed
};

/// The part of a start that depends on the stack of the parameter's tower.
struct StackStart {
    std::int64_t depth = 1;    ///< L of Role::ResidualMatrix
    double residualFactor = 1; ///< multiplies the start of matrices that write to the residual
};

/// How a parameter starts.
struct ParameterStart {
    Role role = Role::Matrix;
    double factor = 1; ///< multiplies the start that the role defines
    /// The standard deviation of Role::Drawn, and of a matrix that starts by the normal law, whatever the document's
    /// law; 0 for a matrix: by the document's law.
    double deviation = 0;
    /// For Role::Given: values in double on the host, with the parameter's shape or one number for all elements.
    at::Tensor values;
    /// The activation that all readers apply to the node's output ("relu"), if the parameter is the matrix that
    /// computes it; empty: none.
    std::string follows;
    StackStart stack = {}; ///< set by InitPlan
};

/// The matrix that the factors u·v of a weight [out, in, …] make.
enum class Unfolding {
    WholeKernel, ///< [out, in · …]: u [out, rank], v [rank, in, …]
    BySide,      ///< of a kernel [out, in, k, k], [out · k, in · k]: u [out · k, rank], v [rank, in, 1, k]
};
/// Returns that matrix of a full weight.
[[nodiscard]] at::Tensor unfolded(const at::Tensor& whole, Unfolding unfolding);

/// A weight held as two factors.
struct FactoredWeight {
    std::string name;                ///< of the full weight: "layers.1.up.weight"
    std::vector<std::int64_t> shape; ///< of the full weight
    ParameterStart start;            ///< of the full weight
    std::size_t u = 0;               ///< the indices of its factors in all()
    std::size_t v = 0;
    Unfolding unfolding = Unfolding::WholeKernel;
};

/// The parameters of a network under construction, in order of declaration, with the start of each. A declaration
/// allocates memory without writing it. fill() is a separate step, omitted if a checkpoint or a transfer provides the
/// values.
///
/// Each parameter draws from its own generator, keyed by seeds.init and the name, so adding or removing a node changes
/// no other parameter's start. Numbers are drawn in double precision on the CPU, so that every device and precision
/// starts alike.
class InitPlan {
public:
    InitPlan(const Compute& compute, const projects::Initialisation& initialisation, std::int64_t seed,
             StackStart stack = {});

    /// Whether a tower's declarations make parameters, or return those that another tower declared before.
    enum class Weights {
        Own,
        Shared,
        Visits, ///< those that another visit to the layer declared, and own ones under names that it has not
    };
    /// The parameters declared next belong to a tower with this stack. Their names begin with `scope`, which is added
    /// to names without it: "teacher.", or empty. With shared weights, `scope` is that of the tower that declared them.
    void enter(std::string scope, StackStart stack, Weights weights = Weights::Own);
    /// Changes that for the declarations that follow.
    void share(Weights weights) { m_weights = weights; }
    [[nodiscard]] Weights weights() const { return m_weights; }

    /// Declares a parameter; its name must be new, or under Weights::Shared declared with this shape. It decays as its
    /// role says.
    at::Tensor add(const std::string& name, at::IntArrayRef shape, Role role);
    at::Tensor add(const std::string& name, at::IntArrayRef shape, ParameterStart start, Decay decay);
    /// Declares the weight `name`, which ends with "weight". With a rank, declares its factors, whose names end with
    /// "v" and "u" instead.
    Weight addWeight(const std::string& name, at::IntArrayRef shape, ParameterStart start,
                     std::optional<std::int64_t> rank, Unfolding unfolding = Unfolding::WholeKernel);
    /// Declares the features of an attention; sets attention.parameter.
    at::Tensor addFeatures(const std::string& name, at::IntArrayRef shape, AttentionFeatures attention);
    /// Declares a parameter that starts from `value` everywhere, or from `values` (any type and device).
    at::Tensor addConstant(const std::string& name, at::IntArrayRef shape, double value, Decay decay);
    at::Tensor addValues(const std::string& name, const at::Tensor& values, Decay decay);
    /// Declares a buffer (NamedParameter::isBuffer) that starts from `value` everywhere.
    at::Tensor addBuffer(const std::string& name, at::IntArrayRef shape, double value);

    /// Excludes elements of the parameter `name` from training (NamedParameter::held).
    void hold(const std::string& name, const at::Tensor& elements);

    /// Registers which slices of a declared parameter belong to which head or MLP part. Does nothing for an undefined
    /// tensor.
    void divide(const at::Tensor& parameter, const PartSlices& slices);

    void setFits(FitSetting setting) { m_fits = std::move(setting); }

    /// Writes the start of every parameter that `wanted` accepts, or of all if `wanted` is empty. Under a low-rank
    /// method (Initialisation::lowRank), fits the factors of a weight to the draw of the full weight; for a weight of
    /// zeros, u is zeros and v is drawn, so that it can learn. Then fits the features of attentions to the softmax of
    /// the queries and keys that these weights give. Reports the progress to `watch`; returns an error if it cancels.
    [[nodiscard]] Status fill(const PreparationWatch& watch = {},
                              const std::function<bool(const std::string& name)>& wanted = {});
    /// Returns the start of a full weight, in double on the host.
    [[nodiscard]] at::Tensor wholeOf(const FactoredWeight& weight) const;
    /// Returns the fit of the weight's factors to `whole` ([out, in, …], any real type) for inputs with the second
    /// moments `inputMoments` (FactorFit::inputMoments). Factors by side are fitted to the weight itself, because their
    /// matrix computes no output of its own: without moments and activation. Returns nullopt if `whole` is all zeros:
    /// then sets u to zeros and keeps v, so that a drawn v lets u learn.
    [[nodiscard]] std::optional<FactorFit> fitOf(const FactoredWeight& weight, const at::Tensor& whole,
                                                 const at::Tensor& inputMoments);
    /// Returns the notes on the fits of the last fill().
    [[nodiscard]] const std::vector<std::string>& notes() const { return m_fitted.notes; }
    /// Returns the errors of these fits; without weights if nothing was fitted.
    [[nodiscard]] const Gap& gap() const { return m_fitted.gap; }

    [[nodiscard]] const Compute& compute() const { return m_compute; }
    [[nodiscard]] std::vector<NamedParameter>& all() { return m_parameters; }
    /// Returns the tensor of each declaration in their order, with those of shared weights.
    [[nodiscard]] const std::vector<at::Tensor>& declared() const { return m_declared; }
    /// Returns the start of each parameter in all().
    [[nodiscard]] const std::vector<ParameterStart>& starts() const { return m_starts; }
    [[nodiscard]] const std::vector<FactoredWeight>& factored() const { return m_factored; }
    [[nodiscard]] const std::vector<AttentionFeatures>& attentions() const { return m_attentions; }
    /// Returns the fit of an attention's features for the current weights and features.
    [[nodiscard]] FeatureFit fitOf(const AttentionFeatures& attention) const;

private:
    [[nodiscard]] std::string scoped(const std::string& name) const
    {
        return name.starts_with(m_scope) ? name : m_scope + name;
    }
    /// Returns the values that a parameter starts from, before the start's factor.
    [[nodiscard]] at::Tensor valuesOf(const std::string& name, at::IntArrayRef shape,
                                      const ParameterStart& start) const;
    [[nodiscard]] at::Tensor valuesOf(std::size_t index) const;
    [[nodiscard]] Status fitFactors(const std::vector<const FactoredWeight*>& weights, const PreparationWatch& watch);
    [[nodiscard]] Status fitFeatures(const std::vector<const AttentionFeatures*>& attentions,
                                     const PreparationWatch& watch);

    Compute m_compute;
    projects::Initialisation m_initialisation;
    std::int64_t m_seed;
    StackStart m_stack;
    std::string m_scope;
    Weights m_weights = Weights::Own;
    std::vector<NamedParameter> m_parameters;
    std::vector<at::Tensor> m_declared;
    std::vector<ParameterStart> m_starts;
    std::set<std::string> m_names;
    std::vector<FactoredWeight> m_factored;
    std::vector<AttentionFeatures> m_attentions;
    FitSetting m_fits;
    FitsReport m_fitted;
};

/// Numbers by the counters 0, 1, … of a stream, in double on the host: the same bits on any number of threads.

/// Returns standard normal numbers (Box and Muller).
[[nodiscard]] at::Tensor drawNormal(at::IntArrayRef shape, const Philox& random);
/// Returns numbers uniform on (−1, 1).
[[nodiscard]] at::Tensor drawSymmetric(at::IntArrayRef shape, const Philox& random);

} // namespace residua::engine
