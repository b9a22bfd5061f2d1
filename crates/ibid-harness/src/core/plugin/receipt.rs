//! What was installed, and what was there before.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ibid_carrier::file::read_own;
use ibid_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Gateway;

/// The version of the file.
const VERSION: u32 = 1;

/// The most that is read of a receipt, in bytes: it holds configuration files whole.
const LIMIT: u64 = 32 << 20;

/// What an installation wrote, with everything that taking it back needs. It holds the agent's
/// configuration as it was, secrets of that file included, and is for its owner alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    version: u32,
    /// The profile.
    pub profile: String,
    /// The version of Ibid that installed it.
    pub ibid: String,
    /// When it was installed last.
    pub installed_at: Timestamp,
    /// The words of the hook.
    pub command: Vec<String>,
    /// The gateway that the agent's configuration was pointed at.
    pub gateway: Option<Gateway>,
    /// The files that are Ibid's as a whole.
    pub files: Vec<ReceiptFile>,
    /// The directories that were made, each before those inside it.
    pub directories: Vec<PathBuf>,
    /// The agent's configuration files.
    pub configs: Vec<ReceiptConfig>,
    /// The digest of what the agent's plugin manager was given.
    pub delivered: String,
    /// Whether the manager is known to have taken it.
    pub confirmed: bool,
}

/// One file that is Ibid's as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptFile {
    /// Where.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

/// One configuration file of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptConfig {
    /// Where.
    pub path: PathBuf,
    /// Its bytes before the first installation, in base64; none when there was no file.
    pub before: Option<String>,
    /// The SHA-256 of what it was left as; none when somebody else has written to it between two
    /// installations, or Ibid itself does not write to it.
    pub after: Option<String>,
    /// What the patch changed, in the words of its grammar; none without a patch.
    pub patch: Option<Value>,
}

impl Receipt {
    /// A receipt of nothing yet.
    #[must_use]
    pub fn new(profile: &str, at: Timestamp, command: &[String]) -> Receipt {
        Receipt {
            version: VERSION,
            profile: profile.to_owned(),
            ibid: env!("CARGO_PKG_VERSION").to_owned(),
            installed_at: at,
            command: command.to_vec(),
            gateway: None,
            files: Vec::new(),
            directories: Vec::new(),
            configs: Vec::new(),
            delivered: String::new(),
            confirmed: false,
        }
    }

    /// Reads one; none when there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is not a receipt of this version. Nothing of its content is in
    /// the error.
    pub fn read(path: &Path) -> io::Result<Option<Receipt>> {
        let bytes = match read_own(path, LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let not_one = || io::Error::new(io::ErrorKind::InvalidData, "not a receipt that this version reads");
        let receipt: Receipt = serde_json::from_slice(&bytes).map_err(|_| not_one())?;
        if receipt.version == VERSION { Ok(Some(receipt)) } else { Err(not_one()) }
    }

    /// The file.
    ///
    /// # Errors
    /// When a path in it is not Unicode.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// What it says of a file.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<&ReceiptFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// What it says of a configuration.
    #[must_use]
    pub fn config(&self, path: &Path) -> Option<&ReceiptConfig> {
        self.configs.iter().find(|config| config.path == path)
    }
}

impl ReceiptConfig {
    /// The bytes before, decoded; none when there was no file.
    ///
    /// # Errors
    /// When they are not base64.
    pub fn bytes_before(&self) -> io::Result<Option<Vec<u8>>> {
        let decode = |text: &String| STANDARD.decode(text).map_err(|_| io::ErrorKind::InvalidData.into());
        self.before.as_ref().map(decode).transpose()
    }
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The SHA-256 of bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
