# `just check` is what continuous integration runs.

# format, clippy, licences, doc tests, tests
check *arguments:
    scripts/test {{ arguments }}

# only the tests
test *arguments:
    cargo nextest run {{ arguments }}

# a team audits a repository
demo *arguments:
    scripts/demo {{ arguments }}

# a plan is rejected, made again, approved and carried out
plan-demo:
    scripts/plan-demo

# the table of measured figures
bench *arguments:
    scripts/bench {{ arguments }}

fmt:
    cargo fmt --all
