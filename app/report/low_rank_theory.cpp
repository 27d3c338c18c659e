// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/low_rank_theory.h"

#include "projects/base/text.h"

#include <utility>

namespace residua::report {
namespace {

namespace theory = engine::theory;

/// Adds the row of `values`, or a note with the reason why there is none.
void addRow(TheoryTable& table, const char* name, const char* key, const Result<theory::PerGrn>& values)
{
    if (values) {
        table.rows.push_back({name, key, NAN, NAN, values->v1, values->v2, values->v3});
    } else {
        table.notes.push_back(std::string(name) + ": " + values.error().text());
    }
}

void addRisk(const LowRankModel& model, TheoryTable& table)
{
    const engine::LowRankTask& task = *model.task;
    const auto risk = theory::excessRisk(task.target, task.collectiveRank, model.statement);
    if (!risk) {
        table.notes.push_back("excess risk: " + risk.error().text());
        return;
    }
    const auto chain = theory::excessRiskWithoutShortcuts(task.target, task.smallestRank);
    table.rows.push_back({"excess risk (theorem 4.2)", "excessRisk", chain ? *chain : NAN, risk->resNet, risk->grnV1,
                          risk->grnV2, risk->grnV3});
}

void addSizes(const LowRankModel& model, TheoryTable& table)
{
    TheoryRow size{"parameters (4.2)", "parameters"};
    const std::pair<theory::DepthModel, double TheoryRow::*> models[] = {
        {theory::DepthModel::ResNet, &TheoryRow::resNet},
        {theory::DepthModel::GrnV1, &TheoryRow::v1},
        {theory::DepthModel::GrnV2, &TheoryRow::v2},
        {theory::DepthModel::GrnV3, &TheoryRow::v3}};
    for (const auto& [kind, member] : models) {
        if (const auto count = theory::modelSize(kind, model.dimension, model.layers, model.rank)) {
            size.*member = static_cast<double>(*count);
        }
    }
    table.rows.push_back(std::move(size));
}

std::string aboutText(const LowRankModel& model)
{
    std::string about = "d = " + std::to_string(model.dimension) + ", r* = " + std::to_string(model.rank) +
                        ", T = " + std::to_string(model.layers);
    if (model.spectrum) {
        about += ", eigenvalues of A - I from " + numberText(model.spectrum->lambdaMin, 4) + " to " +
                 numberText(model.spectrum->lambdaMax, 4);
    }
    return about;
}

/// Returns `gainsAt` of 1 to `last`.
Result<std::vector<theory::PerGrn>> gainsAlong(const LowRankModel& model, std::int64_t last, const auto& gainsAt)
{
    if (!model.spectrum) {
        return Error{"", "no gains to draw: " + model.withoutSpectrum};
    }
    std::vector<theory::PerGrn> curves;
    for (std::int64_t at = 1; at <= last; ++at) {
        const theory::PerGrn gains = RESIDUA_TRY(gainsAt(at));
        curves.push_back(gains);
    }
    return curves;
}

} // namespace

Result<LowRankModel> lowRankModelOf(const projects::Project& project)
{
    engine::LowRankTask task = RESIDUA_TRY(engine::lowRankTask(project));
    LowRankModel model;
    model.dimension = task.target.rows();
    model.rank = task.collectiveRank;
    model.layers = task.layers;
    if (const auto spectrum = theory::targetSpectrum(task.target)) {
        model.spectrum = *spectrum;
    } else {
        model.withoutSpectrum = spectrum.error().text();
    }
    model.task = std::move(task);
    return model;
}

LowRankModel lowRankModelOf(std::int64_t dimension, std::int64_t rank, std::int64_t layers, double kappa,
                            double lambdaMax)
{
    LowRankModel model;
    model.dimension = dimension;
    model.rank = rank;
    model.layers = layers;
    model.spectrum = theory::TargetSpectrum{kappa * lambdaMax, lambdaMax};
    return model;
}

TheoryTable theoryTable(const LowRankModel& model)
{
    TheoryTable table;
    table.about = aboutText(model);
    if (model.task) {
        addRisk(model, table);
    }
    const auto rank = static_cast<double>(model.rank);
    if (model.spectrum) {
        const double kappa = model.spectrum->kappa();
        addRow(table, "never worse up to r* (4.1 to 4.3)", "rankThreshold",
               theory::rankThresholds(kappa, model.dimension, model.statement));
        addRow(table, "gain in excess risk, at least (G1 to G3)", "gainAtLeast",
               theory::gainBounds(*model.spectrum, model.dimension, rank, model.statement));
        addRow(table, "r* that does as well (proposition 4.4)", "equivalentRank",
               theory::equivalentRanks(kappa, model.dimension, rank, model.statement));
    } else {
        table.notes.push_back("thresholds, gains and equal ranks need the eigenvalues of A - I: " +
                              model.withoutSpectrum);
    }
    addSizes(model, table);
    return table;
}

Result<std::vector<theory::PerGrn>> gainCurves(const LowRankModel& model)
{
    return gainsAlong(model, model.dimension - 1, [&](std::int64_t at) {
        return theory::gainBounds(*model.spectrum, model.dimension, static_cast<double>(at), model.statement);
    });
}

Result<std::vector<theory::PerGrn>> gainsByComplexity(const LowRankModel& model)
{
    return gainsAlong(model, kComplexityParts, [&](std::int64_t at) {
        const double most = model.spectrum->lambdaMax;
        const double least = most * static_cast<double>(at) / static_cast<double>(kComplexityParts);
        return theory::gainBounds({least, most}, model.dimension, static_cast<double>(model.rank), model.statement);
    });
}

} // namespace residua::report
