//! The text form: of a session that is one file its bytes, of any other a JSON document that holds
//! the files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ibid_carrier::jsonl::Document;
use ibid_model::CarrierRole;
use serde::{Deserialize, Serialize};

use super::{FilesBody, FilesHarness, SessionFile};
use crate::core::{CodecError, Transcript};

/// The version of the document.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Bundle {
    /// [`VERSION`].
    ibid_files: u32,
    harness: String,
    files: Vec<Entry>,
}

/// A file: its text, or its bytes where they are no text.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    role: CarrierRole,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// Reads a session from its text form.
///
/// # Errors
/// When it is a document with the files of another harness, or no text of this one.
pub fn from_text<H: FilesHarness>(text: &[u8]) -> Result<Transcript<H>, CodecError> {
    let body = match serde_json::from_slice::<Bundle>(text) {
        Ok(bundle) => unpack::<H>(bundle)?,
        Err(_) => {
            let document = Document::from_bytes(text.to_vec());
            FilesBody { files: vec![SessionFile::unplaced(H::MAIN, CarrierRole::Transcript, document)] }
        }
    };
    let transcript = Transcript { id: H::id(&body), body };
    H::to_common(&transcript)?;
    Ok(transcript)
}

fn unpack<H: FilesHarness>(bundle: Bundle) -> Result<FilesBody, CodecError> {
    let harness = H::DECLARATION;
    let foreign = |reason: String| CodecError::Foreign { harness: harness.name, reason };
    if bundle.ibid_files != VERSION {
        return Err(foreign(format!("version {} of the document is not known", bundle.ibid_files)));
    }
    if !harness.is_called(&bundle.harness) {
        return Err(foreign(format!("the document holds the files of {}", bundle.harness)));
    }
    let mut files = Vec::with_capacity(bundle.files.len());
    for Entry { name, role, text, base64 } in bundle.files {
        let bytes = match (text, base64) {
            (Some(text), _) => Bytes::from(text),
            (None, Some(coded)) => STANDARD
                .decode(coded)
                .map(Bytes::from)
                .map_err(|error| foreign(format!("the file {name} of the document is no Base64: {error}")))?,
            (None, None) => return Err(foreign(format!("the file {name} of the document has no content"))),
        };
        files.push(SessionFile::unplaced(name, role, Document::from_bytes(bytes)));
    }
    Ok(FilesBody { files })
}

/// Writes a session as text.
///
/// # Errors
/// When the document cannot be written.
pub fn to_text<H: FilesHarness>(transcript: &Transcript<H>) -> Result<Vec<u8>, CodecError> {
    if let [file] = transcript.body.files.as_slice()
        && file.name == H::MAIN
    {
        return Ok(file.document.bytes().to_vec());
    }
    let entry = |file: &SessionFile| {
        let (name, role) = (file.name.clone(), file.role);
        match std::str::from_utf8(file.document.bytes()) {
            Ok(text) => Entry { name, role, text: Some(text.to_owned()), base64: None },
            Err(_) => Entry { name, role, text: None, base64: Some(STANDARD.encode(file.document.bytes())) },
        }
    };
    let bundle = Bundle {
        ibid_files: VERSION,
        harness: H::DECLARATION.id.to_string(),
        files: transcript.body.files.iter().map(entry).collect(),
    };
    Ok(serde_json::to_vec(&bundle)?)
}
