// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <utility>

/// Layers of one block, where each reads all before it by learned weights.
inline residua::projects::Document stackOf(std::int64_t layers,
                                           residua::projects::MixPorts ports = residua::projects::MixPorts::Input)
{
    residua::projects::Document document;
    document.project.network.blocks.push_back({"mlp", "mlp", {}});
    document.project.stack().segments = {{"mlp", layers}};
    residua::projects::DepthMix mix;
    mix.weight = residua::projects::WeightKind::Scalar;
    mix.ports = ports;
    document.project.stack().topology.wiring = std::move(mix);
    return document;
}
