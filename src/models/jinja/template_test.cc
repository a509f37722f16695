// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"
#include "models/testing/model_folder.h"

namespace assay::models::jinja {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTalk = R"({"messages": [
    {"role": "system", "content": " Be brief. "},
    {"role": "user", "content": "Grüße, 世界!"},
    {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello."}],
  "empty": [], "n": 7, "x": 0.5, "flag": true, "nothing": null,
  "schema": {"type": "object", "b": {"n": 1e3, "t": "a\"\n\u0001é"}, "a": [1, true, null]}})";

std::string rendered(std::string_view source) {
  Variables variables;
  const auto talk = value_from_json(kTalk, "talk");
  for (const auto& [name, value] : talk.dict()->items) variables[*name.text()] = value;
  return Template(source, "t").render(variables, 0);
}

std::string refused(const std::string& source) {
  return refusal_of([&] { rendered(source); });
}

// What Jinja with trim_blocks and lstrip_blocks prints, as tests/peers checks of the same texts.
TEST(Template, ControlsWhiteSpace) {
  EXPECT_EQ(rendered("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(rendered("a\n  {%- if true -%}\n b \n {%- endif %}\n c"), "ab c");
  EXPECT_EQ(rendered("a {# n\no #} b\n{#- x -#}\n c"), "a  bc");
  EXPECT_EQ(rendered("  {{ 1 }}\n  {{- 2 }}  "), "  12  ");
  EXPECT_EQ(rendered("x{% if true %} y{% endif %}  {% if true %}z{% endif %}"), "x y  z");
  EXPECT_EQ(rendered("  {%+ if true %}y{% endif %}"), "  y");
  EXPECT_EQ(rendered("{% if true +%}\ny{% endif %}"), "\ny");
  EXPECT_EQ(rendered("a\r\nb\rc"), "a\nb\nc");
}

TEST(Template, ComputesAsPython) {
  EXPECT_EQ(rendered("{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 1 + 2 * 3 }}"),
            "3 -4 2 3.5 7");
  EXPECT_EQ(rendered("{{ 'a' ~ 1 ~ none ~ true ~ 0.5 ~ missing }}"), "a1NoneTrue0.5");
  EXPECT_EQ(rendered("{{ 1 < 2 < 3 }} {{ 'a' in 'cab' }} {{ 3 not in [1, 2] }} {{ 1 == true }}"),
            "True True True True");
  EXPECT_EQ(rendered("{{ 'x' if n > 5 else 'y' }}{{ 'z' if n > 9 }}"), "x");
  EXPECT_EQ(rendered("{{ not n is defined }}{{ (missing or 'd') }}{{ n and x }}"), "Falsed0.5");
  EXPECT_EQ(rendered("{{ -n|abs }} {{ [1, 'a', (2,), {'k': none}] }}"),
            "7 [1, 'a', (2,), {'k': None}]");
  EXPECT_EQ(rendered("{{ 'it\\'s' }} {{ ['it\\'s', 'a\"b\\n'] }}"), "it's [\"it's\", 'a\"b\\n']");
  EXPECT_EQ(rendered("{{ 1.0 }} {{ 100000.0 * 1000000000000.0 }}"), "1.0 1e+17");
}

TEST(Template, TakesApart) {
  EXPECT_EQ(rendered("{{ messages[1].content[:5] }}|{{ messages[1]['content'][-3:-1] }}"),
            "Grüße|世界");
  EXPECT_EQ(rendered("{{ 'abc'[::-1] }}{{ [1, 2, 3][::2] }}{{ messages[5] is defined }}"),
            "cba[1, 3]False");
  EXPECT_EQ(rendered("{% for m in messages[::-1] %}{{ m.role[0] }}{% endfor %}"), "aus");
  EXPECT_EQ(rendered("{{ none.a is defined }}{{ n.a is defined }}{{ schema.b.t[0] }}"),
            "FalseFalsea");
  EXPECT_EQ(rendered("{{ messages[2].content.split('</think>')[-1].lstrip('\\n') }}"), "Hello.");
  EXPECT_EQ(
      rendered("{{ ' a  b '.split() }}{{ 'a,b,c'.split(',', 1) }}{{ 'aXbX'.replace('X', '') }}"),
      "['a', 'b']['a', 'b,c']ab");
  EXPECT_EQ(rendered("{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith(('x', 'c')) }}"), "TrueTrue");
  EXPECT_EQ(rendered("{{ schema.get('a') }}{{ schema.get('z', 3) }}{{ schema.keys() | list }}"),
            "[1, True, None]3['type', 'b', 'a']");
}

TEST(Template, Filters) {
  EXPECT_EQ(rendered("{{ schema | tojson }}"),
            R"({"type": "object", "b": {"n": 1000.0, "t": "a\"\n\u0001é"}, "a": [1, true, null]})");
  EXPECT_EQ(rendered("{{ [1, {}, [2]] | tojson(indent=2) }}{{ 'é😀' | tojson(ensure_ascii=true) }}"),
            "[\n  1,\n  {},\n  [\n    2\n  ]\n]\"\\u00e9\\ud83d\\ude00\"");
  EXPECT_EQ(
      rendered("{{ messages[0].content | trim }}|{{ messages | length }}|{{ '世' | length }}"),
      "Be brief.|3|1");
  EXPECT_EQ(rendered("{{ missing | default('d') }}{{ '' | default('e', true) }}{{ 'aB' | upper }}"
                     "{{ 'ÀÉ漢ẞ' | lower }}{{ '<' | safe }}{{ '<' + ('<' | safe) + '\"' ~ '>' }}"),
            "deABàé漢ß<&lt;<&#34;&gt;");
  EXPECT_EQ(rendered("{{ messages | map(attribute='role') | join(', ') }}"),
            "system, user, assistant");
  EXPECT_EQ(rendered("{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
                     "{{ messages | rejectattr('role', 'in', ['user']) | list | length }}"),
            "12");
  EXPECT_EQ(rendered("{% for k, v in schema | dictsort %}{{ k }};{% endfor %}"), "a;b;type;");
  EXPECT_EQ(rendered("{{ ['b', 'A', 'b'] | unique | sort | join }}{{ [3, 1] | min }}"), "Ab1");
  EXPECT_EQ(rendered("{{ 'a\nb' | indent(2) }}{{ '12' | int + 1 }}{{ [1, 2] | first }}"),
            "a\n  b131");
}

TEST(Template, LoopsScopesAndMacros) {
  EXPECT_EQ(rendered("{% for m in messages %}{{ loop.index }}{{ loop.first }}{{ loop.last }}"
                     "{{ loop.previtem.role if not loop.first }};{% endfor %}"),
            "1TrueFalse;2FalseFalsesystem;3FalseTrueuser;");
  EXPECT_EQ(rendered("{% for i in range(5) if i is odd %}{{ i }}{{ loop.length }}{% endfor %}"),
            "1232");
  EXPECT_EQ(rendered("{% for i in empty %}x{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(rendered("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
                     "{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
            "023");
  // What is set within a loop ends with its turn, unless it is a namespace's.
  EXPECT_EQ(
      rendered("{% set a = 1 %}{% set s = namespace(b=1) %}{% for i in [1, 2] %}"
               "{% set a = a + 1 %}{% set s.b = s.b + 1 %}{{ a }}{% endfor %}{{ a }}{{ s.b }}"),
      "2213");
  EXPECT_EQ(rendered("{% if true %}{% set a = 2 %}{% endif %}{{ a }}"), "2");
  EXPECT_EQ(rendered("{% macro m(a, b='x') %}{{ a }}{{ b }}{{ n }}{% endmacro %}"
                     "{{ m(1) }}{{ m(b=2, a=3) | length }}{{ m() }}"),
            "1x73x7");
  EXPECT_EQ(rendered("{% macro deep(v) %}{% if v is mapping %}({% for k, w in v.items() %}{{ k }}"
                     "{{ deep(w) }}{% endfor %}){% endif %}{% endmacro %}{{ deep(schema) }}"),
            "(typeb(nt)a)");
  EXPECT_EQ(rendered("{% set t %}a{{ n }}{% endset %}{{ t | upper }}"), "A7");
  EXPECT_EQ(rendered("{% generation %}a{% set n = 1 %}{{ n }}{% endgeneration %}{{ n }}"), "a17");
  EXPECT_EQ(rendered("{% set a, b = 1, 2 %}{{ b }}{{ a }}{{ strftime_now('%d %b %Y') | length }}"),
            "2111");
}

// Every refusal is one line with the place; what is beyond the subset is named.
TEST(Template, RefusesByName) {
  EXPECT_EQ(refused("\n\n{{ raise_exception('no ' ~ n) }}"), "t: line 3: the template says: no 7");
  EXPECT_EQ(refused("{{ a.b }}"), "t: line 1: 'a' is undefined");
  EXPECT_EQ(refused("{{ 1 + 'a' }}"), "t: line 1: '+' of an integer and a text");
  EXPECT_EQ(refused("{{ n | frobnicate }}"), "t: line 1: the filter 'frobnicate' is not supported");
  EXPECT_EQ(refused("{{ n is frobnicated }}"),
            "t: line 1: the test 'frobnicated' is not supported");
  EXPECT_EQ(refused("{{ 'a'.frob() }}"), "t: line 1: the method 'frob' of a text is not supported");
  EXPECT_EQ(refused("{{ empty.append(1) }}"),
            "t: line 1: the method 'append' of a list is not supported");
  EXPECT_EQ(refused("\n{% include 'x' %}"), "t: line 2: the tag 'include' is not supported here");
  EXPECT_EQ(refused("{% endif %}"), "t: line 1: the tag 'endif' is not supported here");
  EXPECT_EQ(refused("{% if true %}"), "t: line 1: the template ends before 'endif'");
  EXPECT_EQ(refused("{{ 2 ** 3 }}"), "t: line 1: the operator '**' is not supported");
  EXPECT_EQ(refused("{{ schema.items }}"),
            "t: line 1: the method 'items' of a dict without a call is not supported");
  EXPECT_EQ(refused("{{ 'ß' | upper }}"), "t: line 1: upper case beyond ASCII is not supported");
  EXPECT_EQ(refused("{{ 'Σ' | lower }}"), "t: line 1: lower case of 'Σ' is not supported");
  EXPECT_EQ(refused("{{ none[1:] }}"), "t: line 1: a slice of none");
  EXPECT_EQ(refused("{{ none | select | list }}"),
            "t: line 1: a choice of none's elements is not supported");
  EXPECT_EQ(refused("{{ n | tojson(frob=1) }}"),
            "t: line 1: filter 'tojson': the argument 'frob' is not supported");
  EXPECT_EQ(refused("{{ n"), "t: line 1: a tag without an end");
  EXPECT_EQ(refused("{{ (1 }}"), "t: line 1: unexpected '}'");
  EXPECT_EQ(refused("{{ 'a }}"), "t: line 1: a text without an end");
  EXPECT_THAT(refused("{% for a, b in [1] %}{% endfor %}"), HasSubstr("has no elements"));
  EXPECT_THAT(refused("{{ 9223372036854775807 + 1 }}"), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(refused("{{ 1 // 0 }}"), HasSubstr("a division by zero"));
  EXPECT_THAT(refused("{{ strftime_now('%Q') }}"), HasSubstr("'%Q' is not supported"));
}

// Whatever a template does, it ends soon, in bounded memory and stack.
TEST(Template, HostileTemplatesEnd) {
  const auto repeated = [](std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::string much = "t: line 1: the template takes too much time or memory";
  EXPECT_EQ(
      refused("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"),
      much);
  EXPECT_EQ(refused("{{ 'a' * 4000000000 }}"), much);
  EXPECT_EQ(refused("{{ 'ab' * 9223372036854775807 }}"), much);
  EXPECT_EQ(refused("{% set s = namespace(t='aaaa') %}{% for i in range(100) %}"
                    "{% set s.t = s.t + s.t %}{% endfor %}"),
            much);
  EXPECT_EQ(refused("{% set s = namespace(t=[1]) %}{% for i in range(90) %}"
                    "{% set s.t = [s.t, s.t] %}{% endfor %}{{ s.t == s.t }}"),
            much);
  EXPECT_EQ(refused("{% set s = namespace(t=[1]) %}{% for i in range(90) %}"
                    "{% set s.t = [s.t, s.t] %}{% endfor %}{{ s.t | tojson }}"),
            much);
  EXPECT_THAT(refused("{% set s = namespace(t=[]) %}{% for i in range(100000) %}"
                      "{% set s.t = [s.t] %}{% endfor %}"),
              HasSubstr("values more than 100 levels deep"));
  EXPECT_THAT(refused("{% set s = namespace() %}{% set s.s = s %}"),
              HasSubstr("a namespace as a part of another value is not supported"));
  EXPECT_THAT(refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
              HasSubstr("calls too deep"));
  EXPECT_THAT(refused("{{ range(100001) }}"), HasSubstr("range() of more than 100000"));
  EXPECT_THAT(refused("{{ range(-9223372036854775807, 9223372036854775807) }}"),
              HasSubstr("range() of more than 100000"));
  for (const auto* open : {"(", "[", "{1:", "-", "not ", "f(", "a[", "1 if 1 else "}) {
    EXPECT_THAT(refused("{{ " + repeated(open, 50000) + "1 }}"), HasSubstr("t: line 1: ")) << open;
  }
  for (const auto* more : {"+1", ".a", "|trim", "[0]", " is string", " if 1 else 2", " and 1"}) {
    EXPECT_THAT(refused("{{ n" + repeated(more, 50000) + " }}"), HasSubstr("t: line 1: ")) << more;
  }
  EXPECT_THAT(refused(repeated("{% if 1 %}", 100000)), HasSubstr("levels within each other"));
  EXPECT_THAT(refused(repeated("a", 1 << 21)), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(refused("\xff"), HasSubstr("UTF-8"));
}

// Bytes of a template that are changed, lost, doubled or swapped: a text, or one line with its
// place.
TEST(Template, MutatedTemplatesAreRenderedOrRefused) {
  constexpr std::string_view kBegin = R"({%- macro deep(v, n=0) %}{% if v is mapping and n < 9 %}
{%- for k, w in v | dictsort %}{{ k ~ deep(w, n + 1) }}{% endfor %}{% else %}{{ v | tojson }}{% endif %}
{%- endmacro %}{%- set s = namespace(a='', b=[1, 2.5]) %}{# why #}
{%- for m in messages[::-1] if m.role != "x" %}{% if loop.first or not loop.last %}
{{- m['content'].split('</think>')[-1].strip('\n') | trim }}{% set s.a = s.a + m.role[:2] %}
{%- elif m.content in ('a', "b") %}{% continue %}{% else %}{{ deep(schema) }}{% endif %}{% endfor %}
{{- s.a if s.a is defined else raise_exception('no') }}{{ (n * 3 - 1) // 2 % 4 }}{{ s.b | join(', ') }})";
  const Philox chance(7, stream_key("template"));
  std::uint64_t drawn = 0;
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(chance[drawn++] % limit);
  };
  int texts = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string source(kBegin);
    for (auto left = below(3) + 1; left > 0; --left) {
      const auto at = below(source.size() - 8);
      const auto from = below(source.size() - 8);
      const auto size = below(8);
      switch (below(4)) {
        case 0:
          source[at] = "{}%#()[]|.'\"-+x1 \n~=<"[below(21)];
          break;
        case 1:
          source.erase(at, size);
          break;
        case 2:
          source.insert(at, source.substr(from, size));
          break;
        default:
          std::swap(source[at], source[from]);
      }
    }
    try {
      rendered(source);
      ++texts;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith("t: line ")) << source;
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(texts, 100);
  EXPECT_LT(texts, 2900);
}

}  // namespace
}  // namespace assay::models::jinja
