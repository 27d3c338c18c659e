// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/port_row.h"

#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "resources/axis.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace residua::editor {

namespace {

constexpr Point kAt{16, 12};

} // namespace

void PortRow::follow(const projects::Topology& topology, resources::Theme theme)
{
    std::vector<DepthPort> ports = depthPorts(topology, theme);
    if (!std::ranges::equal(ports, m_ports, {}, &DepthPort::port, &DepthPort::port)) {
        m_ports = std::move(ports);
    }
    setTheme(theme);
}

void PortRow::setTheme(resources::Theme theme)
{
    for (std::size_t i = 0; i < m_ports.size(); ++i) {
        m_ports[i].colour = resources::curveColour(i, theme);
    }
}

std::vector<Chip> PortRow::chips() const
{
    if (empty()) {
        return {};
    }
    auto names = mapped<std::vector<std::string>>(m_ports, [&](const DepthPort& port) { return nameOf(port.port); });
    std::vector<Chip> chips = layoutChips(names, ChipKind::Legend, kAt);
    for (std::size_t i = 0; i < chips.size(); ++i) {
        chips[i].on = m_ports[i].shown;
        chips[i].colour = m_ports[i].colour;
    }
    return chips;
}

bool PortRow::contains(Point onScreen) const
{
    const std::vector<Chip> row = chips();
    return std::any_of(row.begin(), row.end(), [onScreen](const Chip& chip) { return chip.rect.contains(onScreen); });
}

bool PortRow::click(Point onScreen, Click how)
{
    const std::vector<Chip> row = chips();
    for (std::size_t hit = 0; hit < row.size(); ++hit) {
        if (!row[hit].rect.contains(onScreen)) {
            continue;
        }
        if (how == Click::Toggle) {
            m_ports[hit].shown = !m_ports[hit].shown;
            return true;
        }
        for (std::size_t i = 0; i < m_ports.size(); ++i) {
            m_ports[i].shown = i == hit;
        }
        return true;
    }
    return false;
}

void PortRow::step(int direction)
{
    if (empty()) {
        return;
    }
    const std::ptrdiff_t places = std::ssize(m_ports) + 1; // 0: all, i + 1: port i alone
    const auto isShown = [](const DepthPort& port) { return port.shown; };
    const bool alone = std::count_if(m_ports.begin(), m_ports.end(), isShown) == 1;
    const std::ptrdiff_t now = alone ? std::find_if(m_ports.begin(), m_ports.end(), isShown) - m_ports.begin() + 1 : 0;
    const std::ptrdiff_t next = (now + direction + places) % places;
    for (std::ptrdiff_t i = 0; i + 1 < places; ++i) {
        m_ports[static_cast<std::size_t>(i)].shown = next == 0 || next == i + 1;
    }
}

void PortRow::paint(ImDrawList& list, resources::Theme theme, Point pointer) const
{
    for (const Chip& chip : chips()) {
        paintChip(list, chip, theme, chip.rect.contains(pointer));
    }
}

namespace {

constexpr float kRoomOfChip = 140; ///< of the canvas's width, beside the text at its bottom
constexpr int kEndDigits = 7;      ///< as many as an end of a scale has, so that the ends enclose the values

} // namespace

void paintLegend(ImDrawList& list, const LiveWeights& weights, resources::Theme theme, float height,
                 LiveMeasure measure, Colours colours)
{
    if (!weights.absence().empty()) {
        const resources::ThemeColours& c = resources::themeColours(theme);
        const std::string text = elided(kTextSize, weights.absence(), list.GetClipRectMax().x - kRoomOfChip);
        const float width = textWidth(kTextSize, text);
        list.AddRectFilled({8, height - 30}, {24 + width, height - 8}, imColour(c.background, 0.85), 5);
        paintText(list, kTextSize, {16, height - 26}, imColour(c.muted), text);
    }
    if (weights.empty()) {
        return;
    }
    const projects::WeightScale& scale = weights.scale(measure);
    const resources::ThemeColours& c = resources::themeColours(theme);
    constexpr float barWidth = 140;
    constexpr float barHeight = 8;
    constexpr int pieces = 35;
    constexpr float left = 16;
    const float top = height - 40;
    list.AddRectFilled({left - 8, top - 24}, {left + barWidth + 8, height - 8}, imColour(c.background, 0.85), 5);
    paintText(list, kTextSize, {left, top - 18}, imColour(c.text),
              filled(translate("Canvas", "%1 at step %2"),
                     {nameOfValue(weights, measure), groupedText(weights.step(measure))}));
    if (colours == Colours::Ports) {
        paintText(list, kTextSize, {left, top}, imColour(c.muted), translate("Canvas", "colour: the port, above"));
        paintText(list, kTextSize, {left, top + 16}, imColour(c.muted), translate("Canvas", "width: the weight"));
        return;
    }
    for (int i = 0; i < pieces; ++i) {
        const double t = (i + 0.5) / pieces;
        const float x = left + barWidth * static_cast<float>(i) / pieces;
        list.AddRectFilled({x, top}, {x + barWidth / pieces + 0.5F, top + barHeight},
                           imColour(weightColour(scale, scale.low + t * (scale.high - scale.low), theme)));
    }
    const std::string high = resources::shortNumber(scale.high, kEndDigits);
    paintText(list, kTextSize, {left, top + 12}, imColour(c.muted), resources::shortNumber(scale.low, kEndDigits));
    paintText(list, kTextSize, {left + barWidth - textWidth(kTextSize, high), top + 12}, imColour(c.muted), high);
}

} // namespace residua::editor
