//! From the carriers to the common session, and from a common session to carriers.

use ibid_model::{Argument, Finding, Json, Session, Text, TitleOrigin, Tool};

use super::body::{Body, SessionBody, SubagentBody, infos};
use super::describe::{foreign_content, named_otherwise};
use super::record::{self, Record};
use super::{Cowork, DECLARATION};
use crate::core::{Codec, CodecError, Common, Converted, Target, Transcript};
use crate::families::claude_rows::{self, AgentMeta, Assembled, Shape, spawned};

impl Codec for Cowork {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        let mut common = match &transcript.body {
            Body::Session(body) => session(transcript, body)?,
            Body::Subagent(body) => subagent(transcript, body)?,
        };
        common.session.carriers = infos(&transcript.body);
        Ok(common)
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        super::write::from_common(session, target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        claude_rows::read_call(name, input)
    }
}

fn session(transcript: &Transcript<Cowork>, body: &SessionBody) -> Result<Common, CodecError> {
    let foreign = |reason| CodecError::Foreign { harness: DECLARATION.name, reason };
    let record =
        Record::read(body.record.bytes()).map_err(|reason| foreign(format!("of the record, {reason}")))?;
    let path = body.record.path();
    let mut findings: Vec<Finding> =
        record::at(path, body.record.findings().iter().chain(&record.findings).cloned().collect()).collect();
    findings.extend(path.map(|path| named_otherwise(&record, path)).unwrap_or_default());
    findings.extend(body.findings.iter().cloned());
    let mut session = match &body.transcript {
        None => Session::new(DECLARATION.id.as_str(), transcript.id.clone()),
        Some(rows) => {
            let (assembly, more) = claude_rows::read(rows);
            findings.extend(record::at(rows.path(), more));
            if assembly.shape() == Shape::Foreign {
                findings.push(foreign_content(rows.path().unwrap_or(std::path::Path::new(""))));
            }
            let Assembled { session, findings: more } =
                assembly.finish(DECLARATION.id.as_str(), transcript.id.clone(), false);
            findings.extend(record::at(rows.path(), more));
            session
        }
    };
    session.meta = record.facts(session.meta);
    Ok(Common { session, findings })
}

fn subagent(transcript: &Transcript<Cowork>, body: &SubagentBody) -> Result<Common, CodecError> {
    let rows = &body.transcript;
    let (assembly, more) = claude_rows::read(rows);
    let mut findings = body.findings.clone();
    findings.extend(record::at(rows.path(), more));
    if assembly.shape() == Shape::Foreign {
        let reason = "there are no rows of type user or assistant with a message".to_owned();
        return Err(CodecError::Foreign { harness: DECLARATION.name, reason });
    }
    let Assembled { mut session, findings: more } =
        assembly.finish(DECLARATION.id.as_str(), transcript.id.clone(), true);
    findings.extend(record::at(rows.path(), more));
    let meta = body.meta.as_ref().and_then(|meta| AgentMeta::read(meta.bytes()));
    if let Some(description) = meta.as_ref().and_then(|meta| meta.description.as_ref()) {
        session.meta.offer_title(description, TitleOrigin::Agent);
    }
    let agent = transcript.id.as_str().rsplit_once('/').map(|(_, agent)| agent);
    session.lineage.push(spawned(body.spawned_by.clone(), agent, meta.as_ref()));
    Ok(Common { session, findings })
}
