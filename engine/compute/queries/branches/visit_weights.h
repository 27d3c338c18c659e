// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/base/result.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// The layers that those of a new network are made of.
struct LayerSources {
    std::vector<std::int64_t> layers; ///< the old number of each executed layer
    /// The old stored layers of each stored one; empty: those of `layers`. Weights of several are averaged.
    std::vector<std::vector<std::int64_t>> made;
};

/// The weights of a new network's layers, made from those of an old one, with the products of low rank that visits add
/// (visit_adapters.h). Keeps references to the arguments. Engine thread.
class VisitWeights {
public:
    VisitWeights(const TensorFiles& stored, const projects::Project& before, const projects::Project& after,
                 const LayerSources& sources, const PreparationWatch& watch)
        : m_stored(stored), m_before(before.stack()), m_after(after.stack()), m_sources(sources), m_watch(watch)
    {
    }

    /// Sets the source of a layer's parameter: the old ones of the same name, averaged if there are several. A layer
    /// whose visits add no more gets what its old visit added; visits that begin to add get the truncated SVD of the
    /// difference between the old weight and the new one. `shape`: the parameter's. Returns an error if the weights are
    /// in factors or cannot be read, or if the watch cancels.
    [[nodiscard]] Status take(Transfer& row, const projects::ParameterName& name, at::IntArrayRef shape);

private:
    /// The factors of a difference.
    struct Factors {
        std::string weight; ///< of the new network
        std::int64_t visit = 0;
        at::Tensor u; ///< [out, all singular values]
        at::Tensor v; ///< [all singular values, in]
    };

    [[nodiscard]] projects::LayerVisit oldAt(const projects::LayerVisit& at) const;
    [[nodiscard]] Result<at::Tensor> weightAt(projects::ParameterName name, const projects::LayerVisit& at) const;
    [[nodiscard]] Status takeLayers(Transfer& row, projects::ParameterName name) const;
    [[nodiscard]] Status merge(Transfer& row, const projects::ParameterName& name) const;
    [[nodiscard]] Status factorise(const projects::AdapterName& adapter);
    [[nodiscard]] Status approximate(Transfer& row, const projects::AdapterName& adapter, at::IntArrayRef shape);

    const TensorFiles& m_stored;
    const projects::Stack& m_before;
    const projects::Stack& m_after;
    const LayerSources& m_sources;
    const PreparationWatch& m_watch;
    Factors m_factors; ///< of the last difference, because a product's two factors follow each other
};

} // namespace residua::engine
