// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/pictures/picture_set.h"
#include "engine/data/sets/dataset.h"
#include "projects/model/data_source.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace residua::engine {

/// Returns the outline of generated pictures without drawing them.
[[nodiscard]] DataOutline outlineOf(const projects::DrawnPictures& source, const projects::DataSource& data);

/// Pictures with a label each. Field 0 has the normalised values, field 1 the labels. ClassNumbers
/// numbers the classes, splitsOf() splits the pictures. Opening decodes every picture once, on all cores, so that bad
/// ones are found before training. The decoded pictures stay in memory if they fit in half of what is free; otherwise
/// they are decoded again, on all cores, when a batch needs them. While a step runs, a thread prepares the training
/// batch after it.
class PictureDataset : public Dataset {
public:
    /// Opens the files. Errors name the file.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::PictureData& source,
                                                               const projects::Project& project,
                                                               const std::filesystem::path& projectDirectory,
                                                               const Reading& reading, const PreparationWatch& watch);
    /// Draws the pictures.
    [[nodiscard]] static Result<std::unique_ptr<Dataset>> open(const projects::DrawnPictures& source,
                                                               const projects::Project& project, const Reading& reading,
                                                               const PreparationWatch& watch);
    ~PictureDataset() override;

    [[nodiscard]] projects::ExampleSchema schema() const override { return m_schema; }
    [[nodiscard]] std::vector<std::string> notes() const override { return m_notes; }
    [[nodiscard]] std::vector<std::string> classes() const override { return m_classes; }
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(rowsOf(split)); }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    [[nodiscard]] Status fillShown(Batch& batch, Split split, std::int64_t count) const override;
    [[nodiscard]] Result<std::string> fillText(Batch& batch, const std::string& path) const override;

private:
    /// A picture: the set that it comes from and its index there.
    struct Row {
        std::size_t set = 0;
        std::size_t index = 0;
        std::int64_t label = 0;
    };
    /// A batch that is asked for.
    struct Request {
        Split split = Split::Train;
        std::int64_t seed = 0;
        std::int64_t index = -1;
        std::int64_t count = 0;
        bool operator==(const Request&) const = default;
    };

    PictureDataset(const projects::Project& project, PictureForm form, const Reading& reading);
    /// Adds the pictures of a set to `splits`, one for each picture of the set. Decodes them all. Adds the set's notes
    /// that are new.
    [[nodiscard]] Status add(PictureSet set, const std::vector<Split>& splits, bool skipBad,
                             const PreparationWatch& watch);
    [[nodiscard]] const std::vector<Row>& rowsOf(Split split) const { return m_rows[static_cast<std::size_t>(split)]; }
    /// Returns a picture in the network's form.
    [[nodiscard]] Picture inForm(Picture picture) const;
    /// Reads a picture in the network's form: with a key, a part of it that the key selects, if parts are drawn.
    [[nodiscard]] Result<Picture> pictureOf(const Row& row, std::optional<std::uint64_t> key) const;
    /// Fills a batch with `count` rows. If `keyOf` is not null, it gives the key of each row's changes.
    [[nodiscard]] Status fillRows(Batch& batch, std::int64_t count,
                                  const std::function<const Row&(std::int64_t)>& rowAt,
                                  const std::function<std::uint64_t(std::int64_t)>& keyOf) const;
    /// True if the examples have the fields of a mixture (projects::kMixedLabel).
    [[nodiscard]] bool mixes() const { return m_augmentation.mixup > 0; }
    /// Fills the batch of a request with its training rows, each mixed with the one before it in its step, and the
    /// step's first with its last. All rows of a step have the same share of the other.
    [[nodiscard]] Status fillMixed(Batch& batch, const Request& request) const;
    /// Fills a batch with training rows that have these numbers in the seeded order.
    [[nodiscard]] Status fillDrawn(Batch& batch, const Request& request,
                                   const std::vector<std::int64_t>& numbers) const;
    [[nodiscard]] Status prepare(Batch& batch, const Request& request) const;
    void prepareAhead() const;

    projects::ExampleSchema m_schema;
    projects::Augmentation m_augmentation;
    PictureForm m_form;
    projects::PictureFit m_fit = projects::PictureFit::Crop;
    ReadingVersion m_reading;
    std::int64_t m_stepRows; ///< rows of a step, over all micro-batches and ranks; 0: those of each batch
    std::vector<PictureSet> m_sets;
    std::vector<std::vector<std::vector<std::uint8_t>>> m_held; ///< decoded, by set and index; empty if not held
    std::array<std::vector<Row>, kSplits> m_rows;
    std::vector<std::string> m_classes; ///< by number
    std::vector<std::string> m_notes;
    std::int64_t m_transparent = 0; ///< pictures that were laid on black

    // The batch that is prepared ahead. The mutex guards all of it.
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable std::int64_t m_last = -1;       ///< index of the last training batch
    mutable Request m_wanted;               ///< what the thread prepares; index −1: nothing
    mutable std::unique_ptr<Batch> m_ahead; ///< the batch of m_wanted, once it is ready
    mutable Status m_aheadStatus = Done{};
    mutable bool m_ready = false;
    mutable bool m_ending = false;
    mutable std::thread m_thread; ///< starts with the first training batch
};

} // namespace residua::engine
