// SPDX-License-Identifier: GPL-3.0-or-later
// Very many arcs as one picture, drawn beside the frames.
#include "editor/canvas/canvas.h"
#include "editor/depth/arc_picture.h"
#include "tests/editor/canvas_driver.h"
#include "tests/editor/depth_stacks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace residua;
using namespace residua::editor;

namespace {

/// Scene and screen are the same, but for the row's top, which is at 90.
ArcView viewOf(float ratio = 1)
{
    ArcView view{{}, 200, 100, ratio};
    view.viewport.panBy(0, 90);
    return view;
}

ArcInk arc(float left, float right, float height)
{
    return {
        .shape = {left, right, height}, .colour = {200, 100, 50}, .width = 2, .opacity = 1, .floor = 0, .strength = 1};
}

std::uint8_t opacityAt(const CanvasImage& image, int x, int y)
{
    return image.pixels[static_cast<std::size_t>((y * image.width + x) * 4 + 3)];
}

std::size_t touched(const CanvasImage& image)
{
    std::size_t count = 0;
    for (std::size_t i = 3; i < image.pixels.size(); i += 4) {
        count += image.pixels[i] > 0 ? 1 : 0;
    }
    return count;
}

} // namespace

class TestArcRaster : public QObject {
    Q_OBJECT

private slots:
    void anArcIsDrawnWhereItRuns()
    {
        const auto image = rasterise({arc(20, 180, 60)}, viewOf());
        QVERIFY(image.has_value());
        QCOMPARE(image->width, 200);
        QCOMPARE(image->height, 100);
        QVERIFY(opacityAt(*image, 100, 29) > 200); // its top
        QCOMPARE(opacityAt(*image, 100, 60), std::uint8_t{0});
        QCOMPARE(opacityAt(*image, 5, 50), std::uint8_t{0});
        const auto* pixel = &image->pixels[static_cast<std::size_t>((29 * 200 + 100) * 4)];
        QVERIFY(std::abs(pixel[0] - 200) <= 1 && std::abs(pixel[1] - 100) <= 1 && std::abs(pixel[2] - 50) <= 1);
        for (int y = 32; y < 88; ++y) { // each flank, without a hole
            int left = 0;
            int right = 0;
            for (int x = 0; x < 200; ++x) {
                (x < 100 ? left : right) += opacityAt(*image, x, y);
            }
            QVERIFY2(left > 200 && right > 200, qPrintable(QString::number(y)));
        }
        QCOMPARE(rasterise({arc(20, 180, 60)}, viewOf(2))->width, 400); // device pixels
    }

    void arcsOverEachOtherAddUp()
    {
        ArcInk faint = arc(20, 180, 60);
        faint.opacity = 0.5F;
        const int once = opacityAt(*rasterise({faint}, viewOf()), 100, 29);
        const int twice = opacityAt(*rasterise({faint, faint}, viewOf()), 100, 29);
        QVERIFY(std::abs(once - 128) <= 3);
        QVERIFY(std::abs(twice - 191) <= 3);
        ArcInk crowded = faint;
        crowded.floor = 1;
        crowded.strength = 0;
        QCOMPARE(crowded.alpha(0.25), 0.125);
        QCOMPARE(fadeOf(120), 1.0);
        QCOMPARE(fadeOf(480), 0.5);
    }

    void stopsWhenTheRasterIsNoLongerWanted()
    {
        QVERIFY(!rasterise({arc(20, 180, 60)}, viewOf(), [] { return false; }));
        QCOMPARE(touched(*rasterise({arc(500, 900, 60)}, viewOf())), std::size_t{0}); // out of sight
    }

    void theNewestWishIsDrawn()
    {
        ArcPicture picture;
        const auto inks = std::make_shared<const std::vector<ArcInk>>(std::vector<ArcInk>{arc(20, 180, 60)});
        QVERIFY(!picture.unfinished());
        for (int i = 0; i < 20; ++i) {
            ArcView view = viewOf();
            view.viewport.panBy(static_cast<float>(i), 0);
            picture.want(inks, 1, view);
        }
        std::shared_ptr<const ArcPicture::Drawn> last;
        QTRY_VERIFY([&] {
            if (auto drawn = picture.take()) {
                last = drawn;
            }
            return !picture.unfinished();
        }());
        QCOMPARE(last->view.viewport.toScreen({0, 0}).x, 19.0F);
        picture.want(inks, 1, last->view); // it is there
        QVERIFY(!picture.unfinished());
        picture.want(inks, 2, last->view);
        QVERIFY(picture.unfinished());
    }

    /// A frame draws only a few arcs, however many there are. The raster follows the view.
    void aDeepStackIsDrawnByItsPicture()
    {
        const auto canvas = makeDepthCanvas();
        canvas->setDocument(std::make_shared<const projects::Document>(stackOf(80)));
        CanvasDriver driver(*canvas);
        std::shared_ptr<const CanvasImage> image;
        const auto await = [&] {
            image = nullptr;
            const auto taken = [&] {
                driver.frame();
                image = image ? image : canvas->takeImage();
                return image != nullptr;
            };
            QTRY_VERIFY(taken());
            canvas->setTexture(&driver);
            driver.frame();
        };
        await();
        QVERIFY(touched(*image) > 10000);
        QVERIFY(!canvas->unfinished());
        QVERIFY(driver.frame() < 60000); // vertices; 3,240 arcs would take some 300,000
        driver.moveTo({500, 500});
        driver.wheel(1);
        QVERIFY(canvas->unfinished());
        await();
        QVERIFY(!canvas->unfinished());
        driver.frame();
        QVERIFY(!canvas->unfinished()); // at rest nothing more is drawn
        const auto far = driver.frame();
        for (int i = 0; i < 30; ++i) {
            driver.wheel(1);
        }
        QVERIFY(driver.frame() != far); // few in sight: each by itself
    }
};

RESIDUA_TEST(TestArcRaster)
#include "tst_arc_raster.moc"
