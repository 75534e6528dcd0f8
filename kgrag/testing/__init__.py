"""Stand-ins for a chat model, to test what is built on kgrag without a model, a key or a network.

`ScriptedChat` is a model in the same process: it returns the answers of a script, raises those that
are errors, and records requests.

>>> from kgrag.llm.chat import Message, Request
>>> from kgrag.testing import FakeServer, Reply, ScriptedChat, stand_in
>>> model = ScriptedChat(["绿色工厂120家。"])
>>> model.complete(Request((Message("user", "有多少家？"),), stage="answer")).text
'绿色工厂120家。'
>>> model.requests[0].messages[-1].content
'有多少家？'

`FakeServer` is a local endpoint of the OpenAI protocol. Set as `llm.base_url`, it serves whole
commands. It answers by rules (`stand_in`: of the right form, without understanding), or as a
function decides for each request: with an error, a broken connection, or an endless answer.

>>> def refuse_once(body):
...     is_first = len(server.requests) == 1
...     return Reply("too many requests", status=429) if is_first else stand_in(body)
>>> with FakeServer(refuse_once) as server:
...     server.base_url.startswith("http://127.0.0.1:")
True

`python -m kgrag.testing --port 8099` runs one by itself.

`Recorder` writes a model's answers to a file, and `Player` replays them, so that measurements can
be repeated without a model.

Nothing of kgrag needs this package.
"""

from kgrag.llm.replay import Player, Recorder, Recording
from kgrag.testing.reply import Reply, stand_in
from kgrag.testing.scripted import ScriptedChat
from kgrag.testing.server import FakeServer, Received

__all__ = [
    "FakeServer",
    "Player",
    "Received",
    "Recorder",
    "Recording",
    "Reply",
    "ScriptedChat",
    "stand_in",
]
