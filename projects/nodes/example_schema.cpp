// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/example_schema.h"

#include "projects/model/project.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/attention_options.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

namespace residua::projects {
namespace {

/// Returns the number of rows of the embedding table.
std::int64_t vocabularyOf(const Tokeniser& tokeniser)
{
    return hasVocabulary(tokeniser.kind) ? tokeniser.vocabulary : kByteVocabulary;
}

// The fields of the examples of each source. A source without an overload does not compile.
ExampleSchema schemaOf(const TextData& source, DocumentRows rows)
{
    return ExampleSchema::nextToken(vocabularyOf(source.tokeniser), rows);
}
ExampleSchema schemaOf(const JsonLinesData& source, DocumentRows rows)
{
    return ExampleSchema::nextToken(vocabularyOf(source.tokeniser), rows);
}
ExampleSchema schemaOf(const MixtureData& source, DocumentRows rows)
{
    return ExampleSchema::nextToken(vocabularyOf(source.tokeniser), rows);
}
ExampleSchema schemaOf(const TokenFileData& source, DocumentRows rows)
{
    return ExampleSchema::nextToken(source.vocabulary, rows);
}
ExampleSchema schemaOf(const SyntheticLanguage& source, DocumentRows rows)
{
    return ExampleSchema::nextToken(source.vocabulary, rows);
}
ExampleSchema schemaOf(const LinearRegression& source, DocumentRows)
{
    return ExampleSchema::vectors(source.dim, source.dim);
}
ExampleSchema schemaOf(const LowRankRegression& source, DocumentRows)
{
    return ExampleSchema::vectors(source.dim, source.dim);
}
ExampleSchema schemaOf(const BooleanPolynomial& source, DocumentRows)
{
    return ExampleSchema::vectors(source.dim, 1);
}

ExampleSchema schemaOf(const LabelledTextData& source, DocumentRows)
{
    return ExampleSchema::labelledText(vocabularyOf(source.tokeniser), source.classes, !source.second.empty());
}
ExampleSchema schemaOf(const PictureData& source, DocumentRows)
{
    return ExampleSchema::pictures(source.channels, source.height, source.width, source.classes);
}
ExampleSchema schemaOf(const DrawnPictures& source, DocumentRows)
{
    return ExampleSchema::pictures(3, source.size, source.size, kDrawnClasses);
}

ExampleSchema schemaOf(const WorldData& source, DocumentRows)
{
    const WorldSizes sizes = sizesOf(source);
    return ExampleSchema::world(sizes.states, sizes.actions, sizes.goals);
}

ExampleSchema schemaOf(const LatentData& source, DocumentRows)
{
    return ExampleSchema::pictures(source.channels, source.height, source.width, source.classes);
}

/// Returns the number of training samples, to which held-out samples are added. Returns nullopt if the document does
/// not give it.
std::optional<std::int64_t> trainingSamplesOf(const DataSource& data)
{
    return std::visit(
        [](const auto& source) -> std::optional<std::int64_t> {
            if constexpr (requires { source.samples; }) {
                return source.samples;
            } else {
                return std::nullopt;
            }
        },
        data.source);
}

} // namespace

const char* unitWord(Unit unit)
{
    return unit == Unit::Token ? "token" : "sample";
}

ExampleSchema ExampleSchema::nextToken(std::int64_t vocabulary, DocumentRows rows)
{
    const Shape shape{{kBatch, kTime}, Element::Token};
    ExampleSchema schema{
        {{"tokens", FieldRole::Input, shape, vocabulary}, {"next tokens", FieldRole::Target, shape, vocabulary}}};
    if (rows != DocumentRows::Stream) {
        schema.fields.push_back({kLength, FieldRole::Layout, {{kBatch}, Element::Token}});
    }
    if (rows == DocumentRows::Packed) {
        schema.fields.push_back({kPositions, FieldRole::Layout, shape});
    }
    return schema;
}

ExampleSchema ExampleSchema::labelledText(std::int64_t vocabulary, std::int64_t classes, bool pairs)
{
    const Shape tokens{{kBatch, kTime}, Element::Token};
    ExampleSchema schema{{{"tokens", FieldRole::Input, tokens, vocabulary},
                          {"label", FieldRole::Target, {{kBatch}, Element::Token}, classes},
                          {"mask", FieldRole::Mask, {tokens.dims}}}};
    if (pairs) {
        schema.fields.push_back({kSegmentsPort, FieldRole::Condition, tokens, 2});
    }
    return schema;
}

ExampleSchema ExampleSchema::pictures(std::int64_t channels, std::int64_t height, std::int64_t width,
                                      std::int64_t classes)
{
    return {{{"pictures", FieldRole::Input, {{kBatch, channels * height * width}}},
             {"label", FieldRole::Target, {{kBatch}, Element::Token}, classes}}};
}

ExampleSchema ExampleSchema::vectors(std::int64_t inputs, std::int64_t outputs)
{
    return {{{"inputs", FieldRole::Input, {{kBatch, inputs}}}, {"outputs", FieldRole::Target, {{kBatch, outputs}}}}};
}

ExampleSchema ExampleSchema::world(std::int64_t states, std::int64_t actions, std::int64_t goals)
{
    return {{{"state", FieldRole::Input, {{kBatch, states}}},
             {kActionField, FieldRole::Condition, {{kBatch, actions}}},
             {kGoalField, FieldRole::Condition, {{kBatch, goals}}},
             {"taken", FieldRole::Target, {{kBatch, actions}}}}};
}

bool ExampleSchema::isOfWorld() const
{
    return std::ranges::find(fields, std::string_view(kActionField), &ExampleField::name) != fields.end();
}

bool ExampleSchema::isNoised() const
{
    return std::ranges::find(fields, kTimestep, &ExampleField::name) != fields.end();
}

ExampleSchema ExampleSchema::noised(const Diffusion& diffusion) const
{
    const Shape number{{kBatch}, Element::Token};
    ExampleField noise{"noise", FieldRole::Target, input().shape};
    noise.outputs = diffusion.learnsVariance ? 2 : 1;
    return {{input(),
             std::move(noise),
             {kTimestep, FieldRole::Condition, number, diffusion.steps},
             {kClass, FieldRole::Condition, number, target().vocabulary + 1}}};
}

bool ExampleSchema::hasLayout() const
{
    return std::ranges::find(fields, FieldRole::Layout, &ExampleField::role) != fields.end();
}

bool ExampleSchema::hasTime() const
{
    return std::ranges::find(input().shape.dims, kTime) != input().shape.dims.end();
}

std::int64_t ExampleSchema::units(std::int64_t examples, std::int64_t time) const
{
    return unit() == Unit::Token ? examples * time : examples;
}

std::int64_t ExampleSchema::numbersPerUnit() const
{
    std::int64_t numbers = 0;
    for (const ExampleField& field : fields) {
        std::int64_t ofField = 1;
        for (const std::int64_t dim : field.shape.dims) {
            ofField *= dim > 0 ? dim : 1;
        }
        numbers += ofField;
    }
    return numbers;
}

std::map<std::string, Shape> ExampleSchema::conditions() const
{
    std::map<std::string, Shape> shapes;
    for (const ExampleField& field : fields) {
        if (field.role == FieldRole::Condition || field.role == FieldRole::Mask) {
            shapes.emplace(field.name, field.shape);
        }
    }
    return shapes;
}

Shape ExampleSchema::output() const
{
    Shape shape{target().shape.dims};
    if (target().isTokens()) {
        shape.dims.push_back(target().vocabulary);
    }
    shape.dims.back() *= target().outputs;
    return shape;
}

std::map<std::string, Shape> ExampleSchema::furtherOutputs() const
{
    std::map<std::string, Shape> shapes;
    for (const ExampleField& field : fields) {
        if (field.role == FieldRole::Label) {
            Shape logits{field.shape.dims};
            logits.dims.push_back(field.vocabulary);
            shapes.emplace(field.name, std::move(logits));
        }
    }
    return shapes;
}

void ExampleSchema::addNextSentence()
{
    fields.push_back({kSegmentsPort, FieldRole::Condition, input().shape, 2});
    fields.push_back({kNextSentence, FieldRole::Label, {{kBatch}, Element::Token}, 2});
}

const ExampleField& ExampleSchema::first(FieldRole role) const
{
    return *std::ranges::find(fields, role, &ExampleField::role);
}

ExampleSchema examplesOf(const DataSource& data)
{
    ExampleSchema schema = std::visit([&](const auto& source) { return schemaOf(source, rowsOf(data)); }, data.source);
    if (promptsArePictures(data) && data.augmentation.mixup > 0) {
        ExampleField label = schema.target();
        label.name = kMixedLabel;
        label.role = FieldRole::Mixture;
        schema.fields.push_back(std::move(label));
        schema.fields.push_back({kMixedShare, FieldRole::Mixture, {{kBatch}}});
    }
    if (data.masking.nextSentence && schema.input().isTokens() && schema.target().shape == schema.input().shape) {
        schema.addNextSentence();
    }
    return schema;
}

ExampleSchema examplesOf(const Project& project)
{
    ExampleSchema schema = examplesOf(project.data);
    const auto diffuses = [](const Network& network) { return traitsOf(network.objective).diffuses; };
    const bool isNoised = diffuses(project.network) || std::ranges::any_of(project.towers, [&](const Tower& tower) {
                              return diffuses(tower.network);
                          });
    return isNoised && canDiffuse(schema) ? schema.noised(project.data.diffusion) : schema;
}

bool canDiffuse(const ExampleSchema& examples)
{
    const Shape& input = examples.input().shape;
    const ExampleField& target = examples.target();
    return input.element == Element::Real && input.dims.size() == 2 && target.isTokens() &&
           target.shape.dims.size() == 1;
}

double unitsPerBatch(const DataSource& data, const TrainingPlan& plan)
{
    const bool full = plan.batching == BatchKind::Full;
    const std::int64_t examples = full ? trainingSamplesOf(data).value_or(plan.batch) : plan.batch;
    return static_cast<double>(examples) * static_cast<double>(examplesOf(data).units(1, plan.sequenceLength));
}

} // namespace residua::projects
