#!/bin/sh
# Shows: a task that makes another task. It finds the notes that authors left to themselves (TODO …) and calls
# worth a second look by language (unwrap …), with file and line. Then it puts "look closer at the file with the
# most of them" on the board, in the way of whatever waits for this task, for another member to take.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=repo.sh
. "$here/repo.sh"
enter_repository
inventory

# file of words -> matches, flat
find_words() {
    kind=$1 words=$2
    shift 2
    if [ "$kind" = note ]; then search -n -z -w -F -f "$words" -- "$@"; else search -n -z -F -f "$words" -- "$@"; fi
}

printf '%s\n' TODO FIXME XXX HACK >"$work/words"
find_words note "$work/words" >"$work/raw"
flat <"$work/raw" | awk -v group=note -v words="$work/words" -v prefix="${tree:+$tree:}" \
    -f "$here/languages.awk" -f "$here/markers.awk" >"$work/found"

# Calls that end a program, hide an error or are unsafe by themselves. Fixed strings, one language a block.
while IFS= read -r line; do
    specs=${line%%:*} words=${line#*: }
    printf '%s\n' "$words" | sed 's/ ; /\
/g' >"$work/words"
    set --
    for extension in $specs; do set -- "$@" ":(top,icase,glob)**/*.$extension"; done
    find_words call "$work/words" "$@" >"$work/raw"
    flat <"$work/raw" | awk -v group=call -v words="$work/words" -v prefix="${tree:+$tree:}" \
        -f "$here/languages.awk" -f "$here/markers.awk" >>"$work/found"
done <<'CALLS'
rs: .unwrap() ; .expect( ; panic!( ; todo!( ; unimplemented!( ; unsafe {
go: panic( ; log.Fatal ; unsafe.Pointer
py pyi: except: ; eval( ; exec( ; # type: ignore ; pickle.load
js mjs cjs jsx ts mts cts tsx vue svelte: eval( ; debugger; ; @ts-ignore ; @ts-nocheck ; as any ; innerHTML
c h cc cpp cxx hpp hh: strcpy( ; strcat( ; sprintf( ; gets( ; reinterpret_cast< ; goto 
java kt kts scala: printStackTrace( ; System.exit( ; @SuppressWarnings ; !!.
swift: try! ; as! ; fatalError(
cs: catch { } ; unsafe { ; .Result;
php: eval( ; unserialize( ; extract(
rb: eval( ; rescue => e ; rescue nil
sh bash zsh: eval  ; rm -rf
CALLS

# K: how many by kind and language; F: files, most first; M: the places, at most 2,000 of each group.
awk -F'\t' '{ kinds[$1 "\t" $2 "\t" $3]++ } END { for (k in kinds) print "K\t" k "\t" kinds[k] }' "$work/found" |
    sort -t "$tab" -k2,2r -k5,5nr -k3,4 >"$work/kinds"
awk -F'\t' '{ all[$5]++; if ($1 == "note") notes[$5]++ }
    END { for (p in all) print "F\t" all[p] "\t" notes[p] + 0 "\t" p }' "$work/found" |
    sort -t "$tab" -k2,2nr -k4,4 >"$work/by-file"
sort -t "$tab" -k1,1r -k5,5 -k4,4n "$work/found" |
    awk -F'\t' 'seen[$1]++ < 2000 { print "M\t" $0 }' >"$work/places"
cat "$work/kinds" "$work/by-file" "$work/places" >"$work/markers.tsv"

hand_over "$work/markers.tsv" "$(awk -F'\t' '
    $1 == "K" && $2 == "note" { notes += $5 } $1 == "K" && $2 == "call" { calls += $5 } $1 == "F" { files++ }
    END { printf "%d %s and %d %s worth a look, in %d %s", notes, (notes == 1 ? "note" : "notes"),
        calls, (calls == 1 ? "call" : "calls"), files, (files == 1 ? "file" : "files") }' "$work/markers.tsv")"

densest=$(awk 'NR == 1 { for (i = 0; i < 3; i++) $0 = substr($0, index($0, "\t") + 1); print }' "$work/by-file")
if [ -n "$densest" ]; then
    # The tasks that wait for this one wait for the closer look as well.
    crewmux task show "$CREWMUX_TASK" --json >"$work/task"
    waiting=$(awk -f "$here/../lib/json.awk" -f "$here/../lib/paths.awk" "$work/task" | sed -n 's/^\.blocks\.[0-9]*	//p')
    {
        printf 'V\tpath\t%s\n' "$densest"
        # By the environment: `-v` would read a backslash in a name as the start of an escape.
        sort -t "$tab" -k1,1r -k4,4n "$work/found" |
            path=$densest awk -F'\t' '$5 == ENVIRON["path"] { print "M\t" $0 }' | sed 40q
    } >"$CREWMUX_SCRATCH/closer.todo"
    set --
    for task in $waiting; do set -- "$@" --blocks "$task"; done
    crewmux task add "Look closer at the file with the most markers" --requires close-look "$@" \
        --timeout 2m -- "$here/closer.sh" >/dev/null
fi
