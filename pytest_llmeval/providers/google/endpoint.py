"""Where Google's models are reached: the Gemini API with a key, or Vertex AI with credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.endpoints import GOOGLE
from pytest_llmeval.providers.services import Endpoint

_CREDENTIALS: Final = "GOOGLE_APPLICATION_CREDENTIALS"
_ANYWHERE: Final = "global"
_MULTI_REGIONS: Final = frozenset({"us", "eu"})


class VertexProject(NamedTuple):
    """A project at Vertex AI, and where its models are served."""

    project: str
    location: str


def vertex_project(model: str, options: Mapping[str, str]) -> VertexProject | None:
    """Return the project at Vertex AI that a spec names, None for the Gemini API.

    Raises:
        UsageError: only a location is named.
    """
    project, location = options.get("project"), options.get("location")
    if project is not None:
        return VertexProject(project, location or _ANYWHERE)
    if location is not None:
        msg = f"google/{model}: location={location} needs project=NAME, of Vertex AI"
        raise UsageError(msg)
    return None


def google_endpoint(model: str, options: Mapping[str, str], environ: Mapping[str, str]) -> Endpoint:
    """Return where a ``google/`` model is reached.

    Raises:
        UsageError: the key is missing, or the address is none.
    """
    vertex = vertex_project(model, options)
    if vertex is None:
        return GOOGLE.endpoint(model, options, environ)
    if "key" in options:
        msg = f"google/{model}: models at Vertex AI take no key; they are asked with credentials"
        raise UsageError(msg)
    url = options.get("base_url") or _vertex_url(vertex.location)
    check_address(url, "base URL")
    return Endpoint(model=f"google/{model}", base_url=url, key_name=_CREDENTIALS)


def _vertex_url(location: str) -> str:
    if location == _ANYWHERE:
        return "https://aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"
