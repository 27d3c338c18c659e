// SPDX-License-Identifier: GPL-3.0-or-later
// Describes a depth mix in words.
#include "projects/pytorch/topology_code.h"

#include "projects/base/text.h"

#include <algorithm>

namespace residua::projects {
namespace {

std::string stackWords(const DepthMix& mix)
{
    std::string text = "Entry e_0 of the stack is its input, entry ";
    if (mix.blockLayers > 1) {
        return text + "e_b the sum of the branches of the b-th " + std::to_string(mix.blockLayers) +
               " layers, as far as they have run.";
    }
    return text +
           ((mix.entry == StackEntry::Full) ? "e_j the full output x_j of layer j." : "e_j the branch f_j of layer j.");
}

std::string readerWords(const DepthMix& mix)
{
    std::string text = "Layer j reads ";
    if (mix.feeds == MixFeeds::ResidualBesideBranch) {
        text += hasTwoFamilies(mix)
                    ? "x_{j-1}, and x_j is Σ_i w_ij e_i plus the branches since the last site of the same kind."
                    : "x_{j-1}, and x_j = f_j(x_{j-1}) + Σ_i w_ij e_i.";
    } else {
        text += "m_j = Σ_i w_ij e_i";
        const auto name = [](MixPort port) { return nameOf(port); };
        const std::string ports = joinedText(portsOf(mix.ports), ", ", name);
        text += mix.ports != MixPorts::Input ? ", a mix of its own for each of " + ports : "";
        text += (mix.entry == StackEntry::Full) ? ", and x_j = m_j + f_j(m_j)" : "";
        text += ".";
    }
    return text + (mix.finalMix ? " The final output is a mix too." : " The final output is the last layer's.");
}

std::string weightWords(const DepthMix& mix, const DepthPlan& plan)
{
    const bool gated = mix.gate.kind != GateKind::None;
    const bool learned = mix.weight != WeightKind::Fixed || !learnedTerms(mix, plan).empty();
    const std::string tau = pythonReal(mix.temperature);
    const WeightTraits traits = traitsOf(mix.weight);
    std::string text(traits.words);
    if (traits.isPerToken) {
        return text +
               (traits.attends                            ? ", τ = " + tau
                : mix.normalise == NormaliseOver::Sources ? ", with a softmax over the sources at τ = " + tau
                                                          : "") +
               ".";
    }
    text += mix.weight == WeightKind::Fixed && learned ? " but for those of LEARNED. " : ". ";
    const std::string name = gated ? "p_ij" : "w_ij";
    switch (mix.normalise) {
    case NormaliseOver::None:
        text += gated ? "" : "w_ij = c_ij.";
        break;
    case NormaliseOver::Sources:
        text += name + " = exp(c_ij / τ) / Σ_k exp(c_kj / τ) over the sources k of reader j, τ = " + tau + ".";
        break;
    case NormaliseOver::Targets:
        text += name + " = exp(c_ij / τ) / Σ_k exp(c_ik / τ) over the readers k of entry i, τ = " + tau + ".";
        break;
    }
    if (gated) {
        const std::string base = mix.normalise == NormaliseOver::None ? "c_ij" : "p_ij";
        const std::string entry = mix.gate.input == GateInput::Raw ? "e_i>" : "RMSNorm(e_i)>";
        const std::string gate = mix.gate.vectors == GateVectors::PerEntry ? "<v_ij, " + entry : "<v_j, " + entry;
        text += (text.ends_with(' ') ? "" : " ") +
                std::string(mix.gate.kind == GateKind::Outside ? "w_ij = " + base + " + ReLU(" + gate + ")"
                                                               : "w_ij = ReLU(" + base + " + " + gate + ")") +
                " for each token.";
    }
    return text;
}

} // namespace

std::vector<std::string> wordsOf(const DepthMix& mix, const DepthPlan& plan)
{
    std::vector<std::string> result{stackWords(mix) + " " + readerWords(mix), weightWords(mix, plan)};
    if (std::ranges::any_of(plan.readers, [](const DepthReader& r) { return r.middle.has_value(); })) {
        result.emplace_back("Deep readers weigh the sum of the middle entries as one.");
    }
    return result;
}

} // namespace residua::projects
