// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/runs_model.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/ranges.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/shown_runs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace residua::app {

namespace {

constexpr int kDigits = 5; ///< of a number that is no loss
constexpr int kDifferenceDigits = 3;

/// The loss of a run that later diverged is not a result.
bool hasLoss(const engine::RunInfo& run)
{
    return run.step > 0 && run.status != engine::RunStatus::Failed;
}

bool sameRuns(const std::vector<engine::RunInfo>& a, const std::vector<engine::RunInfo>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.directory == y.directory && x.parent == y.parent; });
}

QString tagsText(const std::vector<std::string>& tags)
{
    auto texts = mapped<QStringList>(tags, QString::fromStdString);
    return texts.join(QStringLiteral(", "));
}

std::vector<std::string> tagsOf(const QString& text)
{
    std::vector<std::string> tags;
    for (const QString& tag : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        if (!tag.trimmed().isEmpty()) {
            tags.push_back(tag.trimmed().toStdString());
        }
    }
    return tags;
}

} // namespace

QString RunsModel::keyOf(int column)
{
    static constexpr const char* kKeys[] = {"name",           "started", "state", "progress", "loss",
                                            "validationLoss", "device",  "tags",  "notes"};
    static_assert(std::size(kKeys) == ColumnCount); // in the user's settings, so they must not change
    return QString::fromLatin1(kKeys[column]);
}

RunsModel::RunsModel(visualizers::ShownRuns& shown, QObject* parent) : QAbstractItemModel(parent), m_shown(shown)
{
    connect(&shown, &visualizers::ShownRuns::overlaid, this, &RunsModel::announceShown);
    connect(&shown, &visualizers::ShownRuns::overlayRemoved, this, &RunsModel::announceShown);
    connect(&shown, &visualizers::ShownRuns::baselineChanged, this, &RunsModel::placeColumns);
    connect(&shown, &visualizers::ShownRuns::looksChanged, this, [this] {
        for (const auto& run : m_shown.runs()) {
            announceShown(run.key);
        }
        placeColumns(); // the baseline may have another name
    });
}

void RunsModel::setRuns(std::vector<engine::RunInfo> runs)
{
    if (sameRuns(runs, m_runs)) {
        m_runs = std::move(runs);
        numberCopies();
        for (std::size_t node = 0; node < m_tree.nodes(); ++node) {
            emit dataChanged(indexOf(node, 0), indexOf(node, columnCount({}) - 1));
        }
        regroup();
    } else {
        beginResetModel();
        m_runs = std::move(runs);
        numberCopies();
        m_groupTitles = groupTitles();
        m_tree = RunTree(m_runs, m_groupTitles);
        endResetModel();
    }
    setColumns(ColumnSource::Metrics, metricColumns(m_runs));
    emit listed();
}

void RunsModel::setColumns(ColumnSource source, std::vector<RunColumn> columns)
{
    if (m_offered[source] != columns) {
        m_offered[source] = std::move(columns);
        placeColumns();
        regroup();
        emit columnsOffered();
    }
}

std::vector<RunColumn> RunsModel::offeredColumns() const
{
    std::vector<RunColumn> all;
    for (const auto& [source, columns] : m_offered) {
        all.insert(all.end(), columns.begin(), columns.end());
    }
    return all;
}

void RunsModel::chooseColumns(const QStringList& keys)
{
    m_chosenColumns = keys;
    placeColumns();
}

void RunsModel::placeColumns()
{
    std::vector<RunColumn> placed;
    const std::vector<RunColumn> offered = offeredColumns();
    for (const QString& key : m_chosenColumns) {
        const auto found = std::ranges::find(offered, key, &RunColumn::key);
        if (found != offered.end()) {
            placed.push_back(*found);
        }
    }
    std::ranges::move(differenceColumns(), std::back_inserter(placed));
    const auto heading = [](const RunColumn& column) { return std::pair(column.key, column.title); };
    if (!std::ranges::equal(placed, m_extra, {}, heading, heading)) {
        beginResetModel();
        m_extra = std::move(placed);
        endResetModel();
        return;
    }
    m_extra = std::move(placed);
    for (std::size_t node = 0; node < m_tree.nodes() && !m_extra.empty(); ++node) {
        emit dataChanged(indexOf(node, ColumnCount), indexOf(node, columnCount({}) - 1));
    }
}

QVariant RunsModel::extraOf(std::size_t run, int column) const
{
    return m_extra[static_cast<std::size_t>(column - ColumnCount)].of(m_runs[run]);
}

QVariant RunsModel::sortValueOf(std::size_t at, int column) const
{
    const engine::RunInfo& run = m_runs[at];
    switch (column) {
    case Started:
        return QString::fromStdString(run.created);
    case Progress:
        return static_cast<qlonglong>(run.step);
    case Loss:
        return hasLoss(run) && !std::isnan(run.loss()) ? QVariant(run.loss()) : QVariant();
    case ValidationLoss:
        return hasLoss(run) && !std::isnan(run.validationLoss()) ? QVariant(run.validationLoss()) : QVariant();
    default:
        if (isDifference(column)) {
            const double difference = differenceOf({at}, column).mean;
            return std::isfinite(difference) ? QVariant(difference) : QVariant();
        }
        return column < ColumnCount ? QVariant(textOf(at, column)) : extraOf(at, column);
    }
}

/// Numbers copies of one checkpoint, which would otherwise have equal names.
void RunsModel::numberCopies()
{
    std::map<std::tuple<std::string, std::string, std::int64_t>, int> counts;
    m_numbers.assign(m_runs.size(), 1);
    for (std::size_t run = m_runs.size(); run-- > 0;) { // the last is the oldest
        m_numbers[run] = ++counts[{m_runs[run].name, m_runs[run].parent, m_runs[run].parentStep}];
    }
}

QModelIndex RunsModel::indexOf(std::size_t node, int column) const
{
    const auto& siblings = m_tree.childrenOf(m_tree.parentOf(node));
    const auto row = std::ranges::find(siblings, node) - siblings.begin();
    return createIndex(static_cast<int>(row), column, static_cast<quintptr>(node));
}

QModelIndex RunsModel::indexOf(const std::string& directory) const
{
    const auto found = std::ranges::find(m_runs, directory, &engine::RunInfo::directory);
    return found == m_runs.end() ? QModelIndex() : indexOf(static_cast<std::size_t>(found - m_runs.begin()), 0);
}

bool RunsModel::haveSeveralDevices() const
{
    return std::ranges::any_of(m_runs, [this](const auto& run) { return run.device != m_runs.front().device; });
}

const engine::RunInfo* RunsModel::runAt(const QModelIndex& index) const
{
    return index.isValid() && !m_tree.isGroup(index.internalId()) ? &m_runs[index.internalId()] : nullptr;
}

QModelIndex RunsModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    const auto& children = m_tree.childrenOf(parent.isValid() ? parent.internalId() : RunTree::kRoot);
    return createIndex(row, column, static_cast<quintptr>(children[static_cast<std::size_t>(row)]));
}

QModelIndex RunsModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || m_tree.parentOf(child.internalId()) == RunTree::kRoot) {
        return {};
    }
    return indexOf(m_tree.parentOf(child.internalId()), 0);
}

void RunsModel::setLive(const std::string& directory, engine::RunStatus status, std::int64_t step, double loss)
{
    for (std::size_t row = 0; row < m_runs.size(); ++row) {
        if (m_runs[row].directory == directory) {
            m_runs[row].status = status;
            m_runs[row].step = step;
            if (!std::isnan(loss)) {
                m_runs[row].values[engine::metric::kLoss] = loss;
            }
            emit dataChanged(indexOf(row, State), indexOf(row, Loss));
        }
    }
    regroup();
}

void RunsModel::announceShown(const std::string& directory)
{
    if (const QModelIndex cell = indexOf(directory); cell.isValid()) {
        emit dataChanged(cell, cell, {Qt::CheckStateRole, Qt::DecorationRole});
        if (const std::size_t group = m_tree.groupOf(cell.internalId()); group != RunTree::kRoot) {
            emit dataChanged(indexOf(group, Name), indexOf(group, Name), {Qt::CheckStateRole, Qt::DecorationRole});
        }
    }
}

void RunsModel::setTheme(resources::Theme theme)
{
    m_theme = theme;
    for (const auto& run : m_shown.runs()) {
        announceShown(run.key);
    }
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    if (parent.column() > 0) {
        return 0;
    }
    return static_cast<int>(m_tree.childrenOf(parent.isValid() ? parent.internalId() : RunTree::kRoot).size());
}

int RunsModel::columnCount(const QModelIndex&) const
{
    return ColumnCount + static_cast<int>(m_extra.size());
}

QString RunsModel::nameOf(std::size_t run) const
{
    const engine::RunInfo& info = m_runs[run];
    const QString name = QString::fromStdString(info.name);
    if (info.parent.empty()) {
        return name;
    }
    const QString step = QString::number(info.parentStep);
    return m_numbers[run] == 1 ? tr("%1, from step %2").arg(name, step)
                               : tr("%1, from step %2 (%3)").arg(name, step, QString::number(m_numbers[run]));
}

QString RunsModel::textOf(const QVariant& value)
{
    return !value.isValid()                        ? QStringLiteral("—")
           : value.typeId() == QMetaType::Double   ? QString::number(value.toDouble(), 'g', kDigits)
           : value.typeId() == QMetaType::LongLong ? formatWhole(value.toLongLong())
                                                   : value.toString();
}

QString RunsModel::textOf(std::size_t at, int column) const
{
    const engine::RunInfo& run = m_runs[at];
    switch (column) {
    case Name: {
        const bool inGroup = at < m_groupTitles.size() && !m_groupTitles[at].isEmpty();
        const auto* const look = inGroup ? m_shown.lookOf(run.directory) : nullptr;
        return look && m_grouping == QLatin1String(kGroupColumn) ? look->label : nameOf(at);
    }
    case Started:
        return formatMoment(QString::fromStdString(run.created), QDateTime::currentDateTime());
    case State:
        return QString::fromStdString(engine::textOf(run.status));
    case Progress:
        return QStringLiteral("%1 / %2").arg(formatWhole(run.step), formatWhole(run.steps));
    case Loss:
        return hasLoss(run) ? formatLoss(run.loss()) : QStringLiteral("—");
    case ValidationLoss:
        return hasLoss(run) ? formatLoss(run.validationLoss()) : QStringLiteral("—");
    case Device:
        return QString::fromStdString(run.device);
    case Tags:
        return tagsText(run.tags);
    case Notes:
        return QString::fromStdString(run.notes).simplified();
    default:
        break;
    }
    if (isDifference(column)) {
        const QVariant difference = sortValueOf(at, column);
        return difference.isValid() ? formatChange(difference.toDouble(),
                                                   [](double value) { return formatLoss(value, kDifferenceDigits); })
                                    : QStringLiteral("—");
    }
    const QVariant value = extraOf(at, column);
    const RunColumn& extra = m_extra[static_cast<std::size_t>(column - ColumnCount)];
    const bool isMetric = extra.key.startsWith(QStringLiteral("metric:")) && value.typeId() == QMetaType::Double;
    return isMetric ? formatLoss(value.toDouble()) : textOf(value);
}

/// Texts stand at the left, numbers at the right.
bool RunsModel::isNumber(int column) const
{
    if (column < ColumnCount) {
        return column >= Progress && column <= ValidationLoss;
    }
    const auto& values = m_extra[static_cast<std::size_t>(column - ColumnCount)].values;
    return std::ranges::none_of(values, [](const auto& value) { return value.second.typeId() == QMetaType::QString; });
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (m_tree.isGroup(index.internalId())) {
        return groupData(index, role);
    }
    const engine::RunInfo& run = m_runs[index.internalId()];
    const bool number = isNumber(index.column());
    switch (role) {
    case kSortRole:
        return sortValueOf(index.internalId(), index.column());
    case Qt::EditRole:
        return index.column() == Name    ? QVariant(QString::fromStdString(run.name))
               : index.column() == Notes ? QVariant(QString::fromStdString(run.notes))
               : index.column() == Tags  ? QVariant(textOf(index.internalId(), index.column()))
                                         : QVariant();
    case kFilterRole:
        return index.column() == Name ? nameOf(index.internalId()) : textOf(index.internalId(), index.column());
    case Qt::DisplayRole:
        return textOf(index.internalId(), index.column());
    case Qt::CheckStateRole:
        return index.column() == Name ? QVariant(m_shown.isOverlaid(run.directory) ? Qt::Checked : Qt::Unchecked)
                                      : QVariant();
    case Qt::DecorationRole: {
        const auto* shown = m_shown.find(run.directory);
        return index.column() == Name && shown && shown->overlaid
                   ? QVariant(visualizers::curveSample(shown->colour, m_theme))
                   : QVariant();
    }
    case Qt::TextAlignmentRole:
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
        return number ? QVariant(numberFont()) : QVariant();
    case Qt::ToolTipRole:
        return nameOf(index.internalId()) + QLatin1Char('\n') +
               QString::fromStdString((run.message.empty() ? "" : run.message + "\n") +
                                      (run.device.empty() ? "" : run.device + "\n") + run.directory);
    default:
        return {};
    }
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return false;
    }
    if (m_tree.isGroup(index.internalId())) {
        const std::vector<std::size_t> runs = m_tree.runsBelow(index.internalId());
        for (const std::size_t run : role == Qt::CheckStateRole ? runs : std::vector<std::size_t>()) {
            setData(indexOf(run, Name), value, role);
        }
        return role == Qt::CheckStateRole;
    }
    if (role == Qt::EditRole && (index.column() == Tags || index.column() == Notes)) {
        engine::RunInfo& changed = m_runs[index.internalId()];
        if (index.column() == Tags) {
            changed.tags = tagsOf(value.toString());
        } else {
            changed.notes = value.toString().toStdString();
        }
        emit dataChanged(index, index);
        emit annotated(changed.directory, changed.tags, changed.notes);
        regroup();
        return true;
    }
    if (role == Qt::EditRole && index.column() == Name) {
        engine::RunInfo& changed = m_runs[index.internalId()];
        const std::string name = value.toString().trimmed().toStdString();
        if (name.empty() || name == changed.name) {
            return false;
        }
        changed.name = name;
        emit dataChanged(index, index);
        emit renamed(changed.directory, name);
        return true;
    }
    if (role != Qt::CheckStateRole || index.column() != Name) {
        return false;
    }
    const std::string directory = m_runs[index.internalId()].directory;
    value.toInt() == Qt::Checked ? m_shown.overlay(directory) : m_shown.removeOverlay(directory);
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount({})) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Name:
        return tr("Run");
    case Started:
        return tr("Started");
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
    case Tags:
        return tr("Tags");
    case Notes:
        return tr("Notes");
    default:
        return m_extra[static_cast<std::size_t>(section - ColumnCount)].title;
    }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    if (index.isValid() && m_tree.isGroup(index.internalId())) {
        return index.column() == Name ? flags | Qt::ItemIsUserCheckable : flags;
    }
    switch (index.column()) {
    case Name:
        return flags | Qt::ItemIsUserCheckable | Qt::ItemIsEditable;
    case Tags:
    case Notes:
        return flags | Qt::ItemIsEditable;
    default:
        return flags;
    }
}

} // namespace residua::app
