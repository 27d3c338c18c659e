// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/data_summary.h"
#include "engine/base/machine/failure.h"
#include "engine/data/pictures/augment.h"
#include "engine/data/pictures/picture.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::size_t kShownNumbers = 16;
constexpr int kFedDigits = 4;

/// The fields of an open data set's batch by example.
class Examples {
public:
    Examples(const Dataset& dataset, const Batch& batch)
        : m_dataset(dataset), m_batch(batch), m_schema(dataset.schema()), m_classes(dataset.classes())
    {
    }

    [[nodiscard]] FedExample at(std::int64_t row) const
    {
        const bool perToken = m_schema.target().shape == m_schema.input().shape;
        FedExample example;
        if (m_schema.input().isTokens()) {
            example.input = textOf(row, perToken);
        } else if (!isPicture()) {
            example.input = numbers(0, row);
        }
        if (m_schema.isNoised()) {
            example.target = noisedOf(row);
        } else if (!perToken && m_schema.target().isTokens()) {
            example.target = classesOf(row);
        } else if (!perToken) {
            example.target = numbers(1, row);
        }
        for (std::size_t i = 0; i < m_schema.fields.size(); ++i) {
            if (m_schema.fields[i].name == projects::kNextSentence) {
                example.target = of<std::int64_t>(i, row).front() == 0 ? "the second text follows the first"
                                                                       : "the second text is from elsewhere";
            }
        }
        return example;
    }

    /// True if the inputs are pictures: real values with a label, or with noise.
    [[nodiscard]] bool isPicture() const
    {
        return m_schema.isNoised() || (!m_schema.input().isTokens() && m_schema.target().isTokens());
    }

    /// Returns the numbers of a field in one example.
    template <class Value>
    [[nodiscard]] std::span<const Value> of(std::size_t field, std::int64_t row) const
    {
        const std::vector<Value>& all = m_batch.values<Value>(field);
        const std::size_t each = all.size() / static_cast<std::size_t>(m_batch.batch);
        return std::span(all).subspan(static_cast<std::size_t>(row) * each, each);
    }

private:
    [[nodiscard]] std::string numbers(std::size_t field, std::int64_t row) const
    {
        return std::visit(
            [&]<class Value>(const std::vector<Value>&) {
                std::string text;
                const std::span<const Value> all = of<Value>(field, row);
                for (const Value value : all.first(std::min(all.size(), kShownNumbers))) {
                    text += (text.empty() ? "" : " ") + numberText(static_cast<double>(value), kFedDigits);
                }
                return all.size() > kShownNumbers ? text + " …" : text;
            },
            m_batch.fields.at(field));
    }

    /// Returns the number of tokens of a row before its padding.
    [[nodiscard]] std::size_t lengthOf(std::int64_t row) const
    {
        for (std::size_t i = 0; i < m_schema.fields.size(); ++i) {
            if (m_schema.fields[i].name == projects::kLength) {
                return static_cast<std::size_t>(of<std::int64_t>(i, row).front());
            }
            if (m_schema.fields[i].role == projects::FieldRole::Mask) { // padding follows the tokens
                const auto isToken = [](auto value) { return value == 1; };
                return std::visit(
                    [&]<class Value>(const std::vector<Value>&) {
                        return static_cast<std::size_t>(std::ranges::count_if(of<Value>(i, row), isToken));
                    },
                    m_batch.fields[i]);
            }
        }
        return of<std::int64_t>(0, row).size();
    }

    /// Returns the text without its padding. Tokens that are to be predicted in place are marked, and so are the
    /// borders of documents.
    [[nodiscard]] std::string textOf(std::int64_t row, bool perToken) const
    {
        const std::size_t length = lengthOf(row);
        const auto field =
            std::ranges::find(m_schema.fields, std::string(projects::kPositions), &projects::ExampleField::name);
        if (field == m_schema.fields.end()) {
            return textOf(row, perToken, 0, length);
        }
        const auto positions = of<std::int64_t>(static_cast<std::size_t>(field - m_schema.fields.begin()), row);
        std::string text;
        for (std::size_t begin = 0; begin < length;) {
            std::size_t end = begin + 1;
            while (end < length && positions[end] != 0) {
                ++end;
            }
            text += (begin > 0 ? " ‖ " : "") + textOf(row, perToken, begin, end);
            begin = end;
        }
        return text;
    }

    /// Returns the text of tokens `begin` to `end` of a row.
    [[nodiscard]] std::string textOf(std::int64_t row, bool perToken, std::size_t begin, std::size_t end) const
    {
        const std::span<const std::int64_t> tokens = of<std::int64_t>(0, row).subspan(begin, end - begin);
        const auto hides = [&] {
            const auto targets = of<std::int64_t>(1, row).subspan(begin, end - begin);
            return std::ranges::count(targets, projects::kIgnoredTarget) > 0;
        };
        if (!perToken || !hides()) {
            return m_dataset.decode({tokens.begin(), tokens.end()});
        }
        std::string text;
        std::vector<std::int64_t> between;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::int64_t hidden = of<std::int64_t>(1, row)[begin + i];
            if (hidden == projects::kIgnoredTarget) {
                between.push_back(tokens[i]);
                continue;
            }
            text += m_dataset.decode(std::exchange(between, {})) + "[" + visible(m_dataset.decode({tokens[i]})) + "→" +
                    visible(m_dataset.decode({hidden})) + "]";
        }
        return text + m_dataset.decode(between);
    }

    [[nodiscard]] std::string classOf(std::int64_t label) const
    {
        return label < std::ssize(m_classes) ? m_classes[static_cast<std::size_t>(label)] : std::to_string(label);
    }

    /// Returns the class and the step of noise.
    [[nodiscard]] std::string noisedOf(std::int64_t row) const
    {
        std::string text;
        for (std::size_t i = 0; i < m_schema.fields.size(); ++i) {
            const projects::ExampleField& field = m_schema.fields[i];
            if (field.name == projects::kTimestep) {
                text += ", step " + std::to_string(of<std::int64_t>(i, row).front());
            } else if (field.name == projects::kClass) {
                const std::int64_t number = of<std::int64_t>(i, row).front();
                text = (number + 1 == field.vocabulary ? "no class" : classOf(number)) + text;
            }
        }
        return text;
    }

    [[nodiscard]] std::string classesOf(std::int64_t row) const
    {
        const std::string own = classOf(of<std::int64_t>(1, row).front());
        std::optional<std::int64_t> other;
        double share = 0;
        for (std::size_t i = 0; i < m_schema.fields.size(); ++i) {
            if (m_schema.fields[i].name == projects::kMixedLabel) {
                other = of<std::int64_t>(i, row).front();
            } else if (m_schema.fields[i].name == projects::kMixedShare) {
                share = of<float>(i, row).front();
            }
        }
        return other ? own + " " + numberText(1 - share, 2) + " + " + classOf(*other) + " " + numberText(share, 2)
                     : own;
    }

    const Dataset& m_dataset;
    const Batch& m_batch;
    projects::ExampleSchema m_schema;
    std::vector<std::string> m_classes;
};

/// Returns the form in which images of the source are shown: latents by their first three channels, or the first.
PictureForm formOf(const projects::DataSource& data)
{
    const auto [channels, height, width] = *projects::imageSizeOf(data.source);
    return {height, width, channels >= 3 ? 3 : 1};
}

/// Returns how the values of an image become those of a picture; latents, whose deviation is about 1, from −2 to 2.
projects::Augmentation rangeOf(const projects::DataSource& data)
{
    constexpr double kOfLatents = 0.25;
    return projects::promptsArePictures(data) ? data.augmentation
                                              : projects::Augmentation{.mean = 0.5, .deviation = kOfLatents};
}

/// Returns the number of images in a row of a sheet of `count`.
std::int64_t columnsOf(std::int64_t count)
{
    return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
}

/// Returns `count` images, of `each` values by channel, row and column, on white, row by row.
Picture sheetOf(std::span<const float> values, std::int64_t count, const projects::DataSource& data)
{
    const std::int64_t columns = columnsOf(count);
    constexpr std::int64_t kGap = FedBatch::kGap;
    const PictureForm form = formOf(data);
    const projects::Augmentation range = rangeOf(data);
    const std::size_t each = values.size() / static_cast<std::size_t>(count);
    const std::int64_t rows = (count + columns - 1) / columns;
    Picture sheet{{rows * (form.height + kGap) - kGap, columns * (form.width + kGap) - kGap, form.channels}, {}};
    sheet.values.assign(static_cast<std::size_t>(sheet.form.values()), 255);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::span<const float> image = values.subspan(static_cast<std::size_t>(i) * each, each);
        const Picture picture = shownAgain(image.first(static_cast<std::size_t>(form.values())), form, range);
        const std::int64_t top = i / columns * (form.height + kGap);
        const std::int64_t left = i % columns * (form.width + kGap);
        const std::int64_t line = form.width * form.channels;
        for (std::int64_t y = 0; y < form.height; ++y) {
            std::copy_n(picture.values.begin() + y * line, line,
                        sheet.values.begin() + ((top + y) * sheet.form.width + left) * form.channels);
        }
    }
    return sheet;
}

/// Adds the sheet of as many images as the batch has examples.
void addSheet(FedBatch& fed, std::span<const float> values, const projects::DataSource& data)
{
    const std::int64_t count = std::ssize(fed.examples);
    fed.columns = columnsOf(count);
    fed.sheet = encodedPng(sheetOf(values, count, data));
}

} // namespace

FedBatch fedBatch(const Dataset& dataset, const Batch& batch, const projects::DataSource& data, std::int64_t most)
{
    FedBatch fed;
    const Examples examples(dataset, batch);
    const std::int64_t count = std::min(batch.batch, most);
    for (std::int64_t row = 0; row < count; ++row) {
        fed.examples.push_back(examples.at(row));
    }
    if (examples.isPicture() && count > 0) {
        const std::span<const float> values = batch.values<float>(0);
        addSheet(fed, values.first(values.size() / static_cast<std::size_t>(batch.batch) * fed.examples.size()), data);
    }
    return fed;
}

FedBatch madeImages(const Dataset& dataset, std::span<const float> values, const std::vector<std::int64_t>& classes,
                    const projects::DataSource& data)
{
    FedBatch made;
    const std::vector<std::string> names = dataset.classes();
    for (const std::int64_t label : classes) {
        made.examples.push_back(
            {{}, label < std::ssize(names) ? names[static_cast<std::size_t>(label)] : std::to_string(label)});
    }
    if (!classes.empty()) {
        addSheet(made, values, data);
    }
    return made;
}

Matrix recordedImages(std::span<const float> values, std::int64_t count, const projects::DataSource& data,
                      std::int64_t step)
{
    Picture sheet = sheetOf(values, count, data);
    const PictureForm full = sheet.form;
    const std::int64_t part = (std::max(full.height, full.width) - 1) / matrix::kSamplesSide + 1;
    const PictureForm form{(full.height + part - 1) / part, (full.width + part - 1) / part, 3};
    const Picture shown = stretched(std::move(sheet), form);
    Matrix matrix{matrix::kSamples, step, form.height, form.width, {}};
    for (std::size_t i = 0; i + 2 < shown.values.size(); i += 3) {
        const int colour = shown.values[i] << 16 | shown.values[i + 1] << 8 | shown.values[i + 2];
        matrix.values.push_back(static_cast<float>(colour));
    }
    return matrix;
}

Result<FedBatch> firstFedBatch(const projects::Project& project, const std::filesystem::path& projectDirectory,
                               std::int64_t most, const std::function<bool()>& wanted)
{
    Result<FedBatch> fed = FedBatch{};
    const auto failure = attemptStandard([&] {
        const Result<std::unique_ptr<Dataset>> opened =
            Dataset::open(project, projectDirectory, [&wanted](double) { return !wanted || wanted(); });
        if (!opened) {
            fed = opened.error();
            return;
        }
        Batch batch;
        if (const Status filled = (*opened)->fill(batch, Split::Train, project.seeds.order, 0, project.training.batch);
            !filled) {
            fed = filled.error();
            return;
        }
        fed = fedBatch(**opened, batch, project.data, most);
    });
    return failure ? Result<FedBatch>(Error{"data", failure->text}) : fed;
}

} // namespace residua::engine
