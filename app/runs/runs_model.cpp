// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/runs_model.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "engine/api/run_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::app {

namespace {

QString lossText(double loss)
{
    return std::isfinite(loss) ? QString::number(loss, 'g', 5) : QStringLiteral("—");
}

bool sameRuns(const std::vector<engine::RunInfo>& a, const std::vector<engine::RunInfo>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.directory == y.directory; });
}

} // namespace

void RunsModel::setRuns(std::vector<engine::RunInfo> runs)
{
    if (sameRuns(runs, m_runs)) {
        m_runs = std::move(runs);
        if (!m_runs.empty()) {
            emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        }
        return;
    }
    beginResetModel();
    m_runs = std::move(runs);
    endResetModel();
}

void RunsModel::setLive(const std::string& directory, engine::RunStatus status, std::int64_t step, double loss)
{
    for (std::size_t row = 0; row < m_runs.size(); ++row) {
        if (m_runs[row].directory == directory) {
            m_runs[row].status = status;
            m_runs[row].step = step;
            m_runs[row].loss = loss;
            emit dataChanged(index(static_cast<int>(row), State), index(static_cast<int>(row), Loss));
        }
    }
}

void RunsModel::setOverlaid(const std::string& directory, bool overlaid)
{
    const bool changed = overlaid ? m_overlaid.insert(directory).second : m_overlaid.erase(directory) > 0;
    for (std::size_t row = 0; changed && row < m_runs.size(); ++row) {
        if (m_runs[row].directory == directory) {
            const QModelIndex cell = index(static_cast<int>(row), Name);
            emit dataChanged(cell, cell, {Qt::CheckStateRole});
        }
    }
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RunsModel::textOf(const engine::RunInfo& run, int column) const
{
    switch (column) {
    case Name:
        return QString::fromStdString(run.name);
    case State:
        return QString::fromStdString(engine::toString(run.status));
    case Progress:
        return QStringLiteral("%1 / %2").arg(formatWhole(run.step), formatWhole(run.steps));
    case Loss:
        return run.step > 0 ? lossText(run.loss) : QStringLiteral("—");
    case ValidationLoss:
        return lossText(run.validationLoss);
    case Device:
        return QString::fromStdString(run.device);
    default:
        return {};
    }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const engine::RunInfo& run = m_runs[static_cast<std::size_t>(index.row())];
    const bool number = index.column() >= Progress && index.column() <= ValidationLoss;
    switch (role) {
    case Qt::DisplayRole:
        return textOf(run, index.column());
    case Qt::CheckStateRole:
        return index.column() == Name ? QVariant(isOverlaid(run.directory) ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
        return number ? QVariant(numberFont()) : QVariant();
    case Qt::ToolTipRole:
        return QString::fromStdString(run.message.empty() ? run.directory : run.message + "\n" + run.directory);
    default:
        return {};
    }
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::CheckStateRole || index.column() != Name || !checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return false;
    }
    const engine::RunInfo run = m_runs[static_cast<std::size_t>(index.row())];
    const bool overlaid = value.toInt() == Qt::Checked;
    setOverlaid(run.directory, overlaid);
    emit overlayChanged(run, overlaid);
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        const bool number = section >= Progress && section <= ValidationLoss;
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Name:
        return tr("Run");
    case State:
        return tr("Status");
    case Progress:
        return tr("Step");
    case Loss:
        return tr("Loss");
    case ValidationLoss:
        return tr("Validation");
    case Device:
        return tr("Device");
    default:
        return {};
    }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Name ? flags | Qt::ItemIsUserCheckable : flags;
}

} // namespace residua::app
