"""What is known of embedding models: from their model cards, as MTEB and others repeat them.

A model that is not here works too: without prefixes, its dimension given or learnt. A dimension
that is wrong here is found out by the first answer.
"""

from typing import NamedTuple


class KnownModel(NamedTuple):
    name: str
    dimension: int
    max_tokens: int
    query: str = ""
    document: str = ""
    """What the model was trained to see before a query and before a document."""
    aliases: tuple[str, ...] = ()
    """What Ollama calls it."""


_RELEVANT = "Represent this sentence for searching relevant passages: "
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_E5 = ("query: ", "passage: ")
_NOMIC = ("search_query: ", "search_document: ")
_GEMMA = ("task: search result | query: ", "title: none | text: ")

KNOWN: tuple[KnownModel, ...] = (
    KnownModel("all-MiniLM-L6-v2", 384, 256, aliases=("all-minilm", "all-minilm:l6-v2")),
    KnownModel("bge-small-en-v1.5", 384, 512, _RELEVANT),
    KnownModel("bge-base-en-v1.5", 768, 512, _RELEVANT),
    KnownModel("bge-large-en-v1.5", 1024, 512, _RELEVANT),
    KnownModel("bge-m3", 1024, 8192),
    KnownModel("e5-small-v2", 384, 512, *_E5),
    KnownModel("e5-base-v2", 768, 512, *_E5),
    KnownModel("e5-large-v2", 1024, 512, *_E5),
    KnownModel("multilingual-e5-small", 384, 512, *_E5),
    KnownModel("multilingual-e5-base", 768, 512, *_E5),
    KnownModel("multilingual-e5-large", 1024, 512, *_E5),
    KnownModel("embeddinggemma-300m", 768, 2048, *_GEMMA, ("embeddinggemma",)),
    KnownModel("granite-embedding-30m-english", 384, 512),
    KnownModel("granite-embedding-125m-english", 768, 512),
    KnownModel("granite-embedding-107m-multilingual", 384, 512),
    KnownModel("granite-embedding-278m-multilingual", 768, 512),
    KnownModel("gte-small", 384, 512),
    KnownModel("gte-base", 768, 512),
    KnownModel("gte-large", 1024, 512),
    KnownModel("mxbai-embed-large-v1", 1024, 512, _RELEVANT, aliases=("mxbai-embed-large",)),
    KnownModel("nomic-embed-text-v1", 768, 8192, *_NOMIC),
    KnownModel("nomic-embed-text-v1.5", 768, 8192, *_NOMIC, ("nomic-embed-text",)),
    KnownModel("snowflake-arctic-embed-xs", 384, 512, _RELEVANT),
    KnownModel("snowflake-arctic-embed-s", 384, 512, _RELEVANT),
    KnownModel("snowflake-arctic-embed-m", 768, 512, _RELEVANT),
    KnownModel("snowflake-arctic-embed-m-long", 768, 2048, _RELEVANT),
    KnownModel("snowflake-arctic-embed-m-v1.5", 768, 512, _RELEVANT),
    KnownModel("snowflake-arctic-embed-l", 1024, 512, _RELEVANT),
    KnownModel("snowflake-arctic-embed-m-v2.0", 768, 8192, "query: "),
    KnownModel("snowflake-arctic-embed-l-v2.0", 1024, 8192, "query: "),
    KnownModel("Qwen3-Embedding-0.6B", 1024, 32_768, _QWEN, aliases=("qwen3-embedding:0.6b",)),
    KnownModel("Qwen3-Embedding-4B", 2560, 32_768, _QWEN, aliases=("qwen3-embedding:4b",)),
    KnownModel("Qwen3-Embedding-8B", 4096, 32_768, _QWEN, aliases=("qwen3-embedding:8b",)),
    KnownModel("text-embedding-3-small", 1536, 8191),
    KnownModel("text-embedding-3-large", 3072, 8191),
    KnownModel("text-embedding-ada-002", 1536, 8191),
)

_BY_NAME = {alias.casefold(): each for each in KNOWN for alias in (each.name, *each.aliases)}


def known_model(name: str) -> KnownModel | None:
    """Whatever the case, and with or without an organisation before it or `:latest` behind it."""
    return _BY_NAME.get(name.rpartition("/")[2].casefold().removesuffix(":latest"))
