"""Every prompt as named text, in Chinese and English; `kgrag prompts` prints them.

A file `LANGUAGE/NAME.txt` begins with `#` lines that say what it is for and where it comes from,
then has a part `[system]` and a part `[user]`; `$name` is filled in, `$$` is a dollar sign.
"""

from kgrag.llm.prompts.fencing import fence
from kgrag.llm.prompts.read import LANGUAGES, Prompt, prompt, prompt_names

__all__ = ["LANGUAGES", "Prompt", "fence", "prompt", "prompt_names"]
