#!/bin/sh
# Shows: the planning life of a member with `plan_mode_required`. It writes a plan, submits it, waits, takes the
# feedback in, and submits again until the plan is approved. It changes nothing: that is execute.sh's work.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
trap 'exit 143' TERM HUP

columns=name
round=1
while :; do
    {
        printf '# An index of this folder\n\n'
        printf 'Write INDEX.md in %s: a table of the files in it, one a row.\n\n' "$(pwd)"
        # execute.sh reads this line again: the plan that was approved says what is done.
        printf -- '- columns: %s\n' "$columns"
        printf -- '- nothing else is written, nothing is deleted\n'
    } >"$work/plan.md"
    echo "round $round: asking for columns: $columns"
    status=0
    crewmux plan submit "$work/plan.md" --summary "an index with columns: $columns" --wait --json >"$work/answer" || status=$?
    case $status in
    0)
        # Approved. This life is about to be ended; another one executes.
        echo "approved"
        exit 0
        ;;
    1) ;;
    *)
        echo "no decision (exit $status)" >&2
        exit "$status"
        ;;
    esac
    feedback=$(awk -v only=.feedback -f "$here/../lib/json.awk" -f "$here/../lib/paths.awk" "$work/answer")
    printf 'rejected: %s\n' "$feedback"
    # What the feedback asks for, as far as this small planner understands it.
    columns=name
    case $feedback in *size*) columns="$columns size" ;; esac
    case $feedback in *line*) columns="$columns lines" ;; esac
    round=$((round + 1))
    if [ "$round" -gt 5 ]; then
        echo "five plans and none was right: giving up" >&2
        exit 1
    fi
done
