"""Plans what is sent to whom when the snapshot has changed."""

from dataclasses import dataclass
from hashlib import sha256

from sluice.services.news.push.hub import Hub
from sluice.services.news.push.topics import list_topics, write_topic
from sluice.services.news.push.webhooks import Webhooks
from sluice.services.news.serve.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PushPlanner:
    hub: Hub
    webhooks: Webhooks

    def announce(self, snapshot: Snapshot) -> None:
        """Send the feeds only if they have changed: an article that is not complete yet is not in them."""
        _, content = write_topic(list_topics("")[-1], snapshot)
        if self.hub.rows.replace_digest(sha256(content).hexdigest()):
            self.hub.plan_deliveries()
        self.webhooks.plan_deliveries(snapshot)
