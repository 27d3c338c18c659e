// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

/// A published block. It is defined in the project's named sizes, so it follows a change of width.
struct BlockPreset {
    std::string name; ///< stable key, e.g. "transformer"
    std::string title;
    std::string summary;
    Graph graph;
    bool readsImages = false; ///< [batch, height, width, d], which other blocks do not need
};
/// transformer (pre-norm, RMSNorm, RoPE, SwiGLU), transformer-qkv (the same with ports q, k, v),
/// transformer-qkvr (and residual), transformer-qr (layer 1 of MUDD), transformer-parallel (both halves read the
/// input), transformer-norms-after, transformer-sandwich, gpt (LayerNorm, GELU; its positions are learned in the stem),
/// mlp, mlp-normed (layer norm and swish after each of four linear layers), linear, low-rank-linear, bottleneck, mbconv
/// (EfficientNet).
[[nodiscard]] const std::vector<BlockPreset>& blockPresets();
/// Returns the graph with an input node for the condition `field`, a padding mask that every attention and mean reads.
[[nodiscard]] Graph withMask(Graph graph, const std::string& field);
/// Returns a stem that looks tokens up in a table.
[[nodiscard]] Graph tokenStem();
/// Returns a head that reads the next token's logits from an RMS norm.
[[nodiscard]] Graph tokenHead();
/// Returns BERT's stem for one text: tokens and up to `length` learned positions, then a norm.
[[nodiscard]] Graph bertStem(std::int64_t length);
/// Returns BERT's head for hidden tokens, after the norm that ends a network whose layers have their norms in front.
[[nodiscard]] Graph maskedHead();
/// Returns BERT's head for classes: the norm that ends the layers, `pool` ("first_token" or "mean_pool"), a layer with
/// tanh, and the classes.
[[nodiscard]] Graph pooledHead(const std::string& pool);
/// Adds to the embedding of each token that of the text of a pair which it belongs to.
[[nodiscard]] Graph withSegments(Graph stem);
/// Returns the network with BERT's head for the next sentence beside its own, and with a stem that reads both texts; or
/// without them if `nextSentence` is false. The pooler reads what the first linear of the head reads.
[[nodiscard]] Network withNextSentence(Network network, bool nextSentence);
/// Returns a stem that cuts pictures [channels, height, width] into patches as a sequence with learned positions. The
/// side of a patch is the largest power of two up to 16 that divides both sides and gives at least 49 patches, or
/// else 1.
[[nodiscard]] Graph patchStem(std::int64_t channels, std::int64_t height, std::int64_t width);
/// Returns a head that reads classes from the norm's mean over all positions.
[[nodiscard]] Graph classHead(const std::string& norm);
/// Return the stem, the block and the head of a diffusion transformer for images of a size, whose sides are multiples
/// of `patch`. Block and head read the value "network.condition" of the stem, which the layers compute shifts, scales
/// and gates from (adaLN-Zero). `learnsVariance`: as of Diffusion.
[[nodiscard]] Graph ditStem(const ImageSize& image, std::int64_t patch);
[[nodiscard]] Graph ditBlock(std::int64_t heads);
[[nodiscard]] Graph ditHead(const ImageSize& image, std::int64_t patch, bool learnsVariance);
/// Makes every attention of a graph read later positions too.
[[nodiscard]] Graph bidirectional(Graph graph);
/// The preset for layer 1 under MUDD, which reads a single entry.
inline constexpr const char* kFirstMuddBlock = "transformer-qr";

/// Returns the first block preset with the ports that a wiring feeds separately; transformer if it feeds none.
[[nodiscard]] const BlockPreset& blockPresetFor(MixPorts ports);
[[nodiscard]] const BlockPreset& blockPresetFor(const Wiring& wiring);

} // namespace residua::projects
