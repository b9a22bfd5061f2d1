//! pi's tools and the common ones.
//!
//! `bash`, `read`, `write`, `edit`, `grep`, `find` and `ls` have typed forms (pi 0.73.1 and 1.6.0;
//! before that `edit` had one `oldText` and `newText` beside the path). MCP tools are named
//! `mcp__<server>__<tool>` (pi 1.6.0, `docs/mcp.md`). Every other call is raw.

use ibid_model::{
    Argument, Edit, Find, Json, List, Mcp, Raw, Read, Replacement, Search, Shell, Text, Tool, Write,
};
use serde::{Deserialize, Serialize};

use crate::core::Arguments;
use crate::families::mcp_name;

/// The longest tool name that providers accept.
const NAME_BYTES: usize = 64;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NativeReplacement {
    old_text: String,
    new_text: String,
    /// Not pi's: kept so that a replacement of all occurrences comes back as one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    replace_all: bool,
}

impl From<NativeReplacement> for Replacement {
    fn from(native: NativeReplacement) -> Replacement {
        let NativeReplacement { old_text, new_text, replace_all } = native;
        Replacement { old: old_text.into(), new: new_text.into(), all: replace_all }
    }
}

/// The common form of a call, and the arguments that it has no field for.
pub(crate) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    if let Some((server, tool)) = mcp_name::parts(name) {
        let part = |part: &str| Text::part_of(name, part);
        let mcp = Mcp { server: part(server), tool: part(tool), input: input.clone() };
        return (Tool::Mcp(mcp), Vec::new());
    }
    let encode = |tool: &Tool| {
        let (back, arguments) = encode_typed(tool)?;
        (back == name.as_str()).then_some(arguments)
    };
    Arguments::typed(input, |arguments| decode_typed(name, arguments), encode)
        .unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

fn decode_typed(name: &str, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "bash" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: arguments.take_text("cwd"),
            timeout_ms: take_seconds(arguments),
            description: arguments.take_text("description"),
            background: arguments.take("background"),
        }),
        "read" => Tool::Read(Read {
            path: arguments.take_text("path")?,
            offset: arguments.take("offset"),
            limit: arguments.take("limit"),
        }),
        "write" => Tool::Write(Write {
            path: arguments.take_text("path")?,
            content: arguments.take_text("content")?,
        }),
        "edit" => Tool::Edit(Edit { path: arguments.take_text("path")?, edits: take_edits(arguments)? }),
        "grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "find" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("path") })
        }
        "ls" => Tool::List(List { path: arguments.take_text("path") }),
        _ => return None,
    })
}

/// pi's timeout is in seconds, and may be a fraction.
fn take_seconds(arguments: &mut Arguments) -> Option<u64> {
    let written = arguments.take_json("timeout")?;
    let seconds: Option<f64> = written.read().ok();
    let milliseconds = seconds.map(|seconds| seconds * 1000.0).filter(|ms| {
        // A day of milliseconds is far below where floats become inexact.
        *ms >= 0.0 && *ms <= 86_400_000.0 * 365.0 && (ms - ms.round()).abs() < 1e-6
    });
    if milliseconds.is_none() {
        arguments.push("timeout", &written);
    }
    milliseconds.map(|ms| ms.round() as u64)
}

fn take_edits(arguments: &mut Arguments) -> Option<Vec<Replacement>> {
    if arguments.has("edits") {
        let edits: Vec<NativeReplacement> = arguments.take("edits")?;
        return (!edits.is_empty()).then(|| edits.into_iter().map(Replacement::from).collect());
    }
    let (old, new) = (arguments.take_text("oldText")?, arguments.take_text("newText")?);
    Some(vec![Replacement { old, new, all: false }])
}

/// pi's own name and arguments for a tool, where it has one.
fn encode_typed(tool: &Tool) -> Option<(&'static str, Arguments)> {
    let mut arguments = Arguments::default();
    let name = match tool {
        Tool::Shell(shell) => {
            arguments.push("command", &shell.command);
            match shell.timeout_ms {
                Some(ms) if ms % 1000 == 0 => arguments.push("timeout", &(ms / 1000)),
                Some(ms) => arguments.push("timeout", &(ms as f64 / 1000.0)),
                None => {}
            }
            arguments.push_some("cwd", shell.cwd.as_ref());
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("background", shell.background.as_ref());
            "bash"
        }
        Tool::Read(read) => {
            arguments.push("path", &read.path);
            arguments.push_some("offset", read.offset.as_ref());
            arguments.push_some("limit", read.limit.as_ref());
            "read"
        }
        Tool::Write(write) => {
            arguments.push("path", &write.path);
            arguments.push("content", &write.content);
            "write"
        }
        Tool::Edit(edit) => {
            let native = |edit: &Replacement| NativeReplacement {
                old_text: edit.old.to_string(),
                new_text: edit.new.to_string(),
                replace_all: edit.all,
            };
            arguments.push("path", &edit.path);
            arguments.push("edits", &edit.edits.iter().map(native).collect::<Vec<_>>());
            "edit"
        }
        Tool::Search(search) => {
            arguments.push("pattern", &search.pattern);
            arguments.push_some("path", search.path.as_ref());
            arguments.push_some("glob", search.glob.as_ref());
            "grep"
        }
        Tool::Find(find) => {
            arguments.push("pattern", &find.pattern);
            arguments.push_some("path", find.path.as_ref());
            "find"
        }
        Tool::List(list) => {
            arguments.push_some("path", list.path.as_ref());
            "ls"
        }
        _ => return None,
    };
    Some((name, arguments))
}

/// How a call was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    /// The name.
    pub(super) name: Text,
    /// The input, always an object.
    pub(super) input: Json,
    /// Whether pi has no tool of its own for it.
    pub(super) raw: bool,
    /// Whether the name had to be spelled otherwise.
    pub(super) renamed: bool,
    /// Whether the input had to be wrapped.
    pub(super) wrapped: bool,
}

/// Writes a call: in pi's own name and arguments where it has the tool, else under the name and
/// with the input that the source has.
pub(super) fn encode(name: &Text, tool: &Tool, extra: &[Argument]) -> Encoded {
    if let Some((native, arguments)) = encode_typed(tool) {
        let mut all = arguments;
        all.push_rest(extra);
        let input = all.to_json();
        let native = Text::from(native);
        let (back, _) = decode(&native, &input);
        if back == *tool {
            return Encoded { name: native, input, raw: false, renamed: false, wrapped: false };
        }
    }
    if let Tool::Mcp(mcp) = tool {
        let full = Text::from(format!("mcp__{}__{}", mcp.server, mcp.tool));
        let same = matches!(decode(&full, &mcp.input), (Tool::Mcp(back), _) if back == *mcp);
        if same && spelled(&full) == full && mcp.input.is_object() {
            return Encoded {
                name: full,
                input: mcp.input.clone(),
                raw: false,
                renamed: false,
                wrapped: false,
            };
        }
    }
    let input = match tool {
        Tool::Raw(raw) => raw.input.clone(),
        Tool::Mcp(mcp) => mcp.input.clone(),
        typed => plain_input(typed, extra),
    };
    let name = match tool {
        Tool::Raw(raw) => &raw.name,
        _ => name,
    };
    let spelled = spelled(name);
    let wrapped = !input.is_object();
    let input = match wrapped {
        true => {
            let mut arguments = Arguments::default();
            arguments.push("input", &input);
            arguments.to_json()
        }
        false => input,
    };
    Encoded { renamed: spelled != *name, name: spelled, input, raw: true, wrapped }
}

/// The fields of a typed tool that pi lacks, by the names of the common form.
fn plain_input(tool: &Tool, extra: &[Argument]) -> Json {
    let fields = Json::of(tool).ok().and_then(|json| Arguments::of(&json));
    let mut arguments = fields.unwrap_or_default();
    arguments.take_json("kind");
    arguments.push_rest(extra);
    arguments.to_json()
}

/// A name in the characters that every provider accepts.
fn spelled(name: &Text) -> Text {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(fits) {
        return name.clone();
    }
    let spelled: String = name.chars().take(NAME_BYTES).map(|c| if fits(c) { c } else { '_' }).collect();
    Text::from(if spelled.is_empty() { "tool".to_owned() } else { spelled })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(name: &str, input: &str) -> (Tool, Vec<Argument>) {
        decode(&Text::from(name), &Json::from_text(input).unwrap())
    }

    #[test]
    fn a_timeout_is_in_seconds_and_comes_back_as_it_was() {
        let (tool, extra) = decoded("bash", r#"{"command":"ls","timeout":1.5,"why":"x"}"#);
        let Tool::Shell(shell) = &tool else { panic!("{tool:?}") };
        assert_eq!(shell.timeout_ms, Some(1500));
        assert_eq!(extra.len(), 1);
        let written = encode(&"bash".into(), &tool, &extra);
        assert_eq!(written.input.as_str(), r#"{"command":"ls","timeout":1.5,"why":"x"}"#);
    }

    #[test]
    fn the_old_form_of_edit_is_one_replacement() {
        let (tool, _) = decoded("edit", r#"{"path":"a","oldText":"x","newText":"y"}"#);
        assert!(matches!(tool, Tool::Edit(edit) if edit.edits.len() == 1));
    }

    #[test]
    fn a_call_whose_arguments_do_not_fit_stays_raw() {
        for (name, input) in [
            ("bash", r#"{"cmd":"ls"}"#),
            ("edit", r#"{"path":"a","edits":[]}"#),
            ("edit", r#"{"path":"a","edits":[{"oldText":"x","newText":"y","line":3}]}"#),
            ("read", r#"[1]"#),
            ("Bash", r#"{"command":"ls"}"#),
        ] {
            assert!(matches!(decoded(name, input).0, Tool::Raw(_)), "{name} {input}");
        }
    }

    #[test]
    fn an_mcp_name_that_could_be_cut_in_two_ways_stays_raw() {
        assert!(matches!(decoded("mcp__s__t_u", "{}").0, Tool::Mcp(mcp) if mcp.tool == "t_u"));
        assert!(matches!(decoded("mcp__s__t__u", "{}").0, Tool::Raw(_)));
        assert!(matches!(decoded("mcp__s___t", "{}").0, Tool::Raw(_)));
    }

    #[test]
    fn an_input_that_is_no_object_is_wrapped_and_a_name_is_spelled_for_providers() {
        let raw = Tool::Raw(Raw { name: "my tool".into(), input: Json::string("free text") });
        let written = encode(&"my tool".into(), &raw, &[]);
        assert!(written.renamed && written.wrapped && written.raw);
        assert_eq!((written.name.as_str(), written.input.as_str()), ("my_tool", r#"{"input":"free text"}"#));
    }
}
