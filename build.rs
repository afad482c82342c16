//! Links the program at a fixed address: nothing is relocated when it starts, and a team starts it once a member.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-bin=crewmux=-no-pie");
    }
}
