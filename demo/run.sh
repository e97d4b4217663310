#!/bin/sh
# Index the demo tools on a board of their own, then search them by words and by meaning.
set -eu
cd "$(dirname "$0")"
board=.pegboard/board.db

run() {
    printf '\n$ pegboard %s\n' "$*"
    # Nothing found is an answer, not a failure of the demo.
    pegboard "$@" --board "$board" || [ $? -eq 1 ]
}

run init
run add folder .
run sync

for query in \
    "let the team know the build is broken" \
    "give the customer their money back" \
    "when is everybody free next week"
do
    printf '\n'
    printf '=== %s\n' "$query"
    run search "$query" --limit 2 --mode bm25
    run search "$query" --limit 2
done
printf '\nThe board is demo/%s. Ask it something yourself:\n  .venv/bin/pegboard search "..." --board demo/%s\n' "$board" "$board"
