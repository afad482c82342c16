#!/bin/sh
# Shows: a member with a program of its own (`engine = "command"`). It takes the task that it owns once what
# blocks it is done, reads its mail, merges what the others found, and writes the report named by its argument.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
set -eu
export LC_ALL=C

out=${1:?the file to write}
case $out in
/*) ;;
*) out=$(pwd)/$out ;;
esac
work=$(mktemp -d)
part=
trap 'rm -rf -- "$work" ${part:+"$part"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# paths: the JSON on stdin as `path TAB value` lines; field PATH: one value of it
paths() { awk -f "$here/../lib/json.awk" -f "$here/../lib/paths.awk"; }
field() { awk -v only="$1" -f "$here/../lib/json.awk" -f "$here/../lib/paths.awk"; }

# The task that is ours: its number, from the board.
my_task() {
    crewmux task list --json | paths | awk -F'\t' -v me="$CREWMUX_MEMBER" '
        { at = $1; sub(/^\./, "", at); row = at; sub(/\..*/, "", row); sub(/^[^.]*\./, "", at) }
        at == "id" { id[row] = $2; rows = row } at == "owner" { owner[row] = $2 } at == "status" { status[row] = $2 }
        END { for (row = 0; row <= rows; row++)
            if (owner[row] == me && (status[row] == "pending" || status[row] == "in_progress")) { print id[row]; exit } }'
}

task=$(my_task)
if [ -z "$task" ]; then
    echo "no task for $CREWMUX_MEMBER on the board"
    exit 0
fi
echo "waiting for what task $task needs"
until crewmux task claim "$task" --json >"$work/claim" 2>"$work/why"; do
    crewmux task show "$task" --json >"$work/task"
    case $(field .status <"$work/task") in
    completed | failed | deleted)
        echo "task $task has ended without us"
        exit 0
        ;;
    esac
    # A scanner may have put a task of its own in our way: what blocks us is asked for anew each round.
    blocked=no
    for blocker in $(paths <"$work/task" | sed -n 's/^\.blocked_by\.[0-9]*	//p'); do
        crewmux task show "$blocker" --json >"$work/blocker"
        case $(field .status <"$work/blocker") in
        pending | in_progress)
            blocked=yes
            crewmux wait --for "task:$blocker=completed" --timeout 20s >/dev/null 2>&1 || true
            ;;
        esac
    done
    if [ "$blocked" = no ] && [ "$(field .status <"$work/task")" = pending ]; then
        # Nothing stands in the way and still it is not ours: say why, once, and let the lead see it.
        refused=$((${refused:-0} + 1))
        if [ "$refused" -ge 5 ]; then
            cat "$work/why" >&2
            exit 1
        fi
    fi
done

echo "task $task is ours; the letters:"
# Nothing is acknowledged before the report is there, so a restart of this program finds its letters again.
crewmux inbox --all --json >"$work/letters"
awk -f "$here/../lib/json.awk" -f "$here/letters.awk" "$work/letters" >"$work/mail"
set --
while IFS="$(printf '\t')" read -r from findings says; do
    printf '  %s: %s\n' "$from" "$says"
    case $findings in
    lines.tsv | markers.tsv | history.tsv | deps.tsv | closer.tsv)
        if [ -r "$CREWMUX_SCRATCH/$findings" ]; then set -- "$@" "$CREWMUX_SCRATCH/$findings"; fi
        ;;
    esac
done <"$work/mail"

give_up() {
    crewmux task fail "$task" --result "$1" >/dev/null
    printf 'error: %s\n' "$1" >&2
    exit 1
}

folder=$(dirname -- "$out")
[ -d "$folder" ] || give_up "there is no folder $folder for the report"
part="$out.part.$$"
{ : >"$part"; } 2>/dev/null || give_up "cannot write in $folder; choose another place with --set out=PATH"
awk -f "$here/text.awk" -f "$here/report.awk" "$work/mail" "$@" >"$part"
mv -- "$part" "$out"
part=

sed -n '/^## Summary/,/^## [^S]/p' "$out" | sed '/^## /d' >"$work/summary"
crewmux send lead --file "$work/summary" --summary "the report is at $out" >/dev/null
crewmux inbox --ack >/dev/null
crewmux task "done" "$task" --result "the report is at $out" >/dev/null
echo "the report is at $out"
