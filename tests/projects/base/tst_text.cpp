// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"
#include "projects/model/parameter_name.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace residua;

/// Numbers and characters as text, as all modules write them.
class TestText : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { std::setlocale(LC_NUMERIC, "C"); }

    void numbersHaveAFullStopInEveryLanguage()
    {
        // Where the system has a language with a decimal comma, under that; the texts do not depend on it.
        for (const char* language : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"}) {
            if (std::setlocale(LC_NUMERIC, language) != nullptr) {
                break;
            }
        }
        QCOMPARE(numberText(0.1), std::string("0.1"));
        QCOMPARE(numberText(1.41421356, 6), std::string("1.41421"));
        QCOMPARE(numberText(1e6, 6), std::string("1e+06"));
        QCOMPARE(fixedText(0.5, 2), std::string("0.50"));
        QCOMPARE(fixedText(-1234.5, 1), std::string("-1234.5"));
        QCOMPARE(fixedText(2.5, 0), std::string("2"));
        QCOMPARE(fixedText(-0.004, 2), std::string("0.00")); // no sign of zero
        QCOMPARE(fixedText(-0.4, 0), std::string("0"));
        QCOMPARE(fixedText(-0.006, 2), std::string("-0.01"));
        QCOMPARE(fixedText(std::numeric_limits<double>::max(), 3).size(), std::size_t{309 + 1 + 3});
        QCOMPARE(fixedText(std::nan(""), 1), std::string("nan"));
    }

    void unitsHaveThePrefixThatLeavesThreeDigits()
    {
        QCOMPARE(scaledText(950, Prefixes::Decimal), std::string("950"));
        QCOMPARE(scaledText(0.25, Prefixes::Decimal), std::string("0.25"));
        QCOMPARE(scaledText(999.6, Prefixes::Decimal), std::string("1.00 k")); // not 1000
        QCOMPARE(scaledText(12'345'678, Prefixes::Decimal), std::string("12.3 M"));
        QCOMPARE(scaledText(-1200, Prefixes::Decimal), std::string("-1.20 k"));
        QCOMPARE(scaledText(4.56e18, Prefixes::Decimal), std::string("4.56 E"));
        QCOMPARE(scaledText(1e24, Prefixes::Decimal), std::string("1000000 E"));
        QCOMPARE(scaledText(512, Prefixes::Binary, "B"), std::string("512 B"));
        QCOMPARE(scaledText(1536, Prefixes::Binary, "B"), std::string("1.50 KiB"));
        QCOMPARE(scaledText(1536, Prefixes::Binary, "B", "_"), std::string("1.50_KiB"));
        QVERIFY(prefixed(999.6, Prefixes::Decimal, 4).prefix.empty()); // four digits have room for it
        QCOMPARE(prefixed(999.96, Prefixes::Decimal, 4).prefix, std::string_view("k"));
    }

    void namesOfParametersAreTakenApart()
    {
        using projects::NetworkPart;
        using projects::ParameterName;
        using projects::parameterNameFrom;
        QVERIFY(parameterNameFrom("layers.12.attention.q.weight") ==
                (ParameterName{NetworkPart::Layers, 12, "attention.q.weight"}));
        QCOMPARE(parameterNameFrom("layers.12.attention.q.weight").node(), std::string_view("attention"));
        QVERIFY(parameterNameFrom("stem.embed.weight") == (ParameterName{NetworkPart::Stem, 0, "embed.weight"}));
        QVERIFY(parameterNameFrom("topology.coefficient") == (ParameterName{NetworkPart::Topology, 0, "coefficient"}));
        QVERIFY(parameterNameFrom("topologyx.norm") == (ParameterName{NetworkPart::Other, 0, "topologyx.norm"}));
        // A text that only begins as a layer's name is no layer's.
        for (const char* const text : {"layers.x.up", "layers.0.up", "layers.-1.up", "layers.3x.up", "layers.3",
                                       "layers.99999999999999999999.up", "layers", "layersb.3.up", "", "."}) {
            QVERIFY2(parameterNameFrom(text).layer == 0, text);
        }
        for (const char* const text : {"layers.12.attention.q.weight", "stem.embed.weight", "layers.x.up", "weight",
                                       "topology.3.norm", "model.norm.weight"}) {
            QCOMPARE(textOf(parameterNameFrom(text)), std::string(text));
        }
    }

    /// As checkpoints and exports have them.
    void namesOfParametersArePutTogether()
    {
        QCOMPARE(projects::layerPrefix(12), std::string("layers.12."));
        QCOMPARE(projects::topologyParameter("coefficient"), std::string(projects::kTopologyCoefficient));
        QCOMPARE(projects::topologyParameter(3, "gate.weight"), std::string("topology.3.gate.weight"));
        const auto parts = [](std::string_view name) {
            return std::pair(projects::ownerOf(name), projects::lastOf(name));
        };
        QVERIFY(parts("layers.3.up.weight") == std::pair(std::string_view("layers.3.up"), std::string_view("weight")));
        QVERIFY(parts("weight") == std::pair(std::string_view(), std::string_view("weight")));
        QVERIFY(parts("") == std::pair(std::string_view(), std::string_view()));
        QCOMPARE(projects::siblingOf("layers.3.up.weight", "bias"), std::string("layers.3.up.bias"));
        QCOMPARE(projects::siblingOf("weight", "bias"), std::string("bias"));
    }

    /// The published values of FNV-1a, on which the keys of random streams and of fits that are kept depend.
    void theHashIsFnv()
    {
        const auto hash = [](std::string_view text) {
            std::uint64_t value = kFnvStart;
            for (const char c : text) {
                value = fnvStep(value, static_cast<std::uint8_t>(c));
            }
            return value;
        };
        QCOMPARE(hash("a"), std::uint64_t{0xaf63dc4c8601ec8c});
        QCOMPARE(hash("foobar"), std::uint64_t{0x85944171f73967e8});
        QVERIFY(hash("\xff") != hash("\x7f"));
    }

    void sizesInErrorsLeaveOutZeros()
    {
        QCOMPARE(bytesText(4.0 * 1024 * 1024 * 1024), std::string("4 GiB"));
        QCOMPARE(bytesText(1010.0 * 1024), std::string("1010 KiB")); // not 1.01e+03
        QCOMPARE(bytesText(0), std::string("0 B"));
    }

    void countsAndDurationsAreReadByPeople()
    {
        QCOMPARE(groupedText(-1234567), std::string("-1,234,567"));
        QCOMPARE(groupedText(999), std::string("999"));
        QCOMPARE(countText(1, "node"), std::string("1 node"));
        QCOMPARE(countText(0, "node"), std::string("0 nodes"));
        QCOMPARE(countText(1200, "node"), std::string("1,200 nodes"));
        QCOMPARE(percentText(0.125), std::string("12.5 %"));
        QCOMPARE(percentText(2.0 / 3.0), std::string("66.7 %"));
        QCOMPARE(percentText(1), std::string("100 %"));
        QCOMPARE(durationText(59.4), std::string("59 s"));
        QCOMPARE(durationText(59.6), std::string("1 min 00 s"));
        QCOMPARE(durationText(3725), std::string("1 h 02 min"));
        QCOMPARE(durationText(30 * 3600), std::string("1 d 06 h"));
        QCOMPARE(durationText(1e300), durationText(1e290));
        for (const double none : {-1.0, std::nan(""), HUGE_VAL}) {
            QCOMPARE(durationText(none), std::string("–"));
        }
    }

    void listsHaveWhatIsAskedBetween()
    {
        const std::vector<std::string> words{"", "b", "c"};
        QCOMPARE(joinedText(words), std::string(", b, c")); // an empty item is one too
        QCOMPARE(joinedText(words, " · ", [](const std::string& word) { return "<" + word + ">"; }),
                 std::string("<> · <b> · <c>"));
        QCOMPARE(joinedText(std::vector<std::string>()), std::string());
        QCOMPARE(choiceText(std::vector<std::string>{"a", "b", "c"}), std::string("a, b or c"));
        QCOMPARE(choiceText(std::vector<std::string>{"a"}), std::string("a"));
    }

    void theWordThatWasMeantIsAsked()
    {
        const std::vector<std::string> known{"train", "sweep"};
        QCOMPARE(meantHint("tran", known), std::string("; did you mean \"train\"?"));
        QCOMPARE(meantHint("tran", known, kTypedHint), std::string(", did you mean train?"));
        QCOMPARE(meantHint("export", known), std::string());
        QCOMPARE(meantHint("export", known, kTypedHint, "; --help lists them"), std::string("; --help lists them"));
    }
};

RESIDUA_TEST(TestText)
#include "tst_text.moc"
