"""The first version of the operator, with the planted bug: a title is not always a valid value of a label."""

from typing import Any

import web_operator
from web_operator import create_deployment  # noqa: F401, the handler that kopf finds


def labels_of(name: str, data: Any) -> dict[str, str]:
    return {"site": data["title"]}


web_operator.labels_of = labels_of
