// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace residua::visualizers {

/// "250", "15 k", "1.5 G", "20 P": what an axis writes of a large number, so that its labels stay short.
[[nodiscard]] inline QString shortTickLabel(double value)
{
    constexpr double kPlain = 1e5; // up to here a person reads the digits themselves
    constexpr std::array<char, 6> kUnits{'\0', 'k', 'M', 'G', 'T', 'P'};
    if (std::abs(value) < kPlain) {
        return QString::number(value, 'g', 6);
    }
    std::size_t unit = 0;
    while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
        value /= 1000;
        ++unit;
    }
    return QString::number(value, 'g', 4) + QChar(0x2009) + QLatin1Char(kUnits[unit]);
}

/// A ticker of QCustomPlot's that writes them so.
template <class Ticker>
class ShortTicker final : public Ticker {
protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return shortTickLabel(tick); }
};

[[nodiscard]] inline QSharedPointer<QCPAxisTicker> shortTicker(QCPAxis::ScaleType scale)
{
    return QSharedPointer<QCPAxisTicker>(scale == QCPAxis::stLogarithmic
                                             ? static_cast<QCPAxisTicker*>(new ShortTicker<QCPAxisTickerLog>)
                                             : new ShortTicker<QCPAxisTicker>);
}

} // namespace residua::visualizers
