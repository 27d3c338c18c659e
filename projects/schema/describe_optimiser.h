// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/optimiser.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct Fields<AdamW> {
    static constexpr void visit(auto&& v)
    {
        v({"beta1", "β₁", "Decay of the first moment.", {.range = Range::halfOpen(0, 1), .paper = "0.9"}},
          &AdamW::beta1);
        v({"beta2", "β₂", "Decay of the second moment.", {.range = Range::halfOpen(0, 1), .paper = "0.98"}},
          &AdamW::beta2);
        v({"epsilon", "ε", "Added to the denominator.", {.range = Range::moreThan(0)}}, &AdamW::epsilon);
        v({"weight_decay",
           "weight decay",
           "Decoupled; mixing weights are left out unless the topology says otherwise.",
           {.range = Range::atLeast(0), .paper = "0.1"}},
          &AdamW::weightDecay);
    }
};
template <>
struct Fields<Sgd> {
    static constexpr void visit(auto&& v)
    {
        v({"momentum",
           "momentum",
           "Share of the last step that is kept.",
           {.range = Range::halfOpen(0, 1), .paper = "0.9"}},
          &Sgd::momentum);
        v({"weight_decay",
           "weight decay",
           "Added to the gradient, in proportion to the weight.",
           {.range = Range::atLeast(0)}},
          &Sgd::weightDecay);
    }
};
template <>
struct Fields<Adafactor> {
    static constexpr void visit(auto&& v)
    {
        v({"decay_exponent",
           "decay exponent",
           "c of β₂ = 1 − t⁻ᶜ at update t, the decay of the second moment.",
           {.range = Range::moreThan(0), .paper = "0.8"}},
          &Adafactor::decayExponent);
        v({"epsilon", "ε₁", "Added to the squared gradient.", {.range = Range::moreThan(0), .paper = "1e-30"}},
          &Adafactor::epsilon);
        v({"least_scale",
           "ε₂",
           "The rate is multiplied by the weight's root mean square, or by this if that is less.",
           {.range = Range::moreThan(0), .paper = "1e-3"}},
          &Adafactor::leastScale);
        v({"clip_threshold",
           "clip threshold",
           "Root mean square that an update is scaled down to.",
           {.range = Range::moreThan(0), .paper = "1"}},
          &Adafactor::clipThreshold);
        v({"factored_from",
           "factored from",
           "Least size of the two largest sides of a tensor whose second moment is kept as one number for each row and "
           "column.",
           {.range = Range::atLeast(1), .paper = "128 (T5X)"}},
          &Adafactor::factoredFrom);
        v({"weight_decay",
           "weight decay",
           "Share of the weight that a step takes away, whatever the learning rate.",
           {.range = Range::within(0, 1)}},
          &Adafactor::weightDecay);
    }
};
template <>
struct Choices<GaloreSide> {
    static constexpr Choice all[] = {{"shorter", "shorter", "std of galore-torch"},
                                     {"longer", "longer", "reverse_std of galore-torch"},
                                     {"left", "left"},
                                     {"right", "right"},
                                     {"both", "both", "full of galore-torch"}};
};
template <>
struct Fields<Galore> {
    static constexpr void visit(auto&& v)
    {
        v({"beta1", "β₁", "Decay of the first moment.", {.range = Range::halfOpen(0, 1), .paper = "0.9"}},
          &Galore::beta1);
        v({"beta2", "β₂", "Decay of the second moment.", {.range = Range::halfOpen(0, 1), .paper = "0.999"}},
          &Galore::beta2);
        v({"epsilon",
           "ε",
           "Added to the denominator before the bias is corrected.",
           {.range = Range::moreThan(0), .paper = "1e-6"}},
          &Galore::epsilon);
        v({"weight_decay",
           "weight decay",
           "Of the full weight, decoupled.",
           {.range = Range::atLeast(0), .paper = "0"}},
          &Galore::weightDecay);
        v({"rank",
           "rank",
           "Rank of the projected gradients of matrices in layers; at most the smaller side.",
           {.range = Range::atLeast(1), .paper = "128 (ANCRe)"}},
          &Galore::rank);
        v({"gap",
           "gap",
           "Updates between two choices of the projection, each with a singular value decomposition.",
           {.unit = "updates", .range = Range::atLeast(1), .paper = "200"}},
          &Galore::gap);
        v({"scale",
           "scale",
           "Factor on the update that is projected back.",
           {.range = Range::moreThan(0), .paper = "0.25"}},
          &Galore::scale);
        v({"side", "side", "The side of a gradient that is projected.", {.paper = "shorter"}}, &Galore::side);
    }
};
template <>
struct Choices<MuonScaling> {
    static constexpr Choice all[] = {{"original", "original", "√max(1, rows/columns)"},
                                     {"moonlight", "Moonlight", "0.2·√max(rows, columns)"}};
};
template <>
struct Fields<Muon> {
    static constexpr void visit(auto&& v)
    {
        v({"momentum", "momentum", "Decay of the mean gradient.", {.range = Range::halfOpen(0, 1), .paper = "0.95"}},
          &Muon::momentum);
        v({"nesterov", "Nesterov", "Looks one step of the mean ahead.", {.paper = "on"}}, &Muon::nesterov);
        v({"iterations",
           "iterations",
           "Newton-Schulz iterations that make an update nearly orthogonal; in bf16 if the precision is bf16.",
           {.range = Range::within(1, 99), .paper = "5"}},
          &Muon::iterations);
        v({"scaling", "scaling", "Factor on the rate by the shape of a weight."}, &Muon::scaling);
        v({"weight_decay", "weight decay", "Decoupled.", {.range = Range::atLeast(0), .paper = "0, 0.1 (Moonlight)"}},
          &Muon::weightDecay);
        v({"rest", "AdamW of the rest", "The AdamW of all that is no matrix of a layer."}, &Muon::rest);
        v({"rest_rate",
           "rate of the rest",
           "Learning rate of the rest as a share of the plan's.",
           {.range = Range::atLeast(0), .paper = "0.015 (3e-4 beside 0.02), 1 (Moonlight)"}},
          &Muon::restRate);
    }
};
template <>
struct Fields<Lion> {
    static constexpr void visit(auto&& v)
    {
        v({"beta1",
           "β₁",
           "Share of the momentum in an update, before its sign is taken.",
           {.range = Range::halfOpen(0, 1), .paper = "0.9"}},
          &Lion::beta1);
        v({"beta2", "β₂", "Decay of the momentum.", {.range = Range::halfOpen(0, 1), .paper = "0.99"}}, &Lion::beta2);
        v({"weight_decay",
           "weight decay",
           "Decoupled; 3 to 10 times as large as with AdamW.",
           {.range = Range::atLeast(0)}},
          &Lion::weightDecay);
    }
};
template <>
struct Choices<Optimiser> {
    static constexpr Choice all[] = {{"adamw", "AdamW"},   {"sgd", "SGD"},   {"adafactor", "Adafactor"},
                                     {"galore", "GaLore"}, {"muon", "Muon"}, {"lion", "Lion"}};
};
template <>
struct Choices<ParameterRole> {
    static constexpr Choice all[] = {{"any", "any"},
                                     {"hidden", "matrices of layers"},
                                     {"embedding", "embeddings and the stem"},
                                     {"head", "matrices of the head"},
                                     {"vector", "gains and biases"},
                                     {"topology", "topology"}};
};
template <>
struct Choices<GroupDecay> {
    static constexpr Choice all[] = {{"as_declared", "as without groups"}, {"all", "all"}, {"none", "none"}};
};
template <>
inline constexpr std::size_t kMostOf<ParameterGroup> = 64;
template <>
struct Fields<ParameterGroup> {
    static constexpr void visit(auto&& v)
    {
        v({"names", "names",
           "Pattern of the parameters' names, in which * stands for any text: layers.3.* is one layer."},
          &ParameterGroup::names);
        v({"role", "role", "What the parameters are in the network."}, &ParameterGroup::role);
        v({"optimiser", "optimiser", "The algorithm of these parameters."}, &ParameterGroup::optimiser);
        v({"rate_scale", "rate scale", "Their learning rate as a share of the plan's.", {.range = Range::atLeast(0)}},
          &ParameterGroup::rateScale);
        v({"decay", "decays", "Which of them the weight decay is for."}, &ParameterGroup::decay);
    }
};

} // namespace residua::projects
