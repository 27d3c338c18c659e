// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/class_numbers.h"

#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <set>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t\r\n\v\f";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// Returns the number that a text without blanks is; nullopt for other texts, infinity and NaN.
std::optional<double> numberIn(std::string_view text)
{
    if (text.starts_with('+') && !text.starts_with("+-")) {
        text.remove_prefix(1);
    }
    const auto number = numberFrom<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Returns the class that a label of classLabel() numbers; nullopt if it is no whole number below `classes`.
std::optional<std::int64_t> classIn(const std::string& label, std::int64_t classes)
{
    const auto number = numberFrom<std::int64_t>(label);
    return number && *number >= 0 && *number < classes ? number : std::nullopt;
}

/// Returns the different labels by number, by the rules of the first reading.
std::vector<std::string> firstOrder(const std::vector<std::string>& labels)
{
    const std::set<std::string> all(labels.begin(), labels.end());
    std::vector<std::string> names(all.begin(), all.end());
    const auto valueOf = [](const std::string& label) { return numberFrom<std::int64_t>(label); };
    if (std::ranges::all_of(names, [&](const std::string& label) { return valueOf(label).has_value(); })) {
        std::ranges::stable_sort(names, {}, [&](const std::string& label) { return *valueOf(label); });
    }
    return names;
}

/// Returns the names by number.
std::vector<std::string> newestOrder(const std::vector<std::string>& labels, std::int64_t classes)
{
    std::set<std::string> all;
    for (const std::string& label : labels) {
        all.insert(classLabel(label));
    }
    std::vector<std::string> names(all.begin(), all.end());
    const auto isClass = [&](const std::string& label) { return classIn(label, classes).has_value(); };
    if (!names.empty() && std::ranges::all_of(names, isClass)) {
        std::int64_t most = 0;
        for (const std::string& label : names) {
            most = std::max(most, *classIn(label, classes));
        }
        names.clear();
        for (std::int64_t number = 0; number <= most; ++number) {
            names.push_back(std::to_string(number));
        }
    } else if (std::ranges::all_of(names, [](const std::string& label) { return numberIn(label).has_value(); })) {
        std::ranges::stable_sort(names, {}, [](const std::string& label) { return *numberIn(label); });
    }
    return names;
}

/// Divides `total` rows among classes. `left` has the number of rows of each class that are not taken yet. Every class
/// with two rows left gets one as far as `total` goes; beyond that, by their shares of all `rows`. The last row of a
/// class is taken last.
std::vector<std::int64_t> divided(std::int64_t total, const std::vector<std::int64_t>& rows,
                                  const std::vector<std::int64_t>& left)
{
    const auto all = static_cast<double>(std::reduce(rows.begin(), rows.end()));
    std::vector<std::int64_t> got(rows.size());
    using Wish = std::pair<double, std::int64_t>; // the lower class first
    std::priority_queue<Wish> wishes;
    const auto wish = [&](std::size_t at) {
        if (got[at] == left[at]) {
            return;
        }
        const double lacks =
            static_cast<double>(rows[at]) * static_cast<double>(total) / all - static_cast<double>(got[at]);
        const bool isLast = got[at] + 1 == left[at];
        wishes.emplace(lacks + (isLast ? -2 * all : got[at] == 0 ? all : 0), -static_cast<std::int64_t>(at));
    };
    for (std::size_t at = 0; at < rows.size(); ++at) {
        wish(at);
    }
    for (std::int64_t i = 0; i < total && !wishes.empty(); ++i) {
        const auto at = static_cast<std::size_t>(-wishes.top().second);
        wishes.pop();
        ++got[at];
        wish(at);
    }
    return got;
}

/// Returns the split of each row in an order that `seed` draws over all of them.
std::vector<Split> unstratifiedSplits(const std::vector<std::int64_t>& positions, const projects::SplitSizes& sizes)
{
    std::vector<Split> splits;
    for (const std::int64_t position : positions) {
        splits.push_back(position < sizes.training                      ? Split::Train
                         : position < sizes.training + sizes.validation ? Split::Validation
                                                                        : Split::Test);
    }
    return splits;
}

std::vector<Split> stratifiedSplits(const std::vector<std::int64_t>& labels, const std::vector<std::int64_t>& positions,
                                    const projects::SplitSizes& sizes)
{
    std::map<std::int64_t, std::vector<std::size_t>> byClass; // the rows of each, in the drawn order
    std::vector<std::size_t> order(labels.size());
    for (std::size_t row = 0; row < labels.size(); ++row) {
        order[static_cast<std::size_t>(positions[row])] = row;
    }
    for (const std::size_t row : order) {
        byClass[labels[row]].push_back(row);
    }
    std::vector<std::int64_t> rows;
    for (const auto& [label, members] : byClass) {
        rows.push_back(std::ssize(members));
    }
    const std::vector<std::int64_t> validation = divided(sizes.validation, rows, rows);
    std::vector<std::int64_t> left;
    std::ranges::transform(rows, validation, std::back_inserter(left), std::minus<>());
    const std::vector<std::int64_t> test = divided(sizes.test, rows, left);
    std::vector<Split> splits(labels.size(), Split::Train);
    std::size_t at = 0;
    for (const auto& [label, members] : byClass) {
        for (std::int64_t i = 0; i < validation[at] + test[at]; ++i) {
            splits[members[static_cast<std::size_t>(i)]] = i < validation[at] ? Split::Validation : Split::Test;
        }
        ++at;
    }
    return splits;
}

} // namespace

std::string classLabel(std::string_view text)
{
    const std::string_view label = trimmed(text);
    if (const auto whole = numberFrom<std::int64_t>(label.starts_with('+') ? label.substr(1) : label)) {
        return std::to_string(*whole);
    }
    const auto number = numberIn(label);
    if (!number) {
        return std::string(label);
    }
    constexpr double kMostExact = 9007199254740992.0;
    const bool isWhole = *number == std::floor(*number) && std::abs(*number) <= kMostExact;
    return isWhole ? std::to_string(static_cast<std::int64_t>(*number)) : numberText(*number);
}

std::int64_t classesOf(const std::vector<std::string>& labels)
{
    std::set<std::string> all;
    for (const std::string& label : labels) {
        all.insert(classLabel(label));
    }
    return std::max<std::int64_t>(std::ssize(all), 2);
}

bool areOrdinals(const std::vector<std::string>& names)
{
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (classLabel(names[i]) != std::to_string(i)) {
            return false;
        }
    }
    return true;
}

Result<ClassNumbers> ClassNumbers::of(const std::vector<std::string>& labels, std::int64_t classes,
                                      const Reading& reading)
{
    ClassNumbers result;
    const bool known = !reading.classes.empty();
    result.m_classes = classes;
    result.m_known = known;
    result.m_names = known ? reading.classes : reading.isFirst() ? firstOrder(labels) : newestOrder(labels, classes);
    const std::int64_t count = std::ssize(result.m_names);
    if (count > classes) {
        return known ? Error{{},
                             "the network was trained with " + std::to_string(count) + " classes, the project has " +
                                 std::to_string(classes)}
                     : Error{{},
                             "has " + std::to_string(count) + " different classes, expected at most " +
                                 std::to_string(classes) + ": set the number of classes to " + std::to_string(count)};
    }
    bool haveNumber = false;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string& name = result.m_names[static_cast<std::size_t>(i)];
        const std::string label = classLabel(name);
        result.m_exact.emplace(name, i);
        const auto [place, isNew] = result.m_byLabel.emplace(label, i);
        place->second = isNew ? place->second : std::nullopt;
        haveNumber = haveNumber || numberIn(label).has_value();
    }
    if (areOrdinals(result.m_names) || (known && !haveNumber)) {
        result.m_numbers = Numbers::AreClasses;
    }
    return result;
}

std::string ClassNumbers::missing(const std::string& label) const
{
    constexpr std::size_t kCompared = 1000;
    const std::span<const std::string> compared(m_names.data(), std::min(m_names.size(), kCompared));
    const std::string_view meant = nearest(label, compared);
    return "has the class \"" + label + "\", which is none of the " + std::to_string(m_names.size()) + " of the " +
           (m_known ? "network" : "training data") +
           (meant.empty() ? std::string() : ", such as \"" + std::string(meant) + "\"") +
           ": rename it, or leave it out";
}

Result<std::int64_t> ClassNumbers::numberOf(const std::string& text) const
{
    const std::string label = classLabel(text);
    if (const auto same = m_byLabel.find(label); same != m_byLabel.end()) {
        if (same->second) {
            return *same->second;
        }
        // The text distinguishes names that differ only in blanks or zeros. Equal names stay ambiguous.
        const auto exact = m_exact.find(text);
        const bool alone = exact != m_exact.end() && std::ranges::count(m_names, text) == 1;
        return alone ? Result<std::int64_t>(exact->second)
                     : Error{{},
                             "has the class \"" + label +
                                 "\", which several classes of the network are called: expected the number of one"};
    }
    const auto number = m_numbers == Numbers::AreClasses ? classIn(label, m_classes) : std::nullopt;
    return number ? Result<std::int64_t>(*number) : Error{{}, missing(label)};
}

std::vector<std::string> ClassNumbers::notesOn(const std::vector<std::string>& training,
                                               const std::vector<std::string>& heldOut) const
{
    static constexpr std::size_t kNamed = 5;
    const auto named = [](const auto& all, const auto& textOf) {
        const std::vector first(all.begin(), std::next(all.begin(), std::ptrdiff_t(std::min(kNamed, all.size()))));
        return joinedText(first, ", ", textOf) + (all.size() > kNamed ? " …" : "");
    };
    const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
    std::map<std::int64_t, std::set<std::string>> spellings;
    std::set<std::int64_t> trained;
    for (const auto* const labels : {&training, &heldOut}) {
        for (const std::string& label : *labels) {
            if (const Result<std::int64_t> number = numberOf(label)) {
                spellings[*number].insert(label);
                if (labels == &training) {
                    trained.insert(*number);
                }
            }
        }
    }
    std::vector<std::string> merged;
    std::vector<std::string> missing;
    for (std::int64_t number = 0; number < std::ssize(m_names); ++number) {
        const std::string& name = m_names[static_cast<std::size_t>(number)];
        const std::set<std::string>& texts = spellings[number];
        if (texts.size() > 1) {
            merged.push_back("the labels " + named(texts, quoted) + " are one class, " + name);
        }
        if (!trained.contains(number)) {
            missing.push_back(name);
        }
    }
    std::vector<std::string> notes = merged;
    if (merged.size() > kNamed) {
        notes.resize(kNamed);
        notes.push_back("classes with labels of different spellings besides: " +
                        std::to_string(merged.size() - kNamed));
    }
    if (!missing.empty()) {
        notes.push_back("no example of the training data has " +
                        (missing.size() == 1 ? std::string("the class ")
                                             : "one of the " + std::to_string(missing.size()) + " classes ") +
                        named(missing, std::identity()) +
                        (!m_known && areOrdinals(m_names)
                             ? ": labels that are whole numbers below the number of classes number them from 0"
                             : ""));
    }
    return notes;
}

std::vector<Split> splitsOf(const std::vector<std::int64_t>& labels, double validation, double test, std::int64_t seed,
                            ReadingVersion version)
{
    const std::int64_t count = std::ssize(labels);
    const projects::SplitSizes sizes = projects::splitSizes(count, validation, test);
    const std::uint64_t key = drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Rows), 0);
    std::vector<std::int64_t> positions;
    for (std::int64_t row = 0; row < count; ++row) {
        positions.push_back(permuted(row, count, key));
    }
    return version == ReadingVersion::First ? unstratifiedSplits(positions, sizes)
                                            : stratifiedSplits(labels, positions, sizes);
}

std::vector<std::size_t> evenRows(const std::vector<std::int64_t>& labels, std::size_t count)
{
    std::map<std::int64_t, std::vector<std::size_t>> rowsOf;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        std::vector<std::size_t>& rows = rowsOf[labels[row]];
        if (rows.size() < count) {
            rows.push_back(row);
        }
    }
    std::vector<std::vector<std::size_t>> classes;
    const std::size_t shown = std::min(count, rowsOf.size());
    std::size_t at = 0;
    for (auto& [label, rows] : rowsOf) {
        if (classes.size() < shown && at++ * shown / rowsOf.size() == classes.size()) {
            classes.push_back(std::move(rows));
        }
    }
    std::vector<std::size_t> picked;
    for (std::size_t turn = 0; turn < count; ++turn) {
        for (const std::vector<std::size_t>& rows : classes) {
            if (turn < rows.size() && picked.size() < count) {
                picked.push_back(rows[turn]);
            }
        }
    }
    return picked;
}

} // namespace residua::engine
