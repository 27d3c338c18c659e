// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Returns a label as it is compared: without blanks around it, and a number in its shortest form, so that "01", "1",
/// "1.0" and " 1" are one class.
[[nodiscard]] std::string classLabel(std::string_view text);

/// Returns the number of classes that these labels need in a new network: that of different labels, at least 2.
[[nodiscard]] std::int64_t classesOf(const std::vector<std::string>& labels);

/// True if each class is named by its own number.
[[nodiscard]] bool areOrdinals(const std::vector<std::string>& names);

/// The numbers of the classes that labels name.
class ClassNumbers {
public:
    /// Numbers the labels of a training set, which may repeat, for a network with so many classes.
    /// - If the reading has names of classes, these number the labels.
    /// - Else whole numbers below `classes` are the numbers of their classes. Other numbers are numbered by their
    ///   value, and all other labels by their text. The first reading numbers whole numbers by their value too, and
    ///   tells labels apart by their text.
    /// Errors have no place.
    [[nodiscard]] static Result<ClassNumbers> of(const std::vector<std::string>& labels, std::int64_t classes,
                                                 const Reading& reading);

    /// Returns the number of a label. It is a name, or the number of a class of the network if names are not numbers
    /// themselves. The error has no place.
    [[nodiscard]] Result<std::int64_t> numberOf(const std::string& label) const;
    /// Returns the names by number.
    [[nodiscard]] const std::vector<std::string>& names() const { return m_names; }
    /// Returns notes for the user on labels, which may repeat: different texts that are one class, and classes that no
    /// label of the training set names. One sentence each.
    [[nodiscard]] std::vector<std::string> notesOn(const std::vector<std::string>& training,
                                                   const std::vector<std::string>& heldOut = {}) const;

private:
    enum class Numbers { Refused, AreClasses };

    [[nodiscard]] std::string missing(const std::string& label) const;

    std::vector<std::string> m_names;
    std::map<std::string, std::int64_t, std::less<>> m_exact;
    /// By classLabel(); nullopt if several names are equal.
    std::map<std::string, std::optional<std::int64_t>, std::less<>> m_byLabel;
    std::int64_t m_classes = 0;
    bool m_known = false;                 ///< the names are those of the reading
    Numbers m_numbers = Numbers::Refused; ///< labels that are numbers and no names
};

/// Returns the split of each row by the number of its class. The sizes are those of splitSizes(). Within a class, the
/// rows are in an order that `seed` draws. Every class is in training; in validation and test too, as far as there are
/// rows enough; beyond that, by its share of the rows. The first reading draws from all rows alike.
[[nodiscard]] std::vector<Split> splitsOf(const std::vector<std::int64_t>& labels, double validation, double test,
                                          std::int64_t seed, ReadingVersion version);

/// Returns at most `count` rows to show of those with these labels: in turn one of each class, the first rows first. Of
/// more classes than `count` it takes evenly spaced ones.
[[nodiscard]] std::vector<std::size_t> evenRows(const std::vector<std::int64_t>& labels, std::size_t count);

} // namespace residua::engine
