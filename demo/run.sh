#!/bin/sh
# Index the demo tools on a board of their own, then search them by words and by meaning.
set -eu
cd "$(dirname "$0")"
board=.pegboard/board.db

run() {
    # Nothing found is an answer, not a failure of the demo.
    pegboard "$@" --board "$board" || [ $? -eq 1 ]
}

search() {
    printf '\n$ pegboard search "%s" %s\n' "$1" "$2"
    # shellcheck disable=SC2086 # the options are meant to be split
    run search "$1" $2
}

printf '$ pegboard init; pegboard add folder .\n'
run init
run add folder .

for query in \
    "let the team know the build is broken" \
    "give the customer their money back" \
    "when is everybody free next week"
do
    search "$query" "--limit 2 --mode bm25"
    search "$query" "--limit 2"
done

printf '\nThe board is demo/%s. Ask it something yourself:\n' "$board"
printf '  . .venv/bin/activate\n  export PEGBOARD_BOARD=$PWD/demo/%s\n  pegboard search "..."\n' "$board"
