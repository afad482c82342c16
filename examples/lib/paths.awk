# JSON as lines of `path TAB value`, such as `.blocks.0	5`: what `crewmux … --json` answers, made fit for sh.
#   LC_ALL=C awk -f json.awk -f paths.awk            every value, one a line
#   LC_ALL=C awk -f json.awk -f paths.awk -v only=.feedback    the text of one value
BEGIN { json_reset() }
{ json_line($0) }
function json_value(path, value) {
    if (only == "") print path "\t" json_text(value, 1)
    else if (path == only && !done++) print json_text(value, 0)
}
