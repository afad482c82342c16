#!/bin/sh
# Shows: a worker's task that looks before it runs. `cargo test --doc` fails where no package has a library, so
# this asks first. Arguments: cargo, and one option for it.
set -eu
cargo=${1:-cargo}
option=${2:---color=auto}
if ! "$cargo" metadata --no-deps --format-version 1 | grep -q '"doctest":true'; then
    echo "no package here has a library: no examples in the documentation"
    exit 0
fi
exec "$cargo" test --workspace --doc "$option"
