# Shared by the scripts (sourced, POSIX sh): where the project is, what is installed, how to install.
# shellcheck shell=sh
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# Rust as rustup leaves it, also in a shell that has not read its profile again.
case :$PATH: in
*":${CARGO_HOME:-$HOME/.cargo}/bin:"*) ;;
*) PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin ;;
esac
export PATH

say() { printf '%s\n' "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

# title TEXT: what is being done, in bold on a terminal.
title() {
    if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then printf '\n\033[1m== %s\033[0m\n' "$*" >&2; else printf '\n== %s\n' "$*" >&2; fi
}

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif have sudo; then
        sudo "$@"
    else
        die "this needs root to run: $*"
    fi
}

# apt PACKAGE…: from the distribution, without a question; the lists are fetched once a run.
apt() {
    have apt-get || die "please install: $* (this script knows Debian and Ubuntu)"
    if [ -z "${lists_are_fresh:-}" ]; then
        as_root apt-get update -qq >&2
        lists_are_fresh=1
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# The Rust version that Cargo.toml asks for, such as 1.90.
wanted_rust() { sed -n 's/^rust-version *= *"\(.*\)".*/\1/p' "$root/Cargo.toml"; }

# Whether there is a cargo that is new enough.
rust_is_there() {
    have cargo && have rustc || return 1
    (cd "$root" && rustc --version 2>/dev/null) | awk -v wanted="$(wanted_rust)" '
        { split($2, is, /[.-]/); split(wanted, must, "."); ok = is[1] > must[1] || is[1] == must[1] && is[2] + 0 >= must[2] + 0 }
        END { exit !ok }'
}

# Takes what setup found or installed: cargo's own folder before an older one of the distribution's, and rustup's stable
# where the person's default toolchain is too old (the default stays as it is).
use_rust() {
    PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    if ! rust_is_there && have rustup && stable_is_there; then
        RUSTUP_TOOLCHAIN=stable
        export RUSTUP_TOOLCHAIN
    fi
}

# Whether rustup has a stable toolchain that is new enough. Asking installs nothing.
stable_is_there() (
    RUSTUP_TOOLCHAIN=stable RUSTUP_AUTO_INSTALL=0
    export RUSTUP_TOOLCHAIN RUSTUP_AUTO_INSTALL
    rust_is_there
)

# Where cargo leaves what it builds.
target_dir() {
    (cd "$root" && cargo metadata --no-deps --format-version 1) | sed 's/.*"target_directory":"\([^"]*\)".*/\1/'
}
