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

# agents repair a failing test, from recorded answers
fix-demo:
    scripts/fix-demo

# the table of measured figures
bench *arguments:
    scripts/bench {{ arguments }}

# ten thousand simulated teams; `SIM_SEED=N just sim` replays one and tells its story
sim seeds="10000":
    SIM_SEEDS={{ seeds }} cargo test --locked --lib sim::whatever -- --nocapture

# every fault that tests set on purpose, the long lists too; `FAULTS_SEED=N` has others die at other moments
faults:
    cargo nextest run --locked --test it --run-ignored all --no-fail-fast -E 'test(/^(faults|ending)::/) | test(/^mail::(full_disk|wakeups|damage)::/)'

# gives a parser whatever a fuzzer thinks of; needs cargo-fuzz and a nightly compiler. The targets: fuzz/fuzz_targets
fuzz target seconds="60":
    cargo +nightly fuzz run {{ target }} -- -max_total_time={{ seconds }}

fmt:
    cargo fmt --all
