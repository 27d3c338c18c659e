// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"

#include <QByteArray>
#include <QString>
#include <QVariant>
#include <QWidget>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

class QFormLayout;
class QPushButton;

namespace residua::app {

/// The rows of a dialog for the fields of a request that have a title (engine/base/api/queries.h), each with
/// the editor of its type. Reads the request from them. The dialog owns the editors. GUI thread.
class FieldForm {
public:
    /// `name` begins the object names: "goOn" makes "goOnSteps" of the field "steps".
    FieldForm(QFormLayout& layout, QString name) : m_layout(layout), m_name(std::move(name)) {}

    /// Adds the rows, which show the values of `request`. The caller fills the lists of checkpoints ("from" and
    /// "step", with the steps as data) and topologies, reads the topology, and places the check box "other-data". A
    /// text has an editable list, to which the caller may add proposals.
    template <class Request>
    void add(const Request& request)
    {
        projects::Fields<Request>::visit([&](const projects::Field& field, auto member) {
            const auto& value = request.*member;
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, engine::RunRef>) {
                add(value);
            } else if (field.title.empty()) {
                return;
            } else if constexpr (std::is_same_v<T, bool>) {
                addRow(field, value);
            } else if constexpr (projects::Named<T>) {
                addRow(field, static_cast<int>(value), projects::Choices<T>::all);
            } else if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) {
                addRow(field, qlonglong(value.value_or(0)));
            } else if constexpr (std::is_same_v<T, std::int64_t>) {
                addRow(field, qlonglong(value));
            } else if constexpr (std::is_same_v<T, projects::WeightRank>) {
                addRow(shareOf(field), std::get<projects::RankScale>(value).scale);
            } else if constexpr (std::is_same_v<T, double>) {
                addRow(field, value);
            } else if constexpr (std::is_same_v<T, std::string>) {
                addRow(field, QByteArray::fromStdString(value));
            } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
                addRow(field, QString::fromStdString(value.string()));
            } else {
                addRow(field, {});
            }
        });
    }
    /// Sets the fields that have rows.
    template <class Request>
    void read(Request& request) const
    {
        projects::Fields<Request>::visit([&](const projects::Field& field, auto member) {
            auto& value = request.*member;
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, engine::RunRef>) {
                read(value);
            } else if (!m_editors.contains(field.key)) {
                return;
            } else if constexpr (std::is_same_v<T, bool>) {
                value = shown(field.key).toBool();
            } else if constexpr (projects::Named<T>) {
                value = static_cast<T>(shown(field.key).toInt());
            } else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::optional<std::int64_t>>) {
                value = shown(field.key).toLongLong();
            } else if constexpr (std::is_same_v<T, projects::WeightRank>) {
                value = projects::RankScale{shown(field.key).toDouble()};
            } else if constexpr (std::is_same_v<T, double>) {
                value = shown(field.key).toDouble();
            } else if constexpr (std::is_same_v<T, std::string>) {
                value = shown(field.key).toString().toStdString();
            } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
                value = shown(field.key).toString().toStdString();
            }
        });
    }
    /// Sets the function that is called when a value was edited.
    void onEdited(std::function<void()> edited) { m_edited = std::move(edited); }

    /// Returns the editor of a field that has one, and the button beside that of a path.
    template <class Editor>
    [[nodiscard]] Editor& editor(std::string_view key) const
    {
        return *static_cast<Editor*>(m_editors.at(key));
    }
    [[nodiscard]] QPushButton& chooser(std::string_view key) const;

private:
    /// Returns the field of a rank with the range and the help of a share of each weight's smaller side.
    [[nodiscard]] static projects::Field shareOf(projects::Field field);
    void addRow(const projects::Field& field, const QVariant& value, std::span<const projects::Choice> choices = {});
    [[nodiscard]] QVariant shown(std::string_view key) const;

    QFormLayout& m_layout;
    QString m_name;
    std::map<std::string_view, QWidget*> m_editors; ///< by the keys, which are literals
    std::function<void()> m_edited;
};

} // namespace residua::app
