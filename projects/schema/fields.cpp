// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schema/fields.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/nodes/example_schema.h"
#include "projects/schema/describe_project.h"

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>

namespace residua::projects {
namespace {

enum class Extent {
    Document, ///< the fields that a document has
    Schema,   ///< all fields that a document can have
};

/// The current position of a walk.
struct At {
    std::string pointer;
    std::string place;
    std::string inSection; ///< the place without its first part; empty if it has only one part
    std::string group;
    bool isInList = false;
    Decides decides = Decides::Training;
    bool isIdle = false;
    bool hasOwnEdits = false;
    std::vector<std::pair<std::string, std::int64_t>> within;

    /// Returns the position of `token` below this one. `name` is its name, and `owner` the position of the struct.
    [[nodiscard]] At at(std::string_view token, const At& owner, std::string_view name) const;
};

template <class T>
constexpr bool isList = false;
template <class T>
constexpr bool isList<std::vector<T>> = Described<T>;

template <class T>
constexpr bool isScalar = std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                          std::is_same_v<T, std::string> || Named<T>;

std::string joined(const std::string& place, std::string_view part)
{
    return place.empty() ? std::string(part) : place + " · " + std::string(part);
}

At At::at(std::string_view token, const At& owner, std::string_view name) const
{
    At below = *this;
    below.pointer += "/" + std::string(token);
    below.place = joined(owner.place, name);
    below.inSection = owner.place.empty() ? std::string() : joined(owner.inSection, name);
    return below;
}

/// True if the pointers are equal or one is above the other.
bool areInLine(std::string_view a, std::string_view b)
{
    const std::string_view above = a.size() < b.size() ? a : b;
    const std::string_view below = a.size() < b.size() ? b : a;
    return below.starts_with(above) && (below.size() == above.size() || above.empty() || below[above.size()] == '/');
}

struct Nearest {
    std::string place;
    std::string inSection;
    Decides decides = Decides::Training;
};

/// Calls `visit(field, at, value, default)` for each field at, above or below `target`. Values are references into the
/// document, so that a visitor can set them.
template <class Visit>
class Walk {
public:
    Walk(const Project& project, std::string_view target, Extent extent, Visit visit)
        : m_project(project), m_target(target), m_extent(extent), m_visit(std::move(visit))
    {
    }

    template <class T>
    void fields(T& owner, const std::remove_const_t<T>& defaults, const At& at)
    {
        std::string group = at.group;
        Fields<std::remove_const_t<T>>::visit([&](const Field& field, auto member) {
            if (!field.more.group.empty()) {
                group = field.more.group;
            }
            At here = at.at(field.key, at, field.title);
            here.group = group;
            here.decides = std::max(at.decides, field.more.decides);
            const Meaning where = m_extent == Extent::Schema ? nullptr : field.more.where;
            here.isIdle = at.isIdle || (where != nullptr && !where(&owner, m_project));
            if (enters(here)) {
                value(field, std::invoke(member, owner), std::invoke(member, defaults), here, at);
            }
        });
    }

    /// Returns the last field on the way to the target.
    [[nodiscard]] const Nearest& nearest() const { return m_nearest; }

private:
    bool enters(const At& here)
    {
        if (!areInLine(here.pointer, m_target)) {
            return false;
        }
        if (here.pointer.size() <= m_target.size()) {
            m_nearest = {here.place, here.inSection, here.decides};
        }
        return true;
    }

    template <class T>
    void value(const Field& field, T& value, const std::remove_const_t<T>& defaults, At& here, const At& owner)
    {
        using Value = std::remove_const_t<T>;
        here.hasOwnEdits = here.hasOwnEdits || kHasOwnEdits<Value>;
        if constexpr (Alternating<Value>) {
            alternatives(field, value, defaults, here, owner);
        } else if constexpr (Described<Value>) {
            fields(value, defaults, here);
        } else if constexpr (isList<Value>) {
            items(field, value, here, owner);
        } else if constexpr (std::is_same_v<Value, std::map<std::string, ParamValue>>) {
            for (auto& [name, param] : value) {
                const Field named{{}, "parameter", "A setting of the node that is not its kind's default."};
                const At at = here.at(pointerToken(name), owner, name);
                if (enters(at)) {
                    m_visit(named, at, param, param);
                }
            }
        } else {
            m_visit(field, here, value, defaults);
        }
    }

    template <class V>
    void alternatives(const Field& field, V& value, const std::remove_const_t<V>& defaults, At& here, const At& owner)
    {
        At below = here;
        if (field.more.inPlaces == InPlaces::LeftOut) {
            below.place = owner.place;
            below.inSection = owner.inSection;
        }
        here.pointer += "/" + std::string(kKindKey);
        if (areInLine(here.pointer, m_target)) {
            m_visit(field, here, value, defaults);
        }
        const auto choose = [&]<std::size_t... I>(std::index_sequence<I...>)
        {
            (alternative<I>(value, defaults, below, here.pointer), ...);
        };
        choose(std::make_index_sequence<std::variant_size_v<std::remove_const_t<V>>>{});
    }

    template <std::size_t I, class V>
    void alternative(V& value, const std::remove_const_t<V>& defaults, At below, const std::string& kind)
    {
        using Alternative = std::variant_alternative_t<I, std::remove_const_t<V>>;
        below.within.emplace_back(kind, static_cast<std::int64_t>(I));
        Alternative fresh{};
        if (m_extent == Extent::Schema) {
            fields(fresh, fresh, below);
        } else if (auto* const held = std::get_if<I>(&value)) {
            const auto* const same = std::get_if<I>(&defaults);
            fields(*held, same != nullptr ? *same : fresh, below);
        }
    }

    template <class List>
    void items(const Field& field, List& list, const At& here, const At& owner)
    {
        using Item = typename std::remove_const_t<List>::value_type;
        Item fresh{};
        const auto visitItem = [&](auto& item, const std::string& index, const std::string& number) {
            const std::string title = std::string(field.more.item) + " " + number;
            At at = here.at(index, owner, title);
            at.group = title;
            at.isInList = true;
            if (enters(at)) {
                fields(item, fresh, at);
            }
        };
        if (m_extent == Extent::Schema) {
            visitItem(fresh, "N", "N");
            return;
        }
        for (std::size_t i = 0; i < list.size(); ++i) {
            visitItem(list[i], std::to_string(i), std::to_string(i + 1));
        }
    }

    const Project& m_project;
    std::string_view m_target;
    Extent m_extent;
    Visit m_visit;
    Nearest m_nearest;
};

/// Walks the fields and returns the last one on the way to the target.
template <class P, class Visit>
Nearest walk(P& project, std::string_view target, Extent extent, Visit visit)
{
    Walk<Visit> steps(project, target, extent, std::move(visit));
    steps.fields(project, Project{}, At{});
    return steps.nearest();
}

template <class T>
FieldScalar scalarOf(const T& value)
{
    if constexpr (std::is_same_v<T, ParamValue>) {
        return std::visit([](const auto& held) { return FieldScalar(held); }, value);
    } else if constexpr (Named<T>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (Alternating<T>) {
        return static_cast<std::int64_t>(value.index());
    } else if constexpr (isScalar<T>) {
        return value;
    } else {
        return std::monostate{};
    }
}

FieldType typeOf(const FieldScalar& value)
{
    constexpr FieldType kTypes[] = {FieldType::Other, FieldType::Flag, FieldType::Integer, FieldType::Real,
                                    FieldType::Text};
    return kTypes[value.index()];
}

template <class T>
FieldEntry entryOf(const Field& field, const At& at, const T& value, const T& defaults)
{
    FieldEntry entry{.field = field,
                     .pointer = at.pointer,
                     .place = at.place,
                     .group = at.group,
                     .choices = {},
                     .value = scalarOf(value),
                     .defaultValue = scalarOf(defaults),
                     .isInList = at.isInList,
                     .decides = at.decides,
                     .isIdle = at.isIdle,
                     .hasOwnEdits = at.hasOwnEdits,
                     .within = at.within};
    if constexpr (Named<T> || Alternating<T>) {
        entry.type = FieldType::Choice;
        entry.choices = Choices<T>::all;
    } else {
        entry.type = typeOf(entry.value);
    }
    return entry;
}

std::vector<FieldEntry> entriesOf(const Project& project, std::string_view target, Extent extent)
{
    std::vector<FieldEntry> entries;
    walk(project, target, extent, [&](const Field& field, const At& at, const auto& value, const auto& defaults) {
        if (at.pointer.size() >= target.size()) { // skips fields above it
            entries.push_back(entryOf(field, at, value, defaults));
        }
    });
    return entries;
}

template <class V, std::size_t... I>
bool emplaceAlternative(V& variant, std::int64_t index, std::index_sequence<I...>)
{
    return (
        (index == static_cast<std::int64_t>(I) && (variant.index() == I || (variant.template emplace<I>(), true))) ||
        ...);
}

Error noSuchField(std::string_view pointer)
{
    return {std::string(pointer), "there is no such field"};
}

/// Assigns `given` to `to` and returns true if it has the field's type.
template <class T>
bool assign(T& to, const FieldScalar& given)
{
    const auto* const whole = std::get_if<std::int64_t>(&given);
    if constexpr (Alternating<T>) {
        return whole != nullptr && emplaceAlternative(to, *whole, std::make_index_sequence<std::variant_size_v<T>>{});
    } else if constexpr (Named<T>) {
        const bool known = whole != nullptr && *whole >= 0 && *whole < std::ssize(Choices<T>::all);
        to = known ? static_cast<T>(*whole) : to;
        return known;
    } else if constexpr (isScalar<T>) {
        if (const auto* const value = std::get_if<T>(&given)) {
            to = *value;
            return true;
        }
        if constexpr (std::is_same_v<T, double>) {
            to = whole != nullptr ? static_cast<double>(*whole) : to;
            return whole != nullptr;
        }
    }
    return false;
}

template <class T>
Status assignedAt(const At& at, T& to, const FieldScalar& given)
{
    return assign(to, given) ? Status(Done{}) : Error{at.place, "the value is not of the field's type"};
}

} // namespace

bool Fields<TrainingPlan>::hasSequences(const Project& project)
{
    return examplesOf(project).hasTime();
}

bool Fields<Augmentation>::isUsed(const Project& project)
{
    return promptsArePictures(project.data);
}

bool Fields<Augmentation>::isAltered(const Project& project)
{
    return isUsed(project) && project.data.augmentation.operations > 0;
}

bool Fields<Augmentation>::hasColours(const Project& project)
{
    const auto* const files = std::get_if<PictureData>(&project.data.source);
    return isUsed(project) && (files == nullptr || files->channels == 3);
}

bool Fields<Masking>::isUsed(const Project& project)
{
    return traitsOf(project.network.objective).targetOf == TargetOf::Hidden;
}

bool Fields<Denoising>::isUsed(const Project& project)
{
    return traitsOf(project.network.objective).denoises;
}

bool Fields<Diffusion>::isUsed(const Project& project)
{
    return traitsOf(project.network.objective).diffuses;
}

bool Fields<Documents>::isUsed(const Project& project)
{
    return hasDocuments(project.data.source);
}

bool Fields<Documents>::hasLines(const Project& project)
{
    const Source& source = project.data.source;
    return project.data.documents.rows != DocumentRows::Stream &&
           (std::holds_alternative<TextData>(source) || std::holds_alternative<MixtureData>(source));
}

bool Fields<Documents>::hasEnd(const Project& project)
{
    return project.data.documents.rows != DocumentRows::Stream &&
           std::holds_alternative<TokenFileData>(project.data.source);
}

std::vector<FieldEntry> fieldsOf(const Project& project, std::string_view pointer)
{
    return entriesOf(project, pointer, Extent::Document);
}

std::optional<FieldEntry> findField(const Project& project, std::string_view pointer)
{
    for (FieldEntry& entry : fieldsOf(project, pointer)) {
        if (entry.pointer == pointer) {
            return std::move(entry);
        }
    }
    return std::nullopt;
}

std::vector<FieldEntry> fieldsOutOfRange(const Project& project, std::string_view pointer)
{
    std::vector<FieldEntry> entries;
    walk(project, pointer, Extent::Document,
         [&](const Field& field, const At& at, const auto& value, const auto& defaults) {
             using Value = std::remove_cvref_t<decltype(value)>;
             if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, double>) {
                 if (!field.more.range.contains(value)) {
                     entries.push_back(entryOf(field, at, value, defaults));
                 }
             }
         });
    return entries;
}

std::string placeOfField(const Project& project, std::string_view pointer)
{
    return walk(project, pointer, Extent::Document, [](const Field&, const At&, const auto&, const auto&) {}).place;
}

std::string placeInSection(const Project& project, std::string_view pointer)
{
    const Nearest nearest =
        walk(project, pointer, Extent::Document, [](const Field&, const At&, const auto&, const auto&) {});
    return nearest.inSection.empty() ? nearest.place : nearest.inSection;
}

Decides decidesAt(std::string_view pointer)
{
    const Project any;
    return walk(any, pointer, Extent::Schema, [](const Field&, const At&, const auto&, const auto&) {}).decides;
}

Status setField(Project& project, std::string_view pointer, const FieldScalar& value)
{
    Status status = noSuchField(pointer);
    walk(project, pointer, Extent::Document, [&](const Field&, const At& at, auto& held, const auto&) {
        if (at.pointer == pointer) {
            status = assignedAt(at, held, value);
        }
    });
    return status;
}

Status checkField(const Project& project, std::string_view pointer, const FieldScalar& value)
{
    Status status = noSuchField(pointer);
    walk(project, pointer, Extent::Document, [&](const Field&, const At& at, const auto& held, const auto&) {
        if (at.pointer == pointer) {
            auto trial = held;
            status = assignedAt(at, trial, value);
        }
    });
    return status;
}

std::span<const Choice> shortcutStates()
{
    return Choices<ShortcutState::Kind>::all;
}

std::string spoken(const ShortcutState& state)
{
    const std::string kind(choiceOf(state.kind).title);
    return state.hold == ShortcutState::Hold::Number    ? kind + " at " + numberText(state.number)
           : state.hold == ShortcutState::Hold::Learned ? kind + " as learned"
                                                        : kind;
}

bool isSettable(const FieldEntry& entry)
{
    return entry.type != FieldType::Other && entry.field.more.need == Need::Optional && !entry.hasOwnEdits;
}

bool isSweepable(const FieldEntry& entry)
{
    const bool isCalledBy = entry.hasOwnEdits && entry.field.more.need == Need::Required;
    return entry.type != FieldType::Other && entry.decides == Decides::Training && !isCalledBy;
}

std::string pointerFrom(std::string_view typed)
{
    std::string pointer(typed);
    if (!pointer.starts_with('/')) {
        std::ranges::replace(pointer, '.', '/');
        pointer.insert(0, "/");
    }
    return pointer;
}

std::vector<FieldEntry> everyField()
{
    return entriesOf(Project{}, {}, Extent::Schema);
}

std::optional<FieldEntry> fieldOfSchema(std::string_view pointer)
{
    std::vector<FieldEntry> all = everyField();
    const auto found = std::ranges::find(all, pointer, &FieldEntry::pointer);
    return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

std::string wholeOf(const FieldEntry& entry)
{
    const std::string kind = "/" + std::string(kKindKey);
    const bool chooses =
        entry.type == FieldType::Choice && entry.field.key != kKindKey && entry.pointer.ends_with(kind);
    return chooses ? entry.pointer.substr(0, entry.pointer.size() - kind.size()) : entry.pointer;
}

} // namespace residua::projects
