// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_painter.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/words.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace residua::editor {
namespace {

constexpr float kEdge = 0.75F;              ///< points beside the row, for the width of lines
constexpr float kTallest = 0.42F;           ///< height of the arcs, in widths of the figure
constexpr float kInsideBox = 2;             ///< points beside a title, in all
constexpr std::size_t kMostDrawn = 300'000; ///< arcs; a larger file could not be used
constexpr float kLeastTitle = 0.6F;         ///< size of a title, in sizes of the text
constexpr float kLargestBox = 16;           ///< scene units for the size of the text, at least
constexpr float kLeastLane = 0.3F;          ///< scale of the lanes above the row, in sizes of 8-point text
constexpr float kMarkedLane = 0.5F;         ///< the same of lanes with marks, which must not cover boxes
constexpr float kRoomyPitch = 3;       ///< sizes of text from one box to the next at which lines have their full width
constexpr float kLeastPixel = 0.3F;    ///< share of that width which remains
constexpr double kMostCovered = 0.35;  ///< share of the area that all faint arcs cover together
constexpr float kSmallestCounted = 12; ///< height of an arc in points from which a group's count is written

class DepthFigure {
public:
    DepthFigure(const TopologyView& view, const FigureStyle& style)
        : m_view(view), m_painter(style), m_picture{m_scene,    m_identity, m_none, view.weights, view.document.project,
                                                    view.ports, {},         {}}
    {
        m_scene.rebuild(view.document.project, view.document.layout.groups, view.folds);
        const float row = m_scene.boxes().back().rect.right;
        // Boxes of a short row are not enlarged to the width of the figure.
        m_scale = std::min((m_painter.width() - 2 * kEdge) / row, m_painter.text() / kLargestBox);
        m_left = (m_painter.width() - m_scale * row) / 2;
        m_scene.setRise(m_scene.riseWithin(kTallest * m_painter.width() / m_scale));
        m_lanes = std::max(m_scale, (m_scene.lanes().marks.empty() ? kLeastLane : kMarkedLane) * m_painter.text() / 8);
        m_pixel = m_painter.pixel() * std::clamp(pitch() / (kRoomyPitch * m_painter.text()), kLeastPixel, 1.0F);
        chooseTexts();
    }

    [[nodiscard]] std::size_t strokes() const { return m_scene.arcs().size() * shownPorts(m_picture).size(); }

    Figure draw() &&
    {
        drawArcs();
        drawChain();
        drawLanes();
        for (const LayerBox& box : m_scene.boxes()) {
            drawBox(box);
        }
        drawCounts();
        float bottom = drawTicks(m_height + kEdge);
        bottom = drawBrackets(bottom);
        if (!m_scene.note().empty()) {
            bottom = m_painter.writeLines(bottom + 0.4F * m_painter.text(), m_scene.note(), muted());
        }
        bottom = drawLegend(bottom + 0.4F * m_painter.text());
        return std::move(m_painter).finished(m_top - 2 * kEdge, bottom);
    }

private:
    [[nodiscard]] float x(float scene) const { return m_left + m_scale * scene; }
    /// Lanes keep a legible distance; below the upper edge of the row, they end in the middle of a box.
    [[nodiscard]] float laneY(float scene) const
    {
        return scene < 0 ? m_lanes * scene : m_height * scene / DepthScene::kBoxHeight;
    }
    [[nodiscard]] float pitch() const { return m_scale * DepthScene::kPitch; }
    [[nodiscard]] static resources::Rgb muted() { return FigurePainter::colours().muted; }
    [[nodiscard]] Rect rectOf(const LayerBox& box) const { return {x(box.rect.left), 0, x(box.rect.right), m_height}; }
    [[nodiscard]] bool fits(const std::string& text, float size, const LayerBox& box) const
    {
        return m_painter.widthOf(text, size) + kInsideBox <= m_scale * box.rect.width();
    }
    [[nodiscard]] bool inStack(const LayerBox& box) const { return box.layer > 0 && box.layer <= m_scene.layers(); }
    /// Returns the size of a box's title inside of it; 0 if it is below the box.
    [[nodiscard]] float titleSize(const LayerBox& box) const;
    void reach(float y) { m_top = std::min(m_top, y); }

    void chooseTexts();
    void drawArcs();
    void drawArc(const Arc& arc, const ArcInk& ink, double fade, const std::string& port);
    void drawCounts();
    void drawChain();
    void drawLanes();
    void drawArrow(Point tip, Point back, resources::Rgb colour);
    void drawBox(const LayerBox& box);
    float drawTicks(float top);
    float drawBrackets(float top);
    float drawLegend(float top);
    [[nodiscard]] std::vector<LegendEntry> kinds() const;

    const TopologyView& m_view;
    FigurePainter m_painter;
    DepthScene m_scene;
    const Viewport m_identity;
    const projects::Selection m_none;
    DepthPicture m_picture;
    float m_scale = 1; ///< points per scene unit
    float m_lanes = 1; ///< the same of lanes, upwards
    float m_left = 0;
    float m_pixel = 1;        ///< points per screen pixel, in which widths of lines are stated
    float m_height = 0;       ///< of boxes
    float m_top = 0;          ///< upper end of what is drawn
    float m_title = 0;        ///< size of the titles inside of boxes; 0 if those of the layers do not fit
    bool m_subtitles = false; ///< true if also the names of their blocks do
};

void DepthFigure::chooseTexts()
{
    const auto every = [this](auto test) { return std::ranges::all_of(m_scene.boxes(), test); };
    for (const float size : {m_painter.small(), m_painter.text()}) {
        if (every([&](const LayerBox& box) { return !inStack(box) || fits(box.title, size, box); })) {
            m_title = size;
        }
    }
    m_subtitles = m_title == m_painter.text() && every([&](const LayerBox& box) {
                      return fits(box.title, m_title, box) && fits(box.subtitle, m_painter.small(), box);
                  });
    const float lines = m_subtitles ? 3.0F : m_title > 0 ? 1.8F : 0.8F;
    m_height = std::max(m_scale * DepthScene::kBoxHeight, lines * m_painter.text());
}

float DepthFigure::titleSize(const LayerBox& box) const
{
    if (m_title == 0 || fits(box.title, m_title, box)) {
        return m_title;
    }
    // The words of the ends are longer than the numbers of layers.
    const float room = m_scale * box.rect.width() - kInsideBox;
    const float size = m_title * room / m_painter.widthOf(box.title, m_title);
    return size >= kLeastTitle * m_painter.text() ? size : 0;
}

void DepthFigure::drawArcs()
{
    const std::vector<ShownPort> ports = shownPorts(m_picture);
    struct Strand {
        const Arc* arc;
        ArcInk ink;
        std::string port;
    };
    std::vector<Strand> strands;
    for (const Arc& arc : m_scene.arcs()) {
        const std::vector<ArcInk> inks = inksOf(m_picture, ports, arc);
        for (std::size_t i = 0; i < inks.size(); ++i) {
            strands.push_back(
                {&arc, inks[i], inks.size() > 1 ? std::string(nameOf(ports[i].port->port)) : std::string()});
        }
    }
    double fade = fadeOf(static_cast<double>(strands.size()));
    double covered = 0; // times that faint arcs cover the area, weighed by their opacity
    for (const Strand& strand : strands) {
        const double length = m_scale * (strand.arc->right - strand.arc->left + strand.arc->height);
        covered += length * m_pixel * strand.ink.width * strand.ink.alpha(fade) * (1 - strand.ink.strength);
    }
    covered /= -m_scene.bounds().top * m_scale * m_painter.width() + 1;
    fade *= std::min(1.0, kMostCovered / std::max(covered, kMostCovered));
    if (fade < 1) { // faint arcs first, so that strong ones are drawn over them
        std::ranges::stable_sort(strands, {}, [](const Strand& strand) { return strand.ink.width; });
    }
    for (const Strand& strand : strands) {
        drawArc(*strand.arc, strand.ink, fade, strand.port);
    }
}

void DepthFigure::drawArc(const Arc& arc, const ArcInk& ink, double fade, const std::string& port)
{
    const ArcShape shape = ink.shapeAt(m_scale / m_pixel);
    const float left = x(shape.left);
    const float right = x(shape.right);
    // An arc is a cubic curve: its tangents are vertical, and 4/3 of its height long.
    const float high = -m_scale * shape.height * 4 / 3;
    const std::string name = projects::nameOf(arc.shortcut) + (arc.count > 1 ? " ×" + std::to_string(arc.count) : "");
    m_painter.add(FigurePath{.points = {{left, 0}, {left, high}, {right, high}, {right, 0}},
                             .kind = FigurePath::Kind::Curves,
                             .pen = FigurePen{ink.colour, m_pixel * ink.width, ink.alpha(fade), ink.dashed},
                             .name = port.empty() ? name : name + " " + port});
    reach(-m_scale * shape.height - m_pixel * ink.width);
    if (arc.kind == projects::ShortcutKind::Frozen) {
        const float half = 4 * m_pixel;
        const Point at{(left + right) / 2, -m_scale * shape.height};
        m_painter.add(FigureBox{{at.x - half, at.y - half, at.x + half, at.y + half}, 0, {}, FigureFill{ink.colour}});
    }
}

void DepthFigure::drawCounts()
{
    const float size = m_painter.small();
    for (const Arc& arc : m_scene.arcs()) {
        if (arc.count < 2 || m_scale * arc.height < kSmallestCounted) {
            continue;
        }
        const std::string count = "×" + std::to_string(arc.count);
        const float half = m_painter.widthOf(count, size) / 2 + 1;
        const Point at{x((arc.left + arc.right) / 2), -m_scale * arc.height};
        m_painter.add(FigureBox{
            {at.x - half, at.y - size / 2, at.x + half, at.y + size / 2}, 1, {}, FigureFill{{255, 255, 255}, 0.9}});
        m_painter.write(at, count, size, muted());
        reach(at.y - size / 2);
    }
}

void DepthFigure::drawArrow(Point tip, Point back, resources::Rgb colour)
{
    const Point aside{(back.y - tip.y) * 0.5F, (back.x - tip.x) * 0.5F};
    m_painter.add(
        FigurePath{.points = {tip, {back.x + aside.x, back.y + aside.y}, {back.x - aside.x, back.y - aside.y}},
                   .fill = FigureFill{colour}});
}

void DepthFigure::drawChain()
{
    const std::vector<LayerBox>& boxes = m_scene.boxes();
    for (std::size_t i = 0; m_scene.chained() && i + 1 < boxes.size(); ++i) {
        if (boxes[i].joinsNext) {
            continue;
        }
        const Point from{x(boxes[i].rect.right), m_height / 2};
        const Point to{x(boxes[i + 1].rect.left), m_height / 2};
        const float head = std::min(8 * m_pixel, (to.x - from.x) * 0.6F);
        m_painter.line(from, {to.x - head, to.y}, {muted(), 1.5F * m_pixel});
        drawArrow(to, {to.x - head, to.y}, muted());
    }
}

void DepthFigure::drawLanes()
{
    const DepthLanes& lanes = m_scene.lanes();
    for (const DepthLanes::Stroke& stroke : lanes.strokes) {
        const auto colour = stroke.colour ? resources::curveColour(*stroke.colour, resources::Theme::Light) : muted();
        const Point to{x(stroke.to.x), laneY(stroke.to.y)};
        const float head = stroke.arrow ? std::min(6 * m_pixel, 0.4F * pitch()) : 0;
        m_painter.line({x(stroke.from.x), laneY(stroke.from.y)}, {to.x, to.y - head}, {colour, stroke.width * m_pixel});
        if (stroke.arrow) {
            drawArrow(to, {to.x, to.y - head}, colour);
        }
    }
    const float size = m_painter.small();
    for (const DepthLanes::Mark& mark : lanes.marks) {
        const float half = m_painter.widthOf(mark.text, size) / 2 + 2;
        const Point at{x(mark.at.x), laneY(mark.at.y)};
        if (2 * half > 0.95F * pitch() && lanes.marks.size() > 1) {
            continue; // they would cover each other
        }
        m_painter.add(FigureBox{{at.x - half, at.y - 0.6F * size, at.x + half, at.y + 0.6F * size},
                                0.6F * size,
                                FigurePen{FigurePainter::colours().border, m_pixel},
                                FigureFill{{255, 255, 255}}});
        m_painter.write(at, mark.text, size, FigurePainter::colours().text);
        reach(at.y - 0.6F * size);
    }
    reach(-m_lanes * lanes.height);
}

void DepthFigure::drawBox(const LayerBox& box)
{
    const resources::ThemeColours& c = FigurePainter::colours();
    const Rect r = rectOf(box);
    const float radius = std::min(4 * m_pixel, r.width() / 5);
    const FigurePen pen{muted(), 1.2F * m_pixel};
    const float aside = box.folded() ? std::min(4 * m_pixel, 0.1F * pitch()) : 0;
    reach(-2 * aside - pen.width);
    for (const float step : {2 * aside, aside}) { // two more outlines behind it, for the folded layers
        if (step > 0) {
            m_painter.add(FigureBox{{r.left + step, r.top - step, r.right + step, r.bottom - step},
                                    radius,
                                    pen,
                                    FigureFill{{255, 255, 255}}});
        }
    }
    const bool runs = activeShareOf(m_picture, box) > 0;
    m_painter.add(FigureBox{r, radius, pen,
                            FigureFill{!runs          ? resources::Rgb{255, 255, 255}
                                       : inStack(box) ? c.surface
                                                      : c.raised}});
    const Point centre = r.centre();
    const float size = m_painter.text();
    const std::string count = box.folded() ? " ×" + std::to_string(box.lastLayer - box.layer + 1) : "";
    if (m_subtitles) {
        m_painter.write({centre.x, centre.y - 0.6F * size}, box.title, size, runs ? c.text : c.muted);
        const bool counted = fits(box.subtitle + count, m_painter.small(), box);
        m_painter.write({centre.x, centre.y + 0.6F * size}, counted ? box.subtitle + count : box.subtitle,
                        m_painter.small(), c.muted);
    } else if (const float title = titleSize(box); title > 0) {
        m_painter.write(centre, box.title, title, runs ? c.text : c.muted);
    }
}

// Draws the titles that do not fit into their boxes below the row, as many as have room: of layers in halves, the
// layers' numbers.
float DepthFigure::drawTicks(float top)
{
    const float size = m_painter.small();
    const std::vector<LayerBox>& boxes = m_scene.boxes();
    std::vector<std::pair<float, float>> taken;
    const auto place = [&](float at, const std::string& text) {
        const float half = m_painter.widthOf(text, size) / 2;
        at = std::max(half, std::min(at, m_painter.width() - half)); // the text may be wider than the figure
        const bool free = std::ranges::none_of(
            taken, [&](const auto& other) { return at - half < other.second + 2 && other.first < at + half + 2; });
        if (free) {
            taken.emplace_back(at - half, at + half);
            m_painter.write({at, top + 0.75F * size}, text, size, muted());
        }
    };
    for (const LayerBox* const end : {&boxes.front(), &boxes.back()}) {
        if (titleSize(*end) == 0) {
            place(rectOf(*end).centre().x, end->title);
        }
    }
    const float apart = m_painter.widthOf(std::to_string(m_scene.layers()), size) + 4;
    const float layer = m_scale * boxes.back().rect.right / static_cast<float>(m_scene.layers() + 2);
    const std::int64_t every = labelStep(apart / layer);
    for (const LayerBox& box : boxes) {
        if (inStack(box) && m_title == 0 &&
            (box.folded() || (box.layer % every == 0 && m_scene.boxesOf(box.layer).data() == &box))) {
            const LayerBox& last = m_scene.boxesOf(box.lastLayer).back();
            place((x(box.rect.left) + x(last.rect.right)) / 2, box.folded() ? box.title : std::to_string(box.layer));
        }
    }
    return taken.empty() ? top : top + 1.4F * size;
}

float DepthFigure::drawBrackets(float top)
{
    const float size = m_painter.small();
    float bottom = top;
    std::vector<float> ends; // of the last bracket at each level
    std::vector<std::pair<Rect, std::string>> brackets;
    for (const LoopBracket& loop : m_scene.loops()) {
        brackets.emplace_back(loop.rect, loop.visits);
    }
    for (const GroupBracket& group : m_scene.brackets()) {
        brackets.emplace_back(group.rect, group.group.name);
    }
    for (const auto& [rect, name] : brackets) {
        const float left = x(rect.left);
        const float right = x(rect.right);
        const auto free = std::ranges::find_if(ends, [left](float end) { return end < left; });
        const float y = top + 2 + static_cast<float>(free - ends.begin()) * (1.6F * size + 2);
        if (free == ends.end()) {
            ends.push_back(right);
        } else {
            *free = right;
        }
        m_painter.add(FigurePath{.points = {{left, y}, {left, y + 2}, {right, y + 2}, {right, y}},
                                 .pen = FigurePen{muted(), m_painter.pixel()}});
        m_painter.write({(left + right) / 2, y + 2 + 0.8F * size}, m_painter.elided(name, size, right - left), size,
                        FigurePainter::colours().text);
        bottom = std::max(bottom, y + 2 + 1.6F * size);
    }
    return bottom;
}

/// Returns the meaning of lines without weights, if there are several kinds of them.
std::vector<LegendEntry> DepthFigure::kinds() const
{
    using Kind = projects::ShortcutKind;
    const std::vector<ShownPort> ports = shownPorts(m_picture);
    const std::pair<Kind, const char*> words[] = {{Kind::Learned, "learned"},
                                                  {Kind::Frozen, "frozen"},
                                                  {Kind::Fixed, "fixed"},
                                                  {Kind::Stream, "residual stream"},
                                                  {Kind::Pruned, "pruned"}};
    std::vector<LegendEntry> entries;
    for (const auto& [kind, word] : words) {
        const auto arc = std::ranges::find(m_scene.arcs(), kind, &Arc::kind);
        if (arc == m_scene.arcs().end()) {
            continue;
        }
        const ArcInk ink = inksOf(m_picture, ports, *arc).front();
        if (ink.weighed || (ports.size() > 1 && kind == Kind::Learned)) {
            continue; // explained by the scale, or by the ports
        }
        LegendEntry entry{
            FigurePen{ink.colour, m_painter.pixel() * ink.width, 1, ink.dashed}, {}, translate("Canvas", word)};
        if (kind == Kind::Frozen) {
            entry.box = FigureFill{ink.colour};
        }
        entries.push_back(std::move(entry));
    }
    const bool alone = entries.size() == 1 && ports.size() < 2 && !hasWeighedArc(m_picture);
    return alone ? std::vector<LegendEntry>() : entries;
}

float DepthFigure::drawLegend(float top)
{
    const std::vector<ShownPort> ports = shownPorts(m_picture);
    const bool weighed = hasWeighedArc(m_picture);
    std::vector<LegendEntry> entries;
    if (ports.size() > 1 && !m_scene.arcs().empty()) {
        for (const ShownPort& port : ports) {
            entries.push_back(
                {FigurePen{port.port->colour, 2 * m_painter.pixel()}, {}, std::string(nameOf(port.port->port))});
        }
        if (weighed) {
            entries.push_back({{}, {}, translate("Canvas", "width: the weight")});
        }
    }
    std::ranges::move(kinds(), std::back_inserter(entries));
    const float bottom = m_painter.legend(top, entries);
    return weighed && ports.size() < 2 ? m_painter.scale(bottom, m_view.weights, LiveMeasure::Mean) : bottom;
}

} // namespace

Result<Figure> depthFigure(const TopologyView& view, const FigureStyle& style)
{
    DepthFigure figure(view, style);
    if (const std::size_t strokes = figure.strokes(); strokes > kMostDrawn) {
        return Error{"canvas", "got " + std::to_string(strokes) + " arcs, expected at most " +
                                   std::to_string(kMostDrawn) + ": fold layers, or show one port"};
    }
    return std::move(figure).draw();
}

} // namespace residua::editor
