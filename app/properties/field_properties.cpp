// SPDX-License-Identifier: GPL-3.0-or-later
// Makes rows from the schema, which alone defines names, ranges and meanings of fields.
#include "app/properties/property.h"

#include <QComboBox>

#include <algorithm>
#include <variant>

namespace residua::app {

namespace {

using projects::FieldEntry;
using projects::FieldScalar;
using projects::FieldType;
using projects::Project;

/// Translates the schema's words to the user's language, in the context "Fields".
QString translated(const std::string& words)
{
    return words.empty() ? QString() : QCoreApplication::translate("Fields", words.c_str());
}

QVariant toVariant(const FieldEntry& entry, const FieldScalar& value)
{
    if (const auto* const flag = std::get_if<bool>(&value)) {
        return *flag;
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        return entry.type == FieldType::Choice ? QVariant(static_cast<int>(*whole))
                                               : QVariant(static_cast<qlonglong>(*whole));
    }
    if (const auto* const real = std::get_if<double>(&value)) {
        return *real;
    }
    const auto* const text = std::get_if<std::string>(&value);
    return text != nullptr ? QVariant(QString::fromStdString(*text)) : QVariant();
}

FieldScalar fromVariant(FieldType type, const QVariant& given)
{
    switch (type) {
    case FieldType::Flag:
        return given.toBool();
    case FieldType::Integer:
    case FieldType::Choice:
        return static_cast<std::int64_t>(given.toLongLong());
    case FieldType::Real:
        return given.toDouble();
    case FieldType::Text:
        return given.toString().toStdString();
    case FieldType::Other:
        break;
    }
    return std::monostate{};
}

PropertyKind kindOf(const FieldEntry& entry)
{
    switch (entry.type) {
    case FieldType::Flag:
        return PropertyKind::Toggle;
    case FieldType::Integer:
        return PropertyKind::Integer;
    case FieldType::Real:
        return PropertyKind::Real;
    case FieldType::Choice:
        return PropertyKind::Choice;
    case FieldType::Text:
    case FieldType::Other:
        break;
    }
    return entry.field.more.form == projects::TextForm::Path ? PropertyKind::File : PropertyKind::Text;
}

Property propertyOf(const FieldEntry& entry)
{
    const projects::FieldDetails& more = entry.field.more;
    Property property = propertyFor(entry.field);
    property.key = entry.pointer;
    property.pointer = wholeOf(entry);
    property.group = schemaLine(entry.group);
    property.kind = kindOf(entry);
    property.value = toVariant(entry, entry.value);
    // The kind of a part and an entry of a list are the user's choice, so they have no default.
    const bool hasDefault = more.inPlaces == projects::InPlaces::Named && !entry.isInList;
    property.defaultValue = hasDefault ? toVariant(entry, entry.defaultValue) : QVariant();
    for (const projects::Choice& choice : entry.choices) {
        property.choices << schemaLine(choice.title);
    }
    property.edit = [pointer = entry.pointer, type = entry.type](const Project& project, const QVariant& given) {
        return projects::fieldEdit(project, pointer, fromVariant(type, given));
    };
    return property;
}

} // namespace

Property propertyFor(const projects::Field& field)
{
    Property property;
    property.title = schemaLine(field.title);
    property.unit = translated(std::string(field.more.unit));
    property.help = translated(std::string(field.help));
    property.paper = QString::fromUtf8(field.more.paper.data(), static_cast<qsizetype>(field.more.paper.size()));
    property.range = field.more.range;
    return property;
}

QString schemaLine(std::string_view words)
{
    return translated(projects::headline(words));
}

QString choiceLine(const projects::Choice& choice)
{
    const QString help = translated(std::string(choice.help));
    return help.isEmpty() ? schemaLine(choice.title) : QStringLiteral("%1: %2").arg(schemaLine(choice.title), help);
}

void fillChoices(QComboBox& box, std::string_view pointer)
{
    const projects::FieldEntry field = projects::fieldOfSchema(pointer).value();
    for (const projects::Choice& choice : field.choices) {
        box.addItem(choiceLine(choice), box.count());
    }
    box.setCurrentIndex(static_cast<int>(std::get<std::int64_t>(field.defaultValue)));
}

std::vector<Property> fieldProperties(const Project& project, std::string_view part)
{
    std::vector<Property> properties;
    for (const FieldEntry& entry : projects::fieldsOf(project, part)) {
        // A field that is set is shown even if it has no effect, because that may be the error.
        const bool isSet = entry.value != entry.defaultValue;
        if (isSettable(entry) && (isSet || !entry.isIdle)) {
            properties.push_back(propertyOf(entry));
        }
    }
    // A heading is shown once, at the first of its fields.
    QStringList groups;
    for (const Property& property : properties) {
        if (!groups.contains(property.group)) {
            groups << property.group;
        }
    }
    std::ranges::stable_sort(properties, {}, [&](const Property& p) { return groups.indexOf(p.group); });
    return properties;
}

} // namespace residua::app
