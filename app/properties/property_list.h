// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"

#include <QCoreApplication>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace residua::app {

/// Context of the properties' words for translators.
struct PropertyText {
    Q_DECLARE_TR_FUNCTIONS(Properties)
};

/// What a property says beside its value.
struct PropertyDetails {
    QString unit = {};
    QString help = {};
    QString paper = {};
    double minimum = 0;
    double maximum = 1e15;
    QStringList choices = {};
    PropertyKind textKind = PropertyKind::Text; ///< of a string: Text, Size or File
};

/// The alternative A of a variant, made if the variant holds another.
template <class A, class V>
auto& alternative(V& variant)
{
    if constexpr (std::is_const_v<V>) {
        static const A kDefault{};
        const A* held = std::get_if<A>(&variant);
        return held ? *held : kDefault;
    } else {
        if (!std::holds_alternative<A>(variant)) {
            variant = A{};
        }
        return std::get<A>(variant);
    }
}

/// Collects the properties of one value T of the document (the training plan, the seeds …). A field is given
/// once, as a function from a T to a reference; reading, the default and the edit follow from it.
template <class T>
class PropertyList {
public:
    using Read = std::function<T(const projects::Project&)>;
    using Write = std::function<projects::Edit(const projects::Project&, T)>;

    PropertyList(const projects::Project& project, T defaults, Read read, Write write)
        : m_current(read(project)), m_defaults(std::move(defaults)), m_read(std::move(read)), m_write(std::move(write))
    {
    }

    void group(QString title) { m_group = std::move(title); }

    template <class Field>
    void add(std::string key, QString title, Field field, PropertyDetails details = {})
    {
        using Value = std::remove_cvref_t<decltype(field(std::declval<T&>()))>;
        append(std::move(key), std::move(title), kindOf<Value>(details), toVariant(field(std::as_const(m_current))),
               toVariant(field(std::as_const(m_defaults))), std::move(details),
               [field](T& value, const QVariant& given) { field(value) = fromVariant<Value>(given); });
    }

    /// A choice that is not an enum of the document: which alternative a variant holds, say.
    void addChoice(std::string key, QString title, int current, QVariant defaultValue, PropertyDetails details,
                   std::function<void(T&, int)> set)
    {
        append(std::move(key), std::move(title), PropertyKind::Choice, current, std::move(defaultValue),
               std::move(details),
               [set = std::move(set)](T& value, const QVariant& given) { set(value, given.toInt()); });
    }

    [[nodiscard]] const T& current() const { return m_current; }
    [[nodiscard]] std::vector<Property> take() { return std::move(m_properties); }

private:
    template <class Value>
    static PropertyKind kindOf(const PropertyDetails& details)
    {
        if constexpr (std::is_same_v<Value, bool>) {
            return PropertyKind::Toggle;
        } else if constexpr (std::is_enum_v<Value>) {
            return PropertyKind::Choice;
        } else if constexpr (std::integral<Value>) {
            return PropertyKind::Integer;
        } else if constexpr (std::floating_point<Value>) {
            return PropertyKind::Real;
        } else {
            return details.textKind;
        }
    }

    template <class Value>
    static QVariant toVariant(const Value& value)
    {
        if constexpr (std::is_same_v<Value, bool>) {
            return value;
        } else if constexpr (std::is_enum_v<Value>) {
            return static_cast<int>(value);
        } else if constexpr (std::integral<Value>) {
            return static_cast<qlonglong>(value);
        } else if constexpr (std::floating_point<Value>) {
            return static_cast<double>(value);
        } else {
            return QString::fromStdString(value);
        }
    }

    template <class Value>
    static Value fromVariant(const QVariant& given)
    {
        if constexpr (std::is_same_v<Value, bool>) {
            return given.toBool();
        } else if constexpr (std::is_enum_v<Value>) {
            return static_cast<Value>(given.toInt());
        } else if constexpr (std::integral<Value>) {
            return static_cast<Value>(given.toLongLong());
        } else if constexpr (std::floating_point<Value>) {
            return static_cast<Value>(given.toDouble());
        } else {
            return given.toString().toStdString();
        }
    }

    void append(std::string key, QString title, PropertyKind kind, QVariant value, QVariant defaultValue,
                PropertyDetails details, std::function<void(T&, const QVariant&)> set)
    {
        Property property;
        property.key = std::move(key);
        property.group = m_group;
        property.title = std::move(title);
        property.kind = kind;
        property.value = std::move(value);
        property.defaultValue = std::move(defaultValue);
        property.unit = std::move(details.unit);
        property.help = std::move(details.help);
        property.paper = std::move(details.paper);
        property.minimum = details.minimum;
        property.maximum = details.maximum;
        property.choices = std::move(details.choices);
        property.edit = [read = m_read, write = m_write, set = std::move(set)](
                            const projects::Project& project, const QVariant& given) -> Result<projects::Edit> {
            T changed = read(project);
            set(changed, given);
            return write(project, std::move(changed));
        };
        m_properties.push_back(std::move(property));
    }

    T m_current;
    T m_defaults;
    Read m_read;
    Write m_write;
    QString m_group;
    std::vector<Property> m_properties;
};

// One table each; property.cpp chooses among them.
[[nodiscard]] std::vector<Property> dataProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> networkProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> graphProperties(const projects::Project& project, const projects::GraphRef& graph);
[[nodiscard]] std::vector<Property> nodeProperties(const projects::Project& project, const NodePlace& place);
/// What each input of the node reads.
[[nodiscard]] std::vector<Property> wireProperties(const projects::Project& project, const NodePlace& place);
[[nodiscard]] std::vector<Property> layersProperties(const projects::Project& project, const LayersPlace& place);
/// The stack in which these layers (1..depth) are made of `block`.
[[nodiscard]] projects::SetStack stackWith(const projects::Network& network, const std::vector<std::int64_t>& layers,
                                           const std::string& block);
[[nodiscard]] std::vector<Property> shortcutsProperties(const projects::Project& project, const ShortcutsPlace& place);
/// What a layer reads, as a list of numbers: the shortcuts into it, for the keyboard. Empty where wiring is no mix.
[[nodiscard]] std::vector<Property> readsProperty(const projects::Project& project, std::int64_t layer);
[[nodiscard]] std::vector<Property> topologyProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> stagesProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> initialisationProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> trainingProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> seedsProperties(const projects::Project& project);
[[nodiscard]] std::vector<Property> projectProperties(const projects::Project& project);

} // namespace residua::app
