# Shared by the audit programs (sourced, POSIX sh): goes to the repository, searches it, hands findings over.
# shellcheck shell=sh
#
# Names of files may hold anything but NUL. Every list is asked for with -z and made "flat": NUL becomes
# the end of a line, a newline in a name \001, a tab \002. So sort and awk see one record a line.

set -eu
# Bytes, not characters: quick, and nothing is ever "not valid UTF-8".
export LC_ALL=C
# Only look: take no locks, fetch nothing, ask nothing.
export GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_TERMINAL_PROMPT=0
# A git hook that starts an audit must not point it at the hook's own repository.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX || true

# Text files above this many bytes are not read (git grep takes a whole file into memory).
too_large=${AUDIT_TOO_LARGE:-67108864}
# shellcheck disable=SC2034 # the programs' own, for sort -t
tab=$(printf '\t')

fail() {
    printf 'audit: %s\n' "$*" >&2
    exit 1
}

# Goes to the top of the repository and makes $work, a folder that goes with the program.
enter_repository() {
    command -v git >/dev/null 2>&1 || fail "git is not installed"
    if ! why=$(git rev-parse --git-dir 2>&1); then
        fail "$(pwd) is not a git repository ($why)"
    fi
    tree=
    if [ "$(git rev-parse --is-bare-repository)" = true ]; then
        # A bare repository has no files on disk: its last commit is what is looked at.
        tree=HEAD
    else
        top=$(git rev-parse --show-toplevel) || fail "$(pwd) lies inside a git folder, not in a work tree"
        cd -- "$top"
    fi
    has_commits=no
    if git rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null 2>&1; then has_commits=yes; fi
    work=$(mktemp -d)
    trap 'rm -rf -- "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

flat() {
    tr '\001\002\011\012\000' '??\002\001\012'
}

# Every tracked entry as: size TAB mode TAB name. Written to $work/files.
inventory() {
    : >"$work/entries"
    if [ -z "$tree" ]; then
        git ls-files -s -z >"$work/raw"
    elif [ "$has_commits" = yes ]; then
        git ls-tree -r -z "$tree" >"$work/raw"
    else
        : >"$work/raw"
    fi
    # `mode oid stage<TAB>name` or `mode type oid<TAB>name`; a conflict has a name up to three times.
    flat <"$work/raw" | awk '{
        at = index($0, "\002"); split(substr($0, 1, at - 1), part, " "); name = substr($0, at + 1)
        if (name == last) next
        last = name
        print part[1] "\t" (length(part[2]) >= 40 ? part[2] : part[3]) "\t" name
    }' >"$work/entries"
    cut -f2 "$work/entries" | git cat-file --batch-check='%(objectsize)' >"$work/sizes"
    paste "$work/sizes" "$work/entries" | awk -F'\t' '{
        size = $1 ~ /^[0-9]+$/ ? $1 : 0
        name = $0; for (i = 0; i < 3; i++) name = substr(name, index(name, "\t") + 1)
        print size "\t" $2 "\t" name
    }' >"$work/files"
    awk -F'\t' -v limit="$too_large" '$1 > limit { print substr($0, index($0, "\t") + 8) }' \
        "$work/files" | sed 200q >"$work/too-large"
}

# search OPTION… [-- PATHSPEC…]: `git grep` whatever the person's settings are; no match is no failure.
# The inventory comes first: what it found too large is left out.
search() {
    if [ -n "$tree" ] && [ "$has_commits" = no ]; then return 0; fi
    # The commit, in a bare repository, has its place between the options and the names.
    options=$#
    for argument in "$@"; do
        if [ "$argument" = -- ] && [ "$options" -gt 0 ]; then
            options=0
            if [ -n "$tree" ]; then set -- "$@" "$tree"; fi
        fi
        set -- "$@" "$argument"
        shift
    done
    if [ "$options" -gt 0 ]; then
        if [ -n "$tree" ]; then set -- "$@" "$tree"; fi
        set -- "$@" --
    fi
    while IFS= read -r large; do
        set -- "$@" ":(top,exclude,literal)$(printf '%s' "$large" | tr '\001\002' '\012\011')"
    done <"$work/too-large"
    status=0
    git -c grep.lineNumber=false -c grep.column=false -c grep.patternType=default \
        -c submodule.recurse=false -c core.quotePath=false grep --no-color --full-name -I "$@" || status=$?
    [ "$status" -le 1 ] || fail "git grep failed with status $status"
}

# hand_over FILE "what it says": the findings go to the team's scratchpad, whole; a message tells the editor.
hand_over() {
    findings=$(basename -- "$1")
    cp -- "$1" "$CREWMUX_SCRATCH/.$findings.$$"
    mv -- "$CREWMUX_SCRATCH/.$findings.$$" "$CREWMUX_SCRATCH/$findings"
    crewmux send editor "$findings" --summary "$2" >/dev/null
    printf '%s\n' "$2"
}
