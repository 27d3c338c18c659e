// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace residua::projects {

/// Identifies a graph of a document: the stem, the head, or the inside of a block. Empty by default.
class GraphRef {
public:
    GraphRef() = default;
    [[nodiscard]] static GraphRef stem() { return {Part::Stem, {}}; }
    [[nodiscard]] static GraphRef head() { return {Part::Head, {}}; }
    [[nodiscard]] static GraphRef block(std::string name) { return {Part::Block, std::move(name)}; }

    [[nodiscard]] bool empty() const { return m_part == Part::None; }
    [[nodiscard]] bool isStem() const { return m_part == Part::Stem; }
    [[nodiscard]] bool isHead() const { return m_part == Part::Head; }
    [[nodiscard]] bool isBlock() const { return m_part == Part::Block; }
    /// Empty unless isBlock().
    [[nodiscard]] const std::string& blockName() const { return m_block; }

    auto operator<=>(const GraphRef&) const = default;

private:
    /// In the order of the text forms, which is the order in files.
    enum class Part : std::uint8_t { None, Block, Head, Stem };

    GraphRef(Part part, std::string block) : m_part(part), m_block(std::move(block)) {}

    Part m_part = Part::None;
    std::string m_block;
};

/// Formats the reference for files and keys: "stem", "head" or "block:<name>". Empty if `ref` is empty.
[[nodiscard]] std::string textOf(const GraphRef& ref);
/// Parses the text form; nullopt for any other text.
[[nodiscard]] std::optional<GraphRef> graphRefFrom(std::string_view text);

} // namespace residua::projects
