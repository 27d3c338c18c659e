// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/named_parameter.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// The inputs of an attention's queries and keys: [sequences, length, width] each.
struct AttentionInputs {
    at::Tensor forQueries;
    at::Tensor forKeys;
};

/// The length in tokens and the maximum number of the sequences for fitting features.
inline constexpr std::int64_t kFitLength = 48;
inline constexpr std::int64_t kFitSequences = 48;

/// The inputs that fits assume. A weight or attention that is missing reads standard normal inputs.
struct FitInputs {
    /// The second moments of each weight's inputs, [in, in] in double on the host, by the parameter's name.
    std::map<std::string, at::Tensor> moments = {};
    std::map<std::string, AttentionInputs> attentions =
        {};                           ///< by the node's name with its prefix: "layers.1.attention."
    std::int64_t length = kFitLength; ///< of the sequences of attentions, in tokens

    /// Returns an undefined tensor if the moments are missing.
    [[nodiscard]] at::Tensor momentsOf(const std::string& name) const
    {
        const auto found = moments.find(name);
        return found == moments.end() ? at::Tensor() : found->second;
    }
};

/// Collects the inputs of a network's weights. For each weight: the second moments, which are the mean of x·xᵀ over all
/// rows x that it was multiplied with, in double. For each attention: the first sequences. Engine thread.
class WeightInputs {
public:
    /// Keeps sequences of `length` tokens.
    explicit WeightInputs(std::int64_t length = kFitLength) : m_length(length) {}

    /// Adds `x` [..., in]. `parameter` is Weight::parameter().
    void add(const at::Tensor& parameter, const at::Tensor& x);
    /// Adds the inputs of the attention `node`: [batch, time, width] each. Keeps at most kFitSequences pieces of the
    /// length, from the first pass.
    void addSequences(const std::string& node, const at::Tensor& forQueries, const at::Tensor& forKeys);

    /// Returns [in, in] on the host; undefined for a weight without inputs.
    [[nodiscard]] at::Tensor momentsOf(const at::Tensor& parameter) const;
    [[nodiscard]] FitInputs of(const std::vector<NamedParameter>& parameters) const;

private:
    struct Sum {
        at::Tensor products; ///< Σ x·xᵀ
        std::int64_t rows = 0;
    };
    std::map<const void*, Sum> m_sums;
    std::map<std::string, AttentionInputs> m_sequences;
    std::int64_t m_length;
};

} // namespace residua::engine
