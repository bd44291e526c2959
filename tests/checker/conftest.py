"""`audits_once`: certificates that the tests of a file print, each in its own way, are judged once. Each test has the
second checker's work for one question before it: many ask its functions, which `recheck` would begin anew."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from checker import recheck
from checker.certificates.audit import Audited, audit
from checker.oracles import Oracles
from logic.rules import RuleSet


@pytest.fixture(autouse=True)
def work_anew() -> None:
    recheck.start()


@pytest.fixture(scope="module")
def audits_once() -> Iterator[None]:
    """For tests of what is printed that change nothing that the judgement depends on."""
    known: dict[tuple[str, str, str], tuple[Audited, dict[str, Any]]] = {}

    def judged(text: str, path: str, rules: RuleSet, oracle: Oracles, _: object = None) -> Audited:
        """What both checkers say of a certificate; the oracle has heard what it had when they said so."""
        key = text, path, rules.name
        if key not in known:
            known[key] = audit(text, path, rules, oracle), _copied(vars(oracle))
        found, heard = known[key]
        vars(oracle).update(_copied(heard))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("checker.certificates.audit.audit", judged)
        yield


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {name: copy.copy(value) for name, value in values.items()}
