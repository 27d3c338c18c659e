// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/run_columns.h"

#include "app/engine/background.h"
#include "app/records/runs_model.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "projects/diff/diff.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
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

std::vector<RunColumn> studyColumns(const std::vector<engine::RunInfo>& runs,
                                    const std::map<std::string, visualizers::ShownRuns::Look>& looks)
{
    RunColumn sweeps{QStringLiteral("sweep"), RunFields::tr("sweep"), {}};
    RunColumn groups{QString::fromLatin1(kGroupColumn), RunFields::tr("group"), {}};
    std::set<std::string> different;
    for (const engine::RunInfo& run : runs) {
        if (run.membership && !run.membership->sweep.empty()) {
            sweeps.values[run.directory] = QString::fromStdString(run.membership->sweep);
        }
        if (const auto look = looks.find(run.directory); look != looks.end()) {
            groups.values[run.directory] = look->second.groupLabel;
            different.insert(look->second.group);
        }
    }
    std::vector<RunColumn> columns;
    if (!sweeps.values.empty() && differs(sweeps, runs.size())) {
        columns.push_back(std::move(sweeps));
    }
    if (different.size() < groups.values.size()) {
        columns.push_back(std::move(groups));
    }
    return columns;
}

std::vector<RunColumn> costColumns(const std::vector<visualizers::ParetoRun>& runs)
{
    std::vector<RunColumn> columns{{QStringLiteral("cost:parameters"), RunFields::tr("parameters"), {}},
                                   {QStringLiteral("cost:flop"), RunFields::tr("FLOP"), {}},
                                   {QStringLiteral("cost:seconds"), RunFields::tr("seconds"), {}},
                                   {QString::fromLatin1(kLastLossColumn), RunFields::tr("loss, last steps"), {}}};
    for (const visualizers::ParetoRun& run : runs) {
        const double values[] = {run.parameters, run.flops, run.seconds, run.lastLoss};
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
    connect(&runs, &RunsModel::renamed, this, &RunFields::group);
    connect(&runs, &RunsModel::listed, this, &RunFields::group); // another process may have renamed a run
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
        } else if (!m_unreadable.contains(run.directory)) {
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
        std::map<std::string, std::optional<projects::Project>> projects;
        for (const std::string& directory : unknown) {
            auto project = engine::readRunProject(directory);
            projects[directory] = project ? std::optional(*std::move(project)) : std::nullopt;
        }
        return projects;
    };
    inBackground(this, readAll, [this](std::map<std::string, std::optional<projects::Project>> projects) {
        m_reading = false;
        for (auto& [directory, project] : projects) {
            if (project) {
                m_projects.insert_or_assign(directory, *std::move(project));
            } else {
                m_unreadable.insert(directory);
            }
        }
        read();
    });
}

void RunFields::offer()
{
    group();
    std::vector<RunColumn> columns = studyColumns(m_runs.runs(), m_runs.shown().looks());
    std::ranges::move(differingFields(m_projects), std::back_inserter(columns));
    m_runs.setColumns(ColumnSource::Fields, std::move(columns));
}

/// Groups the runs that have been read, unless that would give the same groups as before.
void RunFields::group()
{
    std::vector<engine::TrainedRun> trained;
    std::vector<std::array<std::string, 3>> grouped;
    for (const engine::RunInfo& run : m_runs.runs()) {
        if (const auto project = m_projects.find(run.directory); project != m_projects.end()) {
            trained.push_back({&run, &project->second});
            grouped.push_back({run.directory, run.name, run.parent});
        }
    }
    if (grouped == m_grouped) {
        return;
    }
    m_grouped = std::move(grouped);
    engine::RunGroups groups = engine::groupsOf(trained);
    for (const engine::TrainedRun& run : trained) {
        if (const auto folder = engine::groupsFolderOf(run.info->directory)) {
            engine::keepColours(groups, trained, *folder);
            break;
        }
    }
    std::map<std::string, visualizers::ShownRuns::Look> looks;
    for (std::size_t run = 0; run < trained.size(); ++run) {
        const engine::RunGroup& of = groups.groupOf(run);
        looks[trained[run].info->directory] = {of.key, QString::fromStdString(of.label),
                                               QString::fromStdString(groups.labels[run]), of.colour,
                                               groups.seeds[run]};
    }
    m_runs.shown().setLooks(std::move(looks));
    const bool isKnown = std::ranges::any_of(
        m_runs.offeredColumns(), [](const RunColumn& column) { return column.key == QLatin1String(kGroupColumn); });
    if (isKnown) {
        offer(); // with the labels of now
    }
}

} // namespace residua::app
