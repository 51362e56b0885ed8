"""sentiment, stories and summaries on the labelled sets, dev and frozen; extraction of articles on a corpus of pages"""

import argparse
import json
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from news_sets import measure_sets
from sluice.core.news.charset_detection import decode_text
from sluice.core.news.extraction import extract

SETS = Path(__file__).parents[2] / "tests/data/news"
HOSTILE = {
    "deep nesting": "<div>word " * 150_000,
    "unclosed quotes": '<a "' * 375_000,
    "comments": "<!--" * 375_000,
    "paragraphs": "<p>some words that are long enough to be taken for a sentence of prose.</p>" * 20_000,
}


@dataclass(slots=True)
class Count:
    """Segments that were found, that are missing, and that are unwanted."""

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
    parser.add_argument(
        "--sets",
        type=Path,
        metavar="DIR",
        help="another folder with headlines.json, pairs.json, feeds/ and articles/: scores it alone",
    )
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="list the pages with the most mistakes")


def measure(options: argparse.Namespace) -> None:
    if options.sets:
        measure_sets(options.sets)
        return
    for part in ("dev", "frozen"):
        print(f"\n{part}")
        measure_sets(SETS / part)
    if options.corpus:
        with tempfile.TemporaryDirectory() as folder:
            measure_corpus(options.corpus, unpack(options.corpus, Path(folder)), options.worst)
    print(f"\n{'hostile page, 1.5 MB':28} {'ms':>6}")
    for name, html in HOSTILE.items():
        print(f"{name:28} {time_extraction(html.encode())[1]:6.0f}")


def measure_corpus(corpus: Path, pages: Path, worst: int) -> None:
    """Measure our extraction, and trafilatura's beside it if it is installed; it is no part of the project."""
    segments = json.loads((corpus / "segments.json").read_text())
    measure_extractor("sluice", extract_text, segments, pages, worst)
    try:
        other = import_module("trafilatura")
    except ImportError:
        print("trafilatura: pip install trafilatura to see its figures beside")
        return
    measure_extractor("trafilatura", lambda body: other.extract(body) or "", segments, pages, 0)


def measure_extractor(
    name: str, extractor: Callable[[bytes], str], segments: dict[str, Any], pages: Path, worst: int
) -> None:
    total, times, mistakes = Count(), [], []
    for case in segments.values():
        text, elapsed_ms = time_extraction((pages / case["file"]).read_bytes(), extractor)
        missing = [each for each in case["with"] if fold_spaces(each) not in text]
        unwanted = [each for each in case["without"] if fold_spaces(each) in text]
        total.found += len(case["with"]) - len(missing)
        total.missing += len(missing)
        total.unwanted += len(unwanted)
        times.append(elapsed_ms)
        mistakes.append((len(missing) + len(unwanted), case["file"]))
    precision, recall, f_score = total.scores()
    print(f"{name}, {len(times)} pages: precision {precision:.3f}, recall {recall:.3f}, F {f_score:.3f}")
    print(f"time per page: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
    for count, page in sorted(mistakes, reverse=True)[:worst]:
        print(f"{count:4} {page}")


def extract_text(body: bytes) -> str:
    return extract(decode_text(body).text).text


def time_extraction(body: bytes, extractor: Callable[[bytes], str] = extract_text) -> tuple[str, float]:
    """Return the text with folded white space, and the CPU time in milliseconds."""
    started = time.process_time()
    text = extractor(body)
    return fold_spaces(text), (time.process_time() - started) * 1000


def fold_spaces(text: str) -> str:
    return " ".join(text.split())


def unpack(corpus: Path, folder: Path) -> Path:
    if (corpus / "pages").is_dir():
        return corpus / "pages"
    with tarfile.open(corpus / "pages.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
