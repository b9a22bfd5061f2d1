use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What programs reach a network with: clients, servers, TLS, and the runtimes and sockets below
/// them.
const OF_A_NETWORK: &[&str] = &[
    "async-std",
    "attohttpc",
    "curl",
    "curl-sys",
    "h2",
    "h3",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "mio",
    "minreq",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "rustls",
    "smol",
    "socket2",
    "surf",
    "tokio",
    "tonic",
    "tungstenite",
    "ureq",
    "zmq",
];

/// What the standard library and the system have for it.
const SOCKETS: &[&str] =
    &["std::net", "TcpStream", "TcpListener", "UdpSocket", "rustix::net", "libc::socket"];

/// The files that open sockets, all of them on this machine: hooks report to whoever listens on
/// loopback (`Handoff` takes no other address), and an installer looks whether anyone does.
const ON_LOOPBACK: &[&str] = &[
    "ibid/src/commands/capture.rs",
    "ibid/src/plugin/install.rs",
    "ibid-capture/src/handoff.rs",
    "ibid-capture/src/receiver/server.rs",
    "ibid-capture/src/report.rs",
];

/// The crate that listens on loopback, with a server and no client.
const LISTENS: &str = "ibid-capture";

/// The crate that only tests need. It listens on loopback, as the provider that the real programs
/// are tested with.
const OF_TESTS: &str = "ibid-testkit";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The names of every package that `name` needs, however far down, on any platform. A lock file
/// does not tell a test's needs apart, so they are among them, except what `without` brings.
fn needs(lock: &str, name: &str, without: &[&str]) -> BTreeSet<String> {
    let lock: toml::Table = lock.parse().unwrap();
    let mut direct: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        let needs = package.get("dependencies").and_then(toml::Value::as_array);
        // A name that has several versions is followed by the version.
        let names = needs.into_iter().flatten().filter_map(|need| need.as_str()?.split(' ').next());
        direct.entry(package["name"].as_str().unwrap()).or_default().extend(names);
    }
    let mut found = BTreeSet::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        if !without.contains(&name) && found.insert(name.to_owned()) {
            open.extend(direct.get(name).unwrap_or_else(|| panic!("{name} is not in the lock file")));
        }
    }
    found
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_but_the_receiver_of_hooks_is_built_on_a_network() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let needs = needs(&lock, "ibid", &[OF_TESTS, LISTENS]);
    assert!(needs.contains("ibid-harness") && needs.contains("libsqlite3-sys"), "the whole tree was read");
    let networked: Vec<&&str> = OF_A_NETWORK.iter().filter(|name| needs.contains(**name)).collect();
    assert!(networked.is_empty(), "{networked:?}");
}

#[test]
fn the_receiver_of_hooks_is_a_server_and_no_client() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let needs = needs(&lock, LISTENS, &[OF_TESTS]);
    let clients = ["h2", "native-tls", "openssl", "reqwest", "rustls", "ureq", "hickory-resolver"];
    assert!(clients.iter().all(|name| !needs.contains(*name)), "{needs:?}");
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    for name in ["hyper", "hyper-util"] {
        let features = manifest["workspace"]["dependencies"][name]["features"].to_string();
        assert!(!features.contains("client"), "{name}: {features}");
    }
}

#[test]
fn only_tests_need_the_crate_of_tests() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let manifest = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap();
        let tables = ["dependencies", "build-dependencies", "target"].map(|key| manifest.get(key));
        for table in tables.into_iter().flatten() {
            assert!(!table.to_string().contains(OF_TESTS), "{name}");
        }
    }
}

#[test]
fn a_network_crate_far_down_is_found() {
    let lock = r#"
        [[package]]
        name = "ibid"
        dependencies = ["between 1.0.0"]
        [[package]]
        name = "between"
        dependencies = ["hyper"]
        [[package]]
        name = "hyper"
        [[package]]
        name = "unrelated"
    "#;
    assert_eq!(
        needs(lock, "ibid", &[OF_TESTS]).into_iter().collect::<Vec<_>>(),
        ["between", "hyper", "ibid"]
    );
}

#[test]
fn only_what_stays_on_this_machine_opens_a_socket() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name != OF_TESTS) {
            sources(&path.join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "the sources were found");
    let mut open = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if SOCKETS.iter().any(|socket| text.contains(socket)) {
            let file = file.strip_prefix(root().join("crates")).unwrap();
            open.insert(file.to_string_lossy().replace('\\', "/"));
        }
    }
    let known: BTreeSet<String> = ON_LOOPBACK.iter().map(|file| (*file).to_owned()).collect();
    assert_eq!(open, known);
}
