// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/canvas_widget.h"

#include <QByteArray>
#include <QFileInfo>
#include <QStandardPaths>
#include <QString>
#include <QStringList>

#include <imgui.h>

namespace residua::app {

namespace {

constexpr float kTextPixels = 14;

// Latin, Greek, raised letters (Wᵀ), general punctuation, superscripts and subscripts, letterlike, arrows, mathematics,
// geometric shapes, lowered letters.
constexpr ImWchar kGlyphs[] = {0x0020, 0x017F, 0x0370, 0x03FF, 0x1D2C, 0x1D6A, 0x2010, 0x2044, 0x2070, 0x209F, 0x2100,
                               0x214F, 0x2190, 0x21FF, 0x2200, 0x22FF, 0x25A0, 0x25FF, 0x2C7C, 0x2C7D, 0};

/// Returns the first of `names` found in a system font folder or a folder below.
QString findFont(const QStringList& names)
{
    QStringList folders = QStandardPaths::standardLocations(QStandardPaths::FontsLocation);
    folders << QStringLiteral("/usr/share/fonts") << QStringLiteral("/usr/local/share/fonts");
    for (const QString& name : names) {
        for (const QString& folder : std::as_const(folders)) {
            const QString path = folder + QLatin1Char('/') + name;
            if (QFileInfo::exists(path)) {
                return path;
            }
        }
    }
    return {};
}

/// Adds the font at `path`. Characters without a glyph in it come from `wider`.
void addFont(ImFontAtlas& atlas, const QString& path, const QString& wider, float pixels)
{
    ImFontConfig config;
    config.OversampleH = 2;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    config.SizePixels = pixels;
    if (path.isEmpty() || !atlas.AddFontFromFileTTF(path.toUtf8().constData(), pixels, &config, kGlyphs)) {
        atlas.AddFontDefault(&config);
    }
    if (!wider.isEmpty() && wider != path) {
        config.MergeMode = true;
        atlas.AddFontFromFileTTF(wider.toUtf8().constData(), pixels, &config, kGlyphs);
    }
}

} // namespace

void loadCanvasFonts(ImFontAtlas& atlas, float devicePixelRatio)
{
    atlas.Clear();
    const float pixels = kTextPixels * devicePixelRatio;
    const QString wide = findFont({QStringLiteral("truetype/dejavu/DejaVuSans.ttf"), QStringLiteral("DejaVuSans.ttf")});
    const QString wideNumbers =
        findFont({QStringLiteral("truetype/dejavu/DejaVuSansMono.ttf"), QStringLiteral("DejaVuSansMono.ttf")});
    const QString text =
        findFont({QStringLiteral("opentype/inter/Inter-Regular.otf"),
                  QStringLiteral("truetype/inter/Inter-Regular.ttf"), QStringLiteral("Inter-Regular.otf")});
    const QString numbers = findFont({QStringLiteral("truetype/jetbrains-mono/JetBrainsMono-Regular.ttf"),
                                      QStringLiteral("JetBrainsMono-Regular.ttf")});
    addFont(atlas, text.isEmpty() ? wide : text, wide, pixels);
    addFont(atlas, numbers.isEmpty() ? wideNumbers : numbers, wideNumbers, pixels);
}

} // namespace residua::app
