"""The files for Docker and Kubernetes: they are valid, start what exists, and hold no secret."""

import re
import tomllib
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from kgrag.cli.main import main

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker/compose.yaml").read_text("utf-8"))
MANIFESTS = [
    one
    for path in sorted((ROOT / "docker/kubernetes").glob("*.yaml"))
    for one in yaml.safe_load_all(path.read_text("utf-8"))
]
(RAY_JOB,) = (one for one in MANIFESTS if one["kind"] == "RayJob")
CLUSTER = RAY_JOB["spec"]["rayClusterSpec"]
TEMPLATES = [
    one["spec"]["template"] for one in MANIFESTS if one["kind"] in ("Deployment", "Job")
] + [group["template"] for group in (CLUSTER["headGroupSpec"], *CLUSTER["workerGroupSpecs"])]
CONTAINERS = [one for template in TEMPLATES for one in template["spec"]["containers"]]
COMMANDS = [
    *(one["command"] for one in COMPOSE["services"].values() if "kgrag" in one.get("image", "")
      and "command" in one and "entrypoint" not in one),
    *(one["args"] for one in CONTAINERS if "args" in one),
    RAY_JOB["spec"]["entrypoint"].split()[1:],
]  # fmt: skip
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HAS_RAY = "ray" in EXTRAS["optional-dependencies"]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_have_the_options_that_are_given(words):
    """As they are written, with the values that stand for variables."""
    if "ray" in words and not HAS_RAY:
        pytest.skip("this kgrag has no executor on Ray")
    given = [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word) for word in words]
    command = main.commands[given[0]]
    context = command.make_context(given[0], given[1:], resilient_parsing=False)
    assert isinstance(context, click.Context)


@pytest.mark.parametrize(
    "manifest",
    [
        *(one for one in MANIFESTS if one is not RAY_JOB),
        # The schema of a RayJob is KubeRay's; what it has of Kubernetes are pods.
        *(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ray"}, "spec": one["spec"]}
            for one in TEMPLATES
        ),
    ],
    ids=lambda one: f"{one['kind']}-{one['metadata']['name']}",
)
def test_manifests_are_valid(manifest):
    kubernetes_validate.validate(manifest, "1.34", strict=True)


def test_pods_run_without_rights_within_limits_and_from_a_version():
    for template in TEMPLATES:
        spec = template["spec"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert not spec["automountServiceAccountToken"]
    for one in CONTAINERS:
        assert re.search(r":\d+\.\d+\.\d+(-\w+)?$", one["image"])
        assert not one["securityContext"]["allowPrivilegeEscalation"]
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert one["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in one["resources"]["limits"]


def test_no_secret_stands_in_a_manifest():
    """Passwords and keys come from a Secret, which no file makes, or from variables."""
    named = re.compile("PASSWORD|TOKEN|AUTH|KEY")
    secret: list[Any] = [
        one for c in CONTAINERS for one in c.get("env", ()) if named.search(one["name"])
    ]
    assert len(secret) == 3
    assert all({*one["valueFrom"]} == {"secretKeyRef"} for one in secret)
    assert "Secret" not in [one["kind"] for one in MANIFESTS]
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            assert not named.search(name) or re.search(r"\$\{\w+:[?-][^}]*\}$", value)


def test_a_server_for_others_has_a_key_and_is_probed():
    (serve,) = (one for one in CONTAINERS if one["name"] == "serve")
    assert "0.0.0.0" in serve["args"]
    assert "KGRAG_TOKEN" in [one["name"] for one in serve["env"]]
    assert "KGRAG_TOKEN" in COMPOSE["services"]["serve"]["environment"]
    paths = {serve[f"{of}Probe"]["httpGet"]["path"] for of in ("startup", "readiness", "liveness")}
    assert paths == {"/readyz", "/healthz"}
