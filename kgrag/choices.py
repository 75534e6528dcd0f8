"""The names that settings and options may have, each listed once; light to import."""

from typing import Literal

ChatProvider = Literal["glm", "deepseek", "qwen", "moonshot", "openai", "vllm", "ollama"]
EmbeddingProvider = Literal["jina", "siliconflow", "dashscope", "openai", "vllm", "tei", "ollama"]
RerankProvider = Literal["jina", "siliconflow", "cohere", "vllm", "tei"]
JsonMode = Literal["schema", "object", "none"]
ExtractCalls = Literal["combined", "separate", "facts", "summaries"]
ExtractFacts = Literal["free", "schema", "both"]
Ocr = Literal["auto", "off"]
LocalCopy = Literal["auto", "on", "off"]
Template = Literal["normal", "focused", "markdown", "steps"]
VerifyMethod = Literal["cov", "cov-paper", "cov-two-stage", "chats-grid", "none"]
Writer = Literal["model", "quotes"]
QuestionKind = Literal[
    "number", "responsible", "reference", "list", "compare", "time", "several", "unanswerable"
]
SampleFormat = Literal["pairs", "instructions", "verification"]
