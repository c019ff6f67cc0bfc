"""What the document cannot say of valid requests: a workspace search names the key's own organization."""

import os

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path != "/v1/search" or not case.meta or not case.meta.generation.mode.is_positive:
        return
    scope = case.body.get("scope") or {}
    if "workspace" in (scope.get("indexes") or []):
        scope["workspace_id"] = os.environ["ORGANIZATION_ID"]
