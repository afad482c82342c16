#!/bin/sh
# Shows: `deliver = "stdin"`. Every message comes as one line of JSON on stdin; this answers whoever wrote it.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 143' TERM HUP

# field PATH: the text of one value of the message
field() { printf '%s\n' "$line" | awk -v only="$1" -f "$here/../lib/json.awk" -f "$here/../lib/paths.awk"; }

echo "$CREWMUX_MEMBER listens"
while IFS= read -r line; do
    [ "$(field .type)" = text ] || continue
    from=$(field .from)
    field .body.content >"$work/text"
    printf '%s wrote: ' "$from"
    sed 's/[[:cntrl:]]/?/g' "$work/text"
    {
        printf 'You wrote %s words:\n' "$(wc -w <"$work/text" | tr -d ' ')"
        cat "$work/text"
    } >"$work/answer"
    # Whoever has gone since cannot be answered: that is no reason to end.
    crewmux send "$from" --file "$work/answer" --reply-to "$(field .id)" >/dev/null || echo "no answer to $from"
done
