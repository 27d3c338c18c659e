// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/axis.h"

#include <qcustomplot.h>

namespace residua::visualizers {

/// The ticks of QCustomPlot's axes, which are those of `resources/axis.h` and of the report.
class ShortTicker final : public QCPAxisTicker {
public:
    explicit ShortTicker(QCPAxis::ScaleType scale) : m_scale(scale) {}

    void generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks, QVector<double>* subTicks,
                  QVector<QString>* tickLabels) override
    {
        const resources::AxisRange shown{range.lower, range.upper};
        ticks.clear();
        if (subTicks != nullptr) {
            subTicks->clear();
        }
        if (tickLabels != nullptr) {
            tickLabels->clear();
        }
        for (const resources::AxisTick& tick : m_scale == QCPAxis::stLogarithmic
                                                   ? resources::logTicks(shown, tickCount())
                                                   : resources::linearTicks(shown, tickCount())) {
            ticks.append(tick.value);
            if (tickLabels != nullptr) {
                tickLabels->append(QString::fromStdString(tick.label));
            }
        }
    }

private:
    QCPAxis::ScaleType m_scale;
};

[[nodiscard]] inline QSharedPointer<QCPAxisTicker> shortTicker(QCPAxis::ScaleType scale)
{
    return QSharedPointer<QCPAxisTicker>(new ShortTicker(scale));
}

} // namespace residua::visualizers
