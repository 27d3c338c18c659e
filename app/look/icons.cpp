// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme.h"

#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>
#include <QTemporaryDir>

#include <utility>

namespace residua::app {

namespace {

QByteArray sourceOf(const QString& name, const QColor& colour)
{
    QFile file(QStringLiteral(":/residua/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return file.readAll().replace("#000", colour.name().toLatin1());
}

class ThemedIconEngine : public QIconEngine {
public:
    ThemedIconEngine(QString name, QColor colour) : m_name(std::move(name)), m_colour(colour) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        QColor colour = m_colour;
        if (mode == QIcon::Disabled || !colour.isValid()) {
            const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
            colour = QGuiApplication::palette().color(group, QPalette::ButtonText);
        }
        QSvgRenderer renderer(sourceOf(m_name, colour));
        renderer.render(painter, rect);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        if (size.isEmpty()) {
            return {};
        }
        QPixmap image(size);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return image;
    }

    QIconEngine* clone() const override { return new ThemedIconEngine(m_name, m_colour); }

private:
    QString m_name;
    QColor m_colour;
};

} // namespace

QIcon themedIcon(const QString& name, const QColor& colour)
{
    return QIcon(new ThemedIconEngine(name, colour));
}

QString iconFile(const QString& name, const QColor& colour)
{
    static const QTemporaryDir folder; // a style sheet may read the file at any time
    const QString path = folder.filePath(name + colour.name().mid(1) + QStringLiteral(".svg"));
    QFile file(path);
    if (!file.exists() && file.open(QIODevice::WriteOnly)) {
        file.write(sourceOf(name, colour));
    }
    return QDir::fromNativeSeparators(path);
}

} // namespace residua::app
