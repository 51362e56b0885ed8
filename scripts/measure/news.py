"""extraction of articles: precision, recall and F on a corpus of pages and time per page"""

import argparse
import json
import statistics
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sluice.core.news.extraction import decode, extract

HOSTILE = {
    "deep nesting": "<div>word " * 150_000,
    "unclosed quotes": '<a "' * 375_000,
    "comments": "<!--" * 375_000,
    "paragraphs": "<p>some words that are long enough to be taken for a sentence of prose.</p>" * 20_000,
}


@dataclass(slots=True)
class Count:
    """Segments wanted and found, wanted and missing, unwanted and found."""

    found: int = 0
    missing: int = 0
    unwanted: int = 0

    def scores(self) -> tuple[float, float, float]:
        precision = self.found / max(1, self.found + self.unwanted)
        recall = self.found / max(1, self.found + self.missing)
        return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "corpus", nargs="?", type=Path, metavar="PATH", help="folder with segments.json and pages.tar.xz (or pages/)"
    )
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="name the pages with the most mistakes")


def measure(given: argparse.Namespace) -> None:
    if given.corpus:
        with tempfile.TemporaryDirectory() as folder:
            measure_corpus(given.corpus, unpacked(given.corpus, Path(folder)), given.worst)
    print(f"\n{'hostile page, 1.5 MB':28} {'ms':>6}")
    for name, html in HOSTILE.items():
        print(f"{name:28} {timed(html.encode())[1]:6.0f}")


def measure_corpus(corpus: Path, pages: Path, worst: int) -> None:
    segments = json.loads((corpus / "segments.json").read_text())
    total, times, mistakes = Count(), [], []
    for case in segments.values():
        text, elapsed_ms = timed((pages / case["file"]).read_bytes())
        missing = [each for each in case["with"] if folded(each) not in text]
        unwanted = [each for each in case["without"] if folded(each) in text]
        total.found += len(case["with"]) - len(missing)
        total.missing += len(missing)
        total.unwanted += len(unwanted)
        times.append(elapsed_ms)
        mistakes.append((len(missing) + len(unwanted), case["file"]))
    precision, recall, f_score = total.scores()
    print(f"{len(times)} pages: precision {precision:.3f}, recall {recall:.3f}, F {f_score:.3f}")
    print(f"time per page: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
    for count, name in sorted(mistakes, reverse=True)[:worst]:
        print(f"{count:4} {name}")


def timed(body: bytes) -> tuple[str, float]:
    """The text, its white space folded, and the milliseconds of the processor it took."""
    started = time.process_time()
    text = extract(decode(body)).text
    return folded(text), (time.process_time() - started) * 1000


def folded(text: str) -> str:
    return " ".join(text.split())


def unpacked(corpus: Path, folder: Path) -> Path:
    if (corpus / "pages").is_dir():
        return corpus / "pages"
    with tarfile.open(corpus / "pages.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
