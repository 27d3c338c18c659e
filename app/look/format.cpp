// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"

#include <QLocale>
#include <QTimeZone>

#include <array>
#include <cmath>

namespace residua::app {

namespace {

/// Three significant digits of a value in [0, 1000).
QString threeDigits(double value)
{
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return QString::number(value, 'f', decimals);
}

QString scaled(double value, double base, const std::array<const char*, 6>& units)
{
    std::size_t unit = 0;
    while (std::abs(value) >= base * 0.9995 && unit + 1 < units.size()) {
        value /= base;
        ++unit;
    }
    const QString number =
        unit == 0 && value == std::floor(value) ? QString::number(value, 'f', 0) : threeDigits(value);
    const QString suffix = QString::fromLatin1(units[unit]);
    return suffix.isEmpty() ? number : number + QChar(0x2009) + suffix;
}

} // namespace

QString formatCount(double value)
{
    return scaled(value, 1000.0, {"", "k", "M", "G", "T", "P"});
}

QString formatChange(double change, QString (*format)(double))
{
    const QChar sign = change > 0 ? QLatin1Char('+') : change < 0 ? QChar(0x2212) : QChar(0x00b1);
    return sign + format(std::abs(change));
}

QString formatBytes(double bytes)
{
    return scaled(bytes, 1024.0, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

QString formatDuration(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0) {
        return QStringLiteral("—");
    }
    const auto whole = static_cast<qint64>(std::llround(seconds));
    if (whole < 60) {
        return QStringLiteral("%1 s").arg(whole);
    }
    if (whole < 3600) {
        return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
    }
    return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60, 2, 10, QLatin1Char('0'));
}

QString formatMoment(const QString& utc, const QDateTime& now)
{
    QDateTime moment = QDateTime::fromString(utc, Qt::ISODate);
    if (!moment.isValid()) {
        return utc;
    }
    moment = moment.toTimeZone(now.timeZone());
    const QString format = moment.date() == now.date()                 ? QStringLiteral("HH:mm:ss")
                           : moment.date().year() == now.date().year() ? QStringLiteral("d MMM HH:mm")
                                                                       : QStringLiteral("d MMM yyyy HH:mm");
    return QLocale().toString(moment, format);
}

QString formatReal(double value)
{
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString formatLoss(double loss, int digits)
{
    return std::isfinite(loss) ? QString::number(loss, 'g', digits) : QStringLiteral("—");
}

QString formatWhole(std::int64_t value)
{
    return QLocale().toString(static_cast<qlonglong>(value));
}

} // namespace residua::app
