#!/usr/bin/env python3
"""Turns checkpoint folders of tests/data/models into GGUF files, as llama.cpp's own conversion lays them out.

    pip install gguf==0.19.0 numpy && python hf_to_gguf.py OUT_DIR FOLDER...

Writes OUT_DIR/<name of the folder>.gguf. Files of a folder may be packed by xz. Needs neither torch nor transformers.

What differs between the formats, and is done here (llama.cpp: conversion/*.py):
 * llama, mistral: rows of q and k are put to rotary pairs (2i, 2i+1) from the two halves (i, i + head_dim/2).
 * gemma: norms are stored with 1 added.
 * gpt2: matrices are turned round. gptneox: q, k and v of all heads follow each other, not those of each head.
 * stablelm: norms of single heads become rows of one tensor.
 * Llama 3's and Phi-3's rotary factors become tensors.
 * vectors are stored in f32, matrices as they were.
Where GGUF cannot say what a folder says:
 * the scale of Gemma's attention is head_dim^-0.5. What a model has besides goes into the weights of q.
 * Mistral's window has a key in GGUF, which llama.cpp neither writes nor reads. It is written here.
 * windows of Qwen2 and Qwen3, other activations, unequal mscale of YaRN: main() refuses such folders.
"""
import json
import logging
import lzma
import math
import os
import sys
import tempfile

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf import TokenType

ARCHITECTURES = {
    'LlamaForCausalLM': 'llama', 'MistralForCausalLM': 'llama', 'Qwen2ForCausalLM': 'qwen2',
    'Qwen3ForCausalLM': 'qwen3', 'Gemma2ForCausalLM': 'gemma2', 'Gemma3ForCausalLM': 'gemma3',
    'StableLmForCausalLM': 'stablelm', 'Phi3ForCausalLM': 'phi3', 'Olmo2ForCausalLM': 'olmo2',
    'GPT2LMHeadModel': 'gpt2', 'GPTNeoXForCausalLM': 'gptneox'}
LLAMA_NAMES = {
    'embed_tokens': 'token_embd', 'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q',
    'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v', 'self_attn.q_norm': 'attn_q_norm',
    'self_attn.k_norm': 'attn_k_norm', 'self_attn.q_layernorm': 'attn_q_norm',
    'self_attn.k_layernorm': 'attn_k_norm', 'self_attn.o_proj': 'attn_output',
    'self_attn.qkv_proj': 'attn_qkv', 'post_attention_layernorm': 'ffn_norm', 'mlp.gate_proj': 'ffn_gate',
    'mlp.up_proj': 'ffn_up', 'mlp.gate_up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down', 'norm': 'output_norm',
    'lm_head': 'output'}
POST_NORM_NAMES = LLAMA_NAMES | {
    'post_attention_layernorm': 'post_attention_norm', 'pre_feedforward_layernorm': 'ffn_norm',
    'post_feedforward_layernorm': 'post_ffw_norm'}
NAMES = {
    'gemma2': POST_NORM_NAMES, 'gemma3': POST_NORM_NAMES, 'olmo2': POST_NORM_NAMES,
    'gpt2': {'wte': 'token_embd', 'wpe': 'position_embd', 'ln_1': 'attn_norm', 'attn.c_attn': 'attn_qkv',
             'attn.c_proj': 'attn_output', 'ln_2': 'ffn_norm', 'mlp.c_fc': 'ffn_up', 'mlp.c_proj': 'ffn_down',
             'ln_f': 'output_norm', 'lm_head': 'output'},
    'gptneox': {'embed_in': 'token_embd', 'input_layernorm': 'attn_norm', 'attention.query_key_value': 'attn_qkv',
                'attention.dense': 'attn_output', 'post_attention_layernorm': 'ffn_norm',
                'mlp.dense_h_to_4h': 'ffn_up', 'mlp.dense_4h_to_h': 'ffn_down', 'final_layer_norm': 'output_norm',
                'embed_out': 'output', 'lm_head': 'output'}}


def unpack(folder, out):
    """The files of a folder, unpacked into another."""
    for name in os.listdir(folder):
        if name.startswith(('golden', 'expected')):
            continue
        with open(os.path.join(folder, name), 'rb') as f:
            data = f.read()
        if name.endswith('.xz'):
            name, data = name[:-3], lzma.decompress(data)
        with open(os.path.join(out, name), 'wb') as f:
            f.write(data)


def read_json(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return {}
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def read_tensors(folder):
    """name -> (storage, array); bf16 as its bits."""
    kinds = {'F32': (Q.F32, np.float32), 'F16': (Q.F16, np.float16), 'BF16': (Q.BF16, np.uint16)}
    out = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.safetensors'):
            continue
        with open(os.path.join(folder, name), 'rb') as f:
            data = f.read()
        n = int.from_bytes(data[:8], 'little')
        for tensor, info in json.loads(data[8:8 + n]).items():
            if tensor == '__metadata__':
                continue
            kind, dtype = kinds[info['dtype']]
            begin, end = info['data_offsets']
            out[tensor] = kind, np.frombuffer(data[8 + n + begin:8 + n + end], dtype).reshape(info['shape'])
    return out


def widen(kind, x):
    return (x.astype(np.uint32) << 16).view(np.float32) if kind == Q.BF16 else x.astype(np.float32)


class Converter:
    def __init__(self, folder, out):
        self.folder = folder
        self.config = c = read_json(folder, 'config.json')
        self.hf = c['architectures'][0]
        self.arch = ARCHITECTURES[self.hf]
        self.rope = c.get('rope_parameters') or dict(c.get('rope_scaling') or {})
        self.rope_all = self.rope.get('full_attention', self.rope)
        self.heads = c.get('num_attention_heads') or c.get('n_head')
        self.kv_heads = c.get('num_key_value_heads') or self.heads
        self.width = c.get('hidden_size') or c.get('n_embd')
        self.head_dim = c.get('head_dim') or self.width // self.heads
        self.vocab = c['vocab_size']
        self.out = gguf.GGUFWriter(out, self.arch)

    def convert(self):
        self.out.add_name(os.path.basename(self.folder))
        self.parameters()
        self.rope_parameters()
        self.vocabulary()
        self.tensors()
        self.rotary_tensors()
        self.out.write_header_to_file()
        self.out.write_kv_data_to_file()
        self.out.write_tensors_to_file()
        self.out.close()

    def first(self, *names):
        return next((self.config[n] for n in names if self.config.get(n) is not None), None)

    def parameters(self):
        c, w = self.config, self.out
        w.add_block_count(self.first('num_hidden_layers', 'n_layer'))
        w.add_context_length(self.first('max_position_embeddings', 'n_positions'))
        w.add_embedding_length(self.width)
        w.add_feed_forward_length(self.first('intermediate_size', 'n_inner') or 4 * self.width)
        w.add_head_count(self.heads)
        if self.arch not in ('gpt2', 'gptneox'):
            w.add_head_count_kv(self.kv_heads)
        if 'rms_norm_eps' in c:
            w.add_layer_norm_rms_eps(c['rms_norm_eps'])
        else:
            w.add_layer_norm_eps(self.first('layer_norm_eps', 'layer_norm_epsilon'))
        if c.get('head_dim') is not None:
            w.add_key_length(c['head_dim'])
            w.add_value_length(c['head_dim'])
        if self.arch == 'llama':
            w.add_vocab_size(self.vocab)
        if self.arch in ('gptneox', 'stablelm'):
            w.add_parallel_residual(c.get('use_parallel_residual', True))
        if self.arch == 'gemma2':
            w.add_attn_logit_softcapping(c['attn_logit_softcapping'])
        if self.arch in ('gemma2', 'gemma3') and c.get('final_logit_softcapping'):
            w.add_final_logit_softcapping(c['final_logit_softcapping'])
        if self.arch == 'gemma3' and self.layer_types() != self.usual_types(6):
            w.add_sliding_window_pattern([t == 'sliding_attention' for t in self.layer_types()])
        if self.arch in ('gemma2', 'gemma3') or self.hf == 'MistralForCausalLM' and c['sliding_window']:
            w.add_sliding_window(c['sliding_window'])
        if self.arch == 'phi3':
            w.add_sliding_window(c.get('sliding_window') or 0)

    def usual_types(self, every):
        n = self.config['num_hidden_layers']
        return ['sliding_attention' if (i + 1) % every else 'full_attention' for i in range(n)]

    def layer_types(self):
        return self.config.get('layer_types') or self.usual_types(6)

    def rope_parameters(self):
        c, w, rope = self.config, self.out, self.rope_all
        if self.arch == 'gpt2':
            return
        if self.arch in ('llama', 'phi3', 'stablelm', 'gptneox'):
            part = rope.get('partial_rotary_factor', self.first('partial_rotary_factor', 'rotary_pct'))
            part = part if part is not None else 0.25 if self.arch in ('stablelm', 'gptneox') else 1.0
            w.add_rope_dimension_count(int(part * self.head_dim))
        theta = rope.get('rope_theta', self.first('rope_theta', 'rotary_emb_base'))
        if self.arch not in ('gptneox', 'stablelm', 'gemma2') or theta != 10000:
            w.add_rope_freq_base(theta)
        local = self.rope.get('sliding_attention', {}).get('rope_theta', c.get('rope_local_base_freq'))
        if local is not None:
            w.add_rope_freq_base_swa(local)
        original = rope.get('original_max_position_embeddings', c.get('original_max_position_embeddings'))
        kind = rope.get('rope_type', rope.get('type'))
        if kind == 'linear':
            w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            w.add_rope_scaling_factor(rope['factor'])
        if kind == 'yarn':
            w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
            w.add_rope_scaling_factor(rope['factor'])
            if 'attention_factor' in rope:
                w.add_rope_scaling_yarn_attn_factor(rope['attention_factor'])
            if 'beta_fast' in rope:
                w.add_rope_scaling_yarn_beta_fast(rope['beta_fast'])
                w.add_rope_scaling_yarn_beta_slow(rope['beta_slow'])
        if kind == 'yarn' or self.arch == 'phi3':
            w.add_rope_scaling_orig_ctx_len(original)
        if kind == 'longrope':
            scale = c['max_position_embeddings'] / original
            w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0)

    def rotary_tensors(self):
        rope = self.rope_all
        if 'long_factor' in rope:
            self.out.add_tensor('rope_factors_long.weight', np.array(rope['long_factor'], np.float32))
            self.out.add_tensor('rope_factors_short.weight', np.array(rope['short_factor'], np.float32))
        if rope.get('rope_type') != 'llama3':
            return
        theta = rope.get('rope_theta', self.config.get('rope_theta'))
        original, factor = rope['original_max_position_embeddings'], rope['factor']
        low, high = rope['low_freq_factor'], rope['high_freq_factor']
        divisors = []
        for i in range(0, self.head_dim, 2):
            turns = original / (2 * math.pi * theta ** (i / self.head_dim))  # in the original context
            smooth = min(max((turns - low) / (high - low), 0.0), 1.0)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
        self.out.add_tensor('rope_freqs.weight', np.array(divisors, np.float32))

    def tensors(self):
        by_head = {}
        for name, (kind, x) in sorted(read_tensors(self.folder).items()):
            if '.norms.' in name:  # …q_layernorm.norms.3.weight
                start, end = name.split('.norms.')
                head = int(end.split('.')[0])
                by_head.setdefault(start + '.weight', {})[head] = kind, x
                continue
            if name == 'lm_head.weight' and self.config.get('tie_word_embeddings', self.arch.startswith('gemma')):
                continue
            self.tensor(name, kind, x)
        for name, rows in by_head.items():
            self.add(self.name(name), rows[0][0], np.stack([rows[i][1] for i in range(len(rows))]), is_norm=True)

    def name(self, name):
        stem, kind = name.rsplit('.', 1)
        for root in ('model.', 'transformer.', 'gpt_neox.'):
            stem = stem.removeprefix(root)
        parts = stem.split('.')
        names = NAMES.get(self.arch, LLAMA_NAMES)
        if parts[0] in ('layers', 'h'):
            return f'blk.{parts[1]}.{names[".".join(parts[2:])]}.{kind}'
        return f'{names[stem]}.{kind}'

    def tensor(self, name, kind, x):
        name = self.name(name)
        heads = {'attn_q': self.heads, 'attn_k': self.kv_heads}.get(name.split('.')[-2])
        if self.arch == 'llama' and heads:
            x = x.reshape(heads, 2, len(x) // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)
        if self.arch == 'gpt2' and name.startswith('blk.') and x.ndim == 2:
            x = x.T
        if self.arch == 'gptneox' and 'attn_qkv' in name:
            x = x.reshape(self.heads, 3, -1, *x.shape[1:]).swapaxes(0, 1).reshape(x.shape)
        if self.arch.startswith('gemma'):
            kind, x = self.gemma(name, kind, x)
        self.add(name, kind, x)

    def gemma(self, name, kind, x):
        scale = np.float32(math.sqrt(self.head_dim / self.config['query_pre_attn_scalar']))
        if name.endswith('norm.weight'):
            kind, x = Q.F32, widen(kind, x) + np.float32(1)
        if scale != 1 and name.endswith('attn_q_norm.weight' if self.arch == 'gemma3' else 'attn_q.weight'):
            kind, x = Q.F32, widen(kind, x) * scale
        return kind, x

    def add(self, name, kind, x, is_norm=False):
        if x.ndim == 1 or is_norm:
            kind, x = Q.F32, widen(kind, x)
        x = np.ascontiguousarray(x)
        if kind == Q.BF16:
            self.out.add_tensor(name, x.view(np.uint8), raw_dtype=kind)
        else:
            self.out.add_tensor(name, x)

    def vocabulary(self):
        tokenizer = read_json(self.folder, 'tokenizer.json')
        if not tokenizer:  # llama.cpp's vocab_size must come from somewhere
            self.out.add_tokenizer_model('none')
            self.out.add_bos_token_id(self.config['bos_token_id'])
            self.out.add_eos_token_id(self.config['eos_token_id'])
            return
        model, w = tokenizer['model'], self.out
        is_byte_level = tokenizer['decoder']['type'] == 'ByteLevel'
        tokens = [f'[PAD{i}]' for i in range(self.vocab)]
        types = [int(TokenType.UNUSED)] * self.vocab
        for token, i in model['vocab'].items():
            is_byte = not is_byte_level and len(token) == 6 and token.startswith('<0x')
            tokens[i], types[i] = token, int(TokenType.BYTE if is_byte else TokenType.NORMAL)
        for added in tokenizer['added_tokens']:
            tokens[added['id']] = added['content']
            types[added['id']] = int(TokenType.CONTROL if added['special'] else TokenType.USER_DEFINED)
        if is_byte_level:
            w.add_tokenizer_model('gpt2')
            w.add_tokenizer_pre(self.pre_tokenizer(tokenizer))
        else:
            w.add_tokenizer_model('llama')
            w.add_tokenizer_pre('default')
            types[model['vocab'][model['unk_token']]] = int(TokenType.UNKNOWN)
            w.add_token_scores(self.scores(model, tokens, types))
        w.add_token_list(tokens)
        w.add_token_types(types)
        gguf.SpecialVocab(self.folder, load_merges=is_byte_level, n_vocab=self.vocab).add_to_gguf(w, quiet=True)
        if self.arch.startswith('gemma'):
            w.add_add_space_prefix(False)

    @staticmethod
    def scores(model, tokens, types):
        """The merges' ranks as scores: sentencepiece's own files have them so."""
        rank = {}
        for merge in model['merges']:
            rank.setdefault(''.join(merge if isinstance(merge, list) else merge.split(' ')), len(rank))
        last = len(rank)
        usual = {TokenType.NORMAL: -float(last), TokenType.UNUSED: -10000.0, TokenType.CONTROL: -1000.0}
        return [-float(rank[t]) if t in rank else usual.get(TokenType(k), 0.0) for t, k in zip(tokens, types)]

    def pre_tokenizer(self, tokenizer):
        """llama.cpp knows pre-tokenizers by the hash of what they do; here by what they are made of."""
        text = json.dumps(tokenizer['pre_tokenizer'])
        is_nfc = (tokenizer.get('normalizer') or {}).get('type') == 'NFC'
        if '{1,3}' in text:
            return 'llama-bpe'
        if 'Regex' in text:
            return 'deepseek-r1-qwen' if 'r1distill' in self.folder else 'qwen2'
        if 'Digits' in text:
            return 'smollm'
        return 'olmo' if is_nfc else 'gpt-2'


def what_gguf_cannot_say(c):
    rope = c.get('rope_parameters') or {}
    if c.get('use_sliding_window'):
        return 'a window of Qwen'
    if rope.get('truncate') is False or 'mscale' in rope:
        return "YaRN's truncate and mscale"
    if c['architectures'][0] == 'Gemma2ForCausalLM' and c.get('attn_logit_softcapping', 50.0) is None:
        return 'Gemma 2 without caps'
    usual = {'GPT2LMHeadModel': 'gelu_new', 'GPTNeoXForCausalLM': 'gelu'}.get(c['architectures'][0])
    if usual and (c.get('activation_function') or c.get('hidden_act')) != usual:
        return 'an activation that its family does not have'
    return None


def main(out, folders):
    logging.disable()  # what SpecialVocab says of templates for pairs
    os.makedirs(out, exist_ok=True)
    for folder in folders:
        name = os.path.basename(os.path.normpath(folder))
        with tempfile.TemporaryDirectory() as scratch:
            unpacked = os.path.join(scratch, name)
            os.mkdir(unpacked)
            unpack(folder, unpacked)
            reason = what_gguf_cannot_say(read_json(unpacked, 'config.json'))
            if reason:
                print(f'{name}: left out: {reason}')
                continue
            part = os.path.join(out, name + '.part')
            Converter(unpacked, part).convert()
            os.replace(part, os.path.join(out, name + '.gguf'))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
