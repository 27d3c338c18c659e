// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/dataset.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// The windows of another data set whose tokens are hidden in part, or its images with noise. The tokens or the noise
/// of an example are drawn from its number: in training by the order's seed, in evaluation by the data's, so that they
/// are equal every time.
class HidingDataset : public Dataset {
public:
    [[nodiscard]] projects::ExampleSchema schema() const override { return m_windows->schema(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return m_windows->notes(); }
    [[nodiscard]] std::vector<DataPartOutline> parts() const override { return m_windows->parts(); }
    [[nodiscard]] std::int64_t size(Split split) const override { return m_windows->size(split); }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    [[nodiscard]] const TextCodec* codec() const override { return m_windows->codec(); }

protected:
    HidingDataset(std::unique_ptr<Dataset> windows, std::int64_t dataSeed)
        : m_windows(std::move(windows)), m_dataSeed(dataSeed)
    {
    }
    [[nodiscard]] const Dataset& windows() const { return *m_windows; }
    /// True if hide() got the number of an example that is evaluated.
    [[nodiscard]] static bool isEvaluation(std::int64_t first) { return first >= kEvaluation; }

private:
    /// Evaluation has numbers of its own, so that training does not hide the same tokens.
    static constexpr std::int64_t kEvaluation = std::int64_t{1} << 62;

    /// Hides tokens of each example, or adds noise to it; that of row i is number `first` + i.
    [[nodiscard]] virtual Status hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const = 0;

    std::unique_ptr<Dataset> m_windows;
    std::int64_t m_dataSeed;
};

} // namespace residua::engine
