// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/attention_options.h"

namespace residua::projects {

QkNorm qkNormOf(const ParamMap& attention)
{
    const std::string& name = paramText(attention, kQkNormParam);
    return name == kHeadNorm ? QkNorm::Head : name == kAllHeadsNorm ? QkNorm::AllHeads : QkNorm::None;
}

RotaryPositions rotaryOf(const ParamMap& attention, std::int64_t headDim)
{
    RotaryPositions positions;
    if (!paramBool(attention, kRopeParam)) {
        return positions;
    }
    // Cut off, as released models with such a share do.
    const double share = paramDouble(attention, "rotary_share");
    positions.features = static_cast<std::int64_t>(share * static_cast<double>(headDim));
    positions.base = paramDouble(attention, "rope_base");
    const std::string& scaling = paramText(attention, kRopeScalingParam);
    if (scaling != kNoScaling) {
        positions.factor = paramDouble(attention, "rope_factor");
    }
    if (scaling == kLinearScaling) {
        positions.scaling = RopeScaling::Linear;
    } else if (scaling == kLlama3Scaling) {
        positions.scaling = RopeScaling::Llama3;
        positions.low = paramDouble(attention, "rope_low_frequency");
        positions.high = paramDouble(attention, "rope_high_frequency");
        positions.original = paramInt(attention, "rope_original_length");
    }
    return positions;
}

double keysSeen(const ParamMap& attention, std::int64_t context)
{
    const auto time = static_cast<double>(context);
    const auto window = static_cast<double>(paramInt(attention, kWindowParam));
    if (!paramBool(attention, "causal")) {
        return time;
    }
    return window > 0 && window < time ? window - window * window / (2 * time) : time / 2;
}

} // namespace residua::projects
