// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "projects/base/random.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace residua::engine {

struct SamplerOptions {
    std::int64_t window = 128; ///< the tokens of context for the network: its sequence length
    double temperature = 0.8;  ///< 0: greedy
    std::int64_t topK = 0;     ///< 0: all tokens
    std::int64_t seed = 1;
    std::int64_t prefix = 0; ///< the first tokens, which all tokens see
    Pass pass = {};          ///< of each token
};

/// Draws a token from logits: softmax(logits / temperature) over the topK largest; the lower of equal tokens comes
/// first. Has its own random numbers, so that it does not disturb a training.
class TokenChooser {
public:
    TokenChooser(double temperature, std::int64_t topK, std::int64_t seed);
    /// Returns a token. Precondition: `logits` is not empty.
    [[nodiscard]] std::int64_t choose(std::span<const float> logits);

private:
    double m_temperature;
    std::int64_t m_topK;
    RandomStream m_random;
    std::vector<std::int64_t> m_order;
    std::vector<double> m_weights;
};

/// Extends a sequence one token at a time by a forward pass over its last `window` tokens. The network must outlive
/// this.
class Sampler {
public:
    Sampler(CompiledNetwork& network, c10::Device device, const SamplerOptions& options);

    /// Appends the next token to `tokens`, which must not be empty.
    void extend(std::vector<std::int64_t>& tokens);

private:
    CompiledNetwork& m_network;
    c10::Device m_device;
    SamplerOptions m_options;
    TokenChooser m_chooser;
};

/// The most probable tokens at a hidden position, with their probabilities, the best first.
struct FilledToken {
    std::int64_t position = 0;
    std::vector<std::pair<std::int64_t, double>> candidates;
};
/// Returns the `count` most probable classes of each example of a batch, whose outputs are classes.
/// FilledToken::position is the number of the example.
[[nodiscard]] std::vector<FilledToken> classesOf(CompiledNetwork& network, c10::Device device, const DeviceBatch& batch,
                                                 std::int64_t count, const Pass& pass);
/// Returns `count` candidates, or the whole vocabulary if it is smaller, for each token of the sequence that is `mask`.
/// All are predicted at once from the tokens before and after them.
[[nodiscard]] std::vector<FilledToken> candidatesFor(CompiledNetwork& network, c10::Device device,
                                                     const std::vector<std::int64_t>& tokens, std::int64_t mask,
                                                     std::int64_t count, const Pass& pass);

} // namespace residua::engine
