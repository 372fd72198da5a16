"""Random templates: what ours makes of them beside jinja2 in transformers' environment. By hand:

    pip install jinja2==3.1.6
    python3 tests/chat/compare_with_original.py build/release/tests/chat/render_lines [ROUNDS] [SEED]

    python3 tests/chat/compare_with_original.py --record ROUNDS SEED      # prints what the original makes, as features.json has it

Prints differences, the shortest templates first, and how many agreed. Where the original raises, ours has to fail too.
Not compared: integers beyond 64 bits, addresses of objects, lists and dicts that a template changes (ours allows it).
"""

import copy
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "chat"))
from make_feature_golden import NOW, VARIABLES, environment

MESSAGES = [{"role": "system", "content": "Be  brief.\n"}, {"role": "user", "content": " Grüße 漢 👩‍💻\n\n"},
            {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1, "b": [True, None]}}}]},
            {"role": "tool", "content": [{"type": "text", "text": "42"}, {"type": "image"}]}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "d \"q\"", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}}]
VARS = {**VARIABLES, "tree": [{"n": "a", "kids": [{"n": "b", "kids": []}, {"n": "c", "kids": [{"n": "d", "kids": []}]}]}]}


class Draw(random.Random):
    def maybe(self, text, p=0.5):
        return text if self.random() < p else ""


NAMES = ["s", "e", "pad", "u", "n", "neg", "x", "t", "f", "none_value", "l", "names", "empty", "mixed", "d", "nothing", "rows", "lines", "quotes",
         "html", "floats", "missing", "messages", "tools", "a", "b", "v"]
LITERALS = ["1", "0", "-1", "2", "3", "10", "2.5", "0.1", "1e3", "1.0", "'a'", "'ab'", "''", "'%s'", "'A b'", "' x '", "'é'", "true", "false", "none", "[]", "{}",
            "[1, 2]", "['b', 'a']", "(1, 2)", "()", "(1,)", "{'a': 1}", "{'k': [1]}", "range(3)", "'a,b'", "'12'", "[3, 1, 2]", "[[1, 2], [3, 4]]", "True", "None",
            "'x\\n y'", "1_000", "'l'", "[none, 1]"]
FILTERS = ["abs", "batch(2)", "batch(2, 'x')", "capitalize", "center(9)", "count", "d('D')", "default('D', true)", "dictsort", "dictsort(by='value')", "e",
           "escape", "first", "float", "float(1.5)", "forceescape", "format(1)", "format('a', 2)", "groupby('age')", "groupby(0)", "indent", "indent(2, true)",
           "indent(width='> ', blank=true)", "int", "int(7)", "int(0, 16)", "items", "join", "join(', ')", "join('-', attribute='name')", "last", "length", "list",
           "lower", "map('upper')", "map(attribute='name')", "map(attribute='role')", "map('default', 'q')", "max", "min", "min(attribute='age')",
           "reject('none')", "reject", "rejectattr('age')", "replace('a', 'X')", "replace('l', '', 1)", "reverse", "round", "round(1)", "round(1, 'ceil')",
           "round(0, 'floor')", "safe", "select('string')", "select", "selectattr('age', 'gt', 26)", "selectattr('role', 'equalto', 'user')", "slice(2)",
           "slice(3, 'f')", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "sort(attribute='age')", "sort(attribute='role')", "string", "sum",
           "sum(attribute='age')", "sum(start=1.5)", "title", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))",
           "tojson(sort_keys=true)", "trim", "trim('a ')", "truncate(5)", "truncate(5, true, '~', 0)", "unique", "unique(attribute='tag')", "upper", "wordcount",
           "wordwrap(4)", "striptags", "urlencode", "filesizeformat", "pprint", "xmlattr", "attr('upper')", "map('int')", "map('string')", "map('length')",
           "map('first')", "select('in', [1, 'a'])", "select('gt', 1)", "map('tojson')", "random|d(1)|length"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping", "sequence", "iterable", "callable", "even",
         "odd", "divisibleby 2", "divisibleby(3)", "eq 1", "equalto('a')", "ne 2", "gt 1", "greaterthan 1", "lt 2", "lessthan(2)", "ge 1", "le 1", "in [1, 'a']",
         "lower", "upper", "sameas none", "escaped", "filter", "test", "== 1", "in 'abc'"]
METHODS = ["upper()", "lower()", "strip()", "lstrip()", "rstrip('a')", "strip(' x')", "title()", "capitalize()", "swapcase()", "casefold()", "split()", "split(',')",
           "split('a', 1)", "rsplit(None, 1)", "rsplit(',', 1)", "splitlines()", "splitlines(true)", "partition('a')", "rpartition('b')", "replace('a', 'b')",
           "replace('', '-')", "startswith('a')", "endswith(('b', 'x'))", "startswith('a', 1)", "find('a')", "rfind('b')", "index('a')", "count('a')", "isdigit()",
           "isalpha()", "isalnum()", "isspace()", "isupper()", "islower()", "istitle()", "isnumeric()", "isdecimal()", "isidentifier()", "zfill(5)", "ljust(5)",
           "rjust(5, '*')", "center(6, '-')", "join(['a', 'b'])", "join(names)", "format(1, 'x')", "format(a=2)", "removeprefix('a')", "removesuffix('b')",
           "expandtabs()", "encode()", "keys()", "values()", "items()", "get('a')", "get('zz', 5)", "copy()", "index(1)", "count(1)", "items()|list", "keys()|list",
           "is_integer()", "bit_length()", "isascii()", "translate({97: 'b'})", "maketrans('a', 'b')", "rindex('a')", "find('l', 2, 9)", "splitlines()[0]",
           "fromkeys([1])", "isprintable()", "conjugate()", "hex()"]
SUBSCRIPTS = ["[0]", "[-1]", "['a']", "[1:]", "[:-1]", "[::-1]", "[::2]", "[5:1]", "[-3:-1]", "['role']", "[99]", "[none:2]", "[2:0:-1]", "[1:2:3]", ".a", ".role",
              ".content", ".one", ".three", ".0", "['items']", ".name", "[n]", "[x]", "[true]", "[:]"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "~", "and", "or", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "~"]


def expression(draw, depth):
    if depth <= 0 or draw.random() < 0.12:
        return draw.choice(NAMES) if draw.random() < 0.55 else draw.choice(LITERALS)
    inner = lambda: expression(draw, depth - 1)
    kind = draw.randint(0, 15)
    if kind <= 2:
        return f"{inner()} {draw.choice(BINARY)} {inner()}"
    if kind == 3:
        return f"({inner()} {draw.choice(BINARY)} {inner()})"
    if kind <= 6:
        return f"{inner()}|{draw.choice(FILTERS)}"
    if kind == 7:
        return f"({inner()})|{draw.choice(FILTERS)}"
    if kind == 8:
        return f"{inner()} is {draw.maybe('not ', 0.3)}{draw.choice(TESTS)}"
    if kind <= 10:
        return f"({inner()}).{draw.choice(METHODS)}" if draw.random() < 0.4 else f"{draw.choice(NAMES)}.{draw.choice(METHODS)}"
    if kind == 11:
        return f"{draw.choice(NAMES)}{draw.choice(SUBSCRIPTS)}"
    if kind == 12:
        return f"({inner()}){draw.choice(SUBSCRIPTS)}"
    if kind == 13:
        return f"{inner()} if {inner()}{draw.maybe(f' else {inner()}', 0.7)}"
    if kind == 14:
        return f"{draw.choice(['not ', '-', '+'])}{inner()}"
    return draw.choice([f"[{inner()}, {inner()}]", f"{{'k': {inner()}, {inner()}: 1}}", f"({inner()}, {inner()})", f"dict(a={inner()})", f"'%s|%r' % ({inner()}, {inner()})",
                        f"'{{}} {{!r}}'.format({inner()}, {inner()})", f"namespace(a={inner()}).a", f"{inner()} < {inner()} <= {inner()}", f"range({inner()})|list",
                        f"'%5.2f|%d|%x' % ({inner()}, {inner()}, {inner()})", f"'{{:>6}}|{{:.3}}|{{:05}}'.format({inner()}, {inner()}, {inner()})",
                        f"m({inner()})", f"m({inner()}, b={inner()})", f"m(*{inner()})", f"dict(**{inner()})", f"loop.index ~ {inner()}", f"strftime_now('%Y {draw.choice('abdHjy')}')"])


SPACE = [" ", "\n", "  \n", "\n  ", "\t", "", "\n\n", " x ", "text", "{", "}", "é", "-", "%", "#"]


def tag(draw, body):
    return "{%" + draw.choice(["", "", "-", "+"]) + " " + body + " " + draw.choice(["", "", "-", "+"]) + "%}"


def block(draw, depth):
    space = lambda: draw.choice(SPACE)
    if depth <= 0 or draw.random() < 0.3:
        kind = draw.randint(0, 5)
        if kind <= 3:
            return "{{" + draw.maybe("-", 0.2) + " " + expression(draw, draw.randint(0, 3)) + " " + draw.maybe("-", 0.2) + "}}"
        return "{#" + draw.maybe("-", 0.3) + " c " + draw.maybe("\n", 0.3) + draw.maybe("-", 0.3) + "#}" if kind == 4 else space()
    body = lambda: "".join(space() + block(draw, depth - 1) + space() for _ in range(draw.randint(0, 2)))
    e = lambda: expression(draw, draw.randint(0, 2))
    kind = draw.randint(0, 11)
    if kind <= 1:
        return tag(draw, f"if {e()}") + body() + (tag(draw, f"elif {e()}") + body() if draw.random() < 0.3 else "") + (tag(draw, "else") + body() if draw.random() < 0.4 else "") + tag(draw, "endif")
    if kind <= 4:
        target = draw.choice(["v", "v", "a, b", "a, (b, v)"])
        over = draw.choice(["l", "names", "d.items()", "messages", "d", "rows", "range(3)", "'ab'", "[[1, 2], [3, 4]]", "[(1, (2, 3))]", e()])
        inner = body() + draw.choice(["{{ v }}", "{{ loop.index }}", "{{ loop.last }}", "{{ loop.previtem }}{{ loop.nextitem }}", "{{ loop.cycle('p', 'q') }}",
                                      "{% if loop.first %}" + draw.choice(["{% continue %}", "{% break %}", "f"]) + "{% endif %}", "{{ loop.changed(v) }}", "{{ loop.depth }}{{ loop.length }}",
                                      "{{ a }}{{ b }}", "{{ loop }}" if False else "{{ loop.revindex0 }}"])
        return tag(draw, f"for {target} in {over}{draw.maybe(' if ' + e(), 0.2)}") + inner + draw.maybe(tag(draw, "else") + body(), 0.2) + tag(draw, "endfor")
    if kind == 5:
        return tag(draw, f"set {draw.choice(['v', 'a', 'b', 'a, b'])} = {e()}" + draw.maybe(f", {e()}", 0.2))
    if kind == 6:
        return tag(draw, f"set v{draw.maybe('|' + draw.choice(['upper', 'trim', 'length', 'indent']), 0.3)}") + body() + tag(draw, "endset") + "{{ v }}"
    if kind == 7:
        return tag(draw, f"macro m({draw.choice(['', 'a', 'a, b=1', 'a=x, b=a', 'v, b'])})") + body() + draw.maybe("{{ caller() if caller else varargs }}", 0.3) + draw.maybe("{{ kwargs }}", 0.2) + tag(draw, "endmacro") + draw.maybe("{{ m(" + draw.choice(["", "1", "1, 2", "b=3", e(), "1, 2, 3", "z=1"]) + ") }}", 0.7)
    if kind == 8:
        return tag(draw, draw.choice(["call m()", "call m(1)", "call(v) m(2)"])) + body() + tag(draw, "endcall")
    if kind == 9:
        return tag(draw, f"with v = {e()}" + draw.maybe(f", a = {e()}", 0.3)) + body() + tag(draw, "endwith")
    if kind == 10:
        return tag(draw, f"filter {draw.choice(['upper', 'trim', 'replace(' + chr(39) + 'a' + chr(39) + ', ' + chr(39) + 'b' + chr(39) + ')', 'indent'])}") + body() + tag(draw, "endfilter")
    return draw.choice([
        "{% set ns = namespace(v=0) %}" + tag(draw, f"for v in {e()}") + "{% set ns.v = ns.v + 1 %}" + tag(draw, "endfor") + "{{ ns.v }}",
        tag(draw, "for k in tree recursive") + "{{ loop.depth }}{{ loop.depth0 }}{{ k.n }}" + body() + "{% if k.kids %}{{ loop(k.kids) }}{% endif %}" + tag(draw, "endfor"),
        tag(draw, "raw") + "{{ a }} {% b" + tag(draw, "endraw"),
        tag(draw, "generation") + body() + tag(draw, "endgeneration"),
        tag(draw, "print " + e()),
        "{% set j = joiner('; ') %}{% set c = cycler(1, 2) %}" + tag(draw, "for v in l") + "{{ j() }}{{ c.next() }}{{ v }}" + tag(draw, "endfor"),
    ])


def template_of(draw):
    if draw.random() < 0.6:
        return "{{ " + expression(draw, draw.randint(1, 3)) + " }}"
    return "".join(draw.choice(SPACE) + block(draw, 3) + draw.choice(SPACE) for _ in range(draw.randint(1, 3)))


class Slow(Exception):
    pass


def give_up(*_):
    raise Slow


def original(env, source):
    signal.alarm(2)
    try:
        # Copies: filters like indent change lists in place.
        return {"text": env.from_string(source).render(documents=None, add_generation_prompt=True, **copy.deepcopy({**VARS, "messages": MESSAGES, "tools": TOOLS}))}
    except Slow:
        return None
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, source):
        request = {"template": source, "messages": MESSAGES, "tools": TOOLS, "variables": VARS, "now": NOW.isoformat()}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def is_compared(want):
    text = want.get("text", "")
    return not re.search(r"\d{19,}|0x[0-9a-f]{6,}|<generator|<built-in|<function|<bound|<class|<slot|<method", text) and "\ufffd" not in text


# What ours is known to do in another way (include/sticky/chat/chat_template.hpp says so): these are not recorded.
KNOWN = re.compile(r"pprint|urlencode|wordcount|wordwrap|striptags|filesizeformat|xmlattr|swapcase|casefold|expandtabs|encode|is_integer|bit_length|translate"
                   r"|maketrans|fromkeys|conjugate|hex\(|isalpha|isalnum|istitle|isnumeric|isdecimal|isidentifier|isprintable|isascii|random|map\(|select|reject"
                   r"|indent|\[[^\]]*:|range\(3\): 1|escape|\|e\b|kwargs|varargs|divisibleby|filter|groupby|batch|slice|safe|format|unique")


def record(rounds, seed):
    env, cases = environment(), []
    signal.signal(signal.SIGALRM, give_up)
    for round_ in range(rounds):
        source = template_of(Draw(f"{seed}/{round_}"))
        want = original(env, source)
        if want is not None and is_compared(want) and not KNOWN.search(source) and len(str(want)) < 400 and ("text" in want or round_ % 8 == 0):
            cases.append({"template": source, **want})
    json.dump({"made_with": "jinja2 3.1.6", "now": NOW.isoformat(), "variables": {**VARS, "messages": MESSAGES, "tools": TOOLS}, "cases": cases}, sys.stdout, ensure_ascii=True)


def main():
    if sys.argv[1] == "--record":
        return record(int(sys.argv[2]), sys.argv[3])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    signal.signal(signal.SIGALRM, give_up)
    env, ours = environment(), Ours(sys.argv[1])
    differences, n_good, n_skipped, n_text = [], 0, 0, 0
    for round_ in range(rounds):
        source = template_of(Draw(f"{seed}/{round_}"))
        want = original(env, source)
        if want is None or not is_compared(want):
            n_skipped += 1
            continue
        got = ours.ask(source)
        if want.get("text") == got.get("text"):
            n_good += 1
            n_text += "text" in want
        else:
            differences.append((source, want, got))
    differences.sort(key=lambda d: len(d[0]))
    shown = Counter()
    for source, want, got in differences:
        kind = re.sub(r"line \d+|'[^']*'|\d+", "", got.get("error", "")) or re.sub(r"'[^']*'|\d+", "", want.get("error", "")) or source
        shown[kind] += 1
        if shown[kind] == 1:
            print(f"{source!r}\n  original {str(want)[:300]}\n  ours     {str(got)[:300]}")
    print(f"{n_good} agree ({n_text} of them with a text), {len(differences)} do not ({len(shown)} kinds), {n_skipped} not compared")


main()
