#!/bin/sh
# median.sh NUMBER…: prints the median: the middle of the sorted numbers, of an even count the mean of the two in the middle.
[ "$#" -gt 0 ] || { echo "usage: median.sh NUMBER…" >&2; exit 2; }
printf '%s\n' "$@" | sort -n | awk '
    { value[NR] = $1 }
    END { print value[int(NR / 2) + 1] }
'
