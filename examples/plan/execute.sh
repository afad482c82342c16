#!/bin/sh
# Shows: the executing life. CREWMUX_PLAN_ID names the plan that was approved; this reads it and does what it says.
set -eu
export LC_ALL=C
: "${CREWMUX_PLAN_ID:?no plan was approved}"
part=".INDEX.md.$$"
trap 'rm -f -- "$part"' EXIT
trap 'exit 143' TERM HUP

columns=$(crewmux plan show "$CREWMUX_PLAN_ID" | sed -n 's/^- columns: //p')
[ -n "$columns" ] || { echo "the plan $CREWMUX_PLAN_ID names no columns" >&2; exit 1; }

{
    printf '# Index\n\n|'
    for column in $columns; do printf ' %s |' "$column"; done
    printf '\n|'
    for column in $columns; do printf ' --- |'; done
    printf '\n'
    for file in *; do
        if [ ! -f "$file" ] || [ "$file" = INDEX.md ]; then continue; fi
        printf '|'
        for column in $columns; do
            case $column in
            name) printf ' %s |' "$(printf '%s' "$file" | tr '\n\r\t' '   ' | sed 's/[\\|`*_<>]/\\&/g')" ;;
            size) printf ' %s |' "$(wc -c <"$file" | tr -d ' ')" ;;
            lines) printf ' %s |' "$(wc -l <"$file" | tr -d ' ')" ;;
            esac
        done
        printf '\n'
    done
} >"$part"
mv -- "$part" INDEX.md
crewmux send lead "INDEX.md is written, with columns: $columns" >/dev/null
echo "INDEX.md is written, with columns: $columns"
