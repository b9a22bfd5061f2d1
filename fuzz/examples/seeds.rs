//! Makes what the fuzz targets of the harnesses begin with: `seeds FOLDER` writes the sessions of
//! `fixtures/`, in the text form of each harness and converted to it, into a folder for each
//! target. Without them most targets would never get as far as a session.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyTranscript, Context, Surroundings, Target};
use ibid_model::Session;

/// Larger files make a fuzz target slow.
const LARGEST: usize = 64 << 10;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map_or_else(|| PathBuf::from("fuzz/corpus"), PathBuf::from);
    let mut written = 0;
    for (native, session) in sessions()? {
        written += usize::from(write(&native, &folder, &session, "native")?);
        for harness in ibid_harness::all() {
            let Ok(made) = harness.from_common(&session, &Target::default()) else { continue };
            written += usize::from(write(&made.value, &folder, &session, "converted")?);
        }
    }
    written += frames(&folder.join("evidence_frames"))?;
    written += requests(&fixtures("contracts/envelope"), &folder.join("envelope"))?;
    written += payloads(&fixtures("hooks"), &folder.join("hooks"))?;
    println!("{written} seeds");
    Ok(())
}

/// Writes the requests of the conformance suite of the evidence protocol, but for the long ones.
fn frames(folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/evidence");
    let mut written = 0;
    for file in
        fs::read_dir(suite)?.flatten().filter(|file| file.path().extension().is_some_and(|e| e == "jsonl"))
    {
        for case in fs::read_to_string(file.path())?.lines() {
            let case: serde_json::Value = serde_json::from_str(case)?;
            let pieces: Vec<&str> =
                case["send"].as_array().into_iter().flatten().filter_map(|s| s.as_str()).collect();
            fs::write(folder.join(format!("suite-{written}")), pieces.concat())?;
            written += 1;
        }
    }
    Ok(written)
}

/// A folder of `fixtures/`.
fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

/// Writes the headers of the cases of the envelope, as they stand in a request.
fn requests(cases: &Path, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut written = 0;
    for file in fs::read_dir(cases)?.flatten() {
        let Ok(case) = serde_json::from_slice::<serde_json::Value>(&fs::read(file.path())?) else { continue };
        let headers = case["headers"].as_object().into_iter().flatten();
        let lines: String = headers
            .map(|(name, value)| format!("{name}: {}\n", value.as_str().unwrap_or_default()))
            .collect();
        fs::write(folder.join(file.file_name()), lines)?;
        written += 1;
    }
    Ok(written)
}

/// Copies what the real programs gave their hooks.
fn payloads(from: &Path, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let mut written = 0;
    for entry in fs::read_dir(from)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            written += payloads(&path, folder)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let payload = fs::read(&path)?;
            let tail: Vec<_> = path.iter().rev().take(4).map(|part| part.to_string_lossy()).collect();
            fs::write(folder.join(tail.join("-")), payload)?;
            written += 1;
        }
    }
    Ok(written)
}

/// Writes one session in the text form of a harness, unless that is too large.
fn write(made: &AnyTranscript, folder: &Path, session: &Session, how: &str) -> io::Result<bool> {
    let Ok(text) = made.to_text() else { return Ok(false) };
    if text.len() > LARGEST {
        return Ok(false);
    }
    let folder = folder.join(made.declaration().id.as_str().replace('-', "_"));
    fs::create_dir_all(&folder)?;
    let id: String = session.id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    fs::write(folder.join(format!("{}-{id}-{how}", session.harness)), text)?;
    Ok(true)
}

/// The sessions of all fixtures that lie as they do in a home.
fn sessions() -> io::Result<Vec<(AnyTranscript, Session)>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let cache = env::temp_dir().join("ibid-seeds");
    let limits = Limits::default();
    let mut sessions = Vec::new();
    for harness in fs::read_dir(fixtures)?.flatten() {
        for version in fs::read_dir(harness.path()).into_iter().flatten().flatten() {
            let home = version.path();
            let machine = Surroundings::isolated(&home).with_variable("XDG_CACHE_HOME", &cache);
            let context = Context { machine: &machine, limits: &limits };
            for harness in ibid_harness::all() {
                for root in harness.roots(&machine) {
                    for listed in harness.list(&root, &context).sessions {
                        let Ok(transcript) = harness.load(&listed.reference, &context) else { continue };
                        let Ok(common) = transcript.to_common() else { continue };
                        sessions.push((transcript, common.session));
                    }
                }
            }
        }
    }
    let _ = fs::remove_dir_all(cache);
    Ok(sessions)
}
