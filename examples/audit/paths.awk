# JSON as lines of `path TAB value`: `.blocks.0	5`. Used with json.awk, for what `crewmux … --json` answers.
BEGIN { json_reset() }
{ json_line($0) }
function json_value(path, value) { print path "\t" value }
