// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "engine/compute/train/image_chain.h"
#include "engine/compute/train/measures.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace residua::engine {

/// Images of a diffusion model, made batch by batch. The state's network, data and project must outlive this. Engine
/// thread.
class ImageGeneration {
public:
    /// Makes `otherwise` images if `generation` gives no number. Precondition: checkGeneration().
    ImageGeneration(TrainedState state, const Generation& generation, std::int64_t seed, std::int64_t otherwise);

    /// Makes a step of the current batch. Precondition: !atEnd().
    void advance();
    [[nodiscard]] bool atEnd() const { return std::ssize(m_classes) == m_count && !m_chain; }
    /// Returns the share of all steps that is done.
    [[nodiscard]] double share() const;

    /// Returns the classes of the finished images.
    [[nodiscard]] std::span<const std::int64_t> classes() const { return std::span(m_classes).first(finished()); }
    /// Returns the values of the finished images, as the network reads them.
    [[nodiscard]] std::span<const float> values() const { return m_values; }
    /// Returns the finished images for people.
    [[nodiscard]] FedBatch shown() const;
    /// Returns the finished images as the data have them: SampleReady::values.
    [[nodiscard]] Matrix asData() const;

private:
    [[nodiscard]] std::size_t finished() const { return m_values.size() / m_each; }
    void beginBatch();

    TrainedState m_state;
    ChainOptions m_options;
    std::int64_t m_count;
    std::size_t m_each;                  ///< values of an image
    std::vector<std::int64_t> m_classes; ///< also of those in m_chain
    std::vector<float> m_values;
    std::optional<ImageChain> m_chain;
    std::size_t m_steps = 1; ///< of a chain
};

/// The progress of a query that makes images.
class GenerationNews {
public:
    enum class Shows { Share, Images };
    GenerationNews(QueryTag tag, Shows shows) : m_tag(tag), m_shows(shows) {}

    /// Returns the share that is done if it is new, with all finished images if there are more and they are shown.
    [[nodiscard]] std::optional<Event> take(const ImageGeneration& generation);

private:
    QueryTag m_tag;
    Shows m_shows;
    double m_share = 0;
    std::size_t m_finished = 0;
};

} // namespace residua::engine
