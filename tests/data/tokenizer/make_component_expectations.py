"""Writes components.json: small tokenizers, each made to show one component, and what Hugging Face
tokenizers (0.23.3) makes of texts with them.

    python3 make_component_expectations.py 60 > components.json

The argument is the number of random texts for each tokenizer; they are seeded by its name.
"""

import json
import random
import sys

import tokenizers
from tokenizers import Tokenizer


def byte_characters():
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    out, extra = {}, 0x100
    for b in range(256):
        if b in itself:
            out[b] = chr(b)
        else:
            out[b] = chr(extra)
            extra += 1
    return out


BYTE = byte_characters()


def as_bytes(text):
    return "".join(BYTE[b] for b in text.encode())


def bpe(alphabet, merges, first=(), last=(), **options):
    vocab = {}
    for piece in [*first, *alphabet, *(a + b for a, b in merges), *last]:
        vocab.setdefault(piece, len(vocab))
    return {"type": "BPE", "vocab": vocab, "merges": [list(m) for m in merges], **options}


BYTE_MERGES = [(as_bytes(a), as_bytes(b)) for a, b in
               [("a", "b"), (" ", "a"), ("1", "2"), ("ab", "a"), ("a", "a"), (" ", " "), (" a", "b"),
                ("'", "s"), ("12", "3"), ("\n", "\n"), ("aa", "aa")]]
# One byte (0xff) has no piece: it never occurs in UTF-8; 0x04 has none either and does.
BYTES = bpe([BYTE[b] for b in range(256) if b not in (0x04, 0xFF)], BYTE_MERGES)
LETTERS = bpe("abcdeé123▁ -.AB\n", [("a", "b"), ("▁", "a"), ("▁a", "b"), ("a", "a"), ("▁", "▁"), ("aa", "a"),
                                   ("1", "2"), ("b", "▁"), (" ", " ")],
              first=["<unk>", "<s>", "</s>"], unk_token="<unk>")
FALLBACK = bpe("abcdeé▁ ", [("a", "b"), ("▁", "a"), ("▁", "▁")],
               first=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256) if b != 0xE6],
               unk_token="<unk>", fuse_unk=True, byte_fallback=True)

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTE_LEVEL_BARE = {**BYTE_LEVEL, "use_regex": False}


def sequence(name, *members):
    return {"type": "Sequence", name: list(members)}


def added(content, id, **flags):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True, **flags}


def metaspace(scheme, split):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def split(pattern, behavior="Isolated", invert=False):
    kind = "String" if pattern in (" ", "ab") else "Regex"
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def replace(old, new, kind="String"):
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def template(*items):
    def item(name):
        return {"Sequence": {"id": "A", "type_id": 0}} if name == "A" else {"SpecialToken": {"id": name, "type_id": 0}}

    ids = {"<s>": 1, "</s>": 2}
    return {"type": "TemplateProcessing", "single": [item(i) for i in items],
            "pair": [item("A"), {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {n: {"id": n, "ids": [i], "tokens": [n]} for n, i in ids.items() if n in items}}


def tokenizer(model, added_tokens=(), normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(added_tokens),
            "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": post_processor,
            "decoder": decoder, "model": model}


S = [added("<s>", 1), added("</s>", 2)]
N = len(BYTES["vocab"])
AB = BYTES["vocab"]["ab"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")

TOKENIZERS = {
    "byte_level": tokenizer(BYTES, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "byte_level_prefix": tokenizer(BYTES, [added("<s>", N)], pre_tokenizer={**BYTE_LEVEL, "add_prefix_space": True},
                                   decoder=BYTE_LEVEL),
    "digits": tokenizer(BYTES, pre_tokenizer=sequence("pretokenizers", {"type": "Digits", "individual_digits": False},
                                                      BYTE_LEVEL_BARE), decoder=BYTE_LEVEL),
    "digits_prefix": tokenizer(BYTES, pre_tokenizer=sequence(
        "pretokenizers", {"type": "Digits", "individual_digits": True}, {**BYTE_LEVEL, "add_prefix_space": True})),
    "llama3": tokenizer({**BYTES, "ignore_merges": True,
                         "vocab": {**BYTES["vocab"], as_bytes(" ba"): N, as_bytes("123"): N + 1, as_bytes("é"): N + 2}},
                        pre_tokenizer=sequence("pretokenizers", split(LLAMA3), BYTE_LEVEL_BARE), decoder=BYTE_LEVEL),
    "word_digit_space": tokenizer(BYTES, pre_tokenizer=sequence(
        "pretokenizers", split(r"\w+"), split(r"\d"), split(r"[\w-]{2}"), split(r"\s"), split(r"[^\sa]\S"), BYTE_LEVEL_BARE)),
    "lookbehind": tokenizer(BYTES, pre_tokenizer=sequence(
        "pretokenizers", split(r"(?<=a)b|(?<!a)\u00e9|^a|b$|\x20{2,}"), BYTE_LEVEL_BARE)),
    "empty_matches": tokenizer(BYTES, pre_tokenizer=sequence("pretokenizers", split(r"a*"), BYTE_LEVEL_BARE)),
    "whitespace": tokenizer(LETTERS, pre_tokenizer={"type": "Whitespace"}),
    "nfc": tokenizer(BYTES, normalizer={"type": "NFC"}, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "nfd": tokenizer(BYTES, normalizer={"type": "NFD"}, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "nfkc": tokenizer(BYTES, normalizer={"type": "NFKC"}, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "nfkd": tokenizer(BYTES, normalizer={"type": "NFKD"}, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "replace_regex": tokenizer(BYTES, normalizer=sequence("normalizers", {"type": "NFC"}, replace(r"\s+", "a", "Regex"),
                                                          {"type": "Prepend", "prepend": "b"}),
                               pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "llama": tokenizer(FALLBACK, S, sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")),
                       post_processor=template("<s>", "A", "</s>"),
                       decoder=sequence("decoders", replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"},
                                        {"type": "Strip", "content": " ", "start": 1, "stop": 0})),
    "gemma": tokenizer(FALLBACK, S, replace(" ", "▁"), split(" ", "MergedWithPrevious"),
                       post_processor=sequence("processors", BYTE_LEVEL, template("<s>", "A")),
                       decoder=sequence("decoders", replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"})),
    "no_unk": tokenizer({**FALLBACK, "unk_token": None, "byte_fallback": False},
                        decoder=sequence("decoders", {"type": "Strip", "content": "a", "start": 1, "stop": 1},
                                         {"type": "ByteFallback"}, replace("b", "B"))),
    "unk_apart": tokenizer(LETTERS, post_processor=template("A", "</s>")),
    "unk_fused": tokenizer({**LETTERS, "fuse_unk": True}, S),
    "added_strips": tokenizer(BYTES, [added("<l>", N, lstrip=True), added("<r>", N + 1, rstrip=True),
                                      added("<lr>", N + 2, lstrip=True, rstrip=True), added("<s>", N + 3),
                                      added("<s>>", N + 4), added("ab", AB, single_word=True, special=False)],
                              pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL),
    "added_normalized": tokenizer(BYTES, [added("éa", N, normalized=True, special=False), added("<s>", N + 1),
                                          added("ab", AB, normalized=True), added("ﬁ", N + 2)],
                                  {"type": "NFKC"}, BYTE_LEVEL, decoder=BYTE_LEVEL),
    **{f"metaspace_{scheme}_{'split' if s else 'whole'}": tokenizer(
        LETTERS, S, pre_tokenizer=metaspace(scheme, s), decoder=metaspace(scheme, s))
       for scheme in ("always", "first", "never") for s in (True, False)},
    **{f"split_{b}_{'inverted' if i else 'plain'}": tokenizer(
        LETTERS, pre_tokenizer=sequence("pretokenizers", split(" ", b, i), split(r"[ab]|1+", b, i)))
       for b in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous") for i in (False, True)},
}

FRAGMENTS = ["a", "éa", "b", "ab", "c", " ", "  ", "\n", "\r\n", "\t", "1", "2", "123", "é", "e\u0301", "è", "É", "'s", "'S", "'ſ",
             "'ll", "-", ".", "▁", "<s>", "<s>>", "</s>", "<l>", "<r>", "<lr>", "<", "日", "本", "👩\u200d💻", "ﬁ", "½", "Ⅷ", "²",
             "٣", "\u00a0", "\u2003", "\u180e", "\u200d", "\u0323\u0307", "\u0307\u0323", "각", "\u1100\u1161\u11a8", "Å", "\u212b", "ḍ̇", "_",
             "ⓐ", "A", "B", "\x04", "\u0149", "<0x41>", "🏴󠁧", "क्षि", "\u0958", "æ", "\u2028", "\x1c", "\x85"]


def main():
    n_random = int(sys.argv[1])
    out = []
    for name, spec in TOKENIZERS.items():
        t = Tokenizer.from_str(json.dumps(spec))
        draw = random.Random(name)
        texts = ["", " ", "ab", " ab aab  abab\n\n1234 ab's", "<s> ab <s></s>", "a <l> b <r> c <lr> <s>> ab"]
        texts += ["".join(draw.choices(FRAGMENTS, k=draw.randint(1, 12))) for _ in range(n_random)]
        cases = []
        for text in texts:
            case = {"text": text, "ids": t.encode(text, add_special_tokens=False).ids,
                    "with_special": t.encode(text).ids}
            ids = case["ids"]
            draw.shuffle(shuffled := list(ids))
            case["shuffled"] = shuffled
            try:
                case["decoded"] = [t.decode(ids, skip_special_tokens=False), t.decode(ids, skip_special_tokens=True),
                                   t.decode(shuffled, skip_special_tokens=False)]
            except BaseException as error:  # a Rust panic: Strip of an empty token
                assert "panic" in type(error).__name__.lower(), error
            cases.append(case)
        out.append({"name": name, "tokenizer": spec, "cases": cases})
    json.dump({"made_with": f"tokenizers {tokenizers.__version__}", "tokenizers": out}, sys.stdout, ensure_ascii=True)


main()
