#!/bin/sh
# Shows: the task that another task made. markers.sh left a file's name and its markers on the scratchpad; this looks closer at
# that file: who changed it, when, and how old its markers are.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=repo.sh
. "$here/repo.sh"
enter_repository
: >"$work/too-large"

todo="$CREWMUX_SCRATCH/closer.todo"
[ -r "$todo" ] || fail "there is no $todo: markers.sh comes first"
name=$(sed -n '1s/^V	path	//p' "$todo" | tr '\001\002' '\012\011')

{
    head -n 1 "$todo"
    search -c -z -e '' -- ":(top,literal)$name" >"$work/raw"
    flat <"$work/raw" | awk 'NR == 2 { sub(/\001.*/, ""); print "V\tlines\t" $0 }'
    if [ "$has_commits" = yes ]; then
        git -c log.showSignature=false log -n 20000 --no-renames --date=short --format='%ad%x09%aN' -- ":(top,literal)$name" |
            awk -F'\t' '{ n++; who[$2]++; if (n == 1) last = $1; first = $1 }
                END { if (n == 0) exit
                    for (name in who) { people++; if (who[name] > most) { most = who[name]; main = name } }
                    print "V\tcommits\t" n; print "V\tfirst\t" first; print "V\tlast\t" last
                    print "V\tpeople\t" people; print "V\tmain\t" main; print "V\tshare\t" most }'
        # How old each marker is: notes before calls.
        set --
        awk -F'\t' '$1 == "M" { print $5 }' "$todo" >"$work/numbers"
        while read -r number; do set -- "$@" -L "$number,$number"; done <"$work/numbers"
        if [ $# -gt 0 ]; then
            # A file that is changed or not committed yet may have no such line: then there is no age to tell.
            git blame --porcelain "$@" ${tree:+"$tree"} -- "$name" 2>/dev/null >"$work/blame" || : >"$work/blame"
            awk '/^[0-9a-f]+ [0-9]+ [0-9]+/ && length($1) >= 40 { id = $1; line = $3; next }
                /^author / { who[id] = substr($0, 8) } /^author-time / { when[id] = $2 }
                /^\t/ { text = substr($0, 2); gsub(/\t/, "\002", text); print "G\t" line "\t" when[id] "\t" who[id] "\t" text }' "$work/blame" |
                sort -t "$tab" -k3,3n -k2,2n
        fi
    fi
} >"$work/closer.tsv"
hand_over "$work/closer.tsv" "$(awk -F'\t' '$1 == "G" { n++ } END { printf "%d %s dated in the file with the most", n, (n == 1 ? "marker" : "markers") }' "$work/closer.tsv")"
