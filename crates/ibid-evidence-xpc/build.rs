//! Compiles the protocols of the connection, on macOS. NSXPC reads the types of their methods from
//! what Clang alone writes down, so they cannot be declared in Rust.

fn main() {
    println!("cargo:rerun-if-changed=src/protocols.m");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        cc::Build::new().file("src/protocols.m").compile("ibid_evidence_protocols");
        println!("cargo:rustc-link-lib=framework=Foundation");
    }
}
