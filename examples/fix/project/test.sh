#!/bin/sh
# test.sh: the tests of median.sh; exit 1 if one fails.
cd "$(dirname -- "$0")" || exit 2
failed=0
check() {
    want=$1
    shift
    got=$(sh median.sh "$@")
    if [ "$got" = "$want" ]; then
        echo "ok: median of $* is $want"
    else
        echo "FAILED: median of $* is $want, got $got"
        failed=1
    fi
}
check 3 3
check 2 3 1 2
check 10 9 10 100
check 2.5 1 2 3 4
check 1.5 2 1
exit "$failed"
