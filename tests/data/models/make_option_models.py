#!/usr/bin/env python3
"""Makes options/NAME: models of some ten thousand weights, each with one option of its family's config switched, as
transformers itself writes them, and what transformers computes with them in fp32.

  pip install torch==2.15.0 transformers==5.24.0
  python make_option_models.py tests/data/models/options

expected.json: ids of one prompt, the context to load the model with (0: its own), logits of the last four positions.
"""
import json
import lzma
import pathlib
import sys

import torch
import transformers as t

BASE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            vocab_size=64, max_position_embeddings=128, bos_token_id=1, eos_token_id=2, pad_token_id=0)
NEOX = {k: v for k, v in BASE.items() if k != "num_key_value_heads"}


def yarn(**more):
    return dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32, **more)


def longrope(part, original):
    pairs = int(8 * part) // 2
    return dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=part,
                short_factor=[1.0 + 0.5 * i for i in range(pairs)], long_factor=[2.0 + i * i for i in range(pairs)],
                original_max_position_embeddings=original)


MODELS = {  # config class, what differs from BASE, context
    "llama-linear": (t.LlamaConfig, dict(BASE, attention_bias=True, mlp_bias=True, rope_parameters=dict(
        rope_type="linear", rope_theta=10000.0, factor=4.0)), 0),
    "llama-yarn": (t.LlamaConfig, dict(BASE, rope_parameters=yarn(
        beta_fast=16.0, beta_slow=2.0, mscale=1.0, mscale_all_dim=0.7, truncate=False)), 0),
    "mistral-head-dim": (t.MistralConfig, dict(BASE, head_dim=12, sliding_window=None), 0),
    "qwen2-window": (t.Qwen2Config, dict(BASE, use_sliding_window=True, sliding_window=7, max_window_layers=1), 0),
    "qwen2-layer-types": (t.Qwen2Config, dict(BASE, use_sliding_window=True, sliding_window=5, layer_types=[
        "sliding_attention", "full_attention"]), 0),
    "qwen2-yarn": (t.Qwen2Config, dict(BASE, rope_parameters=yarn()), 0),
    "qwen3-bias-window": (t.Qwen3Config, dict(BASE, attention_bias=True, head_dim=16, use_sliding_window=True,
                                              sliding_window=7, max_window_layers=1), 0),
    "gemma2-no-caps": (t.Gemma2Config, dict(BASE, head_dim=16, query_pre_attn_scalar=20, sliding_window=7,
                                            final_logit_softcapping=None, attn_logit_softcapping=None), 0),
    "gemma3-linear-cap": (t.Gemma3TextConfig, dict(BASE, head_dim=16, query_pre_attn_scalar=20, sliding_window=7,
        layer_types=["sliding_attention", "full_attention"], final_logit_softcapping=5.0, rope_parameters={
            "full_attention": dict(rope_type="linear", factor=8.0, rope_theta=1e6),
            "sliding_attention": dict(rope_type="default", rope_theta=1e4)}), 0),
    "stablelm-12b": (t.StableLmConfig, dict(BASE, qk_layernorm=True, use_parallel_residual=True), 0),
    "phi3-longrope": (t.Phi3Config, dict(BASE, original_max_position_embeddings=24, rope_parameters=longrope(1.0, 24)),
                      0),
    "phi4-mini": (t.Phi3Config, dict(BASE, sliding_window=100, tie_word_embeddings=True,
                                     original_max_position_embeddings=64, rope_parameters=longrope(0.75, 64)), 64),
    "olmo2-bias": (t.Olmo2Config, dict(BASE, attention_bias=True), 0),
    "gpt2-inner": (t.GPT2Config, dict(n_embd=32, n_head=4, n_layer=2, n_inner=40, n_positions=128, vocab_size=64,
                                      bos_token_id=1, eos_token_id=2, activation_function="gelu"), 0),
    "gpt-neox-sequential": (t.GPTNeoXConfig, dict(NEOX, use_parallel_residual=False), 0),
    "gpt-neox-no-bias": (t.GPTNeoXConfig, dict(NEOX, hidden_act="gelu_fast", rotary_pct=1.0, attention_bias=False), 0),
}


def randomise(model):
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for _, p in sorted(model.named_parameters()):
            scale = 1.0 if p.dim() == 1 else 1.5 / p.shape[-1] ** 0.5
            p.copy_((torch.randn(p.shape, generator=generator) * scale).to(torch.bfloat16).float())


def main(out):
    ids = torch.randint(0, 64, (40,), generator=torch.Generator().manual_seed(3))
    for name, (config_class, keys, context) in MODELS.items():
        model = t.AutoModelForCausalLM.from_config(config_class(**keys), attn_implementation="eager",
                                                   dtype=torch.float32).eval()
        randomise(model)
        with torch.no_grad():
            logits = model(ids[None]).logits[0, -4:]
        folder = out / name
        model.to(torch.bfloat16).save_pretrained(folder)
        weights = folder / "model.safetensors"
        (folder / "model.safetensors.xz").write_bytes(lzma.compress(weights.read_bytes(), preset=9))
        weights.unlink()
        expected = {"ids": ids.tolist(), "context": context,
                    "logits": [[round(x, 6) for x in row] for row in logits.tolist()]}
        (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
