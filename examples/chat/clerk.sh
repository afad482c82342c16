#!/bin/sh
# Shows: `deliver = "paste"`. A program that reads lines from its terminal, whoever types them: a person in the
# pane, or a message that is pasted in. `crewmux ready` says that it listens; mail waits until then.
set -eu
notes="$CREWMUX_SCRATCH/clerk.notes"
touch "$notes"

# In the pane for who sits there, and as mail for who wrote from elsewhere.
answer() {
    printf '%s\n' "$1"
    crewmux send operator "$1" >/dev/null || true
}

crewmux ready
echo "The clerk keeps notes. note TEXT, list, clear, help"
while IFS= read -r line; do
    case $line in
    'note '*)
        printf '%s\n' "${line#note }" >>"$notes"
        answer "noted: ${line#note }"
        ;;
    list)
        if [ -s "$notes" ]; then answer "$(cat -n -- "$notes")"; else answer "no notes yet"; fi
        ;;
    clear)
        : >"$notes"
        answer "all notes are gone"
        ;;
    help) answer "note TEXT, list, clear" ;;
    '') ;;
    *) printf '? %s\n' "$line" | tr -d '\033' ;;
    esac
done
