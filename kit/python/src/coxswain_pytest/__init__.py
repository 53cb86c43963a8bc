"""A Kubernetes API server for tests with pytest.

The server is the program ``coxswain``, which answers as kube-apiserver does. It keeps its objects in memory and ends
with the test process, however that ends.
"""

from .faults import FaultRule
from .installations import Installation
from .server import CoxswainError, Server
from .snapshots import Snapshot
from .webhooks import WebhookServing

__all__ = ["CoxswainError", "FaultRule", "Installation", "Server", "Snapshot", "WebhookServing"]
