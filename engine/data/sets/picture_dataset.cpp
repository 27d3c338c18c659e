// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/picture_dataset.h"

#include "engine/data/pictures/augment.h"
#include "engine/data/pictures/picture.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/sets/numbered_pictures.h"
#include "engine/data/text/text_memory.h"
#include "projects/base/mapped.h"
#include "projects/base/random.h"
#include "projects/base/text.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>

namespace residua::engine {
namespace {

/// The first number of the draws of batches, beyond those of pictures.
constexpr std::uint64_t kOfBatches = std::uint64_t{1} << 62;

std::string transparencyNote(std::int64_t pictures)
{
    return countText(static_cast<std::size_t>(pictures), "picture") +
           (pictures == 1 ? " has transparency; it is" : " have transparency; they are") + " put on black";
}

/// Calls `work` with 0 … count − 1 on all cores, this thread among them, until it returns false.
void onAllCores(std::size_t count, const std::function<bool(std::size_t)>& work)
{
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stopped = false;
    std::exception_ptr failure;
    std::mutex guard;
    const auto run = [&] {
        try {
            for (std::size_t i = next++; i < count && !stopped; i = next++) {
                if (!work(i)) {
                    stopped = true;
                }
            }
        } catch (...) {
            stopped = true;
            const std::scoped_lock lock(guard);
            failure = failure ? failure : std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::size_t most = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
        while (helpers.size() + 1 < most) {
            helpers.emplace_back(run);
        }
        run();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// The samples of each split of a generator: held-out ones come in addition.
std::array<std::int64_t, kSplits> drawnSizes(const projects::DrawnPictures& source, const projects::DataSource& data)
{
    const auto share = [&](double fraction) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(source.samples) * fraction));
    };
    return {source.samples, share(data.validationFraction), share(data.testFraction)};
}

} // namespace

DataOutline outlineOf(const projects::DrawnPictures& source, const projects::DataSource& data)
{
    return {projects::examplesOf(data), drawnSizes(source, data)};
}

PictureDataset::PictureDataset(const projects::Project& project, PictureForm form, const Reading& reading)
    : m_schema(projects::examplesOf(project.data)),
      m_augmentation(project.data.augmentation),
      m_form(form),
      m_reading(reading.version),
      m_stepRows(reading.isFirst() ? 0 : project.training.batch * project.training.accumulate)
{
}

PictureDataset::~PictureDataset()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_ending = true;
    }
    m_changed.notify_all();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

Result<std::unique_ptr<Dataset>> PictureDataset::open(const projects::PictureData& source,
                                                      const projects::Project& project,
                                                      const std::filesystem::path& projectDirectory,
                                                      const Reading& reading, const PreparationWatch& watch)
{
    const PictureForm form{source.height, source.width, source.channels};
    std::unique_ptr<PictureDataset> dataset(new PictureDataset(project, form, reading));
    dataset->m_fit = source.fit;
    NumberedPictures read = RESIDUA_TRY(numberedPictures(source, projectDirectory, reading, watch));
    const double validation = source.validationPath.empty() ? project.data.validationFraction : 0.0;
    for (PictureSet& set : read.sets) {
        std::vector<Split> splits(set.labels.size(), Split::Validation);
        if (&set == &read.sets.front()) {
            splits = splitsOf(set.labels, validation, project.data.testFraction, project.seeds.data, reading.version);
        }
        RESIDUA_TRY(dataset->add(std::move(set), splits, source.skipBad, watch));
    }
    if (dataset->rowsOf(Split::Train).empty()) {
        return Error{(projectDirectory / source.path).string(), "no picture is left to train on"};
    }
    if (dataset->m_transparent > 0 && !reading.isFirst()) {
        dataset->m_notes.push_back(transparencyNote(dataset->m_transparent));
    }
    dataset->m_classes = read.classes.names();
    std::ranges::move(read.classes.notesOn(read.training, read.heldOut), std::back_inserter(dataset->m_notes));
    if (!areOrdinals(dataset->m_classes)) {
        dataset->m_notes.push_back(orderNote("classes", dataset->m_classes));
    }
    return std::unique_ptr<Dataset>(std::move(dataset));
}

Result<std::unique_ptr<Dataset>> PictureDataset::open(const projects::DrawnPictures& source,
                                                      const projects::Project& project, const Reading& reading,
                                                      const PreparationWatch& watch)
{
    std::unique_ptr<PictureDataset> dataset(new PictureDataset(project, {source.size, source.size, 3}, reading));
    const PictureDrawing drawing{source.size, source.noise};
    const std::int64_t seed = project.seeds.data;
    PictureSet set;
    dataset->m_classes = drawnClasses();
    std::vector<Split> splits;
    const std::array<std::int64_t, kSplits> sizes = drawnSizes(source, project.data);
    for (std::size_t split = 0; split < kSplits; ++split) {
        splits.insert(splits.end(), static_cast<std::size_t>(sizes[split]), static_cast<Split>(split));
    }
    for (std::uint64_t i = 0; i < splits.size(); ++i) {
        set.labels.push_back(drawnLabel(seed, i));
    }
    set.read = [drawing, seed](std::size_t index) { return Result<Picture>(drawPicture(drawing, seed, index)); };
    const Status added = dataset->add(std::move(set), splits, false, watch);
    return added ? Result<std::unique_ptr<Dataset>>(std::move(dataset)) : added.error();
}

Status PictureDataset::add(PictureSet set, const std::vector<Split>& splits, bool skipBad,
                           const PreparationWatch& watch)
{
    const std::size_t count = set.labels.size();
    const bool whole = m_augmentation.leastArea >= 1; // else a part of the original is read each time
    const bool holds = whole && static_cast<std::uint64_t>(m_form.values()) * count <= mostTextInMemory();
    std::vector<std::vector<std::uint8_t>> held(holds ? count : 0);
    std::vector<std::optional<Error>> bad(count);
    std::mutex guard;
    std::size_t done = 0;
    Status wanted = Done{};
    const std::thread::id caller = std::this_thread::get_id(); // the watch is called on it alone
    onAllCores(count, [&](std::size_t i) {
        Result<Picture> picture = set.read(i);
        const bool wasTransparent = picture && picture->wasTransparent;
        if (!picture) {
            bad[i] = picture.error();
        } else if (holds) {
            held[i] = inForm(*std::move(picture)).values;
        }
        const std::scoped_lock lock(guard);
        m_transparent += wasTransparent ? 1 : 0;
        ++done;
        if (std::this_thread::get_id() == caller && wanted) {
            wanted = stillWanted(watch, static_cast<double>(done) / static_cast<double>(count));
        }
        return wanted.ok() && (skipBad || !bad[i]);
    });
    if (!wanted) {
        return wanted;
    }
    std::vector<std::string> skipped;
    for (std::size_t i = 0; i < count; ++i) {
        if (!bad[i]) {
            m_rows[static_cast<std::size_t>(splits[i])].push_back({m_sets.size(), i, set.labels[i]});
        } else if (!skipBad) {
            return *bad[i];
        } else {
            skipped.push_back(bad[i]->text());
        }
    }
    for (const std::string& folder : set.emptyClasses) {
        skipped.push_back("[" + folder + "] has no pictures");
    }
    if (!skipped.empty()) {
        constexpr std::size_t kNamed = 3;
        const std::size_t named = std::min(kNamed, skipped.size());
        m_notes.push_back(
            "left out as bad: " + std::to_string(skipped.size()) + ", " +
            joinedText(std::vector<std::string>(skipped.begin(), skipped.begin() + std::ptrdiff_t(named))) +
            (skipped.size() > named ? " …" : ""));
    }
    for (const std::string& note : set.notes) {
        if (std::ranges::find(m_notes, note) == m_notes.end()) {
            m_notes.push_back(note);
        }
    }
    m_sets.push_back(std::move(set));
    m_held.push_back(std::move(held));
    return Done{};
}

Result<Picture> PictureDataset::pictureOf(const Row& row, std::optional<std::uint64_t> key) const
{
    if (!m_held[row.set].empty()) {
        return Picture{m_form, m_held[row.set][row.index]};
    }
    return m_sets[row.set].read(row.index).transform([&](Picture picture) {
        return key && m_augmentation.leastArea < 1
                   ? randomPart(std::move(picture), m_augmentation.leastArea, m_form, *key, m_reading)
                   : inForm(std::move(picture));
    });
}

Picture PictureDataset::inForm(Picture picture) const
{
    const bool stretches = m_fit == projects::PictureFit::Stretch &&
                           (picture.form.height != m_form.height || picture.form.width != m_form.width);
    return stretches ? stretched(std::move(picture), m_form, m_reading) : fitted(std::move(picture), m_form, m_reading);
}

Status PictureDataset::fillRows(Batch& batch, std::int64_t count, const std::function<const Row&(std::int64_t)>& rowAt,
                                const std::function<std::uint64_t(std::int64_t)>& keyOf) const
{
    batch.batch = count;
    batch.time = 0;
    const auto values = static_cast<std::size_t>(m_form.values());
    if (mixes()) { // the fields first, because a new one makes references to others invalid
        batch.values<float>(3).assign(static_cast<std::size_t>(count), 0.0F);
    }
    std::vector<std::int64_t>& labels = batch.values<std::int64_t>(1);
    std::vector<float>& inputs = batch.values<float>(0);
    labels.resize(static_cast<std::size_t>(count));
    inputs.resize(static_cast<std::size_t>(count) * values);
    std::mutex guard;
    Status status = Done{};
    const auto fillRow = [&](std::size_t i) {
        const Row& row = rowAt(static_cast<std::int64_t>(i));
        const auto key = keyOf ? std::optional(keyOf(static_cast<std::int64_t>(i))) : std::nullopt;
        Result<Picture> picture = pictureOf(row, key);
        if (!picture) {
            const std::scoped_lock lock(guard);
            status = picture.error();
            return false;
        }
        if (key) {
            augment(*picture, m_augmentation, *key);
        }
        labels[i] = row.label;
        normalise(*picture, m_augmentation, std::span(inputs).subspan(i * values, values));
        return true;
    };
    const bool decodes = std::ranges::any_of(m_held, [](const auto& held) { return held.empty(); });
    if (decodes) {
        onAllCores(static_cast<std::size_t>(count), fillRow);
    } else {
        for (std::size_t i = 0; i < static_cast<std::size_t>(count) && fillRow(i); ++i) {
        }
    }
    if (mixes()) {
        batch.values<std::int64_t>(2) = labels;
    }
    return status;
}

Result<std::string> PictureDataset::fillText(Batch& batch, const std::string& path) const
{
    Picture picture = RESIDUA_TRY(readPicture(path, m_reading));
    const bool wasTransparent = picture.wasTransparent && m_reading != ReadingVersion::First;
    batch.batch = 1;
    batch.time = 0;
    if (mixes()) {
        batch.values<float>(3).assign(1, 0.0F);
        batch.values<std::int64_t>(2).assign(1, 0);
    }
    batch.values<std::int64_t>(1).assign(1, 0);
    std::vector<float>& inputs = batch.values<float>(0);
    inputs.resize(static_cast<std::size_t>(m_form.values()));
    normalise(inForm(std::move(picture)), m_augmentation, inputs);
    return wasTransparent ? transparencyNote(1) : std::string();
}

Status PictureDataset::fillDrawn(Batch& batch, const Request& request, const std::vector<std::int64_t>& numbers) const
{
    const std::vector<Row>& rows = rowsOf(Split::Train);
    const auto number = [&](std::int64_t i) { return numbers[static_cast<std::size_t>(i)]; };
    const auto rowAt = [&](std::int64_t i) -> const Row& {
        return rows[static_cast<std::size_t>(shuffledRow(number(i), std::ssize(rows), Split::Train, request.seed))];
    };
    const auto keyOf = [&](std::int64_t i) {
        return drawBits(static_cast<std::uint64_t>(request.seed), streamOf(Stream::Changes),
                        static_cast<std::uint64_t>(number(i)));
    };
    return fillRows(batch, std::ssize(numbers), rowAt, keyOf);
}

Status PictureDataset::fillMixed(Batch& batch, const Request& request) const
{
    const std::int64_t first = request.index * request.count;
    const std::int64_t stepRows = m_stepRows > 0 ? m_stepRows : request.count;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(request.count));
    std::iota(numbers.begin(), numbers.end(), first);
    std::vector<std::size_t> others; // the row that each is mixed with; those of other batches follow the batch's own
    for (std::int64_t number = first; number < first + request.count; ++number) {
        const std::int64_t other = number % stepRows == 0 ? number + stepRows - 1 : number - 1;
        const auto found = std::ranges::find(numbers, other);
        others.push_back(static_cast<std::size_t>(found - numbers.begin()));
        if (found == numbers.end()) {
            numbers.push_back(other);
        }
    }
    RESIDUA_TRY(fillDrawn(batch, request, numbers));
    const auto size = static_cast<std::size_t>(m_form.values());
    const auto count = static_cast<std::size_t>(request.count);
    std::vector<float>& inputs = batch.values<float>(0);
    std::vector<float>& shares = batch.values<float>(3);
    std::vector<std::size_t> unmixed =
        others; // rows of inputs; the loop below mixes a row before the one that precedes it
    for (std::size_t i = 0; i < count; ++i) {
        if (others[i] > i && others[i] < count) {
            const std::size_t end = inputs.size();
            inputs.resize(end + size);
            std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(others[i] * size), size,
                        inputs.begin() + static_cast<std::ptrdiff_t>(end));
            unmixed[i] = end / size;
        }
    }
    for (std::size_t i = count; i-- > 0;) {
        const double share = mixedShare(m_augmentation.mixup,
                                        drawBits(static_cast<std::uint64_t>(request.seed), streamOf(Stream::Changes),
                                                 kOfBatches + static_cast<std::uint64_t>(numbers[i] / stepRows)));
        mixWith(std::span(inputs).subspan(i * size, size), std::span(inputs).subspan(unmixed[i] * size, size), share);
        batch.values<std::int64_t>(2)[i] = batch.values<std::int64_t>(1)[others[i]];
        shares[i] = static_cast<float>(share);
    }
    batch.batch = request.count;
    inputs.resize(count * size);
    shares.resize(count);
    batch.values<std::int64_t>(1).resize(count);
    batch.values<std::int64_t>(2).resize(count);
    return Done{};
}

Status PictureDataset::prepare(Batch& batch, const Request& request) const
{
    const std::int64_t first = request.index * request.count;
    if (request.split == Split::Train && mixes()) {
        return fillMixed(batch, request);
    }
    if (request.split == Split::Train) {
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(request.count));
        std::iota(numbers.begin(), numbers.end(), first);
        return fillDrawn(batch, request, numbers);
    }
    const std::vector<Row>& rows = rowsOf(request.split);
    const auto rowAt = [&](std::int64_t i) -> const Row& {
        return rows[static_cast<std::size_t>(shuffledRow(first + i, std::ssize(rows), request.split, request.seed))];
    };
    return fillRows(batch, request.count, rowAt, {});
}

void PictureDataset::prepareAhead() const
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [&] { return m_ending || (m_wanted.index >= 0 && !m_ready); });
        if (m_ending) {
            return;
        }
        const Request request = m_wanted;
        std::unique_ptr<Batch> batch = std::move(m_ahead);
        lock.unlock();
        Status status = Done{};
        try {
            batch = batch ? std::move(batch) : std::make_unique<Batch>();
            status = prepare(*batch, request);
        } catch (const std::exception& error) {
            status = Error{"data", error.what()};
        }
        lock.lock();
        m_ahead = std::move(batch);
        m_aheadStatus = std::move(status);
        m_ready = true;
        m_changed.notify_all();
    }
}

Status PictureDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const Request request{split, seed, index, count};
    if (split != Split::Train) {
        return prepare(batch, request);
    }
    std::unique_lock lock(m_mutex);
    Status status = Done{};
    if (m_wanted == request) {
        m_changed.wait(lock, [&] { return m_ready; });
        status = m_aheadStatus;
        if (status) {
            std::swap(batch, *m_ahead);
        }
    } else {
        m_changed.wait(lock, [&] { return m_wanted.index < 0 || m_ready; });
        status = prepare(batch, request);
    }
    // Each rank takes every so many batches.
    m_wanted = {split, seed, index + (m_last >= 0 && index > m_last ? index - m_last : 1), count};
    m_last = index;
    m_ready = false;
    if (!m_thread.joinable()) {
        m_thread = std::thread([this] { prepareAhead(); });
    }
    m_changed.notify_all();
    return status;
}

Status PictureDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const std::vector<Row>& rows = rowsOf(split);
    const std::int64_t first = index * count;
    const std::int64_t left = std::clamp<std::int64_t>(std::ssize(rows) - first, 0, count);
    return fillRows(batch, left,
                    [&](std::int64_t i) -> const Row& { return rows[static_cast<std::size_t>(first + i)]; }, {});
}

Status PictureDataset::fillShown(Batch& batch, Split split, std::int64_t count) const
{
    const std::vector<Row>& rows = rowsOf(split);
    auto labels = mapped(rows, &Row::label);
    const std::vector<std::size_t> shown = evenRows(labels, static_cast<std::size_t>(count));
    return fillRows(batch, std::ssize(shown),
                    [&](std::int64_t i) -> const Row& { return rows[shown[static_cast<std::size_t>(i)]]; }, {});
}

} // namespace residua::engine
