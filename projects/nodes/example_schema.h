// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::projects {

struct DataSource;
struct TrainingPlan;

/// What is counted of examples.
enum class Unit { Token, Sample };
/// "token" or "sample".
[[nodiscard]] const char* unitWord(Unit unit);

/// What a field of an example is for.
enum class FieldRole {
    Input,  ///< enters the stem
    Target, ///< what the objective compares the head's output with
};

/// One of the arrays that every example consists of.
struct ExampleField {
    std::string name;
    FieldRole role = FieldRole::Input;
    Shape shape;                 ///< of a batch, with the element type: tokens [batch, time], [batch, 6]
    std::int64_t vocabulary = 0; ///< of tokens: each is below it

    [[nodiscard]] bool isTokens() const { return shape.element == Element::Token; }
    bool operator==(const ExampleField&) const = default;
};

/// What the examples of a data set consist of: one input and one target at least.
struct ExampleSchema {
    std::vector<ExampleField> fields;

    /// Tokens, and of each the token after it.
    [[nodiscard]] static ExampleSchema nextToken(std::int64_t vocabulary);
    /// Vectors, each with a target.
    [[nodiscard]] static ExampleSchema vectors(std::int64_t inputs, std::int64_t outputs);

    [[nodiscard]] const ExampleField& input() const { return first(FieldRole::Input); }
    [[nodiscard]] const ExampleField& target() const { return first(FieldRole::Target); }
    /// Whether the input is a sequence.
    [[nodiscard]] bool hasTime() const;
    /// What is counted of them: the tokens of sequences, else the examples themselves.
    [[nodiscard]] Unit unit() const { return hasTime() ? Unit::Token : Unit::Sample; }
    /// How many units `examples` examples have, whose sequences are `time` long.
    [[nodiscard]] std::int64_t units(std::int64_t examples, std::int64_t time) const;
    /// Numbers of one unit, in all fields: a token each, or the features of each.
    [[nodiscard]] std::int64_t numbersPerUnit() const;
    /// The shape of every stack entry at that width: [batch, time, width] or [batch, width].
    [[nodiscard]] Shape entry(std::int64_t width) const;
    /// The shape of the head's output: logits over the vocabulary for a target of tokens, else as the target.
    [[nodiscard]] Shape output() const;
    bool operator==(const ExampleSchema&) const = default;

private:
    [[nodiscard]] const ExampleField& first(FieldRole role) const;
};

/// As the document says; a vocabulary may be more than the data turn out to have.
[[nodiscard]] ExampleSchema examplesOf(const DataSource& data);
[[nodiscard]] inline const char* unitWord(const DataSource& data)
{
    return unitWord(examplesOf(data).unit());
}
/// Tokens or samples in a micro-batch: all samples of the training set where the full set is one batch. Where the
/// document does not say how many there are, as many as the plan's batch has. In double, so that absurd sizes do not
/// overflow; exact for those that validation allows.
[[nodiscard]] double unitsPerBatch(const DataSource& data, const TrainingPlan& plan);
/// Whether the objective has in these examples what it compares an output with.
[[nodiscard]] inline bool fits(const ObjectiveTraits& objective, const ExampleSchema& examples)
{
    return objective.target == examples.target().shape.element;
}

} // namespace residua::projects
