// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/colours.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace residua::resources;

namespace {

double luminance(Rgb colour)
{
    const auto linear = [](std::uint8_t channel) {
        const double c = channel / 255.0;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

double contrast(Rgb a, Rgb b)
{
    const auto [less, more] = std::minmax({luminance(a), luminance(b)});
    return (more + 0.05) / (less + 0.05);
}

} // namespace

class TestColours : public QObject {
    Q_OBJECT
private slots:
    /// No weight is invisible, on whichever ground it is drawn.
    void everyWeightStandsOutFromTheGround()
    {
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            const ThemeColours& c = themeColours(theme);
            for (int i = -100; i <= 100; ++i) {
                for (const Rgb ground : {c.background, c.surface}) {
                    QVERIFY(contrast(diverging(i / 100.0, theme), ground) > 2.25);
                    QVERIFY(contrast(magnitude(std::abs(i) / 100.0, theme), ground) > 2.25);
                }
            }
        }
    }

    void moreStandsOutMore()
    {
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            const Rgb ground = themeColours(theme).background;
            double before = 0;
            for (int i = 0; i <= 10; ++i) {
                const double now = contrast(magnitude(i / 10.0, theme), ground);
                QVERIFY(now > before);
                before = now;
            }
        }
    }
};

RESIDUA_TEST(TestColours)
#include "tst_colours.moc"
