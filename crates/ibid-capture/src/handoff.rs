//! How a hook finds the process that listens, and proves to it who it is: a file that the installer
//! writes, `<data>/plugins/<profile>/handoff.json`.
//!
//! It is believed only as a whole: of version 1, for the program that the hook was called for, with a
//! loopback address and a secret, private to the user, and without a key that is not known.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ibid_model::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

/// The version of the file that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The largest file that is read.
const BYTES: u64 = 64 << 10;

/// The id of the provider that Ibid puts into configurations.
const PROVIDER: &str = "ibid";

/// The secret that a hook shows to the process that listens. It is printed nowhere: its debug form
/// is empty, and it has no other.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A new one: two random UUIDs, 64 hexadecimal digits, 244 bits of chance.
    #[must_use]
    pub fn random() -> Secret {
        Secret(format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple()))
    }

    /// The text, for the one header that carries it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is what was shown, in a time that does not depend on how much of it is right. A blank
    /// secret is nobody's.
    #[must_use]
    pub fn is(&self, shown: &[u8]) -> bool {
        !self.is_blank() && bool::from(self.0.as_bytes().ct_eq(shown))
    }

    fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Whether it can stand in a header.
    fn is_plain(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What the installer hands over to hooks and to the process that listens.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    version: u32,
    harness_id: String,
    proxy_addr: SocketAddr,
    secret: Secret,
    provider_id: String,
    installed_at: String,
}

impl Handoff {
    /// A handoff of now, with a secret of its own. None for an address that is not loopback or has no
    /// port.
    #[must_use]
    pub fn new(profile: &str, address: SocketAddr) -> Option<Handoff> {
        is_usable(address).then(|| Handoff {
            version: VERSION,
            harness_id: profile.to_owned(),
            proxy_addr: address,
            secret: Secret::random(),
            provider_id: PROVIDER.to_owned(),
            installed_at: Timestamp::from(jiff::Timestamp::now()).to_iso_milliseconds(),
        })
    }

    /// Where the file lies in Ibid's data directory.
    #[must_use]
    pub fn path(data_dir: &Path, profile: &str) -> PathBuf {
        data_dir.join("plugins").join(profile).join("handoff.json")
    }

    /// The content of the file. It holds the secret: it is for a file that only the user can read.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts, a number and an address: nothing of it can fail to be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads the file for one program; none when there is no file.
    ///
    /// # Errors
    /// [`HandoffError`], which says to run the installer again, and quotes nothing of the file.
    pub fn read(path: &Path, profile: &str) -> Result<Option<Handoff>, HandoffError> {
        let refuse = |problem| HandoffError { path: path.to_owned(), profile: profile.to_owned(), problem };
        let bytes = match read_private(path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(problem) => return Err(refuse(problem)),
        };
        Handoff::parse(&bytes, profile).map(Some).map_err(refuse)
    }

    fn parse(bytes: &[u8], profile: &str) -> Result<Handoff, HandoffProblem> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        // A later version may have other keys: its number is looked at first.
        let versioned: Result<Versioned, _> = serde_json::from_slice(bytes);
        if versioned.is_ok_and(|file| file.version != VERSION) {
            return Err(HandoffProblem::Version);
        }
        // What the decoder says of the file quotes it.
        let handoff: Handoff = serde_json::from_slice(bytes).map_err(|_| HandoffProblem::Form)?;
        if handoff.harness_id != profile {
            return Err(HandoffProblem::Program);
        }
        if !is_usable(handoff.proxy_addr) {
            return Err(HandoffProblem::Address);
        }
        if handoff.secret.is_blank() || !handoff.secret.is_plain() {
            return Err(HandoffProblem::Secret);
        }
        Ok(handoff)
    }

    /// The program it is for.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.harness_id
    }

    /// Where to report to: an address of this machine alone.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.proxy_addr
    }

    /// What proves a report.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The id of the provider that the installer put into the program's configuration.
    #[must_use]
    pub fn provider_id(&self) -> &str {
        &self.provider_id
    }
}

/// Whether a report to this address stays on the machine.
fn is_usable(address: SocketAddr) -> bool {
    address.ip().is_loopback() && address.port() != 0
}

fn read_private(path: &Path) -> Result<Option<Vec<u8>>, HandoffProblem> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink()) => {
            return Err(HandoffProblem::NotAFile);
        }
        Err(_) => return Err(HandoffProblem::Unreadable),
    };
    let about = file.metadata().map_err(|_| HandoffProblem::Unreadable)?;
    if !about.is_file() {
        return Err(HandoffProblem::NotAFile);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if about.mode() & 0o077 != 0 || about.uid() != rustix::process::geteuid().as_raw() {
            return Err(HandoffProblem::Exposed);
        }
    }
    let mut bytes = Vec::new();
    file.take(BYTES + 1).read_to_end(&mut bytes).map_err(|_| HandoffProblem::Unreadable)?;
    if bytes.len() as u64 > BYTES {
        return Err(HandoffProblem::Form);
    }
    Ok(Some(bytes))
}

/// Why a handoff file is not believed. Nothing of its content is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {problem}; run `ibid plugin install {profile}` again", path.display())]
pub struct HandoffError {
    /// The file.
    pub path: PathBuf,
    /// The program.
    pub profile: String,
    /// What is wrong.
    pub problem: HandoffProblem,
}

/// What is wrong with a handoff file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoffProblem {
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable,
    /// A link, a directory or a pipe.
    #[error("is no regular file")]
    NotAFile,
    /// Others can read it, or it is another user's.
    #[error("is not private to you")]
    Exposed,
    /// Another version wrote it.
    #[error("is of another version")]
    Version,
    /// Not JSON, or a key is missing, unknown or of another type.
    #[error("does not have the form of a handoff")]
    Form,
    /// It is for another program.
    #[error("is for another program")]
    Program,
    /// The address is not of this machine alone.
    #[error("names no loopback address with a port")]
    Address,
    /// The secret is blank, or cannot stand in a header.
    #[error("holds no secret")]
    Secret,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(change: impl FnOnce(&mut Value)) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("handoff.json");
        let mut value = json!({
            "version": 1, "harness_id": "codex-app", "proxy_addr": "127.0.0.1:4100", "secret": "s3cret",
            "provider_id": "ibid", "installed_at": "2026-07-01T10:00:00Z"
        });
        change(&mut value);
        fs::write(&path, value.to_string()).unwrap();
        private(&path);
        (folder, path)
    }

    fn private(path: &Path) {
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        #[cfg(not(unix))]
        let _ = path;
    }

    #[test]
    fn what_the_installer_writes_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("handoff.json");
        let handoff = Handoff::new("claude", "127.0.0.1:4100".parse().unwrap()).unwrap();
        fs::write(&path, handoff.to_json()).unwrap();
        private(&path);
        let read = Handoff::read(&path, "claude").unwrap().unwrap();
        assert_eq!(
            (read.address(), read.profile(), read.provider_id()),
            (handoff.address(), "claude", "ibid")
        );
        assert!(read.secret().is(handoff.secret().reveal().as_bytes()));
    }

    #[test]
    fn no_file_is_no_handoff_and_no_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Handoff::read(&folder.path().join("handoff.json"), "claude").unwrap().is_none());
    }

    #[test]
    fn everything_else_is_refused_without_a_word_of_the_file() {
        type Change = fn(&mut Value);
        let cases: [(Change, HandoffProblem); 16] = [
            (|v| v["version"] = json!(2), HandoffProblem::Version),
            (|v| *v = json!({"version": 2, "s3cret": "s3cret"}), HandoffProblem::Version),
            (|v| v["version"] = json!("1"), HandoffProblem::Form),
            (|v| v["s3cret"] = json!(true), HandoffProblem::Form),
            (|v| *v = json!("s3cret"), HandoffProblem::Form),
            (|v| v["secret"] = json!(["s3cret"]), HandoffProblem::Form),
            (|v| drop(v.as_object_mut().unwrap().remove("provider_id")), HandoffProblem::Form),
            (|v| v["harness_id"] = json!("codex"), HandoffProblem::Program),
            (|v| v["proxy_addr"] = json!("192.168.0.1:4100"), HandoffProblem::Address),
            (|v| v["proxy_addr"] = json!("0.0.0.0:4100"), HandoffProblem::Address),
            (|v| v["proxy_addr"] = json!("127.0.0.1:0"), HandoffProblem::Address),
            (|v| v["proxy_addr"] = json!("localhost:4100"), HandoffProblem::Form),
            (|v| v["secret"] = json!(""), HandoffProblem::Secret),
            (|v| v["secret"] = json!(" \t"), HandoffProblem::Secret),
            (|v| v["secret"] = json!("s3cret\r\nx: y"), HandoffProblem::Secret),
            (|v| v["secret"] = json!("s3crét"), HandoffProblem::Secret),
        ];
        for (change, problem) in cases {
            let (_folder, path) = written(change);
            let error = Handoff::read(&path, "codex-app").unwrap_err();
            assert_eq!(error.problem, problem, "{}", fs::read_to_string(&path).unwrap());
            let said = format!("{error} {error:?}");
            assert!(said.contains("ibid plugin install codex-app") && !said.contains("s3cr"), "{said}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_and_so_is_a_link() {
        let (folder, path) = written(|_| {});
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let problem = |path: &Path| Handoff::read(path, "codex-app").unwrap_err().problem;
        assert_eq!(problem(&path), HandoffProblem::Exposed);
        private(&path);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(problem(&link), HandoffProblem::NotAFile);
        assert_eq!(problem(folder.path()), HandoffProblem::NotAFile);
    }

    #[test]
    fn the_secret_is_long_new_each_time_and_never_shown() {
        let address = "[::1]:4100".parse().unwrap();
        let (one, other) = (Handoff::new("pi", address).unwrap(), Handoff::new("pi", address).unwrap());
        let secret = one.secret().reveal();
        assert_eq!((secret.len(), secret.bytes().all(|b| b.is_ascii_hexdigit())), (64, true));
        assert!(!other.secret().is(secret.as_bytes()));
        assert!(!format!("{one:?} {:?}", one.secret()).contains(secret));
    }

    #[test]
    fn only_the_whole_secret_is_the_secret_and_a_blank_one_is_nobodys() {
        let secret = Secret("abc".to_owned());
        assert!(secret.is(b"abc"));
        for shown in [&b""[..], b"ab", b"abcd", b"ABC", b"abd"] {
            assert!(!secret.is(shown));
        }
        assert!(!Secret(String::new()).is(b"") && !Secret(" ".to_owned()).is(b" "));
    }

    #[test]
    fn an_address_of_another_machine_is_none_to_hand_over() {
        for address in ["10.0.0.1:4100", "0.0.0.0:4100", "127.0.0.1:0", "[::]:4100"] {
            assert!(Handoff::new("pi", address.parse().unwrap()).is_none(), "{address}");
        }
    }
}
