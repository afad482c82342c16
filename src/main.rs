fn main() -> std::process::ExitCode {
    crewmux::cli::run()
}
