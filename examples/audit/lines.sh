#!/bin/sh
# Shows: a worker's task as a plain program. It counts the repository's lines by language, puts the
# table on the team's scratchpad, and tells the editor. It exits 0: the task is completed.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=repo.sh
. "$here/repo.sh"
enter_repository
inventory

search -c -z -e '' >"$work/all"
# Not blank, for git grep finds one blank line too many at the end of a file.
search -c -z -e '[^[:space:]]' >"$work/filled"
# Comments are an estimate: lines that begin like one, by the style of the file's language.
: >"$work/comment"
while read -r style pattern; do
    set --
    awk -v list="$style" -f "$here/languages.awk" </dev/null >"$work/specs"
    while IFS= read -r spec; do set -- "$@" "$spec"; done <"$work/specs"
    search -c -z -E -e "$pattern" -- "$@" >>"$work/comment"
done <<'STYLES'
slash ^[[:space:]]*(//|/\*|\*/|\*[[:space:]]|\*$)
hash ^[[:space:]]*#
dash ^[[:space:]]*(--|\{-)
percent ^[[:space:]]*%
semicolon ^[[:space:]]*;
markup ^[[:space:]]*<!--
STYLES

for list in all filled comment; do
    flat <"$work/$list" >"$work/$list.flat"
done
awk -v prefix="${tree:+$tree:}" -f "$here/languages.awk" -f "$here/lines.awk" \
    "$work/all.flat" "$work/filled.flat" "$work/comment.flat" "$work/files" >"$work/rows"
# L: languages, most code first. P: files, longest first. B: what was not read as text.
{
    grep '^L' "$work/rows" | sort -t "$tab" -k4,4nr -k2,2 || true
    grep '^P' "$work/rows" | sort -t "$tab" -k2,2nr -k3,3 || true
    grep '^B' "$work/rows" || true
} >"$work/lines.tsv"
hand_over "$work/lines.tsv" "$(awk -F'\t' '
    $1 == "L" { files += $3; lines += $4; n++ }
    END { printf "%d lines in %d text files, %d languages", lines, files, n }' "$work/lines.tsv")"
