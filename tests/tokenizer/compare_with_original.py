"""Random tokenizers, random texts: what ours makes of them beside Hugging Face tokenizers. By hand:

    pip install tokenizers==0.23.3
    python3 tests/tokenizer/compare_with_original.py build/release/tests/tokenizer/tokenize_lines [ROUNDS] [SEED]

    python3 tests/tokenizer/compare_with_original.py --record ROUNDS SEED    # prints what the original makes, as components.json has it

Prints each kind of difference once, with the tokenizer and the shortest text that shows it; at the end how many
tokenizers and texts agreed, and what ours refuses. Where the original panics, ours may do what it likes. Characters are
those that Unicode 3.2 had: of newer ones the tables differ, by the version of Unicode that each was built with.
"""

import json
import os
import random
import subprocess
import sys
import unicodedata
from collections import Counter

os.environ["RUST_BACKTRACE"] = "0"
import tokenizers
from tokenizers import Tokenizer

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+")
REGEXES = [GPT2, LLAMA3, O200K, DEEPSEEK, r"[一-龥぀-ゟ゠-ヿ]+", r"\p{N}{1,3}", r"[0-9][0-9][0-9]", r"\d", r"\s", r"\S+", r"\w+", r"\W",
           r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"\s+$", r"^\s*", r"[\p{P}\$\+<=>\^~\|`]+", r"a|b", r"a*", r"(?=a)", r"(?<=b)",
           r"\p{Han}+", r"\p{Lu}", r"\p{^L}", r"[^\W\d]", r"[[:alpha:]]+", r"[[:punct:]]", r"[^[:space:]]+",
           r" ?[^(\s|[.,!?…。，、।۔،])]+", r"[\p{L}&&[^\p{Han}]]+", r"\b", r"\ba", r"\B", r"(?m:.)+", r".", r"\h+", r"\R", r"\p{Alpha}+",
           r"\p{Alnum}", r"[\w\-]+", r"\x{1F600}|\u00e9", r"\p{Punct}", r"\p{Upper}", r"(?i)AB", r"(?<!\s)\s", r"\p{Letter}", r"\p{Nd}+|\p{No}",
           r"\p{Emoji}", r"(?:a|b)++", r"a{1,2}?", r"a{,2}", r"(a)(b)?\s", r"\p{Mn}", r"\p{Katakana}|\p{Hiragana}", r"[^\p{L}]", r"\A.", r".\z",
           r"\p{Z}", r"\p{C}", r"\p{S}", r"[\t\x20\x{3000}]", r"[^a]$", r"\p{Zs}+", r"\p{Arabic}|\p{Greek}|\p{Latin}"]

FRAGMENTS = ["a", "éa", "b", "ab", "c", " ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "1", "2", "123", "12345", "é", "e\u0301", "è", "É", "'s", "'S",
             "'ſ", "'ll", "-", ".", "...", "▁", "▁▁", "<s>", "<s>>", "</s>", "<l>", "<r>", "<lr>", "<", "日", "本語", "👩\u200d💻", "ﬁ", "½", "Ⅷ",
             "²", "٣", "\u00a0", "\u2003", "\u180e", "\u200d", "\u200c", "\u0323\u0307", "\u0307\u0323", "각", "\u1100\u1161\u11a8", "Å", "\u212b", "_",
             "ⓐ", "A", "B", "AB", "\x04", "\u0149", "<0x41>", "🏴", "क्षि", "\u0958", "æ", "\u2028", "\x1c", "\x85", "İ", "ß", "Σ", "ΑΣ", "ς",
             "ǅ", "\u0345", "。", "「", "¿", "$", "+", "€", "\ufeff", "\u3000", "\u200b", "\x00", "\x7f", "\ufffd", "İstanbul", "Hello", "World",
             " the", " of", "Don't", "ﷺ", "ᾳ", "\U0001d400", "ｱ", "Ａ", "カ゛", "\u3099", "\U000e0041", "\u061c", "س", "لا", "ไทย", "ำ", "x_y"]
BLOCKS = [(0, 0x80), (0x80, 0x250), (0x250, 0x600), (0x600, 0x1000), (0x1000, 0x2000), (0x2000, 0x2c00), (0x2c00, 0x3400), (0x4e00, 0x4f00),
          (0xa000, 0xd7ff), (0xf900, 0x10000), (0x10000, 0x11000), (0x1d400, 0x1d500), (0x1f000, 0x1fb00), (0xe0000, 0xe0100)]
CHARACTERS = [[c for c in range(*block) if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs")] for block in BLOCKS if block[0] != 0x1F000]


def byte_characters():
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    out, extra = {}, 0x100
    for b in range(256):
        out[b] = chr(b) if b in itself else chr(extra)
        extra += b not in itself
    return out


BYTE = byte_characters()


class Draw(random.Random):
    def some(self, of, most):
        return [self.choice(of) for _ in range(self.randint(0, most))]

    def flag(self):
        return self.random() < 0.5


def text_of(draw):
    out = []
    for _ in range(draw.randint(0, 14)):
        if draw.random() < 0.8:
            out.append(draw.choice(FRAGMENTS))
        else:
            out.append(chr(draw.choice(draw.choice(CHARACTERS))))
    return "".join(out)


def pattern(draw):
    if draw.random() < 0.35:
        return {"String": draw.choice([" ", "ab", "a", "▁", "  ", "\n", "1", "."])}
    return {"Regex": draw.choice(REGEXES)}


def replace(draw):
    return {"type": "Replace", "pattern": pattern(draw), "content": draw.choice(["", " ", "▁", "a", "bb", "é"])}


def metaspace(draw):
    return {"type": "Metaspace", "replacement": draw.choice("▁▁▁_a"), "prepend_scheme": draw.choice(["always", "first", "never"]),
            "split": draw.flag()}


def byte_level(draw):
    return {"type": "ByteLevel", "add_prefix_space": draw.random() < 0.3, "trim_offsets": draw.flag(), "use_regex": draw.flag()}


def normalizer(draw):
    kind = draw.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Prepend", "Replace", "Replace", "BertNormalizer", "ByteLevel"])
    if kind == "Replace":
        return replace(draw)
    return {"type": kind, **{"Strip": {"strip_left": draw.flag(), "strip_right": draw.flag()},
                             "Prepend": {"prepend": draw.choice(["▁", " ", "ab"])},
                             "BertNormalizer": {"clean_text": draw.flag(), "handle_chinese_chars": draw.flag(),
                                                "strip_accents": draw.choice([None, True, False]), "lowercase": draw.flag()}}.get(kind, {})}


def pre_tokenizer(draw):
    kind = draw.choice(["Split", "Split", "Split", "Digits", "ByteLevel", "ByteLevel", "Metaspace", "Whitespace", "WhitespaceSplit", "Punctuation",
                        "BertPreTokenizer", "CharDelimiterSplit"])
    if kind == "ByteLevel":
        return byte_level(draw)
    if kind == "Metaspace":
        return metaspace(draw)
    behavior = draw.choice(["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
    return {"type": kind, **{"Split": lambda: {"pattern": pattern(draw), "behavior": behavior, "invert": draw.random() < 0.3},
                             "Digits": lambda: {"individual_digits": draw.flag()}, "Punctuation": lambda: {"behavior": behavior},
                             "CharDelimiterSplit": lambda: {"delimiter": draw.choice(" a▁")}}.get(kind, dict)()}


def decoder(draw):
    kind = draw.choice(["ByteLevel", "ByteFallback", "Fuse", "Strip", "Replace", "Metaspace"])
    if kind == "Replace":
        return replace(draw)
    if kind == "Metaspace":
        return metaspace(draw)
    if kind == "ByteLevel":
        return byte_level(draw)
    return {"type": kind, **({"content": draw.choice(" a▁"), "start": draw.randint(0, 2), "stop": draw.randint(0, 1)} if kind == "Strip" else {})}


def maybe_sequence(draw, name, one, most):
    members = [one(draw) for _ in range(draw.randint(0, most))]
    if not members:
        return None
    if len(members) == 1 and draw.flag():
        return members[0]
    return {"type": "Sequence", name: members}


LLAMA_DECODER = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]


def decoder_of(draw):
    kind = draw.random()
    if kind < 0.3:
        members = list(LLAMA_DECODER)
        if draw.flag():
            members.append({"type": "Strip", "content": draw.choice(" a"), "start": draw.randint(0, 2), "stop": draw.choice([0, 0, 1, 2])})
        if draw.random() < 0.3:
            members.insert(draw.randint(0, len(members)), replace(draw))
        return {"type": "Sequence", "decoders": members}
    return byte_level(draw) if kind < 0.5 else maybe_sequence(draw, "decoders", decoder, 3)


def model(draw, is_byte_level):
    alphabet = list(BYTE.values()) if is_byte_level else list("abcdeé123▁ -.AB\n_日本,!?١カ") + draw.sample(
        [c for f in FRAGMENTS for c in f], 30)
    if draw.random() < 0.3:
        alphabet = draw.sample(alphabet, len(alphabet) * 3 // 4)
    vocab = {}
    for piece in ["<unk>", "<s>", "</s>"]:
        vocab[piece] = len(vocab)
    if draw.flag():
        for b in range(256):
            if draw.random() < 0.98:
                vocab.setdefault(f"<0x{b:02X}>", len(vocab))
    alphabet = list(dict.fromkeys(alphabet))
    for piece in alphabet:
        vocab.setdefault(piece, len(vocab))
    frequent = [c for c in ("abeé12▁ .\nAB" if not is_byte_level else [BYTE[b] for b in "ab12 .\nABé".encode()]) if c in alphabet]
    pieces, merges = list(frequent), []
    for _ in range(draw.choice([0, 5, 30, 120])):
        left, right = draw.choice(pieces), draw.choice(pieces)
        if (left, right) in merges or len(left + right) > 8:
            continue
        merges.append((left, right))
        vocab.setdefault(left + right, len(vocab))
        pieces.append(left + right)
    out = {"type": "BPE", "dropout": None, "unk_token": draw.choice([None, "<unk>"]), "continuing_subword_prefix": None, "end_of_word_suffix": None,
           "fuse_unk": draw.flag(), "byte_fallback": draw.flag(), "ignore_merges": draw.random() < 0.3, "vocab": vocab}
    as_text = draw.flag() and not any(" " in a + b for a, b in merges)
    out["merges"] = [f"{a} {b}" if as_text else [a, b] for a, b in merges]
    return out


def added_tokens(draw, vocab):
    out, next_id = [], max(vocab.values()) + 1
    for content in draw.sample(["<s>", "</s>", "<l>", "<r>", "<lr>", "<s>>", "ab", "éa", "ﬁ", "  ", "a b", "É", "\n", "<", "1", "日", "AB"], draw.randint(0, 6)):
        id = vocab.get(content, next_id)
        next_id += id == next_id
        out.append({"id": id, "content": content, "single_word": draw.random() < 0.2, "lstrip": draw.random() < 0.3, "rstrip": draw.random() < 0.3,
                    "normalized": draw.flag(), "special": draw.flag()})
    return out


def post_processor(draw):
    def template():
        items = [{"SpecialToken": {"id": "<s>", "type_id": 0}} for _ in range(draw.randint(0, 2))]
        items.append({"Sequence": {"id": "A", "type_id": 0}})
        items += [{"SpecialToken": {"id": "</s>", "type_id": 0}} for _ in range(draw.randint(0, 2))]
        return {"type": "TemplateProcessing", "single": items, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2, 1], "tokens": ["</s>", "<s>"]}}}

    kind = draw.randint(0, 6)
    # Two that add tokens do not go together, as the original has it.
    roberta = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": False}
    bert = {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]}
    return [None, byte_level(draw), template(), {"type": "Sequence", "processors": [byte_level(draw), template()]}, roberta, bert,
            {"type": "Sequence", "processors": draw.sample([template(), byte_level(draw), byte_level(draw)], draw.randint(0, 3))}][kind]


def normalized(normalizer, text):
    if normalizer is None:
        return text
    spec = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": normalizer, "pre_tokenizer": None,
            "post_processor": None, "decoder": None, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    return Tokenizer.from_str(json.dumps(spec)).normalizer.normalize_str(text)


def tokenizer_of(draw):
    pre = maybe_sequence(draw, "pretokenizers", pre_tokenizer, 3)
    norm = maybe_sequence(draw, "normalizers", normalizer, 3)
    is_byte_level = "ByteLevel" in json.dumps([pre, norm])
    spec = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": norm, "pre_tokenizer": pre,
            "post_processor": post_processor(draw), "decoder": decoder_of(draw), "model": model(draw, is_byte_level)}
    spec["added_tokens"] = added_tokens(draw, spec["model"]["vocab"])
    # Of those that are the same once normalised the original takes any.
    seen = set()
    for token in spec["added_tokens"]:
        text = normalized(norm, token["content"])
        token["normalized"] &= text not in seen
        seen.add(text)
    return spec


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def unless_it_panics(ask):
    try:
        return ask()
    except BaseException as error:  # a Rust panic: Strip of an empty token …
        if "panic" not in type(error).__name__.lower():
            raise
        return None


def short(spec):
    out = {k: v for k, v in spec.items() if k not in ("version", "truncation", "padding", "model")}
    out["model"] = {k: v for k, v in spec["model"].items() if k not in ("vocab", "merges")}
    return json.dumps(out, ensure_ascii=False)


def compare(spec, texts, ours, draw, report):
    original = Tokenizer.from_str(json.dumps(spec))
    expected = [[unless_it_panics(lambda: original.encode(t, add_special_tokens=a).ids) for a in (False, True)] for t in texts]
    lists = [e[0] or [] for e in expected]
    lists += [draw.sample(l, len(l)) for l in lists[:6]]
    size = original.get_vocab_size(with_added_tokens=True)
    lists += [[draw.randrange(size + 3) for _ in range(draw.randint(0, 12))] for _ in range(6)]
    answer = ours.ask({"tokenizer": spec, "texts": texts, "id_lists": lists})
    if "error" in answer:
        return report.refused(answer["error"], spec)
    for text, want, got in zip(texts, expected, answer["encoded"]):
        for w, g in zip(want, got):
            report.count(w is None or w == g, "encode", spec, text, w, g)
    for ids, got in zip(lists, answer["decoded"]):
        for skips in (False, True):
            want = unless_it_panics(lambda: original.decode(ids, skip_special_tokens=skips))
            report.count(want is None or want == got[skips], f"decode {spec['decoder']}", spec, [original.id_to_token(i) for i in ids], want, got[skips])
    report.count(answer["uneven"] == "", "stream", spec, "", "", answer["uneven"])


class Report:
    def __init__(self):
        self.n_good = self.n_bad = self.n_refused = 0
        self.refusals, self.shown = Counter(), {}

    def refused(self, error, spec):
        self.n_refused += 1
        self.refusals[error.split(": ", 1)[-1][:140]] += 1

    def count(self, is_good, kind, spec, text, want, got):
        self.n_good += is_good
        self.n_bad += not is_good
        if is_good:
            return
        key = (kind, short(spec)) if kind == "encode" else kind
        if key not in self.shown or len(str(self.shown[key][0])) > len(str(text)):
            self.shown[key] = (text, want, got, short(spec))


def record(rounds, seed):
    out = []
    while len(out) < rounds:
        draw = Draw(f"{seed}/record/{len(out)}/{rounds}")
        spec = unless_it_panics(lambda: tokenizer_of(draw))
        if spec is None or len(json.dumps(spec)) > 14000:
            seed += "'"
            continue
        original, cases = Tokenizer.from_str(json.dumps(spec)), []
        for text in [" ", *(text_of(draw) for _ in range(9))]:
            ids, with_special = (unless_it_panics(lambda: original.encode(text, add_special_tokens=a).ids) for a in (False, True))
            if ids is None or with_special is None:
                continue
            shuffled = draw.sample(ids, len(ids))
            decoded = [unless_it_panics(lambda: original.decode(i, skip_special_tokens=s)) for i, s in ((ids, False), (ids, True), (shuffled, False))]
            case = {"text": text, "ids": ids, "with_special": with_special, "shuffled": shuffled}
            cases.append(case if None in decoded else {**case, "decoded": decoded})
        out.append({"name": f"random {len(out)}", "tokenizer": spec, "cases": cases})
    json.dump({"made_with": f"tokenizers {tokenizers.__version__}", "tokenizers": out}, sys.stdout, ensure_ascii=True)


def main():
    if sys.argv[1] == "--record":
        return record(int(sys.argv[2]), sys.argv[3])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    ours, report = Ours(sys.argv[1]), Report()
    if "--loud" not in sys.argv:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the original's panics
    n_specs = 0
    for round_ in range(rounds):
        draw = Draw(f"{seed}/{round_}")
        spec = unless_it_panics(lambda: tokenizer_of(draw))
        try:
            if spec is None or unless_it_panics(lambda: Tokenizer.from_str(json.dumps(spec))) is None:
                continue
        except ValueError:  # refused
            continue
        n_specs += 1
        compare(spec, ["", " ", *(text_of(draw) for _ in range(20))], ours, draw, report)
    for key, (text, want, got, spec) in list(report.shown.items())[:12]:
        print(f"--- {key if isinstance(key, str) else key[0]}\n{text!r}\n  original {want}\n  ours     {got}\n  {spec}\n")
    for error, n in report.refusals.most_common(40):
        print(f"refused {n}: {error}")
    print(f"tokenizers {tokenizers.__version__}: {n_specs} tokenizers, {report.n_refused} refused; {report.n_good} answers agree, {report.n_bad} do not"
          f" ({len(report.shown)} kinds)")


main()
