// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/world_model.h"

#include "projects/base/text.h"
#include "projects/schema/json_read.h"

#include <functional>
#include <type_traits>

namespace residua::projects {

template <>
struct Fields<WorldGoal> {
    static constexpr void visit(auto&& v)
    {
        v({"places", "places", "Places of goals.", {.need = Need::Required}}, &WorldGoal::places);
        v({"spread", "spread", "Moves each coordinate.", {.range = Range::within(0, 1e6)}}, &WorldGoal::spread);
        v({"radius", "radius", "Moves the first two coordinates in any direction."}, &WorldGoal::radius);
    }
};
template <>
struct Fields<WorldBounds> {
    static constexpr void visit(auto&& v)
    {
        v({"feature", "feature", "Feature of the state.", {.range = Range::atLeast(-1)}}, &WorldBounds::feature);
        v({"low", "low", "Least value."}, &WorldBounds::low);
        v({"high", "high", "Most value."}, &WorldBounds::high);
    }
};
template <>
struct Fields<WorldModel> {
    static constexpr void visit(auto&& v)
    {
        v({"model", "model", "MJCF file.", {.need = Need::Required}}, &WorldModel::model);
        v({"observation", "observation", "Parts of a state.", {.need = Need::Required}}, &WorldModel::observation);
        v({"control", "control", "Controls at actions of -1 and 1."}, &WorldModel::control);
        v({"frames", "frames", "Steps of the simulation.", {.range = Range::within(1, 1000)}}, &WorldModel::frames);
        v({"noise", "noise", "Noise of a start.", {.range = Range::within(0, 1)}}, &WorldModel::noise);
        v({"goal", "goal", "Goals of episodes.", {.need = Need::Required}}, &WorldModel::goal);
        v({"success", "success", "Distance at the goal.", {.range = Range::moreThan(0)}}, &WorldModel::success);
        v({"alive", "alive", "Bounds of an episode."}, &WorldModel::alive);
    }
};

namespace {

/// Returns the first number of a described struct that is out of its range.
template <class T>
Status checkNumbers(const T& value, const std::string& place)
{
    Status status = Done{};
    Fields<T>::visit([&](const Field& field, auto member) {
        const auto& number = std::invoke(member, value);
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(number)>>) {
            if (status && !field.more.range.contains(number)) {
                status = Error{place + "/" + std::string(field.key), "is " + numberText(static_cast<double>(number)) +
                                                                         "; expected " + textOf(field.more.range)};
            }
        }
    });
    return status;
}

/// Checks a pair of ascending numbers, which may be absent.
Status checkPair(const std::vector<double>& pair, const std::string& place, double least)
{
    const bool isPair = pair.size() == 2 && pair[0] >= least && pair[0] <= pair[1];
    return pair.empty() || isPair
               ? Status(Done{})
               : Error{place, "is [" + joinedText(pair, ", ", [](double each) { return numberText(each); }) +
                                  "]; expected two numbers, the smaller one first" +
                                  (least == 0 ? ", and none below 0" : "")};
}

Status checkGoal(const WorldGoal& goal, std::int64_t features)
{
    constexpr std::size_t kMostPlaces = 4096;
    if (goal.places.empty() || goal.places.size() > kMostPlaces) {
        return Error{"/goal/places", "has " + std::to_string(goal.places.size()) + " entries; expected 1 to " +
                                         std::to_string(kMostPlaces)};
    }
    for (std::size_t i = 0; i < goal.places.size(); ++i) {
        if (std::ssize(goal.places[i]) != features) {
            return Error{"/goal/places/" + std::to_string(i), "has " + std::to_string(goal.places[i].size()) +
                                                                  " numbers; expected " + std::to_string(features) +
                                                                  ", the project's features of a goal"};
        }
    }
    if (!goal.radius.empty() && features < 2) {
        return Error{"/goal/radius", "moves two coordinates, and a goal has 1; expected none"};
    }
    return checkPair(goal.radius, "/goal/radius", 0);
}

Status checkModel(const WorldModel& world, const WorldSizes& sizes)
{
    constexpr std::size_t kMostParts = 256;
    const bool isFile = world.model.ends_with(".xml") && world.model.find('/') == std::string::npos;
    if (!isFile) {
        return Error{"/model", "is \"" + world.model + "\"; expected a file in the same folder that ends with .xml"};
    }
    if (world.observation.empty() || world.observation.size() > kMostParts) {
        return Error{"/observation", "has " + std::to_string(world.observation.size()) + " entries; expected 1 to " +
                                         std::to_string(kMostParts)};
    }
    const WorldBounds& alive = world.alive;
    if (alive.feature >= sizes.states || (alive.feature >= 0 && alive.low >= alive.high)) {
        return Error{"/alive", "bounds feature " + std::to_string(alive.feature) + " to " + numberText(alive.low) +
                                   ".." + numberText(alive.high) + "; expected a feature from 0 to " +
                                   std::to_string(sizes.states - 1) + ", and low below high"};
    }
    for (const Status& status :
         {checkNumbers(world, ""), checkNumbers(world.goal, "/goal"), checkNumbers(alive, "/alive"),
          checkPair(world.control, "/control", -Range::kNoEnd), checkGoal(world.goal, sizes.goals)}) {
        RESIDUA_TRY(status);
    }
    return Done{};
}

} // namespace

Result<WorldModel> worldModelFromJson(std::string_view text, const WorldSizes& sizes)
{
    static_assert(describesAll<WorldModel>() && describesAll<WorldGoal>() && describesAll<WorldBounds>());
    const JsonValue tree = RESIDUA_TRY(parseJson(text));
    Result<WorldModel> world = JsonReader::readAll<WorldModel>(tree);
    if (world) {
        RESIDUA_TRY(checkModel(*world, sizes));
    }
    return world;
}

} // namespace residua::projects
