// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_columns.h"

#include "app/engine/background.h"
#include "app/records/runs_model.h"
#include "engine/base/api/metric_traits.h"
#include "engine/runs/results/run_reader.h"
#include "projects/diff/diff.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"
#include "projects/studies/sweep_grid.h"
#include "visualizers/plot/series.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace residua::app {

namespace {

QVariant valueOf(const projects::FieldEntry& entry)
{
    if (entry.type == projects::FieldType::Choice) {
        const auto chosen = static_cast<std::size_t>(std::get<std::int64_t>(entry.value));
        return QString::fromUtf8(entry.choices[chosen].title);
    }
    return std::visit(
        []<class T>(const T& held) -> QVariant {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<T, bool>) {
                return held ? RunFields::tr("on") : RunFields::tr("off");
            } else if constexpr (std::is_same_v<T, std::string>) {
                return QString::fromStdString(held);
            } else if constexpr (std::is_same_v<T, std::int64_t>) {
                return static_cast<qlonglong>(held);
            } else {
                return held;
            }
        },
        entry.value);
}

bool isColumn(const projects::FieldEntry& entry)
{
    return entry.type != projects::FieldType::Other && !entry.isInList && !entry.hasOwnEdits &&
           entry.decides == projects::Decides::Training && !entry.pointer.starts_with("/topology");
}

bool differs(const RunColumn& column, std::size_t runs)
{
    return column.values.size() != runs || std::ranges::any_of(column.values, [&](const auto& value) {
               return value.second != column.values.begin()->second;
           });
}

} // namespace

QVariant RunColumn::of(const engine::RunInfo& run) const
{
    const auto found = values.find(run.directory);
    return found == values.end() ? QVariant() : found->second;
}

std::vector<RunColumn> differingFields(const std::map<std::string, projects::Project>& projects)
{
    std::vector<RunColumn> columns{{QStringLiteral("/topology"), RunFields::tr("topology"), {}},
                                   {QStringLiteral("/schedule/stages"), RunFields::tr("stages"), {}}};
    for (const auto& [directory, project] : projects) {
        columns[0].values[directory] =
            QString::fromStdString(projects::wiringName(project.stack().topology, project.network));
        const std::string stages = projects::stageLengthsText(project.stack().schedule);
        columns[1].values[directory] = stages.empty() ? RunFields::tr("none") : QString::fromStdString(stages);
        for (const projects::FieldEntry& entry : projects::fieldsOf(project)) {
            if (!isColumn(entry)) {
                continue;
            }
            const QString key = QString::fromStdString(entry.pointer);
            auto column = std::ranges::find(columns, key, &RunColumn::key);
            if (column == columns.end()) {
                columns.push_back({key, QString::fromStdString(projects::placeInSection(project, entry.pointer)), {}});
                column = std::prev(columns.end());
            }
            column->values[directory] = valueOf(entry);
        }
    }
    std::erase_if(columns, [&](const RunColumn& column) { return !differs(column, projects.size()); });
    return columns;
}

namespace {

/// Returns the values of the fields that tell these runs apart, except for seeds: "steps 3,000, stages 3-4-5-6".
QString settingsOf(const engine::RunInfo& run, const std::vector<RunColumn>& fields)
{
    QStringList settings;
    for (const RunColumn& field : fields) {
        if (!field.key.startsWith(QStringLiteral("/seeds"))) {
            const QString value = RunsModel::textOf(field.of(run));
            settings << (field.key == QStringLiteral("/topology") ? value
                                                                  : QStringLiteral("%1 %2").arg(field.title, value));
        }
    }
    return settings.join(QStringLiteral(", "));
}

} // namespace

std::vector<RunColumn> studyColumns(const std::vector<engine::RunInfo>& runs,
                                    const std::map<std::string, projects::Project>& projects)
{
    std::vector<RunColumn> columns{{QStringLiteral("sweep"), RunFields::tr("sweep"), {}}};
    std::map<std::string, std::vector<const engine::RunInfo*>> repeats;
    for (const engine::RunInfo& run : runs) {
        if (run.membership && !run.membership->sweep.empty()) {
            columns.front().values[run.directory] = QString::fromStdString(run.membership->sweep);
        }
        if (const auto project = projects.find(run.directory); project != projects.end()) {
            repeats[projects::textApartFromSeeds(project->second)].push_back(&run);
        }
    }
    if (columns.front().values.empty() || !differs(columns.front(), runs.size())) {
        columns.clear();
    }
    if (std::ranges::none_of(repeats, [](const auto& repeat) { return repeat.second.size() > 1; })) {
        return columns;
    }
    columns.push_back({QStringLiteral("experiment"), RunFields::tr("settings"), {}});
    std::map<QString, std::vector<const std::vector<const engine::RunInfo*>*>> named;
    std::map<QString, int> titles; // a field without a column may distinguish experiments, as pruned shortcuts do
    for (const auto& [text, members] : repeats) {
        QStringList names;
        std::ranges::transform(members, std::back_inserter(names),
                               [](const engine::RunInfo* run) { return QString::fromStdString(run->name); });
        named[visualizers::commonName(names)].push_back(&members);
    }
    const std::vector<RunColumn> fields = differingFields(projects);
    for (const auto& [name, experiments] : named) {
        for (const std::vector<const engine::RunInfo*>* members : experiments) {
            const QString settings = experiments.size() == 1 ? QString() : settingsOf(*members->front(), fields);
            const QString title = settings.isEmpty() ? name : RunFields::tr("%1: %2").arg(name, settings);
            const int number = ++titles[title];
            for (const engine::RunInfo* run : *members) {
                columns.back().values[run->directory] =
                    number == 1 ? title : RunFields::tr("%1 (%2)").arg(title).arg(number);
            }
        }
    }
    return columns;
}

std::vector<RunColumn> costColumns(const std::vector<visualizers::ParetoRun>& runs)
{
    std::vector<RunColumn> columns{{QStringLiteral("cost:parameters"), RunFields::tr("parameters"), {}},
                                   {QStringLiteral("cost:flop"), RunFields::tr("FLOP"), {}},
                                   {QStringLiteral("cost:seconds"), RunFields::tr("seconds"), {}}};
    for (const visualizers::ParetoRun& run : runs) {
        const double values[] = {run.parameters, run.flops, run.seconds};
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (std::isfinite(values[i])) {
                columns[i].values[run.key.toStdString()] = values[i];
            }
        }
    }
    return columns;
}

std::vector<RunColumn> metricColumns(const std::vector<engine::RunInfo>& runs)
{
    std::vector<RunColumn> columns;
    for (const engine::MetricTraits& metric : engine::ratingColumns(runs)) {
        RunColumn& column = columns.emplace_back();
        column.key = QString::fromStdString("metric:" + metric.name);
        column.title = QString::fromStdString(metric.title);
        for (const engine::RunInfo& run : runs) {
            if (const double value = run.last(metric.name); std::isfinite(value)) {
                column.values[run.directory] = value;
            }
        }
    }
    return columns;
}

RunFields::RunFields(RunsModel& runs, QObject* parent) : QObject(parent), m_runs(runs)
{
    connect(&runs, &RunsModel::modelReset, this, &RunFields::read);
}

void RunFields::read()
{
    if (m_reading) {
        return; // the list is looked at again after it
    }
    std::vector<std::string> unknown;
    std::map<std::string, projects::Project> kept;
    for (const engine::RunInfo& run : m_runs.runs()) {
        if (auto known = m_projects.extract(run.directory)) {
            kept.insert(std::move(known));
        } else {
            unknown.push_back(run.directory);
        }
    }
    m_projects = std::move(kept);
    if (unknown.empty()) {
        offer();
        return;
    }
    m_reading = true;
    const auto readAll = [unknown] {
        std::map<std::string, projects::Project> projects;
        for (const std::string& directory : unknown) {
            const auto reader = engine::RunReader::open(directory);
            auto project = reader ? reader->project() : Result<projects::Project>(reader.error());
            projects[directory] = project ? *std::move(project) : projects::Project{};
        }
        return projects;
    };
    inBackground(this, readAll, [this](std::map<std::string, projects::Project> projects) {
        m_reading = false;
        m_projects.merge(projects);
        read();
    });
}

void RunFields::offer()
{
    std::vector<RunColumn> columns = studyColumns(m_runs.runs(), m_projects);
    std::ranges::move(differingFields(m_projects), std::back_inserter(columns));
    m_runs.setColumns(ColumnSource::Fields, std::move(columns));
}

} // namespace residua::app
