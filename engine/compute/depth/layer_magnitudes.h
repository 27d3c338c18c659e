// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/init/named_parameter.h"

#include "projects/model/stack.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Collects the magnitudes of the layers' values in the passes that carry it (Panigrahi et al., §5: ‖y^(l)‖) and, if
/// requested, the effective rank of their inputs. Costs two reductions per layer. A rank also costs a product with the
/// FLOP of a linear map of the features. Keeps the values of the last pass for each layer. Engine thread.
class LayerMagnitudes {
public:
    enum class Ranks { Left, Taken };
    explicit LayerMagnitudes(Ranks ranks = Ranks::Left) : m_ranks(ranks) {}

    /// Discards all collected values.
    void clear();
    /// Returns the collector of a further tower.
    [[nodiscard]] LayerMagnitudes& ofTower(const std::string& name)
    {
        return m_towers.try_emplace(name, m_ranks).first->second;
    }
    /// Records that layer `layer` of `layers` read `input` and computed `branch`; both [..., d].
    void saw(std::size_t layer, std::size_t layers, const at::Tensor& input, const at::Tensor& branch);
    /// Records the current gradients of the parameters named "layers.<n>.…" after `scope`, by executed layer of
    /// `stack`: visits of a layer have the norm of their sum. `scope` is the name of a further tower and a dot, or
    /// empty.
    void sawGradients(std::span<const NamedParameter> parameters, const projects::Stack& stack,
                      std::string_view scope = {});
    /// Returns matrix::kLayerMagnitudes; nullopt if no pass was seen. Waits for the device.
    [[nodiscard]] std::optional<Matrix> matrix(std::int64_t step) const;
    /// Returns that matrix, with matrix::kReadRanks and matrix::kLayerGradients if they were collected, then those of
    /// further towers, "encoder.norms". Waits for the device.
    [[nodiscard]] std::vector<Matrix> matrices(std::int64_t step) const;

private:
    using Row = std::vector<at::Tensor>; ///< float32 scalars; undefined: not seen

    [[nodiscard]] static std::optional<Matrix> matrixOf(const char* name, std::int64_t step,
                                                        std::span<const Row* const> rows);

    Ranks m_ranks;
    Row m_inputs;
    Row m_branches;
    Row m_inputRanks;
    Row m_gradients;
    std::map<std::string, LayerMagnitudes> m_towers;
};

} // namespace residua::engine
