"""Unfinished workflows go on after a crash, however slowly the local engine pauses them."""

import json
import subprocess

from runtime import PATIENCE_S, ROOT

# An engine as slow as on a busy machine: it says "waitingForPause" a few times before it is paused.
SCRIPT = """
import { resumeWorkflows } from "./workflows.mjs";

const status = { one: "running", two: "waitingForPause", three: "complete", four: "paused" };
const checks = { one: 3, two: 2 };
const orders = [];
const json = (result) => new Response(JSON.stringify({ result }));

async function dispatchFetch(url, init) {
  const [, id, change] = /instances(?:[?][^/]*|\\/(\\w+)(\\/status)?)$/.exec(url);
  if (!id) return json(Object.entries(status).map(([id, status]) => ({ id, status })));
  if (!change) {
    if (status[id] === "waitingForPause" && --checks[id] === 0) status[id] = "paused";
    return json({ status: status[id] });
  }
  const { action } = JSON.parse(init.body);
  orders.push(`${action} ${id} while ${status[id]}`);
  if (action === "pause" && status[id] === "running") status[id] = "waitingForPause";
  if (action === "resume") status[id] = status[id] === "paused" ? "resumed" : "standing still";
  return json({});
}

await resumeWorkflows({ dispatchFetch }, [{ workflows: [{ name: "compilation" }] }]);
console.log(JSON.stringify({ status, orders }));
"""


def test_an_instance_is_resumed_after_it_was_paused():
    """None is resumed while its pause is under way, which the engine would take for the pause's end; finished ones are left alone."""
    node = ROOT / "node_modules/.bin/node"
    done = subprocess.run(
        [
            node,
            "--input-type=module",
            "-e",
            SCRIPT.replace("./workflows.mjs", str(ROOT / "scripts/local/workflows.mjs")),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    seen = json.loads(done.stdout)
    assert seen["status"] == {"one": "resumed", "two": "resumed", "three": "complete", "four": "resumed"}
    assert [order for order in seen["orders"] if order.startswith("resume")] == [
        "resume one while paused",
        "resume two while paused",
        "resume four while paused",
    ]
