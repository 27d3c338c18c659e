// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/numbered_pictures.h"

#include "engine/data/text/folder_files.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <map>
#include <set>

namespace residua::engine {
namespace {

/// Returns a label as text: the name of its class as a run records it, or its number.
std::string labelText(const PictureSet& set, std::int64_t label)
{
    return set.classes.empty() ? std::to_string(label) : asUtf8(set.classes[static_cast<std::size_t>(label)]);
}

/// Returns the labels that pictures of a set have, each once.
std::vector<std::string> labelsWithPictures(const PictureSet& set)
{
    return mapped(std::set<std::int64_t>(set.labels.begin(), set.labels.end()),
                  [&](const std::int64_t label) { return labelText(set, label); });
}

/// Returns the labels of a set: the names of its classes, or the numbers that its pictures have.
std::vector<std::string> labelsOfSet(const PictureSet& set)
{
    auto names = mapped(set.classes, asUtf8);
    return names.empty() ? labelsWithPictures(set) : names;
}

/// Returns the reading whose rules number the classes of this training set. In the first reading, folders are numbered
/// in the order of their names as text, and numbers are as they are. A format that numbers its classes keeps that
/// order.
Reading numberingOf(const PictureSet& set, const Reading& reading)
{
    const bool inOrder = (reading.isFirst() || set.numbered > 0) && reading.classes.empty();
    return {kNewestReading, inOrder && !set.classes.empty() ? labelsOfSet(set) : reading.classes};
}

/// Replaces the labels of a set by the numbers of the classes.
Status renumber(PictureSet& set, const ClassNumbers& classes)
{
    std::map<std::int64_t, std::int64_t> numbers;
    for (std::int64_t& label : set.labels) {
        const auto [known, isNew] = numbers.try_emplace(label, 0);
        if (isNew) {
            known->second = RESIDUA_TRY(classes.numberOf(labelText(set, label)));
        }
        label = known->second;
    }
    return Done{};
}

/// Returns what is known of pictures before they are opened: of those that are held out, how the training part is read.
PictureRequest requestFor(PictureUse use, const projects::PictureData& source, const Reading& reading,
                          const std::vector<PictureSet>& training)
{
    PictureRequest request{use, reading.version, source.labelColumn, source.valueRange, source.classes};
    if (!training.empty() && training.front().columns && !reading.isFirst()) {
        request.labelColumn = training.front().columns->label;
        request.valueRange = training.front().columns->range;
    }
    return request;
}

/// Opens the pictures for training, whatever number of classes the project has.
Result<PictureSet> trainingSet(const projects::PictureData& source, const std::filesystem::path& projectDirectory,
                               const PreparationWatch& watch)
{
    PictureRequest request = requestFor(PictureUse::Training, source, {}, {});
    request.classes = 0;
    return openPictures(projectDirectory / source.path, request, watch);
}

/// Returns a note if all pictures have one class; empty otherwise.
std::string noteOnClasses(const PictureSet& set, const std::string& place)
{
    const auto differs = [&](std::int64_t label) { return label != set.labels.front(); };
    if (set.labels.size() < 2 || std::ranges::any_of(set.labels, differs)) {
        return {};
    }
    const auto label = static_cast<std::size_t>(set.labels.front());
    return place + ": all " + std::to_string(set.labels.size()) + " pictures have one class, " +
           (label < set.classes.size() ? set.classes[label] : std::to_string(label));
}

bool areNumbers(const std::vector<std::string>& names)
{
    return std::ranges::all_of(names,
                               [](const std::string& name) { return numberFrom<std::uint64_t>(name).has_value(); });
}

/// Forgets the names of numbered classes if the network's classes have other names or are numbers: the numbers are
/// theirs.
void dropOtherNames(PictureSet& set, const std::vector<std::string>& known)
{
    const auto isKnown = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
    if (set.numbered == 0 || known.empty() ||
        (std::ranges::any_of(set.classes, isKnown) && areNumbers(known) == areNumbers(set.classes))) {
        return;
    }
    set.classes.clear();
    for (std::int64_t& label : set.labels) {
        label += set.firstNumber;
    }
}

/// Checks a set that was opened from `place`, and adds a note if all its pictures have one class.
Status checkSet(PictureSet& set, const std::vector<PictureSet>& training, const projects::PictureData& source,
                const std::string& place, const Reading& reading)
{
    if (!set.emptyClasses.empty() && !source.skipBad) {
        const std::string unread = unreadPicturesIn(set.emptyClasses.front());
        return Error{set.emptyClasses.front(),
                     "has no pictures" + (unread.empty() ? "" : " of a kind that is read (" + unread + ")") +
                         ", as the folder of a class must: add some PNG, JPEG or WebP files, or set skip_bad"};
    }
    if (!training.empty() && !reading.isFirst()) {
        RESIDUA_TRY(refuseShared(training.front().files, set.files));
    }
    if (std::string note = noteOnClasses(set, place); !note.empty()) {
        set.notes.push_back(std::move(note));
    }
    return Done{};
}

} // namespace

Result<NumberedPictures> numberedPictures(const projects::PictureData& source,
                                          const std::filesystem::path& projectDirectory, const Reading& reading,
                                          const PreparationWatch& watch)
{
    NumberedPictures read;
    for (const PictureUse use : {PictureUse::Training, PictureUse::HeldOut}) {
        const bool trains = use == PictureUse::Training;
        const std::string& path = trains ? source.path : source.validationPath;
        if (path.empty()) {
            continue;
        }
        PictureSet set =
            RESIDUA_TRY(openPictures(projectDirectory / path, requestFor(use, source, reading, read.sets), watch));
        const std::string place = (projectDirectory / path).string();
        RESIDUA_TRY(checkSet(set, read.sets, source, place, reading));
        const std::vector<std::string>& known = trains ? reading.classes : read.classes.names();
        if (!set.refusedNames.empty() && !areNumbers(known)) {
            return Error{place, set.refusedNames}; // the format's numbers may begin at another class
        }
        dropOtherNames(set, known);
        (trains ? read.training : read.heldOut) = labelsWithPictures(set);
        if (trains) {
            Result<ClassNumbers> numbers =
                ClassNumbers::of(labelsOfSet(set), source.classes, numberingOf(set, reading));
            if (!numbers) {
                return Error{place, numbers.error().message};
            }
            read.classes = *std::move(numbers);
        }
        if (const Status numbered = renumber(set, read.classes); !numbered) {
            return Error{place, numbered.error().message};
        }
        read.sets.push_back(std::move(set));
    }
    return read;
}

Result<std::vector<std::string>> labelsIn(const projects::PictureData& source,
                                          const std::filesystem::path& projectDirectory, const PreparationWatch& watch)
{
    return trainingSet(source, projectDirectory, watch).transform(labelsOfSet);
}

Status checkReadable(const projects::PictureData& source, const std::filesystem::path& projectDirectory,
                     const PreparationWatch& watch)
{
    constexpr std::size_t kMostDecoded = 256;
    const NumberedPictures read = RESIDUA_TRY(numberedPictures(source, projectDirectory, {}, watch));
    for (const PictureSet& set : read.sets) {
        std::set<std::int64_t> decoded;
        for (std::size_t i = 0; i < set.labels.size() && decoded.size() < kMostDecoded; ++i) {
            if (!decoded.insert(set.labels[i]).second) {
                continue;
            }
            if (const Result<Picture> picture = set.read(i); !picture && !source.skipBad) {
                return picture.error();
            }
            RESIDUA_TRY(stillWanted(watch, 0));
        }
    }
    return Done{};
}

Result<std::int64_t> countClasses(const projects::PictureData& source, const std::filesystem::path& projectDirectory,
                                  const PreparationWatch& watch)
{
    return trainingSet(source, projectDirectory, watch).transform([](const PictureSet& set) {
        return set.numbered > 0 ? set.numbered : classesOf(labelsOfSet(set));
    });
}

} // namespace residua::engine
