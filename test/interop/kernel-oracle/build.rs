//! Compiles shim/*.cpp against the engine's own headers. They lie next to the -sys crate
//! that bitcoinkernel pulls in; that crate names no include directory, so cargo is asked where its
//! sources are.

use std::{env, path::PathBuf, process::Command};

fn engine_source_dir() -> PathBuf {
    let out = Command::new(env::var("CARGO").expect("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(env::var("CARGO_MANIFEST_DIR").expect("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("utf-8");
    let manifest = text
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.contains("/libbitcoinkernel-sys-"))
        .expect("libbitcoinkernel-sys among the dependencies");
    let dir = PathBuf::from(manifest).parent().expect("crate directory").join("bitcoin/src");
    assert!(dir.join("script/interpreter.h").exists(), "no engine sources in {}", dir.display());
    dir
}

fn main() {
    println!("cargo:rerun-if-changed=shim");
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .opt_level(2)
        .include(engine_source_dir())
        .file("shim/header_shim.cpp")
        .file("shim/oracle_shim.cpp")
        .warnings(false)
        .compile("oracle_shim");
}
