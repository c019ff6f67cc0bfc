"""Rules of bodies that the document cannot express."""

import os

import schemathesis

PRESETS = ("ids_only", "compact", "standard", "full")


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path not in ("/v1/search", "/v1/documents", "/v1/research") or not case.meta or not isinstance(case.body, dict):
        return
    if case.meta.generation.mode.is_positive:
        # A valid search names no other organization than that of the key.
        scope = case.body.get("scope") or {}
        if "workspace_id" in scope or "workspace" in (scope.get("indexes") or []):
            scope["workspace_id"] = os.environ["ORGANIZATION_ID"]
        # A valid request may ask for an error instead of a small response.
        budget = (case.body.get("response") or {}).get("budget") or {}
        if budget.get("on_exceed") == "error":
            budget["max_chars_total"] = 1_000_000
        return
    # By contract, an unknown preset string gives a warning; only other types are rejected.
    shape = case.body.get("response")
    if isinstance(shape, dict) and isinstance(shape.get("verbosity"), str) and shape["verbosity"] not in PRESETS:
        shape["verbosity"] = 3
