# Mail as `crewmux inbox --json` prints it, one message a line, as: sender TAB content TAB summary.
# The newest letter about the same findings counts: a scanner that was started again wrote twice.
{
    from = ""; content = ""; summary = ""; type = ""
    json_reset(); json_line($0)
    if (type != "text" || content == "") next
    sub(/@.*/, "", from)
    if (!(content in at)) order[++n] = content
    at[content] = from "\t" content "\t" summary
}
function json_value(path, value) {
    value = json_text(value, 1)
    if (path == ".from") from = value
    else if (path == ".type") type = value
    else if (path == ".summary") summary = value
    else if (path == ".body.content") content = value
}
END { for (i = 1; i <= n; i++) print at[order[i]] }
