// SPDX-License-Identifier: GPL-3.0-or-later
// The defaults that the pages of resources/help state, against those of the schema, of presets and of node kinds.
#include "projects/base/text.h"
#include "projects/model/topology.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schema/fields.h"
#include "resources/help.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <string>
#include <vector>

using namespace residua;
using projects::FieldEntry;
using resources::HelpTopic;

namespace {

std::vector<std::string> searchedWordsOf(const HelpTopic& topic)
{
    std::vector<std::string> words = topic.aliases;
    words.insert(words.begin(), topic.name);
    return words;
}

/// "on", "128", "0.1", "alike".
std::string heldText(const projects::FieldScalar& value, std::span<const projects::Choice> choices)
{
    if (const auto* const flag = std::get_if<bool>(&value)) {
        return *flag ? "on" : "off";
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        return choices.empty() ? std::to_string(*whole) : std::string(choices[static_cast<std::size_t>(*whole)].name);
    }
    const auto* const real = std::get_if<double>(&value);
    const auto* const text = std::get_if<std::string>(&value);
    return real != nullptr ? numberText(*real) : text != nullptr ? *text : "";
}

std::string heldText(const projects::ParamValue& value)
{
    return std::visit([](const auto& held) { return heldText(projects::FieldScalar(held), {}); }, value);
}

/// Whether the field is called by `key`, "sites" or "gate.kind": the end of its pointer. "rank" also means "rank/kind".
bool isCalled(const FieldEntry& entry, const QString& key)
{
    const QString end = "/" + QString(key).replace(QLatin1Char('.'), QLatin1Char('/'));
    const QString pointer = QString::fromStdString(entry.pointer);
    return pointer.endsWith(end) || pointer.endsWith(end + "/kind");
}

/// Returns the field's values in the first preset of the page; empty if the page has no preset.
std::vector<std::string> presetValues(const HelpTopic& topic, const QString& key)
{
    constexpr std::int64_t kDepth = 8;
    const std::vector<projects::TopologyPreset> presets = projects::topologyPresets(kDepth);
    for (const std::string& word : searchedWordsOf(topic)) {
        const auto preset = std::ranges::find(presets, word, &projects::TopologyPreset::name);
        if (preset == presets.end()) {
            continue;
        }
        projects::Project project;
        project.stack().topology.wiring = preset->wiring;
        std::vector<std::string> values;
        for (const FieldEntry& entry : projects::fieldsOf(project, "/topology/wiring")) {
            if (isCalled(entry, key)) {
                values.push_back(heldText(entry.value, entry.choices));
            }
        }
        return values;
    }
    return {};
}

/// The defaults of the schema's fields of that name; of those of the alternatives that the page is about, if there are
/// any.
std::vector<std::string> schemaValues(const HelpTopic& topic, const QString& key)
{
    const std::vector<FieldEntry> all = projects::everyField();
    const std::vector<std::string> words = searchedWordsOf(topic);
    const auto isOfTopic = [&](const FieldEntry& entry) {
        return std::ranges::any_of(entry.within, [&](const auto& alternative) {
            const auto choice = std::ranges::find(all, alternative.first, &FieldEntry::pointer);
            const std::string name(choice->choices[static_cast<std::size_t>(alternative.second)].name);
            return std::ranges::find(words, name) != words.end();
        });
    };
    std::vector<std::string> values;
    std::vector<std::string> ofTopic;
    for (const FieldEntry& entry : all) {
        if (isCalled(entry, key)) {
            const std::string text = heldText(entry.defaultValue, entry.choices);
            values.push_back(text);
            if (isOfTopic(entry)) {
                ofTopic.push_back(text);
            }
        }
    }
    return ofTopic.empty() ? values : ofTopic;
}

/// The defaults of that parameter of the node kinds that have it.
std::vector<std::string> nodeValues(const QString& key)
{
    std::vector<std::string> values;
    for (const projects::NodeKind& kind : projects::nodeKinds()) {
        for (const projects::ParamSpec& param : kind.params) {
            if (param.name() == key.toStdString()) {
                values.push_back(heldText(param.defaultValue));
            }
        }
    }
    return values;
}

bool isSame(const QString& stated, const std::string& value)
{
    bool isStated = false;
    bool isHeld = false;
    const double number = stated.toDouble(&isStated);
    const double held = QString::fromStdString(value).toDouble(&isHeld);
    return isStated && isHeld ? number == held : stated.toStdString() == value;
}

} // namespace

class TestHelpDefaults : public QObject {
    Q_OBJECT

private slots:
    /// A page states a default as "`key` (default `value`)", a symbol between the two or not, and says "default"
    /// nowhere else: so each of them can be compared.
    void pagesStateTheDefaultsThatTheProgramHas()
    {
        static const QRegularExpression kStated(
            QStringLiteral("`([a-z0-9_.]+)`(?: [^\\s(]{1,3})?\\s\\(default `?([^\\s,)`]+)`?[,)]"));
        static const QRegularExpression kWord(QStringLiteral("default"), QRegularExpression::CaseInsensitiveOption);
        int compared = 0;
        QStringList wrong;
        for (const HelpTopic& topic : resources::helpTopics()) {
            if (topic.name == resources::kHelpIndex || topic.name == "fields") { // which is made of the schema
                continue;
            }
            const QString text = QString::fromUtf8(topic.text.data(), static_cast<qsizetype>(topic.text.size()));
            int stated = 0;
            for (auto at = kStated.globalMatch(text); at.hasNext(); ++stated) {
                const QRegularExpressionMatch match = at.next();
                const QString key = match.captured(1);
                std::vector<std::string> values = presetValues(topic, key);
                values = values.empty() ? schemaValues(topic, key) : values;
                values = values.empty() ? nodeValues(key) : values;
                const QString place = QString::fromStdString(topic.name) + ": " + match.captured(0);
                if (values.empty()) {
                    wrong << place + ": no field and no parameter is called so";
                }
                for (const std::string& value : values) {
                    if (!isSame(match.captured(2), value)) {
                        wrong << place + ": it is " + QString::fromStdString(value);
                    }
                }
            }
            if (text.count(kWord) != stated) {
                wrong << QString::fromStdString(topic.name) + ": states a default in another form";
            }
            compared += stated;
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(QLatin1Char('\n'))));
        QVERIFY(compared > 40);
    }
};

RESIDUA_TEST(TestHelpDefaults)
#include "tst_help_defaults.moc"
