"""A model by its name, `provider:model`; an SDK is imported when its provider is chosen.

    openai:gpt-4.1-mini                         OpenAI
    gemini:gemini-2.5-flash                     Gemini
    anthropic:claude-haiku-4-5                  Anthropic
    compatible:qwen3@http://127.0.0.1:8000/v1   any server that speaks OpenAI's protocol
    scripted:replies.jsonl                      a script

With `@ADDRESS` behind it, a model of the first three is asked for at another address than the provider's.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from oresight.harness.errors import MissingPartError, UnknownNameError, UsageError
from oresight.harness.models.anthropic_messages import AnthropicMessages
from oresight.harness.models.base import ModelClient, ModelSettings
from oresight.harness.models.gemini import Gemini
from oresight.harness.models.openai_chat import OPENAI_URL, CompatibleChat, OpenAIChat
from oresight.harness.models.provider import ClientOptions, ProviderClient
from oresight.harness.models.scripted import ScriptedModel, read_script
from oresight.harness.models.secrets import Address, read_address, without_user
from oresight.harness.registry import Registry
from oresight.harness.settings import COMPATIBLE_KEY, PROVIDER_KEYS, all_keys, provider_address, provider_key

_NAME = re.compile(r"(?P<provider>[^:]*):(?P<model>.*?)(?:@(?P<address>[a-zA-Z][a-zA-Z0-9+.-]*://.*))?", re.DOTALL)
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
_KEY = re.compile(r"[!-~]+")
ANTHROPIC_URL = "https://api.anthropic.com"
GEMINI_URL = "https://generativelanguage.googleapis.com"


@dataclass(frozen=True)
class Provider:
    """How the models of a provider are reached.

    Attributes:
        title: Its name in settings; `compatible` for a user's own server.
        client: The class of its clients.
        url: Its own address, or None where one has to be given.
        package: The SDK, which is imported when the provider is chosen.
        install: How to get that.
        keys: Environment variables that may hold its key, for a provider that `settings` does not know.
    """

    title: str
    client: type[ProviderClient]
    url: str | None
    package: str
    install: str
    keys: tuple[str, ...] = ()


PROVIDERS: dict[str, Provider] = {
    "openai": Provider("OpenAI", OpenAIChat, OPENAI_URL, "openai", "pip install openai"),
    "gemini": Provider("Gemini", Gemini, GEMINI_URL, "google.genai", "pip install google-genai"),
    "anthropic": Provider(
        "Anthropic", AnthropicMessages, ANTHROPIC_URL, "anthropic", "pip install 'oresight[anthropic]'"
    ),
    "compatible": Provider("compatible", CompatibleChat, None, "openai", "pip install openai"),
}
GROUP = "oresight.providers"
_OTHERS = Registry("provider", GROUP, {})
FORMS = [*(f"{name}:MODEL" for name in PROVIDERS if name != "compatible"), "compatible:MODEL@ADDRESS", "scripted:FILE"]


def find_provider(name: str) -> Provider | None:
    """Find a provider by name: a bundled one, or a `Provider` offered by an installed package's entry point."""
    if name in PROVIDERS:
        return PROVIDERS[name]
    if name not in _OTHERS.names():
        return None
    found = _OTHERS.find(name)
    if not isinstance(found, Provider):
        raise UsageError(f"provider {name!r}: its entry point is {found!r}; expected a Provider, see docs/extending.md")
    return found


@dataclass(frozen=True)
class ModelName:
    """A model's name taken apart.

    Attributes:
        provider: A key of `PROVIDERS`, or `scripted`.
        model: What the provider calls it; of a script, the file.
        address: Given behind it, with user and password as they were given; else None. Not to be shown.
    """

    provider: str
    model: str
    address: str | None = None

    @property
    def public(self) -> str:
        """As it may be stored and shown: without user and password; of a script's path the file's name alone."""
        if self.provider == "scripted":
            return f"scripted:{Path(self.model).name}"
        return f"{self.provider}:{self.model}" + ("" if self.address is None else f"@{read_address(self.address).url}")

    def __repr__(self) -> str:
        return f"ModelName({self.public!r})"


def read_name(text: str) -> ModelName:
    """Parse a model's name; needs neither a key nor an SDK.

    Raises:
        UsageError: It is not the name of a model.
    """
    match = _NAME.fullmatch(text)
    known = None if match is None else find_provider(match["provider"])
    if match is None or (match["provider"] != "scripted" and known is None):
        raise UnknownNameError("model", without_user(text), FORMS)
    provider, model, address = match["provider"], match["model"], match["address"]
    if provider == "scripted":
        file = text.partition(":")[2]
        if not file:
            raise UsageError("model 'scripted:' names no file; give scripted:FILE")
        return ModelName(provider, file)
    if not _MODEL.fullmatch(model):
        raise UsageError(
            f"model {without_user(text)!r}: {model!r} is not the name of a model; expected {', '.join(FORMS)}"
        )
    if address is not None:
        read_address(address)
    elif known is not None and known.url is None:
        raise UsageError(
            f"model {text!r} has no address; give one behind it, for example {provider}:{model}@http://127.0.0.1:8000/v1"
        )
    return ModelName(provider, model, address)


def make_client(
    name: ModelName | str,
    settings: ModelSettings | None = None,
    surroundings: ClientOptions | None = None,
    environment: Mapping[str, str] | None = None,
) -> ModelClient:
    """Make the client of a model.

    A missing key, package or file fails here, and not in the middle of a run.

    Args:
        name: `provider:model`.
        settings: What is asked of the model.
        surroundings: Time, jitter, warnings; the machine's own if left out.
        environment: A mapping in place of the process environment, where keys and addresses come from.

    Raises:
        UsageError: It is not the name of a model, or its key is missing.
        MissingPartError: The SDK is not installed; says how to get it.
    """
    if isinstance(name, str):
        name = read_name(name)
    if name.provider == "scripted":
        return ScriptedModel(read_script(Path(name.model)), name.public)
    provider = find_provider(name.provider)
    if provider is None:
        raise UnknownNameError("model", name.public, FORMS)
    key = _key(name, provider, environment)
    try:
        importlib.import_module(provider.package)
    except ImportError as error:
        raise MissingPartError(
            f"{name.public} needs the package {provider.package}; install it: {provider.install}"
        ) from error
    address = _address(name, provider, environment)
    return provider.client(name.public, name.model, key, address, settings or ModelSettings(), surroundings)


def _key(name: ModelName, provider: Provider, environment: Mapping[str, str] | None) -> str | None:
    names = provider.keys or PROVIDER_KEYS.get(provider.title, (COMPATIBLE_KEY,))
    key = provider_key(names, environment)
    if key is None and provider.url is not None:
        raise UsageError(f"{name.public} needs a key in the environment variable {' or '.join(names)}, and none is set")
    if key is not None and not _KEY.fullmatch(key):
        raise UsageError(
            f"the key in {' or '.join(names)} holds a character that no key has, such as a space; set it again"
        )
    return key


def _address(name: ModelName, provider: Provider, environment: Mapping[str, str] | None) -> Address:
    url = name.address or provider_address(provider.title, environment) or provider.url
    assert url is not None
    address = read_address(url)
    own = provider_key(provider.keys, environment)
    return replace(address, secrets=(*address.secrets, *all_keys(environment), *((own,) if own else ())))
