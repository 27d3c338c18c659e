// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"

#include "projects/base/text.h"

#include <QCoreApplication>
#include <QImage>
#include <QLocale>
#include <QRegularExpression>
#include <QTextDocument>
#include <QTimeZone>
#include <QUrl>

#include <algorithm>
#include <cmath>
#include <vector>

namespace residua::app {

namespace {

constexpr const char* kThinSpace = "\u2009";
[[maybe_unused]] constexpr const char* kUnits[] = {
    QT_TRANSLATE_NOOP("Unit", "token"), QT_TRANSLATE_NOOP("Unit", "sample"), QT_TRANSLATE_NOOP("Unit", "tokens"),
    QT_TRANSLATE_NOOP("Unit", "samples")};

} // namespace

QString formatCount(double value)
{
    return QString::fromStdString(scaledText(value, Prefixes::Decimal, {}, kThinSpace));
}

QString formatChange(double change, QString (*format)(double))
{
    const QChar sign = change > 0 ? QLatin1Char('+') : change < 0 ? QChar(0x2212) : QChar(0x00b1);
    return sign + format(std::abs(change));
}

QString formatBytes(double bytes)
{
    return QString::fromStdString(scaledText(bytes, Prefixes::Binary, "B", kThinSpace));
}

QString formatDuration(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0) {
        return QStringLiteral("—");
    }
    return QString::fromStdString(durationText(seconds));
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
    if (!std::isfinite(loss)) {
        return QStringLiteral("—");
    }
    QString text = QString::asprintf("%#.*g", digits, loss); // keeps zeros at the end, so that points align
    return text.endsWith(QLatin1Char('.')) ? text.chopped(1) : text;
}

QString formatWhole(std::int64_t value)
{
    return QString::fromStdString(groupedText(value));
}

QString formatUnit(const projects::DataSource& data)
{
    return QCoreApplication::translate("Unit", projects::unitWord(data));
}

QString fileFilter(const QString& title, std::span<const std::string_view> endings)
{
    QStringList patterns;
    for (const std::string_view end : endings) {
        const QString name = QLatin1Char('*') + QString::fromUtf8(end.data(), static_cast<qsizetype>(end.size()));
        patterns << name;
        for (const std::string_view compressed : projects::kCompressedEndings) {
            patterns << name + QString::fromUtf8(compressed.data(), static_cast<qsizetype>(compressed.size()));
        }
    }
    const QString any = QCoreApplication::translate("FileFilter", "Any file") + QStringLiteral(" (*)");
    return patterns.isEmpty() ? any : QStringLiteral("%1 (%2);;%3").arg(title, patterns.join(QLatin1Char(' ')), any);
}

QString formatUnits(projects::Unit unit)
{
    return QCoreApplication::translate("Unit", (projects::unitWord(unit) + std::string("s")).c_str());
}

QString EnglishPlurals::translate(const char*, const char* text, const char*, int n) const
{
    if (n != 1) {
        return {}; // the text as it is
    }
    static const QRegularExpression kCounted(QStringLiteral("^( |.*%n )(\\w+)s\\b( were\\b)?"));
    QString singular = QString::fromUtf8(text);
    const QRegularExpressionMatch match = kCounted.match(singular);
    if (!match.hasMatch()) {
        return {};
    }
    const QString verb = match.capturedLength(3) > 0 ? QStringLiteral(" was") : QString();
    return singular.replace(0, match.capturedLength(0), match.captured(1) + match.captured(2) + verb);
}

namespace {

/// Returns the pictures of a sheet, magnified; none if the batch has no sheet.
std::vector<QImage> picturesOf(const engine::FedBatch& batch, int width)
{
    const auto sheet = QImage::fromData(
        QByteArray::fromRawData(batch.sheet.data(), static_cast<qsizetype>(batch.sheet.size())), "PNG");
    if (sheet.isNull() || batch.columns <= 0) {
        return {};
    }
    constexpr int gap = static_cast<int>(engine::FedBatch::kGap);
    const auto count = static_cast<int>(batch.examples.size());
    const auto columns = static_cast<int>(batch.columns);
    const QSize apart((sheet.width() + gap) / columns, (sheet.height() + gap) / ((count + columns - 1) / columns));
    const QSize size = apart - QSize(gap, gap);
    const int times = std::max(1, width / std::max(1, size.width()));
    std::vector<QImage> pictures;
    for (int i = 0; i < count; ++i) {
        const QPoint at(i % columns * apart.width(), i / columns * apart.height());
        pictures.push_back(sheet.copy(QRect(at, size)).scaled(size * times));
    }
    return pictures;
}

} // namespace

QString verbatim(const QString& text)
{
    return QStringLiteral("<pre style=\"white-space: pre-wrap\">%1</pre>").arg(text.toHtmlEscaped());
}

QString exampleTable(const engine::FedBatch& batch, QTextDocument& document, const PictureGrid& grid,
                     const QStringList& captions)
{
    const std::vector<QImage> pictures = picturesOf(batch, grid.width);
    QString rows;
    for (std::size_t i = 0; i < batch.examples.size(); ++i) {
        const QString caption = captions.isEmpty() ? QString::fromStdString(batch.examples[i].target).toHtmlEscaped()
                                                   : captions.value(static_cast<qsizetype>(i));
        if (pictures.empty()) {
            rows += QStringLiteral("<tr><td>%1</td><td>%2</td></tr>")
                        .arg(QString::fromStdString(batch.examples[i].input).toHtmlEscaped(), caption);
            continue;
        }
        const QImage& picture = pictures[i];
        const QByteArrayView bits(picture.constBits(), picture.sizeInBytes());
        const QString name = QStringLiteral("picture:%1").arg(qHash(bits)); // a document may have several tables
        document.addResource(QTextDocument::ImageResource, QUrl(name), picture);
        rows += (i % static_cast<std::size_t>(grid.columns) == 0 ? QStringLiteral("<tr>") : QString()) +
                QStringLiteral("<td valign=\"top\"><img src=\"%1\"><br>%2</td>").arg(name, caption);
    }
    return QStringLiteral("<table cellpadding=\"4\">%1</table>").arg(rows);
}

} // namespace residua::app
