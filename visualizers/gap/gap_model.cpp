// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/gap_model.h"

#include "projects/model/parameter_name.h"
#include "projects/schema/method_keys.h"
#include "resources/axis.h"

#include <algorithm>
#include <string_view>

namespace residua::visualizers {

namespace {

QString number(double value)
{
    return QString::fromStdString(resources::shortNumber(value));
}

/// Returns the further tower in the name of a parameter, or an empty text.
std::string towerOf(const std::string& name)
{
    const std::size_t inside = projects::withoutTower(name).size();
    return inside == name.size() ? std::string() : name.substr(0, name.size() - inside - 1);
}

QString number(const std::optional<double>& value)
{
    return value ? number(*value) : QStringLiteral("–");
}

} // namespace

void GapModel::setGap(const engine::Gap& gap, const std::vector<std::size_t>& order)
{
    if (order == m_order && gap.weights == m_gap.weights && gap.methods == m_gap.methods) {
        m_gap = gap;
        if (rowCount() > 0) {
            emit dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1));
        }
        return;
    }
    beginResetModel();
    m_gap = gap;
    m_order = order;
    endResetModel();
}

GapRow GapModel::row(int row) const
{
    const auto at = static_cast<std::size_t>(row);
    const std::size_t methods = m_gap.methods.size();
    return {at < methods ? std::nullopt : std::optional(m_order[at / methods - 1]), at % methods};
}

int GapModel::firstRowOf(std::size_t weight) const
{
    const auto found = std::ranges::find(m_order, weight);
    return found == m_order.end() ? -1 : static_cast<int>((found - m_order.begin() + 1) * std::ssize(m_gap.methods));
}

int GapModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>((m_order.size() + 1) * m_gap.methods.size());
}

int GapModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : Columns;
}

QVariant GapModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const GapRow row = this->row(index.row());
    if (role == Qt::TextAlignmentRole) {
        const bool words = index.column() == Weight || index.column() == Follows || index.column() == Method;
        return QVariant::fromValue((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole && row.weight) {
        return QString::fromStdString(m_gap.fit(*row.weight, row.method).note);
    }
    return role == Qt::DisplayRole ? QVariant(textOf(row, index.column())) : QVariant();
}

QString GapModel::textOf(const GapRow& row, int column) const
{
    if (column == Method) {
        return QString::fromStdString(projects::titleOf(m_gap.methods[row.method]));
    }
    return row.weight ? ofWeight(*row.weight, m_gap.fit(*row.weight, row.method), column) : ofAll(row.method, column);
}

/// Sums are shown once every weight is included.
QString GapModel::ofAll(std::size_t method, int column) const
{
    const engine::GapTotal total = totalOf(m_gap, method);
    const bool whole = total.weights == m_gap.weights.size();
    switch (column) {
    case Weight:
        return whole ? tr("all weights") : tr("%1 of %2 weights").arg(total.weights).arg(m_gap.weights.size());
    case FunctionError:
        return total.weights > 0 ? number(total.relativeError) : QStringLiteral("–");
    case OutputGap:
        return number(m_gap.outputs[method]);
    case Seconds:
        return number(total.seconds);
    default:
        return {};
    }
}

QString GapModel::ofWeight(std::size_t weight, const engine::GapFit& fit, int column) const
{
    const engine::GapWeight::Columns of = m_gap.weights[weight].columns();
    switch (column) {
    case Weight:
        return QString::fromStdString(shortNameOf(m_gap.weights[weight].name));
    case Size:
        return QStringLiteral("%1 × %2").arg(of.out).arg(of.in);
    case Rank:
        return QString::number(of.rank);
    case Follows:
        return QString::fromStdString(of.follows);
    case OutputGap:
        return {};
    default:
        break;
    }
    if (fit.state != engine::GapFit::State::Fitted) {
        const bool tells = column == FunctionError;
        return !tells ? QString() : fit.state == engine::GapFit::State::Pending ? QStringLiteral("…") : tr("failed");
    }
    switch (column) {
    case FunctionError:
        return number(fit.relativeError());
    case WeightError:
        return number(fit.weightError);
    case Correlation:
        return number(fit.meanCorrelation);
    case Bound:
        return number(fit.relativeBound());
    default:
        return number(fit.seconds);
    }
}

QVariant GapModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= Columns) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    const std::pair<QString, QString> texts[] = {
        {tr("weight"), tr("Its layer and its name there")},
        {tr("size"), tr("Outputs × inputs")},
        {tr("rank"), tr("Of its two factors")},
        {tr("σ"), tr("The activation that follows: fits know of it")},
        {tr("start"), tr("How the factors are made")},
        {tr("function error"), tr("E‖σ(u·v·x) − σ(W·x)‖² relative to E‖σ(W·x)‖²")},
        {tr("weight error"), tr("‖u·v − W‖² (Frobenius)")},
        {tr("correlation"), tr("Mean over the outputs, of their values before σ")},
        {tr("bound 3.5"), tr("The least share that the spectral start leaves above the best (theorem 3.5); under a "
                             "ReLU alone")},
        {tr("output gap"), tr("‖f(x) − F(x)‖² over ‖F(x)‖²: the outputs of the whole network with factors and with "
                              "full weights, on a batch of held data")},
        {tr("seconds"), tr("That the fit took when it was made; fits are kept")}};
    return role == Qt::DisplayRole   ? QVariant(texts[section].first)
           : role == Qt::ToolTipRole ? QVariant(texts[section].second)
                                     : QVariant();
}

WeightPlace placeOfWeight(const std::string& name)
{
    const std::string_view inside = projects::withoutTower(name);
    const projects::ParameterName parameter = projects::parameterNameFrom(inside);
    const bool isNowhere = parameter.part == projects::NetworkPart::Other ||
                           (parameter.part == projects::NetworkPart::Layers && parameter.layer == 0);
    return isNowhere ? WeightPlace{} : WeightPlace{parameter.layer, std::string(parameter.node()), towerOf(name)};
}

std::string shortNameOf(const std::string& name)
{
    const std::string text(projects::lastOf(name) == "weight" ? projects::ownerOf(name) : name);
    const projects::ParameterName parameter = projects::parameterNameFrom(projects::withoutTower(text));
    const std::string tower = towerOf(text);
    return parameter.layer > 0 ? (tower.empty() ? "" : tower + " ") + std::to_string(parameter.layer) + " " +
                                     std::string(parameter.rest)
                               : text;
}

std::optional<double> valueOf(const engine::GapFit& fit, GapMeasure measure)
{
    if (fit.state != engine::GapFit::State::Fitted) {
        return std::nullopt;
    }
    switch (measure) {
    case GapMeasure::FunctionError:
        return fit.relativeError();
    case GapMeasure::WeightError:
        return fit.weightError;
    case GapMeasure::Correlation:
        return fit.meanCorrelation;
    case GapMeasure::Seconds:
        break;
    }
    return fit.seconds;
}

std::optional<double> bestAtMost(const engine::Gap& gap, std::size_t weight)
{
    const auto spectral = std::ranges::find(gap.methods, projects::LowRankMethod::Spectral);
    if (spectral == gap.methods.end()) {
        return std::nullopt;
    }
    const engine::GapFit& fit = gap.fit(weight, static_cast<std::size_t>(spectral - gap.methods.begin()));
    const std::optional<double> bound = fit.relativeBound();
    return fit.state == engine::GapFit::State::Fitted && bound ? std::optional(fit.relativeError() - *bound)
                                                               : std::nullopt;
}

} // namespace residua::visualizers
