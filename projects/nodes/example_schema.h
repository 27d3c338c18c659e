// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

struct DataSource;
struct Diffusion;
struct Project;
enum class DocumentRows;
struct TrainingPlan;

/// The unit in which examples are counted.
enum class Unit { Token, Sample };
/// Returns "token" or "sample".
[[nodiscard]] const char* unitWord(Unit unit);

/// The purpose of a field of an example.
enum class FieldRole {
    Input,     ///< enters the stem
    Target,    ///< compared with the head's output by the objective
    Condition, ///< feeds the graph ports of its name: a class, a time
    Mask,      ///< a condition that is 1 where the input has values and 0 where it is padded
    Mixture,   ///< a further input of the objective (kMixedLabel, kMixedShare), which no graph reads
    Layout,    ///< where documents are in a row (kLength, kPositions); attention and positions read it, no graph does
    Label,     ///< a further target: the head's output of its name is trained on it by cross-entropy
};

/// The fields of mixed examples: the label of the other example [batch], and its share of the mixture [batch], below
/// 1/2 or equal to it. The loss is that of both labels by their shares.
inline constexpr const char* kMixedLabel = "mixed label";
inline constexpr const char* kMixedShare = "mixed share";
/// The further label of pairs of texts: 0 if the second text follows the first, 1 if it is another one (BERT).
inline constexpr const char* kNextSentence = "next_sentence";

/// The fields of rows of documents: the number of tokens before the padding [batch], and of packed documents the number
/// of each token in its document, from 0 [batch, time]. Padding is a document of its own.
inline constexpr const char* kLength = "length";
inline constexpr const char* kPositions = "positions";
/// The number of tokens of a row that all of its tokens see [batch]. It is no field of examples: it follows from the
/// targets of the objective, or from a prompt.
inline constexpr const char* kPrefix = "prefix";

/// The conditions of steps in a world: the action that was taken [batch, actions], and a place that was reached later
/// [batch, goals].
inline constexpr const char* kActionField = "action";
inline constexpr const char* kGoalField = "goal";

/// The conditions of noised images: the step of diffusion [batch], from 0, and the class [batch], whose last number is
/// the null class of an example without one.
inline constexpr const char* kTimestep = "timestep";
inline constexpr const char* kClass = "class";

/// An array that every example contains.
struct ExampleField {
    std::string name;
    FieldRole role = FieldRole::Input;
    /// Shape of a batch, with the element type: tokens [batch, time], tokens [batch] (a label), [batch, 8, 8, 1].
    Shape shape;
    std::int64_t vocabulary = 0; ///< for tokens and labels: each is below it
    std::int64_t outputs = 1;    ///< of a real target: numbers of the head's output for each of its numbers

    [[nodiscard]] bool isTokens() const { return shape.element == Element::Token; }
    bool operator==(const ExampleField&) const = default;
};

/// The fields of the examples of a data set: one input, one target, and any number of conditions and masks.
struct ExampleSchema {
    std::vector<ExampleField> fields;

    /// Returns the schema of tokens whose target is the next token; of rows of documents with their layout.
    [[nodiscard]] static ExampleSchema nextToken(std::int64_t vocabulary, DocumentRows rows = DocumentRows{});
    /// Returns the schema of padded texts with a label below `classes` and a mask; of pairs of texts also with the
    /// number of the text, 0 or 1, that each token belongs to.
    [[nodiscard]] static ExampleSchema labelledText(std::int64_t vocabulary, std::int64_t classes, bool pairs);
    /// Returns the schema of pictures with a label below `classes`. A picture is a vector of its values in the order
    /// [channels, height, width], as the node image reads it.
    [[nodiscard]] static ExampleSchema pictures(std::int64_t channels, std::int64_t height, std::int64_t width,
                                                std::int64_t classes);
    /// Returns the schema of vectors, each with a target.
    [[nodiscard]] static ExampleSchema vectors(std::int64_t inputs, std::int64_t outputs);

    /// Returns the schema of steps in a world: the state, the conditions kActionField and kGoalField, and the action
    /// again as the target.
    [[nodiscard]] static ExampleSchema world(std::int64_t states, std::int64_t actions, std::int64_t goals);

    [[nodiscard]] const ExampleField& input() const { return first(FieldRole::Input); }
    [[nodiscard]] const ExampleField& target() const { return first(FieldRole::Target); }
    /// Returns the shapes of the conditions and masks by name. A graph has an input port for each one that it reads.
    [[nodiscard]] std::map<std::string, Shape> conditions() const;
    /// True if the examples are rows of documents, some of whose tokens may be padding without a target.
    [[nodiscard]] bool hasLayout() const;
    /// True if the examples are steps in a world.
    [[nodiscard]] bool isOfWorld() const;
    /// True if the examples are noised images (noised()).
    [[nodiscard]] bool isNoised() const;
    /// Returns the schema of these labelled images with noise: the noise is the target, and kTimestep and kClass are
    /// conditions.
    [[nodiscard]] ExampleSchema noised(const Diffusion& diffusion) const;
    /// True if the input is a sequence of the training plan's length.
    [[nodiscard]] bool hasTime() const;
    /// Returns the unit of counting: tokens for sequences, else samples.
    [[nodiscard]] Unit unit() const { return hasTime() ? Unit::Token : Unit::Sample; }
    /// Returns the number of units in `examples` examples. `time` is the sequence length.
    [[nodiscard]] std::int64_t units(std::int64_t examples, std::int64_t time) const;
    /// Returns the count of numbers in one unit over all fields: one per token, or one per feature.
    [[nodiscard]] std::int64_t numbersPerUnit() const;
    /// Returns the shape of the head's output: logits over the vocabulary if the target is tokens, else the target's
    /// shape.
    [[nodiscard]] Shape output() const;
    /// Returns the shapes of the head's further outputs by their ports: logits over the classes of each further label.
    [[nodiscard]] std::map<std::string, Shape> furtherOutputs() const;
    /// Adds the fields of pairs of texts: the text of each token, 0 or 1, and kNextSentence.
    void addNextSentence();
    bool operator==(const ExampleSchema&) const = default;

private:
    [[nodiscard]] const ExampleField& first(FieldRole role) const;
};

/// Returns the schema of the data, before an objective adds noise. Its vocabulary may be larger than that of the data.
[[nodiscard]] ExampleSchema examplesOf(const DataSource& data);
/// Returns the schema that the document's networks are trained on: of images with noise if an objective of a tower
/// diffuses.
[[nodiscard]] ExampleSchema examplesOf(const Project& project);
/// True if the examples are labelled images or vectors, to which diffusion can add noise.
[[nodiscard]] bool canDiffuse(const ExampleSchema& examples);
[[nodiscard]] inline const char* unitWord(const DataSource& data)
{
    return unitWord(examplesOf(data).unit());
}
/// Returns the tokens or samples of a micro-batch: all training samples if the batch is the full set. If the document
/// does not give their number, the plan's batch size. The result is a double, so that very large sizes do not overflow;
/// it is exact for valid sizes.
[[nodiscard]] double unitsPerBatch(const DataSource& data, const TrainingPlan& plan);
/// True if the examples contain a target that the objective can compare with an output, or that diffusion can replace.
[[nodiscard]] inline bool fits(const ObjectiveTraits& objective, const ExampleSchema& examples)
{
    if (objective.diffuses != examples.isNoised()) {
        return objective.diffuses && canDiffuse(examples);
    }
    const bool perToken = examples.target().isTokens() && examples.target().shape == examples.input().shape;
    return objective.acts == examples.isOfWorld() && objective.target == examples.target().shape.element &&
           perToken == (objective.targetOf != TargetOf::Example);
}
/// True if the network continues a text: it predicts the token after each.
[[nodiscard]] inline bool continuesText(const ObjectiveTraits& objective, const ExampleSchema& examples)
{
    return objective.targetOf == TargetOf::Token && fits(objective, examples);
}

} // namespace residua::projects
