#!/usr/bin/env python3
"""Render styles/*.jinja with the conversations of golden/qwen2.5.json by jinja2 in transformers' environment.

  python make_style_golden.py | xz > styles.json.xz
"""
import json
import pathlib
import sys

import jinja2
from make_feature_golden import NOW, environment

HERE = pathlib.Path(__file__).parent
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def main():
    env = environment()
    conversations = json.loads((HERE / "golden" / "qwen2.5.json").read_text())["cases"]
    out = {"made_with": f"jinja2 {jinja2.__version__}", "now": NOW.isoformat(), "tokens": TOKENS, "templates": {}}
    for path in sorted((HERE / "styles").glob("*.jinja")):
        template, cases = env.from_string(path.read_text()), []
        for one in conversations:
            case = {k: one[k] for k in ("id", "messages", "tools", "variables", "add_generation_prompt") if k in one}
            try:
                case["text"] = template.render(**{"documents": None, "tools": case.get("tools"), "messages": case["messages"],
                                                  "add_generation_prompt": case["add_generation_prompt"], **TOKENS, **case.get("variables", {})})
            except Exception as error:  # whatever Python raises is a TemplateError for us
                case["error"] = f"{type(error).__name__}: {error}"
            cases.append(case)
        out["templates"][path.stem] = cases
    json.dump(out, sys.stdout, ensure_ascii=True)


if __name__ == "__main__":
    main()
