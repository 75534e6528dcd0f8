"""The services that presets name: their addresses, and the variables that hold their keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Service:
    """Where a provider, or a server of one's own, is asked.

    Attributes:
        base_url: Its address, without the path of a request.
        api_key_env: The environment variable that holds the key; empty where none is needed.
    """

    base_url: str = ""
    api_key_env: str = ""


class AtService:
    """What is asked at a service, by its address and the variable of its key."""

    __slots__ = ()
    service: Service

    @property
    def base_url(self) -> str:
        """Return its address."""
        return self.service.base_url

    @property
    def api_key_env(self) -> str:
        """Return the variable that holds its key; empty where none is needed."""
        return self.service.api_key_env


SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "cohere": Service("https://api.cohere.com/v2", "COHERE_API_KEY"),
        "dashscope": Service(
            "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"
        ),
        "deepseek": Service("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
        "glm": Service("https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY"),
        "jina": Service("https://api.jina.ai/v1", "JINA_API_KEY"),
        "moonshot": Service("https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
        "ollama": Service("http://localhost:11434/v1"),
        "openai": Service("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "siliconflow": Service("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
        "tei": Service("http://localhost:8080/v1"),
        "vllm": Service("http://localhost:8000/v1"),
    }
)
