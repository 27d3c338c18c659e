// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/attention_options.h"
#include "projects/pytorch/python_text.h"

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

/// Private to pytorch: code shared by several classes of the module. A helper is written only if it is used.
enum class Helper {
    LowRankLinear,
    LowRankConv2d,
    LowRankConv2dBySide,
    Scale,
    BatchNorm,
    DropExamples,
    StepEmbedding,
    NoiseLoss,
    Sinusoids,
    GridSinusoids,
    SinusoidHalves,
    Rotate,
    SlowFrequencies,
    WindowMask,
    FeatureAttention,
    OpenRelu,
    RoundHalfAway,
    Sinkhorn,
    TokenWeights,
    BetweenFeedForwards,
    Absent,
    Streams,
    Lanes,
    Loop,
    VisitLinear,
    AtVisit,
};

/// The properties of an attention that change its code. All others are numbers.
struct AttentionTraits {
    bool causal = true;
    bool window = false;
    bool features = false; ///< positive features instead of a softmax
    bool rope = false;
    bool rotatesPart = false; ///< of a head's features
    RopeScaling scaling = RopeScaling::None;
    QkNorm qkNorm = QkNorm::None;
    AttentionBias bias = AttentionBias::None;
    bool dropout = false;
    bool sharesHeads = false;          ///< fewer key-value heads than heads
    bool mixesValues = false;          ///< with those of the first layer
    bool masked = false;               ///< reads a padding mask
    std::array<bool, 4> factored = {}; ///< of q, k, v and out
    auto operator<=>(const AttentionTraits&) const = default;
};

class HelperCode {
public:
    explicit HelperCode(PythonNames names) : m_names(std::move(names)) {}

    /// The names at the top of the module.
    [[nodiscard]] PythonNames& names() { return m_names; }
    void use(Helper helper) { m_used.insert(helper); }
    [[nodiscard]] bool uses(Helper helper) const { return m_used.contains(helper); }
    /// Returns the name of the class for attentions with these traits.
    [[nodiscard]] std::string attention(const AttentionTraits& traits);
    /// Returns the code of all used helpers.
    [[nodiscard]] std::string text() const;

private:
    PythonNames m_names;
    std::set<Helper> m_used;
    std::vector<std::pair<AttentionTraits, std::string>> m_attentions;
};

/// Returns the names of all helpers.
[[nodiscard]] std::set<std::string> helperNames();

} // namespace residua::projects
