// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/attention_options.h"

namespace residua::projects {

AttentionBias attentionBiasOf(const ParamMap& attention)
{
    const std::string& name = paramText(attention, kBiasParam);
    return name == kQkBias      ? AttentionBias::Qk
           : name == kQkvBias   ? AttentionBias::Qkv
           : name == kAllBiases ? AttentionBias::All
                                : AttentionBias::None;
}

bool hasBias(AttentionBias bias, std::string_view projection)
{
    const AttentionBias least = projection == "out" ? AttentionBias::All
                                : projection == "v" ? AttentionBias::Qkv
                                                    : AttentionBias::Qk;
    return bias >= least;
}

const char* wordOf(AttentionBias bias)
{
    switch (bias) {
    case AttentionBias::None:
        break;
    case AttentionBias::Qk:
        return kQkBias;
    case AttentionBias::Qkv:
        return kQkvBias;
    case AttentionBias::All:
        return kAllBiases;
    }
    return kNoBias;
}

QkNorm qkNormOf(const ParamMap& attention)
{
    const std::string& name = paramText(attention, kQkNormParam);
    return name == kHeadNorm ? QkNorm::Head : name == kAllHeadsNorm ? QkNorm::AllHeads : QkNorm::None;
}

const char* wordOf(QkNorm norm)
{
    return norm == QkNorm::Head ? kHeadNorm : norm == QkNorm::AllHeads ? kAllHeadsNorm : kNoQkNorm;
}

std::int64_t rotatingFeatures(double share, std::int64_t headDim)
{
    return static_cast<std::int64_t>(share * static_cast<double>(headDim)); // truncated, as in released models
}

RotaryPositions rotaryOf(const ParamMap& attention, std::int64_t headDim)
{
    RotaryPositions positions;
    if (!paramBool(attention, kRopeParam)) {
        return positions;
    }
    positions.features = rotatingFeatures(paramDouble(attention, kRotaryShareParam), headDim);
    positions.base = paramDouble(attention, kRopeBaseParam);
    const std::string& scaling = paramText(attention, kRopeScalingParam);
    if (scaling != kNoScaling) {
        positions.factor = paramDouble(attention, kRopeFactorParam);
    }
    if (scaling == kLinearScaling) {
        positions.scaling = RopeScaling::Linear;
    } else if (scaling == kLlama3Scaling) {
        positions.scaling = RopeScaling::Llama3;
        positions.low = paramDouble(attention, kRopeLowParam);
        positions.high = paramDouble(attention, kRopeHighParam);
        positions.original = paramInt(attention, kRopeOriginalParam);
    }
    return positions;
}

ParamMap rotaryParams(const RotaryPositions& positions, double share)
{
    if (positions.features == 0) {
        return {{kRopeParam, false}};
    }
    ParamMap params = {{kRopeParam, true}, {kRopeBaseParam, positions.base}, {kRotaryShareParam, share}};
    if (positions.scaling != RopeScaling::None) {
        const bool linear = positions.scaling == RopeScaling::Linear;
        params[kRopeScalingParam] = std::string(linear ? kLinearScaling : kLlama3Scaling);
        params[kRopeFactorParam] = positions.factor;
    }
    if (positions.scaling == RopeScaling::Llama3) {
        params[kRopeLowParam] = positions.low;
        params[kRopeHighParam] = positions.high;
        params[kRopeOriginalParam] = positions.original;
    }
    return params;
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
