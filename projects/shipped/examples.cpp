// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/shipped/examples.h"

#include "projects/base/mapped.h"
#include "projects/file/json.h"

#include <algorithm>

namespace residua::projects {
namespace {

constexpr ExampleCard kCards[] = {
    {"plain-language", "Plain residual",
     "Language model, 8 layers, the residual sum everyone uses: draw a shortcut into it"},
    {"ancre-language", "Learned shortcuts", "The same language model with ANCRe: watch the shortcuts being learned"},
    {"grn-language", "GRN-v1", "The same language model with a weight on every earlier branch"},
    {"dca-language", "DeepCrossAttention",
     "The same language model whose queries, keys and values read mixes of their own"},
    {"linear-ancre", "Linear network", "Three matrices, full batch: how topology alone changes convergence"},
    {"ancre-case-study", "ANCRe case study", "Where one shortcut sits: measured losses and the theorems' bounds"},
    {"low-rank-regression", "Low-rank regression", "Ten linear layers of rank 3 and a target of full rank"},
    {"dca-figure-1", "DCA, figure 1", "Plain gradient descent: a residual sum against learned weights on the depth"},
    {"boolean-polynomial", "Boolean polynomial", "A 20-layer residual MLP, degree by degree"},
    {"staged-language", "Staged training", "RaPTr: random parts of 12 layers first, all of them at the end"},
    {"looped", "Looped layers", "Two of four layers are visited three times: what eight layers of their own would add"},
    {"two-stacks", "Two stacks",
     "A narrow ANCRe tower and a wide DCA tower that reads its states: what does each add to the loss?"},
    {"teacher-student", "Teacher and student",
     "A small ANCRe network learns the outputs of a larger plain one, which trains beside it"},
    {"low-rank-language", "Low-rank language",
     "Weights in two thin factors, and six ways to start them (NLRA): train its sweep"},
    {"wide-relu", "Wide ReLU", "Where a low-rank start that knows of the ReLU is nearest to the full layer"},
    {"small-vit", "Small ViT", "Vision transformer on generated pictures: which two of five parts does it see?"},
    {"small-resnet", "Small ResNet", "Residual network of convolutions in three stages, on generated pictures"},
    {"small-efficientnet", "Small EfficientNet", "Inverted bottlenecks in three stages, on generated pictures"},
    {"small-dit", "Small DiT", "Diffusion transformer on generated pictures: which pictures does it make from noise?"},
    {"small-bert", "Small BERT", "Encoder that fills in hidden tokens: what stands on both sides decides"},
    {"small-ul2", "Small UL2", "Decoder that restores hidden spans of a text, which all of its tokens see"},
    {"point-maze", "Point maze", "Reinforcement learning: an actor that learns the way to any goal in a maze"},
};

} // namespace

std::span<const ExampleCard> exampleCards()
{
    return kCards;
}

Project exampleProject(std::string_view name)
{
    const auto file = std::ranges::find(exampleFiles(), name, &ExampleFile::name);
    return projectFromJson(file->text).value(); // a test reads each
}

const std::vector<Example>& examples()
{
    static const std::vector<Example> all = [] {
        return mapped(kCards, [](const ExampleCard& card) {
            return Example{card.name, card.title, card.summary, exampleProject(card.name)};
        });
    }();
    return all;
}

const Example* findExample(const std::string& name)
{
    const auto found = std::ranges::find(examples(), name, &Example::name);
    return found == examples().end() ? nullptr : &*found;
}

} // namespace residua::projects
