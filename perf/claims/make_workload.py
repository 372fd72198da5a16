#!/usr/bin/env python3
"""Writes the claim-verification workload of the benchmarks to FOLDER: prefix.txt, the instruction that all prompts
share (69 tokens with SmolLM2's tokenizer), and claims.txt, one prompt tail a line (about 44 tokens, newlines written
as \\n). Deterministic.

  make_workload.py N FOLDER
"""
import random
import sys

PREFIX = (
    "<|im_start|>system\nYou are a careful fact checker. Read the claim and decide whether it is SUPPORTED, REFUTED or "
    "NOT ENOUGH INFO. Use only facts that you know well, never guess, and do not repeat the claim. Answer with the label "
    "first and then one short sentence that explains the reason.<|im_end|>\n"
)
PEOPLE = [
    "Ada Lovelace", "Marie Curie", "Alan Turing", "Isaac Newton", "Grace Hopper", "Rosalind Franklin", "Nikola Tesla",
    "Jane Austen", "Frida Kahlo", "Mozart", "Leonardo da Vinci", "Galileo Galilei", "Amelia Earhart", "Nelson Mandela",
    "Charles Darwin",
]
PLACES = [
    "Paris", "Warsaw", "Manchester", "New York City", "Buenos Aires", "Vienna", "Nairobi", "Kyoto", "Lisbon",
    "Cape Town", "Montreal", "Melbourne", "Dublin", "Prague", "Florence",
]
THINGS = [
    "a chemistry prize", "the steam engine", "the first compiler", "a famous opera", "the theory of evolution",
    "an early telescope", "a series of novels", "the alternating current motor", "a record flight",
    "the structure of DNA", "a public library", "a large suspension bridge",
]
VERBS = [
    "discovered", "invented", "wrote about", "was the first to describe", "received an award for",
    "publicly rejected", "spent ten years working on", "gave a lecture on",
]
ENDINGS = [", and later moved to ", ", before returning to ", ", and was then buried in "]


def claim(draw):
    year = draw.randint(1500, 2020)
    text = f"{draw.choice(PEOPLE)} {draw.choice(VERBS)} {draw.choice(THINGS)} in {draw.choice(PLACES)} in {year}"
    if draw.random() < 0.7:
        text += draw.choice(ENDINGS) + draw.choice(PLACES)
    return text


def main():
    n_claims, folder = int(sys.argv[1]), sys.argv[2]
    draw = random.Random(20260)
    with open(folder + "/prefix.txt", "w") as out:
        out.write(PREFIX)
    with open(folder + "/claims.txt", "w") as out:
        for _ in range(n_claims):
            question = f"Claim: {claim(draw)}.\\nIs this claim supported or refuted?"
            out.write(f"<|im_start|>user\\n{question}<|im_end|>\\n<|im_start|>assistant\\n\n")


if __name__ == "__main__":
    main()
