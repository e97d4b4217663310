"""Write the figures in results/ into the tables of README.md here, of the one above, and of docs/.

A benchmark that has no result yet leaves its table as it is.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MARK = "<!-- figures: {} -->"

Result = dict[str, Any]
KINDS = ("recall@1", "recall@5", "ndcg@10")


def main() -> None:
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in HERE.glob("results/*.json")}
    for name, lines in TABLES.items():
        if name in found:
            fill(HERE / "README.md", name, [commit(found[name]), "", *lines(found[name])])
    if "context_cost" in found:
        page = HERE.parent / "docs" / "explanation" / "agents.md"
        fill(page, "context_cost", ["", *context_rows(found["context_cost"]), ""])
    if "postgres_scale" in found:
        page = HERE.parent / "docs" / "explanation" / "scale.md"
        fill(page, "postgres_scale", ["", *postgres_scale(found["postgres_scale"]), ""])
    if "serve_load" in found:
        page = HERE.parent / "docs" / "how-to" / "serve.md"
        fill(page, "serve_load", ["", *served_rows(found["serve_load"]), ""])
    if found.keys() >= CAPACITY:
        fill(HERE.parent / "docs" / "operate.md", "capacity", ["", *capacity(found), ""])
    fill(HERE.parent / "README.md", "summary", summary(found))


def fill(page: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between the two marks of this name."""
    begin, end = MARK.format(name), MARK.format(f"end of {name}")
    text = page.read_text("utf-8")
    if begin not in text or end not in text:
        raise SystemExit(f"{page} has no place for the figures of {name!r}")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")


def quality(result: Result) -> list[str]:
    ways = ("hybrid", "rrf", "vector", "bm25")
    legs = ("bm25", "minilm", "rrf")
    rows = [
        [name, row["tools"], *three(row, ways), *three(row["baselines"], legs)]
        for name, row in result["sets"].items()
    ]
    macro = three(result["macro ndcg@10"], ways)
    rows.append(
        ["mean of the sets", "", *macro, *three(result["macro ndcg@10 of the baselines"], legs)]
    )
    head = ["set", "tools", "hybrid (default)", "hybrid, RRF", "vector", "bm25"]
    head += ["baseline BM25", "baseline MiniLM", "baseline RRF"]
    return [*table(head, rows), "", *shown_rows(result), *checks(result)]


def shown_rows(result: Result) -> list[str]:
    """What a user sees, and hybrid against keywords alone; older results lack the former."""
    if "mean relevant among five shown" not in result:
        return []
    seen = "relevant among five shown"
    rows = [
        [name, *three(row, (seen, "hybrid", "bm25")), f"{row['hybrid'] - row['bm25']:+.3f}"]
        for name, row in result["sets"].items()
    ]
    macro = result["macro ndcg@10"]
    means = [f"{result[f'mean {seen}']:.3f}", *three(macro, ("hybrid", "bm25"))]
    rows.append(["mean of the sets", *means, f"{macro['hybrid'] - macro['bm25']:+.3f}"])
    head = ["set", "queries with a relevant tool among the five shown", "nDCG@10, hybrid"]
    return [*table([*head, "nDCG@10, keywords only", "difference"], rows), ""]


def ablation(result: Result) -> list[str]:
    lines = [*ways_table("one left out", result), ""]
    lines += [*ways_table("one put in after the other", result), ""]
    if held := result["leave one set out"]:
        rows = [
            [
                out,
                *three(row, ("default", "held out")),
                row["alpha"],
                row["LEVEL"],
                row["HALF_SURE"],
            ]
            for out, row in held["sets"].items()
        ]
        means = three(held, ("mean with the default", "mean of the held-out sets"))
        rows.append(["mean of the sets", *means, "", "", ""])
        head = ["set left out", "default", "constants chosen on the others", "alpha", "LEVEL"]
        lines += [*table([*head, "HALF_SURE"], rows), ""]
    if texts := result.get("embedded texts"):
        rows = [[way, *three(row, ("hybrid", "vector"))] for way, row in texts["ways"].items()]
        where = f"embedded text, mean of {', '.join(texts['sets'])}"
        lines += [*table([where, "hybrid", "vector"], rows), ""]
    return lines[:-1]


def ways_table(name: str, result: Result) -> list[str]:
    sets = list(result["queries"])
    rows = [
        [way, f"{row['mean of the sets']:.3f}", *three(row, sets)]
        for way, row in result[name].items()
    ]
    return table([name, "mean of the sets", *sets], rows)


def no_tool(result: Result) -> list[str]:
    figures = [key for key, value in result["plain"].items() if isinstance(value, float)]
    rows = [[key, *(f"{result[pair][key]:.3f}" for pair in ("plain", "hard"))] for key in figures]
    kinds = sorted({*result["plain"]["by why"], *result["hard"]["by why"]})
    rows += [
        [f"unserved right: {why}", *(sliced(result[pair], why) for pair in ("plain", "hard"))]
        for why in kinds
    ]
    head = [f"at the threshold of {result['threshold']:g}", "plain", "hard"]
    return [*table(head, rows), "", *checks(result)]


def other_models(result: Result) -> list[str]:
    columns = ("area", "served", "unserved", "error", "ndcg@10")
    rows = [
        [model, name, way, *(f"{row[way][column]:.3f}" for column in columns)]
        for model, sets in result["models"].items()
        for name, row in sets.items()
        for way in ("packaged", "before", "after")
        if way in row
    ]
    return [*table(["model", "set", "calibrated", *columns], rows), "", *checks(result)]


def lookalikes(result: Result) -> list[str]:
    ways = ("first, service named", "first, service not named")
    kinds = list(result[ways[0]])
    rows = [[way, *three(result[way], kinds)] for way in ways]
    return [*table(["share of right first hits", *kinds], rows), "", *checks(result)]


def services(result: Result) -> list[str]:
    figures = ("first", "among five", "ndcg@10")
    ways = ("service not named", "service named")
    rows = [
        [kind, *(f"{result[way][kind][name]:.3f}" for way in ways for name in figures)]
        for kind in result[ways[0]]
    ]
    head = [f"{figure}, {way}" for way in ways for figure in ("first hit", "in five", "nDCG@10")]
    return [*table(["questions", *head], rows), "", *checks(result)]


def ranker_cost(result: Result) -> list[str]:
    rows = [[name, *three(row, ("median", "p95"))] for name, row in result["milliseconds"].items()]
    found, best = result["questions"], result["compared at most"]
    same = result["questions with the same first ten if all are compared"]
    share = (
        f"Comparing all candidates and not only {best} gives the same first ten hits "
        f"for {same} of {found} questions."
    )
    return [*table(["milliseconds", "median", "p95"], rows), "", share, "", *checks(result)]


def scores(result: Result) -> list[str]:
    figures = ("right", "score", "error", "error of a perfect score")
    sets = [[name, *three(row, figures)] for name, row in result["sets"].items()]
    boards = [
        [f"{row['tools']:,}", *three(row, ("answered", "refused"))]
        for row in result["boards"].values()
    ]
    head = ["first hits", "right", "mean score", "calibration error", "of a perfect score"]
    shares = ["tools", "own questions answered", "foreign questions refused"]
    return [*table(head, sets), "", *table(shares, boards), "", *checks(result)]


def sliced(pair: Result, why: str) -> str:
    row = pair["by why"].get(why)
    return f"{row['right']:.3f} of {row['questions']}" if row else ""


def several(result: Result) -> list[str]:
    ways = ("split", "whole")
    rows = [
        [name, *(f"{result['ways'][way][name]:.3f}" for way in ways)]
        for name in result["ways"]["split"]
    ]
    shares = ("split into the right number", "not split", "single questions that are split")
    lines = table(["", "split (default)", "as a whole"], rows)
    lines += ["", *table(["share", ""], [[name, f"{result[name]:.3f}"] for name in shares])]
    return [*lines, "", *checks(result)]


def typing_errors(result: Result) -> list[str]:
    columns = list(result["recall@5"]["hybrid"])
    rows = [[mode, *three(row, columns)] for mode, row in result["recall@5"].items()]
    return [*table([f"recall@5 of {result['tries']}", *columns], rows), "", *checks(result)]


def scripts(result: Result) -> list[str]:
    lines: list[str] = []
    modes = ("bm25", "vector", "hybrid")
    for name, languages in result["sets"].items():
        rows = []
        for language, row in languages.items():
            ndcg = {mode: row[mode]["ndcg@10"] for mode in modes}
            recall = {mode: row[mode]["recall@5"] for mode in modes}
            gap = ndcg["hybrid"] - max(ndcg["bm25"], ndcg["vector"])
            rows.append([language, *three(ndcg, modes), f"{gap:+.3f}", *three(recall, modes)])
        head = [f"{name}, {result['questions'][name]} questions: nDCG@10", *modes]
        head += ["hybrid against the better one", *(f"recall@5, {mode}" for mode in modes)]
        lines += [*table(head, rows), ""]
    return [*lines, *checks(result)]


def kinds(result: Result) -> list[str]:
    lines: list[str] = []
    for name, found in result["sets"].items():
        ways = [way for way in found if way != "board"]
        rows = [
            [part, row["queries"], *(" / ".join(three(found[way][part], KINDS)) for way in ways)]
            for part, row in found[ways[0]].items()
        ]
        counted = ", ".join(f"{n} {kind}" for kind, n in found["board"].items())
        lines += [f"`{name}`: {counted}.", ""]
        lines += [*table(["questions for", "", *ways], rows), ""]
    return [*lines, *checks(result)]


def tools_as_skills(result: Result) -> list[str]:
    rows = [
        [name, row["tools"], row["queries"]]
        + [" / ".join(three(row[kind], KINDS)) for kind in ("tool", "skill")]
        for name, row in result["sets"].items()
    ]
    head = ["set", "items", "questions", "as tools", "as skills"]
    return [*table(head, rows), "", *checks(result)]


def tokens(result: Result) -> list[str]:
    columns = ("queries", "hits, mean", "median", "p95", "most")
    rows = [[name, *(row[key] for key in columns)] for name, row in result["boards"].items()]
    return [*table(["board", *columns], rows), "", *checks(result)]


def growth(result: Result) -> list[str]:
    rows = [
        [
            f"{int(size):,}",
            *(f"{row['search / embedding'][share]:.2f}" for share in ("p50", "p95")),
            f"{row['added to embedding, as searches run']['p50']:.2f}",
            f"{row['search / embedding, processor time']['p50']:.2f}",
            row["first search of a new process, ms"],
            f"{row['memory, MiB']:g}",
            *(f"{row[f'{what}, bytes an item']:,}" for what in ("memory", "disk")),
            row["build, ms an item"],
        ]
        for size, row in result["sizes"].items()
    ]
    head = ["items", "search / embedding, p50", "p95", "added to embedding, p50"]
    head += ["processor time, p50"]
    head += ["first search, ms", "memory, MiB", "memory, bytes an item", "disk, bytes an item"]
    picture = "![Search against embedding the query, by the number of items](growth.png)"
    return [*table([*head, "build, ms an item"], rows), "", *checks(result), "", picture]


def ratios(result: Result) -> list[str]:
    rows = [[key, value] for key, value in result.items() if isinstance(value, int | float)]
    return table(["", ""], rows)


def cold_start(result: Result) -> list[str]:
    rows = [[name, f"{ratio:.2f}"] for name, ratio in result["ratio to bare script"].items()]
    return table(["command", "time, as a ratio to the bare script"], rows)


def run_python(result: Result) -> list[str]:
    ratios = result["ratios"]
    names = list(result["median ms"])
    rows = [[name, *(f"{ratios[against][name]:.2f}" for against in ratios)] for name in names]
    head = ["time, as a ratio", *(f"to {against}" for against in ratios)]
    return [*table(head, rows), "", *checks(result)]


def mcp_ingest(result: Result) -> list[str]:
    columns = ("ndcg@10", "recall@1", "recall@5", "recall@10", "mrr")
    rows = [
        [f"{mode}, {way}", *(f"{row[column]:.4f}" for column in columns)]
        for mode, ways in result["golden"]["modes"].items()
        for way, row in ways.items()
    ]
    found = result["ingest"]
    facts = [[key, found[key]] for key in ("servers", "tools", "items")]
    facts.append(["tools refused", sum(found["rejected"].values())])
    facts += [[key, value] for key, value in found.items() if key.endswith("second sync")]
    facts += [
        [
            f"time a tool, {how} embedding, as a ratio to the file",
            result["time"][f"ratio, {how} embedding"],
        ]
        for how in ("with", "without")
    ]
    lines = [*table(["mcpproxy_golden", *columns], rows), "", *table(["all servers", ""], facts)]
    return [*lines, "", *checks(result)]


def mcp_load(result: Result) -> list[str]:
    columns = ("p50", "p99", "most")
    rows = [
        [phase, *(f"{row[column]:.1f}" for column in columns)]
        for phase, row in result["lag, ms"].items()
    ]
    saved = result["from a save to being found by words, ms"]
    facts = [
        [key, result[key]]
        for key in (
            "searches a second / the same in process, one thread",
            "processor time of the loop, ms a search",
            "longest collection of garbage, ms",
        )
    ]
    facts += [[f"from a save to being found by words, {key}, ms", saved[key]] for key in saved]
    lines = [*table(["lag of the loop, ms", *columns], rows), "", *table(["", ""], facts)]
    return [*lines, "", *checks(result)]


def serve_load(result: Result) -> list[str]:
    return [*served_rows(result), "", *checks(result)]


def served_rows(result: Result) -> list[str]:
    both = ("served", "in process")
    rates, spent, beside = (
        result["searches a second"],
        result["processor"],
        result["beside slow clients"],
    )
    rows = [["searches a second", *(rates[way] for way in both), beside["searches a second"]]]
    rows += [
        [f"{share}, ms", *(result["ms"][way][share] for way in both), beside["ms"][share]]
        for share in ("p50", "p95", "p99")
    ]
    rows += [[name, *(spent[way][name] for way in both), ""] for name in spent["served"]]
    threads = f"in process, {result['threads in process']} threads"
    return table(["", "served", threads, "served beside slow clients"], rows)


def context_cost(result: Result) -> list[str]:
    return [*context_rows(result), "", *checks(result)]


def context_rows(result: Result) -> list[str]:
    boards = result["boards"]
    plain = ("all tools", "Pegboard's tools", "its instructions")
    medians = ("search, text", "search, text and structure")
    sums = ("tools and a search's text", "tools, instructions and all of a search")
    rows = [[key, *(f"{row[key]:,}" for row in boards.values())] for key in plain]
    rows += [
        [f"{key}, median", *(f"{row[key]['median']:,}" for row in boards.values())]
        for key in medians
    ]
    rows += [[key, *(f"{row[key]:,}" for row in boards.values())] for key in sums]
    rows.append(["all tools / that", *(f"{row['all tools / that']:g}" for row in boards.values())])
    head = ["tokens", *(f"{name}, {row['tools']} tools" for name, row in boards.items())]
    return table(head, rows)


def postgres_quality(result: Result) -> list[str]:
    sets = result["sets"]
    stores = ("sqlite", "postgres")
    modes = list(next(iter(sets.values())))
    rows = [
        [name, *(figure for mode in modes for figure in three(row[mode], stores))]
        for name, row in sets.items()
    ]
    head = ["set", *(f"{mode}, {store}" for mode in modes for store in ("file", "PostgreSQL"))]
    furthest = max(result["checks"].values(), key=lambda each: each["found"])
    apart = {"checks": {"furthest apart, of all sets and modes": furthest}}
    return [*table(head, rows), "", *checks(apart)]


def tiers(result: Result) -> list[str]:
    ways = ("one board", "all tiers")
    rows = [
        [
            name,
            *(f"{row[way]['ndcg']:.3f}" for way in ways),
            *(f"{row[way]['recall']:.3f}" for way in ways),
            *(
                f"{row[way]['median_ms'] / row['one board']['median_ms']:.1f}"
                for way in ("all tiers", "registry down")
            ),
        ]
        for name, row in result["sets"].items()
    ]
    head = ["set", *(f"{figure}, {way}" for figure in ("nDCG@10", "recall@5") for way in ways)]
    head += ["time of all tiers / one board's", "the same, registry down"]
    return [*table(head, rows), "", *checks(result)]


def postgres_workers(result: Result) -> list[str]:
    times = {
        workers: sorted(run["seconds"] for run in runs) for workers, runs in result["runs"].items()
    }
    rows = [
        [workers, *(f"{seconds / times['1'][0]:.2f}" for seconds in (found[0], found[-1]))]
        for workers, found in times.items()
    ]
    head = [f"workers, {result['tasks']:,} texts", "quickest run / one worker's", "slowest run"]
    return [*table(head, rows), "", *checks(result)]


def postgres_scale(result: Result) -> list[str]:
    ratios = ("search", "search by words", "search in one namespace")
    boards = ("whole board", "one namespace")
    rows = [
        [
            f"{int(size):,}",
            *(
                f"{row[f'{name} / HNSW alone'][share]:.2f}"
                for name in ratios
                for share in ("p50", "p95")
            ),
            *(f"{row['recall@10'][which]:.3f}" for which in boards),
            f"{row['disk, bytes an item']:,}",
            f"{sum(row['build, ms an item'].values()):.1f}",
        ]
        for size, row in result["sizes"].items()
    ]
    head = ["items", *(f"{name}, {share}" for name in ratios for share in ("p50", "p95"))]
    head += [f"recall@10, {which}" for which in boards]
    head += ["disk, bytes an item", "build, ms an item"]
    lines = [commit(result), "", *table(head, rows)]
    return [*lines, "", *checks(result)] if result["checks"] else lines


def capacity(found: dict[str, Result]) -> list[str]:
    """What a board of so many items takes: sizes, and times as ratios within one run."""
    file, server = found["growth"]["sizes"], found["postgres_scale"]["sizes"]
    rows = [
        [
            f"{int(size):,}",
            f"{row['search / embedding']['p50']:.2f}",
            f"{row['memory, MiB']:.0f} MiB",
            megabytes(row, int(size)),
            *in_postgres(server.get(size), int(size)),
        ]
        for size, row in file.items()
    ]
    head = ["items", "file: search / embedding its query, p50", "memory", "disk"]
    head += ["PostgreSQL: search / its vector index alone, p50", "disk", "recall@10"]
    load, workers = found["serve_load"], found["postgres_workers"]
    served = load["checks"]["searches a second / in process"]["found"]
    spent = load["checks"]["processor time of a search / in process"]["found"]
    four = workers["checks"]["one worker / four workers, time"]["found"]
    more = [
        [
            f"searches a second at a gateway, {load['clients']} clients / in process",
            f"{served:.2f}",
        ],
        ["processor time of a search there / in process", f"{spent:.2f}"],
        [f"{workers['tasks']:,} texts: time of one worker / of four", f"{four:.2f}"],
    ]
    told = "; ".join(f"{name} at {found[name]['commit']}" for name in sorted(CAPACITY))
    return [*table(head, rows), "", *table(["", ""], more), "", f"Measured: {told}."]


def megabytes(row: Result, items: int) -> str:
    return f"{row['disk, bytes an item'] * items / 1e6:,.0f} MB"


def in_postgres(row: Result | None, items: int) -> list[str]:
    if row is None:
        return ["not measured", "", ""]
    ratio, recall = row["search / HNSW alone"]["p50"], row["recall@10"]["whole board"]
    return [f"{ratio:.2f}", megabytes(row, items), f"{recall:.3f}"]


CAPACITY = {"growth", "postgres_scale", "serve_load", "postgres_workers"}


def openapi_ingest(result: Result) -> list[str]:
    real = result["real"]
    rows = [
        ["services", len(real["services"])],
        ["operations in the documents", real["operations in the files"]],
        *([name, real[name]] for name in OPENAPI_FIGURES),
    ]
    names = ("recall@1", "recall@5", "recall@10", "ndcg@10")
    asked = [
        [name, *three(result["restbench"][name], names)]
        for name in ("hybrid", "vector", "bm25", "MiniLM")
    ]
    lines = [*table(["the twelve real documents", ""], rows), ""]
    lines += [*table(["restbench, through the documents", *names], asked), ""]
    return [*lines, *checks(result)]


def typed_clients(result: Result) -> list[str]:
    rows = [
        ["services and servers", len(result["tools"])],
        ["tools", sum(result["tools"].values())],
        *([f"megabytes of {name}", each] for name, each in result["megabytes"].items()),
        *(
            [f"seconds a thousand tools: {name}", each]
            for name, each in result["seconds a thousand tools"].items()
        ),
        *(
            [f"made in {name} / their schemas written as JSON", f"{each} times"]
            for name, each in result["made / their schemas written as JSON"].items()
        ),
    ]
    return [*table(["typed clients", ""], rows), "", *checks(result)]


def random_requests(result: Result) -> list[str]:
    rows = [
        ["requests, of so many clients", f"{result['requests']:,} of {result['clients']}"],
        ["share that was done", result["done"]],
        *([f"{name}", f"{result[name]:,}"] for name in ("made", "removed", "edited")),
    ]
    statuses = [[status, f"{count:,}"] for status, count in result["statuses"].items()]
    lines = [*table(["", ""], rows), "", *table(["status", "answers"], statuses)]
    return [*lines, "", *checks(result)]


def peers(result: Result) -> list[str]:
    ours, *others = result["mean of the sets"]
    known = [f"{name} {result['versions'][name]}" for name in others]
    lines = [
        f"{', '.join(known)}; at most {result['queries at most']} queries a set; runs of indexing: "
        f"{result['indexed, times']}.",
        "",
    ]
    rows = [
        [name, row["tools"], row["queries"], *peer_quality(row["peers"])]
        for name, row in result["sets"].items()
    ]
    rows.append(["mean of the sets", "", "", *peer_quality(result["mean of the sets"])])
    lines += [*table(["set", "tools", "queries", ours, *others], rows), ""]
    lines += [ahead(result["sets"], ours), ""]
    boards = result["sets"] | {
        f"{int(size):,} of `scale/`": row for size, row in result["sizes"].items()
    }
    for figures, head in PEER_RATIOS.items():
        rows = [
            [name, row["tools"], *peer_ratios(row["peers"], ours, figures)]
            for name, row in boards.items()
        ]
        lines += [*table([head, "tools", *others], rows), ""]
    return lines[:-1]


def peer_quality(found: Result) -> list[str]:
    return [" / ".join(three(each, KINDS)) for each in found.values()]


def peer_ratios(found: Result, ours: str, figures: tuple[str, ...]) -> list[str]:
    return [
        " / ".join(f"{each[figure] / found[ours][figure]:.2f}" for figure in figures)
        for name, each in found.items()
        if name != ours
    ]


def ahead(sets: dict[str, Result], ours: str) -> str:
    told = [
        f"{peer} on {name} in {figure} ({each[figure]:.3f} against {mine[figure]:.3f})"
        for name, row in sets.items()
        for mine in [row["peers"][ours]]
        for peer, each in row["peers"].items()
        for figure in KINDS
        if each[figure] > mine[figure]
    ]
    return f"Ahead of {ours}: {'; '.join(told) or 'none, in any of these figures'}."


PEER_RATIOS = {
    ("search, ms", "search, ms of the processor"): "search: time / processor time",
    ("indexing, ms", "disk, bytes", "memory, bytes"): "indexing time / disk / memory",
}


OPENAPI_FIGURES = (
    "ms an operation, without embedding",
    "ms an operation, embedding",
    "share outside embedding",
    "second sync / first sync",
)


TABLES: dict[str, Callable[[Result], list[str]]] = {
    "quality": quality,
    "ablation": ablation,
    "no_tool": no_tool,
    "other_models": other_models,
    "lookalikes": lookalikes,
    "services": services,
    "ranker_cost": ranker_cost,
    "scores": scores,
    "several": several,
    "typing_errors": typing_errors,
    "scripts": scripts,
    "kinds": kinds,
    "tools_as_skills": tools_as_skills,
    "tokens": tokens,
    "growth": growth,
    "postgres_quality": postgres_quality,
    "tiers": tiers,
    "postgres_workers": postgres_workers,
    "indexing": ratios,
    "cold_start": cold_start,
    "run_python": run_python,
    "mcp_ingest": mcp_ingest,
    "mcp_load": mcp_load,
    "random_requests": random_requests,
    "serve_load": serve_load,
    "openapi_ingest": openapi_ingest,
    "typed_clients": typed_clients,
    "context_cost": context_cost,
    "peers": peers,
}


def summary(found: dict[str, Result]) -> list[str]:
    macro = found["quality"]["macro ndcg@10"]
    first, second = (value for key, value in found["indexing"].items() if " / " in key)
    cold = found["cold_start"]["ratio to bare script"]["search, hybrid"]
    rows = [
        ["nDCG@10, mean of seven public sets: hybrid", f"{macro['hybrid']:.3f}"],
        ["the same with RRF; by meaning alone; by words alone", spread(macro)],
        *beside(found),
        *(
            [f"search among {int(size):,} tools, against embedding the query", times(row)]
            for size, row in found.get("growth", {}).get("sizes", {}).items()
            if int(size) >= 10_000
        ),
        ["indexing 10,000 files, against the bare embedder", f"{first:.2f} times"],
        ["syncing them again unchanged, against the first time", f"{100 * second:.1f} %"],
        ["a cold search, against only loading the model", f"{cold:.2f} times"],
        *(
            [
                f"tokens of {row['tools']} tools in the prompt ({name}), against Pegboard's six "
                "and one search",
                f"{row['all tools / that']:g} times",
            ]
            for name, row in found.get("context_cost", {}).get("boards", {}).items()
        ),
    ]
    return [*table(["", ""], rows), "", commits(found)]


def beside(found: dict[str, Result]) -> list[list[str]]:
    if "peers" not in found:
        return []
    sets, most = len(found["peers"]["sets"]), found["peers"]["queries at most"]
    means = found["peers"]["mean of the sets"]
    asked = f"{sets} of the sets, at most {most} queries each, in one run: {'; '.join(means)}"
    return [[asked, "; ".join(f"{each['ndcg@10']:.3f}" for each in means.values())]]


def times(row: Result) -> str:
    return f"{row['search / embedding']['p50']:.2f} times"


def spread(macro: dict[str, float]) -> str:
    return "; ".join(three(macro, ("rrf", "vector", "bm25")))


def three(row: Result, columns: "list[str] | tuple[str, ...]") -> list[str]:
    """Figures with three digits."""
    return [f"{row[column]:.3f}" for column in columns]


def checks(result: Result) -> list[str]:
    rows = [
        [name, f"{each['found']:g}", each["target"], "yes" if each["met"] else "**no**"]
        for name, each in result["checks"].items()
    ]
    return table(["target", "found", "wanted", "met"], rows)


def commits(found: dict[str, Result]) -> str:
    """Which of the figures above were measured at which commit."""
    named: dict[str, list[str]] = {}
    for name in ("quality", "growth", "indexing", "cold_start", "context_cost", "peers"):
        if name in found:
            named.setdefault(found[name]["commit"], []).append(name)
    told = "; ".join(f"{', '.join(names)} at {at}" for at, names in named.items())
    return f"Measured on Python {found['quality']['python']}: {told}."


def commit(result: Result) -> str:
    return f"Commit {result['commit']}, Python {result['python']}."


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    main()
