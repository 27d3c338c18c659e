// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/mix_terms.h"

#include <algorithm>
#include <limits>

namespace residua::engine {

using projects::DepthMix;
using projects::MixInit;
using projects::MixPorts;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// "" for the only mix of a reader, else "/q" and so on; the final output's single mix beside several is "/final".
std::string suffixOf(int output, int outputs, int most)
{
    static constexpr const char* kPorts[] = {"/q", "/k", "/v", "/residual"};
    if (most == 1) {
        return "";
    }
    return outputs == 1 ? "/final" : kPorts[output];
}

bool isPruned(const DepthMix& mix, projects::Shortcut shortcut)
{
    const auto state = mix.states.find(shortcut);
    return state != mix.states.end() && state->second == projects::ShortcutState::Pruned;
}

int outputsOf(MixPorts ports)
{
    switch (ports) {
    case MixPorts::Input:
        return 1;
    case MixPorts::Qkv:
        return 3;
    case MixPorts::QkvResidual:
        return 4;
    }
    return 1;
}

} // namespace

std::vector<DepthReader> readersOf(const DepthMix& mix, std::int64_t depth)
{
    std::vector<DepthReader> readers;
    for (std::int64_t target = 1; target <= depth + (mix.finalMix ? 1 : 0); ++target) {
        DepthReader reader{target, projects::sourcesOf(mix, target, depth),
                           projects::summedMiddleOf(mix, target, depth), 1};
        if (reader.middle && !isPruned(mix, {reader.middle->first, target})) {
            reader.sources.push_back(reader.middle->first);
            std::ranges::sort(reader.sources);
        }
        reader.outputs = target <= depth ? outputsOf(mix.ports) : 1;
        readers.push_back(std::move(reader));
    }
    return readers;
}

std::vector<DepthTerm> termsOf(const std::vector<DepthReader>& readers)
{
    std::vector<DepthTerm> terms;
    for (std::size_t r = 0; r < readers.size(); ++r) {
        for (int o = 0; o < readers[r].outputs; ++o) {
            for (const std::int64_t source : readers[r].sources) {
                terms.push_back({r, o, source});
            }
        }
    }
    return terms;
}

double startOf(const DepthMix& mix, const DepthReader& reader, std::int64_t source)
{
    switch (mix.init) {
    case MixInit::Ones:
        return 1;
    case MixInit::Zero:
        return 0;
    case MixInit::Cascaded:
        return source == reader.sources.back() ? 1 : 0;
    case MixInit::Reciprocal:
        return 1.0 / static_cast<double>(reader.target);
    }
    return 1;
}

void addMatrices(std::vector<Matrix>& result, const std::string& kind, const std::vector<DepthReader>& readers,
                 const std::vector<DepthTerm>& terms, std::span<const float> values, std::int64_t step)
{
    std::int64_t rows = 0;
    int most = 1;
    for (const DepthReader& reader : readers) {
        rows = std::max(rows, reader.target);
        most = std::max(most, reader.outputs);
    }
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const DepthReader& reader = readers[terms[t].reader];
        const std::string name = kind + suffixOf(terms[t].output, reader.outputs, most);
        auto matrix = std::ranges::find(result, name, &Matrix::name);
        if (matrix == result.end()) {
            result.push_back(
                {name, step, rows, rows, std::vector<float>(static_cast<std::size_t>(rows * rows), kNone)});
            matrix = result.end() - 1;
        }
        matrix->values[static_cast<std::size_t>((reader.target - 1) * rows + terms[t].source)] = values[t];
    }
}

} // namespace residua::engine
