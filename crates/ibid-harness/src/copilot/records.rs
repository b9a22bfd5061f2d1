//! The events of a session, typed as far as reading needs.
//!
//! One JSON object is one event: `{type, data, id, timestamp, parentId, agentId?}`, in which `parentId` is not used. Sources: files of
//! 1.0.102 and the JSON schema of events that it ships, and files of 0.0.420 to 1.0.77.

use ibid_model::{Json, Text};
use serde_json::value::RawValue;

use crate::families::fields::{Recorded, Taker, raw_fields, whole_surrogates};

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Its type.
    pub(super) kind: Text,
    /// Its id within the file.
    pub(super) id: Option<Text>,
    /// When it was recorded.
    pub(super) recorded: Recorded,
    /// The subagent that it belongs to.
    pub(super) agent: Option<Text>,
    /// The record as it was written.
    pub(super) whole: Json,
    /// What it says.
    pub(super) body: Body,
}

/// What an event says.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// `session.start`.
    Start(Start),
    /// `session.resume`, `session.context_changed`: where the session goes on.
    Place { cwd: Option<Text>, model: Option<Text> },
    /// `user.message`.
    Prompt(Prompt),
    /// `assistant.message`.
    Answer(Box<Answer>),
    /// `assistant.reasoning`.
    Reasoning(Option<Text>),
    /// `system.message` and `system.notification`: what the harness tells the model.
    System(Option<Text>),
    /// `tool.execution_start`, `external_tool.requested`.
    Begun(Request),
    /// `tool.user_requested`.
    Asked(Request),
    /// `tool.execution_complete`.
    Done(Box<Done>),
    /// `session.model_change`.
    Model(Option<Text>),
    /// `session.usage_record`, `assistant.usage`.
    Receipt(Box<Receipt>),
    /// `session.shutdown`.
    Shutdown(Shutdown),
    /// `session.compaction_complete`.
    Compaction(Box<Compacted>),
    /// `session.context_cleared`.
    Cleared(Option<Text>),
    /// `session.title_changed`.
    Title(Option<Text>),
    /// `subagent.started`.
    Agent { call: Option<Text> },
    /// `session.error`, `abort`, `session.info`, ...: with what it says to people.
    Said(Option<Text>),
    /// An event of any other type.
    Other,
    /// No type, or no data that is an object.
    Malformed,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    pub(super) id: Option<Text>,
    pub(super) version: Option<Text>,
    pub(super) producer: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) cwd: Option<Text>,
    pub(super) branch: Option<Text>,
    /// The session whose context it continues (`detachedFromSpawningParentSessionId`).
    pub(super) continues: Option<Text>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    pub(super) id: Option<Text>,
    pub(super) content: Option<Text>,
    /// Who sent it, where it was not typed (`agent-<id>`, `skill-<name>`, ...).
    pub(super) source: Option<Text>,
    /// Whether the autopilot put it there.
    pub(super) automatic: bool,
    pub(super) attachments: Vec<Json>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) id: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) content: Option<Text>,
    pub(super) reasoning: Option<Text>,
    /// Opaque thinking of a model of Anthropic.
    pub(super) opaque: Option<Text>,
    /// Encrypted thinking of a model of OpenAI.
    pub(super) encrypted: Option<Text>,
    /// The provider's blocks of thinking, each with its signature.
    pub(super) signed: Vec<(Text, Option<Text>)>,
    pub(super) requests: Vec<Request>,
    pub(super) output_tokens: Option<u64>,
    pub(super) api_call: Option<Text>,
    pub(super) request: Option<Text>,
    /// The call of the parent that started the subagent.
    pub(super) parent_call: Option<Text>,
}

/// A call, as the model asks for it or as it begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) call: Option<Text>,
    pub(super) name: Option<Text>,
    pub(super) arguments: Option<Json>,
    pub(super) server: Option<Text>,
    pub(super) server_tool: Option<Text>,
    pub(super) parent_call: Option<Text>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    pub(super) call: Option<Text>,
    pub(super) success: Option<bool>,
    pub(super) content: Option<Text>,
    pub(super) error: Option<Text>,
    pub(super) exit_code: Option<i64>,
    pub(super) binaries: Vec<Json>,
    /// What the model did not see, by name.
    pub(super) beside: Vec<(&'static str, Json)>,
}

/// Tokens of one call or of several. Input holds what the cache gave and took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tokens {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    pub(super) reasoning: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Receipt {
    pub(super) model: Option<Text>,
    pub(super) tokens: Tokens,
    pub(super) api_call: Option<Text>,
    pub(super) request: Option<Text>,
    /// Which of the receipts it is: the session that accounts for it, and its number there.
    pub(super) number: Option<(Text, u64)>,
    pub(super) finish: Option<Text>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Shutdown {
    /// When the run or the session began whose sums these are, as JSON.
    pub(super) began: Option<Text>,
    /// The sums by model.
    pub(super) models: Vec<(Text, Tokens)>,
    /// The sums of all models, in parts that do not overlap.
    pub(super) details: Option<Tokens>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Compacted {
    pub(super) success: bool,
    pub(super) summary: Option<Text>,
    pub(super) trigger: Option<Text>,
    pub(super) tokens_before: Option<u64>,
    pub(super) model: Option<Text>,
    pub(super) tokens: Tokens,
    pub(super) error: Option<Text>,
}

raw_fields!(Envelope { r#type, data, id, timestamp, agent_id });
raw_fields!(StartFields {
    session_id,
    copilot_version,
    producer,
    selected_model,
    context,
    detached_from_spawning_parent_session_id,
});
raw_fields!(ContextFields { cwd, branch });
raw_fields!(PromptFields { content, message_id, source, is_autopilot_continuation, attachments });
raw_fields!(AnswerFields {
    message_id,
    model,
    content,
    reasoning_text,
    reasoning_opaque,
    encrypted_content,
    reasoning_blocks,
    tool_requests,
    output_tokens,
    api_call_id,
    request_id,
    parent_tool_call_id,
});
raw_fields!(SignedFields { blocks });
raw_fields!(SignedBlock { thinking, signature });
raw_fields!(RequestFields {
    tool_call_id,
    name,
    tool_name,
    arguments,
    mcp_server_name,
    mcp_tool_name,
    parent_tool_call_id,
});
raw_fields!(DoneFields { tool_call_id, success, result, error, shell_execution, file_edits, status, output });
raw_fields!(ResultFields { content, detailed_content, contents, structured_content, binary_results_for_llm });
raw_fields!(MessageFields { message, content, reason, title, new_model, initial_message, tool_call_id });
raw_fields!(ExitFields { exit_code });
raw_fields!(UsageRecordFields { usage });
raw_fields!(UsageFields {
    model,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    cache_write_tokens,
    reasoning_tokens,
    api_call_id,
    provider_call_id,
    accounting,
    finish_reason,
});
raw_fields!(AccountingFields { source_session_id, sequence });
raw_fields!(ShutdownFields { session_start_time, model_metrics, token_details });
raw_fields!(MetricFields { usage });
raw_fields!(CountFields { token_count });
raw_fields!(CompactedFields {
    success,
    summary_content,
    trigger,
    pre_compaction_tokens,
    model,
    compaction_tokens_used,
    error,
});

/// The entries of a JSON object, in their order.
type Members<'a> = std::collections::BTreeMap<String, &'a RawValue>;

impl Event {
    /// Reads one event from the text of one object.
    ///
    /// # Errors
    /// When the text is not one JSON object, or has a fault that its carrier can repair.
    pub(super) fn read(whole: &Text) -> Result<Event, serde_json::Error> {
        whole_surrogates(whole)?;
        let fields: Envelope<'_> = serde_json::from_str(whole)?;
        let take = Taker { whole };
        let kind = take.text(fields.r#type).unwrap_or_default();
        let data = fields.data.filter(|data| data.get().starts_with('{'));
        let body = match data {
            Some(data) if !kind.is_empty() => read_body(&take, &kind, data)?,
            _ => Body::Malformed,
        };
        Ok(Event {
            id: take.text(fields.id).filter(|id| !id.is_empty()),
            recorded: take.recorded(fields.timestamp, None),
            agent: take.text(fields.agent_id).filter(|id| !id.is_empty()),
            whole: Json::from_text(whole.clone())?,
            kind,
            body,
        })
    }
}

fn read_body<'a>(take: &Taker<'a>, kind: &str, data: &'a RawValue) -> Result<Body, serde_json::Error> {
    let data = data.get();
    Ok(match kind {
        "session.start" => {
            let fields: StartFields<'a> = serde_json::from_str(data)?;
            let context: ContextFields<'a> = take.value(fields.context).unwrap_or_default();
            Body::Start(Start {
                id: take.text(fields.session_id).filter(|id| !id.is_blank()),
                version: take.text(fields.copilot_version),
                producer: take.text(fields.producer),
                model: take.text(fields.selected_model),
                cwd: take.text(context.cwd),
                branch: take.text(context.branch),
                continues: take.text(fields.detached_from_spawning_parent_session_id),
            })
        }
        "session.resume" => {
            let fields: StartFields<'a> = serde_json::from_str(data)?;
            let context: ContextFields<'a> = take.value(fields.context).unwrap_or_default();
            Body::Place { cwd: take.text(context.cwd), model: take.text(fields.selected_model) }
        }
        "session.context_changed" => {
            let fields: ContextFields<'a> = serde_json::from_str(data)?;
            Body::Place { cwd: take.text(fields.cwd), model: None }
        }
        "user.message" => {
            let fields: PromptFields<'a> = serde_json::from_str(data)?;
            Body::Prompt(Prompt {
                id: take.text(fields.message_id).filter(|id| !id.is_empty()),
                content: take.text(fields.content),
                source: take.text(fields.source).filter(|source| !source.is_blank()),
                automatic: take.value(fields.is_autopilot_continuation).unwrap_or(false),
                attachments: jsons(take, fields.attachments),
            })
        }
        "assistant.message" => Body::Answer(Box::new(read_answer(take, serde_json::from_str(data)?))),
        "assistant.reasoning" | "system.message" | "system.notification" => {
            let fields: MessageFields<'a> = serde_json::from_str(data)?;
            let content = take.text(fields.content);
            match kind {
                "assistant.reasoning" => Body::Reasoning(content),
                _ => Body::System(content),
            }
        }
        "tool.execution_start" | "external_tool.requested" => {
            Body::Begun(read_request(take, &serde_json::from_str(data)?))
        }
        "tool.user_requested" => Body::Asked(read_request(take, &serde_json::from_str(data)?)),
        "tool.execution_complete" => Body::Done(Box::new(read_done(take, &serde_json::from_str(data)?))),
        "session.usage_record" => {
            let fields: UsageRecordFields<'a> = serde_json::from_str(data)?;
            match fields.usage.and_then(|usage| serde_json::from_str(usage.get()).ok()) {
                Some(usage) => Body::Receipt(Box::new(read_receipt(take, &usage))),
                None => Body::Malformed,
            }
        }
        "assistant.usage" => Body::Receipt(Box::new(read_receipt(take, &serde_json::from_str(data)?))),
        "session.shutdown" => Body::Shutdown(read_shutdown(take, &serde_json::from_str(data)?)),
        "session.compaction_complete" => {
            let fields: CompactedFields<'a> = serde_json::from_str(data)?;
            let used: UsageFields<'a> = take.value(fields.compaction_tokens_used).unwrap_or_default();
            Body::Compaction(Box::new(Compacted {
                success: take.value(fields.success).unwrap_or(false),
                summary: take.text(fields.summary_content).filter(|summary| !summary.is_blank()),
                trigger: take.text(fields.trigger),
                tokens_before: take.count(fields.pre_compaction_tokens),
                model: take.text(used.model).or_else(|| take.text(fields.model)),
                tokens: read_tokens(take, &used),
                error: take.text(fields.error),
            }))
        }
        "session.model_change"
        | "session.context_cleared"
        | "session.title_changed"
        | "subagent.started"
        | "session.error"
        | "session.warning"
        | "session.info"
        | "abort" => {
            let fields: MessageFields<'a> = serde_json::from_str(data)?;
            match kind {
                "session.model_change" => Body::Model(take.text(fields.new_model)),
                "session.context_cleared" => Body::Cleared(take.text(fields.initial_message)),
                "session.title_changed" => Body::Title(take.text(fields.title)),
                "subagent.started" => Body::Agent { call: take.text(fields.tool_call_id) },
                _ => Body::Said(take.text(fields.message).or_else(|| take.text(fields.reason))),
            }
        }
        _ => Body::Other,
    })
}

fn read_answer<'a>(take: &Taker<'a>, fields: AnswerFields<'a>) -> Answer {
    let blocks: SignedFields<'a> = take.value(fields.reasoning_blocks).unwrap_or_default();
    let blocks: Vec<&'a RawValue> = take.value(blocks.blocks).unwrap_or_default();
    let signed = blocks.into_iter().filter_map(|block| {
        let block: SignedBlock<'a> = serde_json::from_str(block.get()).ok()?;
        Some((take.text(block.thinking)?, take.text(block.signature)))
    });
    let requests: Vec<&'a RawValue> = take.value(fields.tool_requests).unwrap_or_default();
    let requests = requests.into_iter().filter_map(|request| serde_json::from_str(request.get()).ok());
    Answer {
        id: take.text(fields.message_id).filter(|id| !id.is_empty()),
        model: take.text(fields.model).filter(|model| !model.is_blank()),
        content: take.text(fields.content).filter(|content| !content.is_empty()),
        reasoning: take.text(fields.reasoning_text).filter(|text| !text.is_empty()),
        opaque: take.text(fields.reasoning_opaque).filter(|text| !text.is_empty()),
        encrypted: take.text(fields.encrypted_content).filter(|text| !text.is_empty()),
        signed: signed.collect(),
        requests: requests.map(|fields: RequestFields<'a>| read_request(take, &fields)).collect(),
        output_tokens: take.count(fields.output_tokens),
        api_call: take.text(fields.api_call_id).filter(|id| !id.is_empty()),
        request: take.text(fields.request_id),
        parent_call: take.text(fields.parent_tool_call_id),
    }
}

fn read_request<'a>(take: &Taker<'a>, fields: &RequestFields<'a>) -> Request {
    Request {
        call: take.text(fields.tool_call_id).filter(|id| !id.is_empty()),
        name: take.text(fields.tool_name).or_else(|| take.text(fields.name)),
        arguments: take.json(fields.arguments),
        server: take.text(fields.mcp_server_name),
        server_tool: take.text(fields.mcp_tool_name),
        parent_call: take.text(fields.parent_tool_call_id),
    }
}

fn read_done<'a>(take: &Taker<'a>, fields: &DoneFields<'a>) -> Done {
    let result: ResultFields<'a> = take.value(fields.result).unwrap_or_default();
    let exit: ExitFields<'a> = take.value(fields.shell_execution).unwrap_or_default();
    let error: MessageFields<'a> = take.value(fields.error).unwrap_or_default();
    let beside = [
        ("shellExecution", fields.shell_execution),
        ("fileEdits", fields.file_edits),
        ("detailedContent", result.detailed_content),
        ("contents", result.contents),
        ("structuredContent", result.structured_content),
    ];
    Done {
        call: take.text(fields.tool_call_id).filter(|id| !id.is_empty()),
        success: take.value(fields.success).or_else(|| {
            // The transcripts of the editor's chat say it in a word.
            take.text(fields.status).map(|status| status == "success")
        }),
        content: take.text(result.content).or_else(|| take.text(fields.output)),
        error: take.text(error.message).or_else(|| take.text(fields.error)),
        exit_code: take.value(exit.exit_code),
        binaries: jsons(take, result.binary_results_for_llm),
        beside: beside.into_iter().filter_map(|(name, raw)| Some((name, take.json(raw)?))).collect(),
    }
}

fn read_tokens<'a>(take: &Taker<'a>, fields: &UsageFields<'a>) -> Tokens {
    Tokens {
        input: take.count(fields.input_tokens),
        output: take.count(fields.output_tokens),
        cache_read: take.count(fields.cache_read_tokens),
        cache_write: take.count(fields.cache_write_tokens),
        reasoning: take.count(fields.reasoning_tokens),
    }
}

fn read_receipt<'a>(take: &Taker<'a>, fields: &UsageFields<'a>) -> Receipt {
    let accounting: AccountingFields<'a> = take.value(fields.accounting).unwrap_or_default();
    Receipt {
        model: take.text(fields.model).filter(|model| !model.is_blank()),
        tokens: read_tokens(take, fields),
        api_call: take.text(fields.api_call_id).filter(|id| !id.is_empty()),
        request: take.text(fields.provider_call_id),
        number: take.text(accounting.source_session_id).zip(take.count(accounting.sequence)),
        finish: take.text(fields.finish_reason),
    }
}

fn read_shutdown<'a>(take: &Taker<'a>, fields: &ShutdownFields<'a>) -> Shutdown {
    let metrics: Members<'a> = take.value(fields.model_metrics).unwrap_or_default();
    let models = metrics.into_iter().filter_map(|(model, metric)| {
        let metric: MetricFields<'a> = serde_json::from_str(metric.get()).ok()?;
        let usage: UsageFields<'a> = serde_json::from_str(metric.usage?.get()).ok()?;
        Some((Text::from(model), read_tokens(take, &usage)))
    });
    let details: Option<Members<'a>> = take.value(fields.token_details);
    let count = |details: &Members<'a>, name: &str| {
        let count: CountFields<'a> = serde_json::from_str(details.get(name)?.get()).ok()?;
        take.count(count.token_count)
    };
    Shutdown {
        began: take.raw(fields.session_start_time),
        models: models.collect(),
        details: details.map(|details| Tokens {
            input: count(&details, "input"),
            output: count(&details, "output"),
            cache_read: count(&details, "cache_read"),
            cache_write: count(&details, "cache_write"),
            reasoning: None,
        }),
    }
}

fn jsons<'a>(take: &Taker<'a>, list: Option<&'a RawValue>) -> Vec<Json> {
    let items: Vec<&'a RawValue> = take.value(list).unwrap_or_default();
    items.into_iter().map(|item| Json::part_of(take.whole, item)).collect()
}
