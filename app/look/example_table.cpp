// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/example_table.h"

#include <QImage>
#include <QTextDocument>
#include <QUrl>

#include <algorithm>
#include <vector>

namespace residua::app {

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
