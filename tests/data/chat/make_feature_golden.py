#!/usr/bin/env python3
"""Render small templates, one Jinja feature each, with jinja2 in transformers' environment.

  python make_feature_golden.py > features.json

What Jinja2 3.1.6 prints is the expectation; where it raises, the case says `error`.
"""
import datetime
import json

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2025, 1, 15, 12, 30, 45, 250000)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_plain"), [], [], body).set_lineno(lineno)

    def _plain(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return env


VARIABLES = {
    "s": "Hello, World", "e": "", "pad": " \t padded\n ", "u": "naïve ÀÉ 漢字 👩‍💻 ß",
    "n": 7, "neg": -7, "x": 2.5, "big": 123456789012, "t": True, "f": False, "none_value": None,
    "l": [3, 1, 2], "names": ["b", "A", "c", "a"], "empty": [], "mixed": [1, 2.5, "x", None, True],
    "d": {"one": 1, "Two": 2, "three": [1, {"k": "v"}]}, "nothing": {},
    "rows": [{"name": "ann", "age": 30, "tag": "x"}, {"name": "Bob", "age": 25, "tag": "y"},
             {"name": "cy", "age": 30, "tag": "x"}, {"name": "di", "tag": "Y"}],
    "lines": "one\ntwo\n\nfour", "quotes": "it's \"q\" \\ \n\x01\u200b", "html": "<a href='x'>&\"</a>",
    "floats": [0.1, 1.0, 1e16, 1e15, 1.5e-5, 0.0001, -0.0, 1e100, 123456.789, 1e22, 3.0e-7],
}

TEMPLATES = r"""
{{ s }}|{{ e }}|{{ missing }}|{{ none_value }}|{{ t }}|{{ f }}|{{ x }}|{{ n }}
{{ l }} {{ d }} {{ mixed }} {{ (1,) }} {{ (1, 2) }} {{ () }} {{ nothing }} {{ empty }}
{{ floats }}
{{ quotes }}|{{ [quotes] }}|{{ ["it's"] }}|{{ ['"'] }}|{{ [u] }}
{{ missing.attr }}
{{ missing['a'] }}
{{ missing + 1 }}
{{ s.nothing }}|{{ d.nothing }}|{{ d['nothing'] }}|{{ l[9] }}|{{ none_value.x }}|{{ n.x }}|{{ s[99] }}
{{ d.nothing.more }}
{{ missing is defined }} {{ missing is undefined }} {{ missing is none }} {{ s is defined }} {{ d.x is defined }}
{{ missing == missing2 }} {{ missing != 1 }} {{ not missing }} {{ missing|length }} {{ missing|list }} {{ 'a' in missing }}
{{ missing ~ 'x' }}{{ missing|default('D') }}{{ e|default('D') }}{{ e|default('D', true) }}{{ e|d('E', boolean=true) }}
{{ missing < 1 }}
{{ missing() }}
{{ s() }}
{{ -missing }}
{% for i in missing %}x{% else %}none{% endfor %}
{{ 7 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }}
{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 6 / 3 }} {{ 1 + 2.0 }} {{ 3 * 1.5 }} {{ 1e3 }} {{ 1_000 }} {{ 2.5 ** 2 }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 'ab' * 3 }} {{ 2 * 'x' }} {{ [1, 2] * 2 }} {{ [1] + [2, 3] }} {{ (1,) + (2,) }} {{ 'a' + 'b' }} {{ 'a' * -1 }}|
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + (2,) }}
{{ none_value + 'a' }}
{{ 'a' 'b' "c" }} {{ 'x' ~ 1 ~ none_value ~ 2.0 ~ [1] ~ true }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 'a' == 1 }} {{ none == none }}
{{ 1 < 'a' }}
{{ [1] == (1,) }} {{ [1, [2]] == [1, [2]] }} {{ {'a': 1} == {'a': 1.0} }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}
{{ 1 in [1, 2] }} {{ 3 not in [1, 2] }} {{ 'ell' in s }} {{ 'one' in d }} {{ 1 in d }} {{ '' in s }} {{ none in mixed }}
{{ 1 in 'a1' }}
{{ 1 in 5 }}
{{ true and 'x' }} {{ '' or 'y' }} {{ 0 or none }} {{ 1 and 0 }} {{ not 1 }} {{ not '' }} {{ not not 'a' }} {{ 1 or missing.x }}
{{ 'a' if t else 'b' }} {{ 'a' if f else 'b' }} {{ 'a' if f }}| {{ 'a' if f else 'b' if f else 'c' }}
{{ -3 }} {{ +3 }} {{ -3|abs }} {{ - 3 + 5 }} {{ 2 - -2 }} {{ -x }} {{ 10 - 2 - 3 }} {{ 2 * 3 + 4 }} {{ 2 + 3 * 4 }} {{ (2 + 3) * 4 }}
{{ 1 ~ 2 + 3 }} {{ 'a' ~ 'b' * 2 }}
{{ s[0] }}{{ s[-1] }} {{ s[1:4] }} {{ s[:3] }} {{ s[-5:] }} {{ s[::2] }} {{ s[::-1] }} {{ s[5:1] }}| {{ s[10:99] }} {{ s[-99:2] }}
{{ u[2] }}{{ u[-1] }} {{ u[6:10] }} {{ u[::-1] }} {{ u|length }} {{ u[9:11] }}
{{ l[0] }} {{ l[-1] }} {{ l[1:] }} {{ l[::-1] }} {{ l[:-1] }} {{ (1,2,3)[1:] }} {{ l[::2] }} {{ l[5:] }} {{ l[2:0:-1] }}
{{ l[::0] }}
{{ none_value[1:] }}
{{ range(5)[1:3] }} {{ range(3) }} {{ range(1, 10, 3)|list }} {{ range(5, 0, -2)|list }} {{ range(0)|list }} {{ range(3)|length }} {{ range(1, 3)[-1] }}
{{ range(1000000000) }}
{{ range(0, 10, 0) }}
{{ d.one }} {{ d['Two'] }} {{ d.three[1].k }} {{ d.three.0 }} {{ d.three.1.k }} {{ d.get('one') }} {{ d.get('zz') }} {{ d.get('zz', 5) }}
{{ d.keys()|list }} {{ d.values()|list }} {{ d.items()|list }} {{ d.keys() }} {{ d.items() }} {{ d.values() }}
{{ {'items': 1}['items'] }} {{ {'a': {'keys': 2}}.a['keys'] }} {{ {1: 'x', none: 'y', true: 'z'} }} {{ {'a': 1}.items()|length }}
{{ {[1]: 2} }}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for k in d %}{{ k }},{% endfor %} {% for k, v in d|items %}{{ k }}{{ loop.last }}{% endfor %}
{% for i in l %}{{ i }}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %}
{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {{ loop.cycle('a', 'b') }} {{ loop.previtem is defined }}{% endfor %}
{% for i in [1, 1, 2, 2, 1] %}{{ loop.changed(i) }} {% endfor %}
{% for i in l if i > 1 %}{{ i }}{{ loop.index }}/{{ loop.length }}{% endfor %} {% for i in l if i > 9 %}x{% else %}nothing{% endfor %}
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in 'añb' %}[{{ i }}]{% endfor %} {% for a, b in [(1, 2), [3, 4]] %}{{ a + b }} {% endfor %} {% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}
{% for a in 5 %}{{ a }}{% endfor %}
{% set v = 1 %}{% for i in [1, 2] %}{% set v = v + 10 %}{{ v }} {% endfor %}{{ v }}
{% set v = 1 %}{% if true %}{% set v = 2 %}{% endif %}{{ v }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% set (p, q) = 'xy' %}{{ p }}{{ q }}
{% set ns = namespace(a=1, b='x') %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}{{ ns['a'] }}
{% set ns = namespace({'k': 1}) %}{{ ns.k }}{% set d.x = 1 %}
{% set block %}in {{ n }}{% endset %}{{ block }}|{% set up | upper | replace('A', 'b') %}a{{ s }}{% endset %}{{ up }}
{% with a = 1, b = n %}{{ a }}{{ b }}{% set z = 5 %}{% endwith %}{{ z is defined }}{{ a is defined }}
{% with %}x{% endwith %}{% filter upper %}abc {{ s }}{% endfilter %}
{% macro m(a, b='B', c=a) %}[{{ a }},{{ b }},{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m() }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(q=2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, k=3) }}
{% macro m(t) %}<{{ t }}>{{ caller(1) }}</{{ t }}>{% endmacro %}{% call(v) m('b') %}in {{ v }}{% endcall %}
{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(4) }}
{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}
{% set v = 1 %}{% macro m() %}{{ v }}{% endmacro %}{% set v = 2 %}{{ m() }}
{% macro m(x) %}{% set y = x * 2 %}{{ y }}{% endmacro %}{{ m(4) }}{{ y is defined }}{{ m is callable }}
{{ s|upper }} {{ s|lower }} {{ 'hello wORLD'|title }} {{ 'hello wORLD'|capitalize }} {{ "it's a-b (c) [d]"|title }} {{ u|upper }} {{ u|lower }} {{ 5|upper }}
{{ s|length }} {{ l|count }} {{ d|length }} {{ pad|trim }}| {{ 'xxaxx'|trim('x') }} {{ s|replace('l', 'L') }} {{ s|replace('l', 'L', 1) }} {{ 'aaa'|replace('a', '') }}
{{ 5|length }}
{{ l|first }} {{ l|last }} {{ s|first }} {{ s|last }} {{ empty|first }}| {{ empty|last }}| {{ d|first }}
{{ l|join }} {{ l|join(', ') }} {{ rows|join('-', attribute='name') }} {{ mixed|join('|') }} {{ s|join('.') }} {{ empty|join(',') }}|
{{ l|sort }} {{ l|sort(reverse=true) }} {{ names|sort }} {{ names|sort(case_sensitive=true) }} {{ rows[:3]|sort(attribute='age')|map(attribute='name')|join }} {{ rows[:3]|sort(attribute='age,name')|map(attribute='name')|join }}
{{ mixed|sort }}
{{ names|unique|list }} {{ [1, 1, 2]|unique|list }} {{ names|unique(case_sensitive=true)|list }} {{ rows|unique(attribute='tag')|map(attribute='name')|list }}
{{ l|reverse|list }} {{ s|reverse }} {{ l|min }} {{ l|max }} {{ names|min }} {{ names|max(case_sensitive=true) }} {{ empty|max }}| {{ rows[:3]|max(attribute='age') }}
{{ l|sum }} {{ rows[:3]|sum(attribute='age') }} {{ [1.5, 2]|sum }} {{ l|sum(start=10) }} {{ empty|sum }}
{{ l|batch(2)|list }} {{ l|batch(2, 0)|list }} {{ range(7)|slice(3)|list }} {{ range(7)|slice(3, 'f')|list }}
{{ rows[:3]|groupby('age') }} {% for g in rows|groupby('tag') %}{{ g.grouper }}:{{ g.list|map(attribute='name')|join(',') }};{% endfor %}
{% for k, v in rows|groupby('age', default=0) %}{{ k }}={{ v|length }} {% endfor %}
{{ d|dictsort|map('first')|list }} {{ {'b': 1, 'A': 2}|dictsort }} {{ {'b': 1, 'A': 2}|dictsort(true) }} {{ {'b': 1, 'A': 2}|dictsort(false, 'value') }} {{ {'b': 1, 'A': 2}|dictsort(reverse=true) }}
{{ rows|map(attribute='name')|list }} {{ rows|map(attribute='age', default=0)|list }} {{ names|map('upper')|join }} {{ l|map('string')|list }} {{ rows|map('length')|list }} {{ [[1, 2], [3]]|map('join', '+')|list }} {{ d.three|map(attribute='k')|list }}
{{ rows|selectattr('age')|map(attribute='name')|list }} {{ rows|selectattr('age', 'defined')|list|length }} {{ rows|rejectattr('tag', 'equalto', 'x')|map(attribute='name')|join(',') }} {{ rows|selectattr('tag', 'in', ['y', 'Y'])|map(attribute='name')|join(',') }} {{ rows|selectattr('name', '==', 'Bob')|list|length }}
{{ mixed|select|list }} {{ l|select('gt', 1)|list }} {{ l|reject('odd')|list }} {{ mixed|select('string')|list }} {{ mixed|reject('none')|list }} {{ l|select('divisibleby', 3)|list }}
{{ l|select('nosuch')|list }}
{% if empty|select %}true{% endif %}{{ missing|float }}
{% set g = l|select('gt', 1) %}{{ g|list }}{{ g|list }}
{{ (l|select)[0] }}|
{{ (l|select)|length }}
{{ '42'|int }} {{ '4.9'|int }} {{ 'x'|int }} {{ 'x'|int(5) }} {{ ' 7 '|int }} {{ 3.9|int }} {{ -3.9|int }} {{ '0x1f'|int(base=16) }} {{ 'ff'|int(0, 16) }} {{ true|int }} {{ none|int }} {{ '1_000'|int }}
{{ missing|int }}
{{ '4.5'|float }} {{ 'x'|float }} {{ 'x'|float(1.5) }} {{ 3|float }} {{ '1e3'|float }} {{ ' 2 '|float }} {{ none|float }} {{ 'inf'|float }}
{{ 42.55|round }} {{ 42.55|round(1, 'floor') }} {{ 42.55|round(1) }} {{ 2.5|round }} {{ 3.5|round }} {{ 42|round }} {{ 42.4|round(0, 'ceil') }} {{ 1234|round(-2) }} {{ -2.5|round }} {{ 2.675|round(2) }} {{ 1250.0|round(-2) }}
{{ neg|abs }} {{ -2.5|abs }} {{ 'a'|abs }}
{{ 5|string }} {{ none|string }} {{ l|string }} {{ 5|string|length }} {{ s|list }} {{ d|list }} {{ (1, 2)|list }}
{{ lines|indent }}|{{ lines|indent(2, true) }}|{{ lines|indent(2, blank=true) }}|{{ lines|indent('> ', first=true) }}|{{ ''|indent }}|{{ 'a\n'|indent }}
{{ 'foo bar baz qux'|truncate(9) }}|{{ 'foo bar baz qux'|truncate(9, true) }}|{{ 'foo bar baz qux'|truncate(11) }}|{{ 'foo bar baz qux'|truncate(11, false, '...', 0) }}
{{ 'ab'|center(7) }}| {{ 'abc'|center(6) }}| {{ 'abc'|center(8) }}| {{ '%s-%s'|format(1, 'b') }} {{ '%(a)s'|format(a=2) }}
{{ html|escape }}
{{ d|tojson }} {{ mixed|tojson }} {{ quotes|tojson }} {{ u|tojson }} {{ html|tojson }} {{ floats|tojson }} {{ (1, 2)|tojson }} {{ none|tojson }} {{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }}
{{ d|tojson(indent=2) }} {{ empty|tojson(indent=2) }} {{ nothing|tojson(indent=2) }} {{ [[]]|tojson(indent=4) }} {{ d|tojson(indent='\t') }}
{{ u|tojson(ensure_ascii=true) }} {{ d|tojson(separators=(',', ':')) }} {{ {'b': 1, 'a': 2}|tojson(sort_keys=true) }} {{ d|tojson(indent=1, separators=(',', ':')) }} {{ l|tojson(indent=0) }}
{{ missing|tojson }}
{{ range(3)|tojson }}
{{ 1 is number }} {{ 1 is integer }} {{ 1.0 is float }} {{ true is boolean }} {{ true is integer }} {{ true is number }} {{ 's' is string }} {{ l is sequence }} {{ d is mapping }} {{ l is iterable }} {{ 5 is iterable }} {{ s is sequence }} {{ d is sequence }} {{ range is callable }} {{ s is iterable }} {{ l is mapping }}
{{ 4 is even }} {{ 4 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is eq 1 }} {{ 1 is ne 1 }} {{ 1 is lt 2 }} {{ 1 is ge 2 }} {{ 1 is in [1] }} {{ 1 is not in [1] }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ none is none }} {{ none is sameas none }} {{ 'abc' is lower }} {{ 'ABC' is upper }} {{ '12' is upper }}
{{ s is not none }} {{ none is not none }} {{ s is string and n is number }} {{ not s is string }} {{ s is string or missing.x }} {{ 'upper' is filter }} {{ 'even' is test }}
{{ s is nosuch }}
{{ s|nosuch }}
{% nosuch %}
{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ "they're bill's".title() }} {{ s.capitalize() }} {{ u.upper() }} {{ pad.strip() }}| {{ pad.lstrip() }}| {{ pad.rstrip() }}| {{ 'xxaxyx'.strip('xy') }} {{ 'abca'.lstrip('ba') }} {{ 'abca'.rstrip('ac') }} {{ 'a'.strip('') }}
{{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ ' a  b  c '.split(none, 1) }} {{ ''.split(',') }} {{ ''.split() }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'abc'.split('x') }} {{ 'a--b'.split('--') }} {{ 'a b'.split(maxsplit=0) }} {{ 'aaa'.rsplit('aa', 1) }}
{{ 'a'.split('') }}
{{ lines.splitlines() }} {{ 'a\r\nb'.splitlines() }} {{ 'a\n'.splitlines(true) }} {{ 'k=v=w'.partition('=') }} {{ 'kv'.partition('=') }}
{{ s.startswith('Hell') }} {{ s.endswith('d') }} {{ s.startswith(('x', 'H')) }} {{ s.startswith('') }} {{ s.find('o') }} {{ s.find('o', 5) }} {{ s.find('zz') }} {{ s.rfind('o') }} {{ s.count('l') }} {{ s.count('') }} {{ u.find('漢') }} {{ s.index('W') }}
{{ s.index('zz') }}
{{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ 'abc'.replace('', '-') }} {{ 'abc'.replace('', '-', 2) }} {{ ''.replace('', 'x') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('bc') }} {{ 'abc'.removesuffix('x') }}
{{ ', '.join(['a', 'b']) }} {{ ''.join('abc') }} {{ 'x'.join([]) }}|
{{ ','.join([1]) }}
{{ '{} {}'.format(1, 'a') }} {{ '{1}{0}'.format('a', 'b') }} {{ '{a}'.format(a=5) }} {{ '{:>5}|{:<4}|{:^5}|{:05d}|{:.2f}|{:x}'.format('a', 'b', 'c', 42, 3.14159, 255) }} {{ '{{}}'.format() }} {{ '{!r}'.format('q') }} {{ '{:,}'.format(5)|length if false else '' }}
{{ '%s %d %5.2f %r %x %%' % ('a', 5, 2.5, 'q', 255) }} {{ '%s' % 5 }} {{ '%-5s|%5s|%05d|%+d' % ('a', 'b', 42, 3) }} {{ '%(k)s' % {'k': 1} }} {{ '%.2s' % 'abc' }} {{ '%s' % none }}
{{ '%s %s' % 'a' }}
{{ '%s' % (1, 2) }}
{{ '%d' % 'a' }}
{{ '12'.isdigit() }} {{ 'a1'.isdigit() }} {{ ' '.isspace() }} {{ 'ab'.islower() }} {{ 'AB1'.isupper() }} {{ ''.isdigit() }}
{{ [1, 2, 1].count(1) }} {{ [1, 2].index(2) }} {{ (1, 2).index(1) }} {{ [1, 2].copy() }} {{ {'a': 1}.copy() }}
{{ [1].index(5) }}
{{ dict(a=1, b='x') }} {{ dict([('k', 1)]) }} {{ dict(d, z=9).z }} {{ dict() }}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set j = joiner('; ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}
{{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%d %b %Y, %A %B %j %-d %y %I %p %%') }} {{ strftime_now('%f|%z|%Z|') }} {{ strftime_now('') }}|
{{ raise_exception('my message') }}
{{ 'a\tb\\c\'d\x41\u00e9\n' }}|{{ "\"" }}|{{ '\q\101' }}
{{ '''a''' }}
{# comment #}a{#- b -#} c {# multi
line #} d
a {%- if true %} b {%- endif %} c
a {% if true -%} b {% endif -%} c
{{- 'a' -}}  b  {{- 'c' }} d
{% raw %}{{ x }} {% if %}{% endraw %} {%- raw -%}  a  {%- endraw -%}  b
{{ {'a': {'b': 1}} }}{{ {'a': {}}}}{{ {}}}
{{ 'x' }}}}
{% if 1 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 2 %}b{% else %}c{% endif %}{% if 0 %}a{% elif 0 %}b{% else %}c{% endif %}{% if 0 %}a{% endif %}
{% generation %}said {{ s }}{% endgeneration %}
{% print s %}{% set true = 1 %}
{% if true %}
{% for i in l %}
{{ 1 + }}
{{ (1 }}
{{ s s }}
{% endif %}
{% break %}
{% else %}
{{ a.b.c
{{ 'open
{# open
{% raw %} open
{% set x = 5 %}{{ x }}{% set x %}b{% endset %}{{ x }}
{{ s is string is string }}
{{ s|attr('upper') is callable }} {{ d|attr('one') }}| {{ d|attr('nosuch') }}|
{{ [1, 2, 3,] }} {{ {'a': 1,} }} {{ (1, 2,) }} {{ [] is defined }}
{{ loop is defined }}{% for i in [1] %}{% for j in [1, 2] %}{{ loop.index }}{{ loop.length }}{% endfor %}{{ loop.index }}{% endfor %}
{{ 9223372036854775807 }} {{ -9223372036854775807 }} {{ 9223372036854775806 + 1 }}
{{ [1, 'a', none, true, 1.5, [2], {'k': (1,)}]|string }} {{ [[], {}, ()] }}
{{ 1 if none is none else 2 }} {{ 'yes' if 'a' in ['a'] and not f else 'no' }} {{ (1 if t else 2) + 3 }}
{{ n > 5 and n < 10 }} {{ n >= 7 }} {{ n <= 6 }} {{ n != 7 }} {{ not n == 7 }} {{ n is odd and x > 2 }}
{{ 'a' ~ ('b' if t) ~ 'c' }} {{ (none or 'x')|upper }} {{ s.split(', ')[-1].lower()[:3]|title }} {{ 'a-b'.split('-')|last }}
"""

BLOCKS = [
    "  {% if true %}\n    x\n  {% endif %}\n y\n",
    "  {% if true %}  \n    x\n  {%+ if true %} z {% endif %}\n {% endif %}\n\n",
    "<\n  {{ 'v' }}\n  {# c #}\n  {%- for i in [1,2] %}\n    {{ i }}\n  {%- endfor %}\n>\n\n",
    "a\r\nb\rc\n",
    "{% for i in [1] +%}\n x\n{% endfor +%}\n y",
    "{% for i in [1, 2] -%}\n\n  {{ i }}\n\n{% endfor %}\n\n\nend",
    "{{ 'a' }}\n{{ 'b' }}\n",
    "\n\n{% set a = 1 %}\n\n{{ a }}\n",
    "\t {% set a = 1 %} {{ a }}",
    "x {% set a = 1 %}\ny",
    "x\n {#- c #}\n y {# d -#}\n z",
    "{{ 'line one' }}\n{{ missing.attribute }}",
    "{% if true %}\n\n{{ 1 / 0 }}\n{% endif %}",
    "\n{% macro m() %}\n  {{ none.x.y }}\n{% endmacro %}\n{{ m() }}",
    " {% raw %}\n  {{ a }}\n {% endraw %}\n b",
    "{%- set multi = 'two\nlines' -%}\n{{ multi }}",
    "{#- start -#}\n\n{%- if true -%}\n a \n{%- else -%}\n b \n{%- endif -%}\n",
]


def main():
    env = environment()
    cases = []
    for source in TEMPLATES.strip("\n").split("\n") + BLOCKS:
        case = {"template": source}
        try:
            case["text"] = env.from_string(source).render(tools=None, documents=None,
                                                          add_generation_prompt=True, **VARIABLES)
        except Exception as error:  # whatever Python raises is a TemplateError for us
            case["error"] = f"{type(error).__name__}: {error}"
            line = getattr(error, "lineno", None)
            if line is not None:
                case["line"] = line
        cases.append(case)
    print(json.dumps({"now": NOW.isoformat(), "variables": VARIABLES, "cases": cases},
                     ensure_ascii=True, indent=0))


if __name__ == "__main__":
    main()
