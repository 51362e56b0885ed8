"""posts edited in WordPress while the Worker is down: all edits arrive when it is back"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from runtime import ROOT, until


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=60, help="how long the Worker is down (60)")
    parser.add_argument("--edits", type=int, default=20, help="edits meanwhile, each of another post (20)")


def measure(options: argparse.Namespace) -> None:
    sys.path.append(str(ROOT / "tests"))
    from debian_packages import WORDPRESS, fetch_packages  # noqa: PLC0415
    from wordpress.blog import OUTBOX  # noqa: PLC0415
    from wordpress.edge import run_behind_worker  # noqa: PLC0415
    from wordpress.editor import Editor  # noqa: PLC0415
    from wordpress.programs import Programs  # noqa: PLC0415
    from wordpress.wordpress_site import WordPress  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        wordpress = WordPress(Programs(fetch_packages(WORDPRESS)), Path(folder) / "wp")
        try:
            wordpress.start()
            with run_behind_worker(wordpress, Path(folder) / "state") as edge:
                posts = [edge.publish(f"Edited {number}") for number in range(options.edits)]
                for post in posts:
                    edge.wait_until_warm(post["link"])
                edge.wait_until_sent()
                direct = Editor(wordpress)
                edge.runtime.kill()
                began_at, slowest_s = time.monotonic(), 0.0
                for number, post in enumerate(posts):
                    time.sleep(max(0.0, began_at + number * options.seconds / options.edits - time.monotonic()))
                    saved_at = time.monotonic()
                    direct.save(f"posts/{post['id']}", content=f"Words of the outage {number}.")
                    slowest_s = max(slowest_s, time.monotonic() - saved_at)
                time.sleep(max(0.0, began_at + options.seconds - time.monotonic()))
                waiting = len(wordpress.query(OUTBOX))
                edge.runtime.start()
                back_at, down_s = time.monotonic(), time.monotonic() - began_at
                edge.wait_until_sent()
                sent_s = time.monotonic() - back_at
                links = [post["link"] for post in posts]
                until(lambda: all(f"outage {n}." in edge.visit(link).text for n, link in enumerate(links)))
                print(
                    f"{options.edits} edits while the Worker was down for {down_s:.0f} s (slowest save {slowest_s:.1f} s): "
                    f"{waiting} rows waited; {sent_s:.1f} s after its return all were sent, and after "
                    f"{time.monotonic() - back_at:.1f} s visitors saw all {options.edits}"
                )
        finally:
            wordpress.stop()
