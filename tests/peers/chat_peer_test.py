# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Chat templates against transformers, which has jinja2 render them: templates of our own, those that the installed
packages carry, and those of the folder $ASSAY_CHAT_TEMPLATES, over conversations by chance. Same text, or both refuse;
what we alone refuse must be named as not supported."""

import ast
import collections
import glob
import json
import os
import random
import subprocess
import sys
import unittest

ROOT, PROVIDER, FOLDER, ASSAY, PRINT_PROMPTS, COUNT = sys.argv[1:7]
sys.argv[1:7] = []
COUNT = int(COUNT)
os.environ["HF_HUB_OFFLINE"] = "1"
import transformers  # noqa: E402
from transformers.utils import chat_template_utils  # noqa: E402

FAMILIES = ("llama", "qwen3", "gemma3", "qwen3-moe", "gemma4")
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TEXTS = (
    "", " ", "\n", "Hello", "  two  words \n", "Grüße, 世界 😀!", "<think>\nwell\n</think>\n\nyes", "</think>", "a</think>b",
    "{{ n }}", "{% if %}", "<|im_end|>", "it's \"quoted\" \\ <b>&amp;</b>", "\t\r\n x", "a\u2028b\u00a0", "<tool_response>\nx\n</tool_response>",
    "1", "null", "[1, 2]", '{"a": 1}', "line one\nline two\n\n", "\u0000\u0007", "\U0001d538\u0301", "x" * 300,
)  # fmt: skip

# Constructs one by one, more than genuine templates happen to reach.
CONSTRUCTS = r"""
{{ messages | length }}{{ messages[0].content | length }}{{ messages[-1]['content'][::-1] }}
{% for m in messages %}{{ loop.index0 }}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.revindex }}{{ loop.length }}{{ m.role }};{% else %}none{% endfor %}
{% for m in messages if m.role == 'user' %}{{ loop.previtem is defined }}{{ loop.nextitem.role if loop.nextitem is defined }}{{ m.content }}{% endfor %}
  {% if messages %}  a  {% else %}  b  {% endif %}  {%- if x is defined -%} c {%- endif +%}
{% set s = namespace(a=0, b='') %}{% for m in messages %}{% set s.a = s.a + loop.index %}{% set s.b = s.b ~ m.role[0] %}{% endfor %}{{ s.a }}{{ s.b }}
{% for m in messages %}{% set k = loop.index %}{% if k == 2 %}{% continue %}{% endif %}{% if k == 4 %}{% break %}{% endif %}{{ k }}{{ m }}{% endfor %}{{ k is defined }}
{% macro f(a, b=2, c='x') %}[{{ a }}|{{ b }}|{{ c }}]{% endmacro %}{{ f(1) }}{{ f(messages[0].role, c=none) }}{{ f() }}{{ f(1, 2, 3) | upper }}
{{ messages | tojson }}{{ tools | tojson(indent=2) }}{{ messages[0].content | tojson(ensure_ascii=True) }}{{ {'b': 1, 'a': [1.5, none]} | tojson(sort_keys=true) }}
{{ messages }}{{ tools }}{{ messages[0] | string }}{{ (1, 'a') }}{{ (1,) }}{{ [] }}{{ {} }}{{ 1.0 }}{{ 1e }}
{{ messages[0].content | trim }}|{{ messages[0].content.strip() }}|{{ messages[0].content.lstrip('\n') }}|{{ messages[0].content.rstrip(' \nx') }}
{{ messages[0].content.split() }}{{ messages[0].content.split('\n') }}{{ messages[0].content.split(' ', 1) }}{{ messages[0].content.splitlines() | length > 0 }}
{{ messages[0].content.replace('a', 'bb') }}{{ messages[0].content.replace('', '-') }}{{ messages[0].content | replace(' ', '', 1) }}
{{ messages[0].content.startswith('<think>') }}{{ messages[0].content.endswith('\n') }}{{ messages[0].content.find('a') }}{{ 'a' in messages[0].content }}
{{ messages[0].content[2:] }}|{{ messages[0].content[-2:] }}|{{ messages[0].content[1:5:2] }}|{{ messages[0].content[0] }}|{{ messages[0].content[5:1:-1] }}
{{ missing }}{{ missing is defined }}{{ missing | default('d') }}{{ none | default('d', true) }}{{ '' or 'e' }}{{ missing | length }}{{ missing is iterable }}
{{ missing.field }}
{{ messages[99] is defined }}{{ messages[0].missing is defined }}{{ messages[0]['missing'] is none }}{{ none.x is defined }}{{ messages.x is defined }}
{{ 1 + 'a' }}
{{ 'a' + messages[0].content }}{{ 7 // 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 7 / 2 }}{{ 2 * 3 - 1 }}{{ 'ab' * 2 }}{{ [1] + [2] }}{{ 0.1 + 0.2 }}
{{ 1 < 2 <= 2 != 3 }}{{ 'b' > 'a' }}{{ 1 == 1.0 }}{{ true == 1 }}{{ 'a' == 1 }}{{ [1, 2] == [1, 2] }}{{ {'a': 1} == {'a': 1.0} }}{{ not missing }}{{ 1 in [1] and 2 not in [1] }}
{{ messages | map(attribute='role') | join(', ') }}{{ messages | map(attribute='role') | map('upper') | list }}{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}
{{ messages | rejectattr('role', 'in', ['user', 'tool']) | list | length }}{{ [1, none, 2] | reject('none') | list }}{{ [3, 1, 2] | sort }}{{ [3, 1] | min }}{{ [3, 1] | max }}
{{ ['b', 'A', 'a'] | sort | join }}{{ ['b', 'B', 'c'] | unique | list }}{{ {'b': 1, 'A': 2} | dictsort }}{{ 'a\nb\n' | indent(2) }}{{ 'a\nb' | indent(2, true) }}{{ '12' | int }}{{ 'x' | int }}{{ '1.7' | int }}
{{ [1, 2, 3] | first }}{{ [1, 2, 3] | last }}{{ 'abc' | reverse }}{{ 'abc' | list }}{{ {'a': 1} | items | list }}{{ {'a': 1}.items() | list }}{{ {'a': 1}.get('b') }}{{ {'a': 1}.get('b', 2) }}
{% for k, v in messages[0] | items %}{{ k }}={{ v }};{% endfor %}{% for k in messages[0] %}{{ k }}{% endfor %}{% for c in messages[0].role %}{{ c }}-{% endfor %}
{{ 1 is number }}{{ true is number }}{{ 'a' is string }}{{ messages[0] is mapping }}{{ messages is sequence }}{{ messages is mapping }}{{ 1.5 is float }}{{ 3 is odd }}{{ none is none }}{{ true is true }}{{ 0 is false }}
{% set t %}block {{ messages[0].role }}{% endset %}{{ t }}{% set a, b = 1, 2 %}{{ b }}{{ a }}{% set c = 1, 2 %}{{ c }}
{{ raise_exception('no') if messages | length > 2 }}{{ strftime_now('%d %b %Y') | length }}
{% generation %}{{ messages[0].content }}{% set z = 1 %}{% endgeneration %}{{ z is defined }}{{ range(3) | list }}{{ range(5, 1, -2) | list }}
{{ 'a' if false }}{{ ('a' if false) is defined }}{{ 'x' ~ 1 ~ 1.5 ~ none ~ true ~ [1, 'b'] }}{{ "a" 'b' }}{{ 'é\t\'\x41\u00e9' }}{{ ['é\t\'\u0301\u200b'] }}
{{ ('<' | safe) + messages[0].content }}{{ messages[0].content + ('<' | safe) }}{{ (messages[0].content | safe) ~ '<' }}{{ ['<' | safe, '<'] | join('&') }}{{ messages[0].content | lower }}
{#- comment -#}   x  {# {{ y }} #}
  {{- 'y' -}}
   z
"""


def own_templates():
    """Those of `assay llm init`, and the constructs."""
    for family in FAMILIES:
        path = os.path.join(FOLDER, family)
        subprocess.run([ASSAY, "llm", "init", "--family", family, "--out", path], check=True, capture_output=True)
        with open(os.path.join(path, "tokenizer_config.json")) as file:
            yield f"init {family}", json.load(file)["chat_template"]
    lines = CONSTRUCTS.strip("\n").split("\n")
    for i, line in enumerate(lines[:-2]):
        yield f"construct {i + 1}", line
    yield "last lines", "\n".join(lines[-3:]) + "\n"
    yield "all lines", "\n".join(line for line in lines if "1e" not in line and "missing.field" not in line and "'a' }}" not in line)


def packaged_templates():
    """Texts in the sources of transformers that are chat templates."""
    top = os.path.dirname(transformers.__file__)
    for path in sorted(glob.glob(os.path.join(top, "**", "*.py"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            source = file.read()
        if "add_generation_prompt" not in source or "{%" not in source:
            continue
        for i, node in enumerate(ast.walk(ast.parse(source))):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and "{%" in node.value and "add_generation_prompt" in node.value and ">>>" not in node.value:
                yield f"{os.path.relpath(path, top)}:{node.lineno}", node.value
    for path in sorted(glob.glob(os.path.join(os.environ.get("ASSAY_CHAT_TEMPLATES", ""), "*.jinja"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path), file.read()


def some_schema(chance, depth=0):
    kind = chance.choice(["string", "number", "boolean", "object", "array"] if depth < 2 else ["string", "integer"])
    schema = {"type": kind, "description": chance.choice(TEXTS)}
    if kind == "object":
        schema["properties"] = {chance.choice("abcdé"): some_schema(chance, depth + 1) for _ in range(chance.randint(0, 3))}
        schema["required"] = list(schema["properties"])[:1]
    if kind == "array":
        schema["items"] = some_schema(chance, depth + 1)
    if kind == "string" and chance.random() < 0.3:
        schema["enum"] = ["x", "y"]
    return schema


def some_content(chance):
    text = chance.choice(TEXTS)
    kind = chance.random()
    if kind < 0.12:
        return [{"type": "text", "text": text}, {"type": "text", "text": chance.choice(TEXTS)}]
    return None if kind < 0.14 else text


def some_variables(chance):
    messages = []
    if chance.random() < 0.4:
        messages.append({"role": "system", "content": chance.choice(TEXTS)})
    for turn in range(chance.randint(0, 6)):
        role = ("user", "assistant")[turn % 2] if chance.random() < 0.85 else chance.choice(("user", "assistant", "tool", "developer"))
        message = {"role": role, "content": some_content(chance)}
        if role == "assistant" and chance.random() < 0.3:
            arguments = {chance.choice("abé"): chance.choice((1, 0.5, "t", None, True, [1, "x"], {"k": "v"}))}
            call = {"name": "f", "arguments": json.dumps(arguments) if chance.random() < 0.2 else arguments}
            message["tool_calls"] = [{"type": "function", "id": "123456789", "function": call}]
        if role == "assistant" and chance.random() < 0.2:
            message["reasoning_content"] = chance.choice(TEXTS)
        if role == "tool":
            message.update(name="f", tool_call_id="123456789")
        messages.append(message)
    tools = [{"type": "function", "function": {"name": "f" + str(i), "description": chance.choice(TEXTS),
              "parameters": {"type": "object", "properties": {"p": some_schema(chance), "q": some_schema(chance)},
                             "required": ["p"]}}} for i in range(2)]  # fmt: skip
    variables = {"messages": messages, "add_generation_prompt": chance.random() < 0.7, "documents": None,
                 "tools": tools if chance.random() < 0.3 else None, **TOKENS}  # fmt: skip
    for name, values in (("enable_thinking", (True, False)), ("date_string", ("26 Jul 2024",)), ("x", (1, "", None))):
        if chance.random() < 0.3:
            variables[name] = chance.choice(values)
    return variables


def theirs(template, variables):
    """Text, or the error; both None where they cannot say."""
    try:
        return template.render(**variables), None
    except Exception as error:  # whatever a template does
        return None, f"{type(error).__name__}: {error}"


def ours(cases):
    lines = "".join(json.dumps({"template": t, "variables": v}) + "\n" for t, v in cases)
    result = subprocess.run([PRINT_PROMPTS], input=lines, capture_output=True, text=True, timeout=1500)
    if result.returncode != 0:
        raise AssertionError(result.stderr[-500:])
    return [json.loads(line) for line in result.stdout.split("\n")[:-1]]


class ChatTemplates(unittest.TestCase):
    def compare(self, templates, count, may_lack):
        same = refused = 0
        lacking = collections.Counter()
        for name, source in templates:
            chance = random.Random(name)
            try:
                template = chat_template_utils._compile_jinja_template(source)
            except Exception:
                template = None
            cases = [(source, some_variables(chance)) for _ in range(count)]
            for (_, variables), told in zip(cases, ours(cases), strict=True):
                text, error = theirs(template, variables) if template else (None, "no template")
                if "error" in told:
                    self.assertEqual(told["error"].count("\n"), 0)
                    self.assertRegex(told["error"], r"^template: line \d+: ")
                    if error is not None:
                        refused += 1
                    else:
                        self.assertIn("not supported", told["error"], (name, text, variables))
                        lacking[name, told["error"]] += 1
                else:
                    if error is not None and "generator" in error:
                        continue  # where they have a generator, we have a list
                    self.assertIsNone(error, (name, told["text"], variables))
                    self.assertEqual(told["text"], text, (name, variables))
                    same += 1
        print(f"{same} texts equal, {refused} refused by both, {sum(lacking.values())} by us alone")
        for (name, error), times in lacking.items():
            print(f"  {times} × {name}: {error}")
        if not may_lack:
            self.assertFalse(lacking)
        self.assertGreater(same, refused)

    def test_own_templates(self):
        self.compare(own_templates(), COUNT, may_lack=False)

    def test_genuine_templates(self):
        self.compare(packaged_templates(), max(COUNT // 4, 10), may_lack=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
