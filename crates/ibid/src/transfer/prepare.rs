//! From the material to a plan.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result, bail};
use ibid_carrier::plan::{Plan, Policy, Step};
use ibid_harness::{AnyTranscript, Converted, Reference, SaveOptions, Saving, Target};
use ibid_model::{Block, LossKind, Losses, Selection, Session, SessionId, Span, essence, estimated_tokens};

use super::story::difference;
use super::{IdWish, Made, Material, Piece, Transfer, Wishes};
use crate::exit::Failure;
use crate::machine::Machine;
use crate::output;

/// Converts the material and plans to write it. Nothing is written.
///
/// # Errors
/// When there is no conversation to bring over; when the target cannot hold the session, has no
/// place for it, or has one of the same id; and when what the target would read differs from the
/// source in more than the losses.
pub(crate) fn prepare(machine: &Machine, material: &Material, wishes: &Wishes) -> Result<Transfer> {
    // A native copy keeps what could not be read; a conversion has nothing to carry there.
    let exact = exact(&material.parent, wishes, &wishes.selection).is_some();
    material.check(exact && wishes.out.is_some())?;
    let losses = if exact { Losses::none() } else { Losses::unreadable(&material.findings) };
    let mut work = Work { machine, wishes, losses, notes: Vec::new(), roots: Vec::new() };
    let parent = work.piece(&material.parent, &wishes.selection, id_of(&material.parent, wishes)?, None)?;
    if let Some(count) = material.redactions.filter(|count| *count > 0) {
        let (secrets, place) = match count {
            1 => ("1 secret was", "its place"),
            _ => ("secrets were", "their place"),
        };
        let secrets = if count == 1 { secrets.to_owned() } else { format!("{count} {secrets}") };
        work.notes.push(format!("{secrets} replaced in this document; the session has marks in {place}"));
    }
    let mut savings = vec![parent];
    let mut known: HashMap<SessionId, (SessionId, Reference)> = HashMap::new();
    work.remember(&material.parent, &savings, &mut known);
    let mut left_out = false;
    for child in work.children(material) {
        let above = child.session.parent().and_then(|id| known.get(id));
        let first = savings.first().map(|(saving, _)| (saving.id.clone(), saving.reference.clone()));
        let above = above.cloned().or(first);
        let keep = (wishes.id == IdWish::Keep).then(|| child.session.id.clone());
        let before = (work.losses.clone(), work.notes.clone());
        let (saving, made) =
            work.piece(child, &Selection::default(), Wanted { id: keep, ..Wanted::default() }, above)?;
        if savings.iter().any(|(other, _)| collide(&other.plan, &saving.plan)) {
            (work.losses, work.notes) = before;
            work.losses.add(LossKind::Subagents, None, None);
            left_out = true;
            continue;
        }
        savings.push((saving, made));
        work.remember(child, &savings, &mut known);
    }
    if left_out {
        work.notes.push(format!(
            "only one session can go into a store of {} that is yet to be made, so subagents stay behind; start \
             the program once, or convert the session again with --replace",
            wishes.to.declaration().name
        ));
    }
    let view = material.parent.session.view(&wishes.selection);
    let tokens = estimated_tokens(view.messages.iter().copied());
    let window = wishes.to.declaration().context_window;
    if tokens > window {
        work.notes.push(format!(
            "the session has about {tokens} tokens, and the context window of {} is {window}; it may refuse \
             or compact it at once (a range such as #50-, or --from-compaction, carries less)",
            wishes.to.declaration().name
        ));
    }
    let mut policy = Policy::within(work.roots);
    policy.replace_existing = wishes.replace;
    let labels = savings.first().map(|(saving, _)| saving.plan.labels.clone()).unwrap_or_default();
    // What makes the session visible comes last, so its subagents come before it.
    let steps = savings.iter().rev().flat_map(|(saving, _)| saving.plan.steps.iter());
    Ok(Transfer {
        to: wishes.to,
        plan: Plan { steps: distinct(steps), labels },
        policy,
        elsewhere: wishes.out.is_some(),
        losses: work.losses,
        findings: material.findings.clone(),
        notes: work.notes,
        made: savings.into_iter().map(|(_, made)| made).collect(),
    })
}

/// The native form, when it can be saved as it is: the target is the same harness, and nothing
/// about the session is to become another.
fn exact<'p>(piece: &'p Piece, wishes: &Wishes, selection: &Selection) -> Option<&'p AnyTranscript> {
    let same = |native: &&AnyTranscript| native.declaration().id == wishes.to.declaration().id;
    let native = piece.native.as_ref().filter(same)?;
    let whole = *selection == Selection::default();
    (whole && wishes.id == IdWish::Keep && wishes.cwd.is_none()).then_some(native)
}

/// The id that is asked for, or what makes the derived one another.
#[derive(Default)]
struct Wanted {
    id: Option<SessionId>,
    variant: Option<u32>,
}

fn id_of(piece: &Piece, wishes: &Wishes) -> Result<Wanted> {
    match wishes.id {
        IdWish::Derived => Ok(Wanted::default()),
        IdWish::Keep => Ok(Wanted { id: Some(piece.session.id.clone()), variant: None }),
        IdWish::New => {
            let bounded = wishes.selection.span.is_some_and(|span| span.end != usize::MAX);
            if bounded {
                bail!("--new-id does not go with a range that has an end; leave the end out, as in #5-");
            }
            let (random, ..) = uuid::Uuid::new_v4().as_fields();
            Ok(Wanted { id: None, variant: Some(random) })
        }
    }
}

/// Whether two plans would make the same file with different content, as they do for a database
/// that is not there yet.
fn collide(plan: &Plan, other: &Plan) -> bool {
    let made = |step: &Step| match step {
        Step::CreateFile { path, .. } => Some(path.clone()),
        _ => None,
    };
    let same = |step: &Step| {
        let path = made(step);
        path.is_some() && plan.steps.iter().any(|taken| made(taken) == path && taken != step)
    };
    other.steps.iter().any(same)
}

/// Steps, each once: subagents of one session share directories and rows.
fn distinct<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<Step> {
    let mut kept: Vec<Step> = Vec::new();
    for step in steps {
        if !kept.contains(step) {
            kept.push(step.clone());
        }
    }
    kept
}

struct Work<'a> {
    machine: &'a Machine,
    wishes: &'a Wishes,
    losses: Losses,
    notes: Vec<String>,
    roots: Vec<std::path::PathBuf>,
}

impl Work<'_> {
    /// The subagents that go along; those that do not are a loss.
    fn children<'m>(&mut self, material: &'m Material) -> Vec<&'m Piece> {
        let takes = self.wishes.subagents && self.wishes.to.declaration().capabilities.subagents;
        let calls = calls(&material.parent.session, &self.wishes.selection);
        let selected = |piece: &&Piece| {
            let started_by = piece.session.lineage.iter().find_map(|lineage| lineage.call.as_ref());
            let of_parent = piece.session.parent() == Some(&material.parent.session.id);
            takes && started_by.is_none_or(|call| !of_parent || calls.contains(call.as_str()))
        };
        let taken: Vec<&Piece> = material.children.iter().filter(selected).collect();
        let left = material.children.len() - taken.len();
        self.losses.add_many(LossKind::Subagents, left as u64, None, None);
        taken
    }

    /// Converts and plans one session, and looks whether the result tells the same story.
    fn piece(
        &mut self,
        piece: &Piece,
        selection: &Selection,
        wanted: Wanted,
        above: Option<(SessionId, Reference)>,
    ) -> Result<(Saving, Made)> {
        let wishes = self.wishes;
        let (parent_id, parent) = above.unzip();
        let name = wishes.to.declaration().name;
        let options = SaveOptions {
            root: wishes.out.clone(),
            account: wishes.account.clone(),
            parent,
            fix_id: false,
            replace: wishes.replace,
        };
        let exact = exact(piece, wishes, selection);
        let converted;
        let (transcript, losses) = match exact {
            Some(native) => (native, Losses::none()),
            None => {
                let target = Target {
                    id: wanted.id,
                    cwd: wishes.cwd.clone(),
                    selection: varied(selection, wanted.variant),
                    parent: parent_id,
                    home: Some(self.machine.surroundings.home().to_string_lossy().into_owned().into()),
                };
                let Converted { value, losses } = wishes.to.from_common(&piece.session, &target)?;
                converted = value;
                (&converted, losses)
            }
        };
        let saving = wishes.to.save(transcript, &options, &self.machine.context())?;
        if wishes.replace
            && !wishes.while_open
            && let Some(open) = wishes.to.open_in(&saving.reference, &self.machine.context())
        {
            return Err(Failure::refused(format!(
                "nothing was written: {}:{} is open in {}; end that program first, --new-id writes another session \
                 beside it, or give --while-open",
                wishes.to.declaration().id,
                output::clean_line(saving.id.as_str()),
                output::clean_line(&open.to_string()),
            ))
            .into());
        }
        let mut all = losses;
        all.merge(saving.losses.clone());
        let result =
            transcript.to_common().with_context(|| format!("what {name} would get cannot be read"))?;
        if exact.is_none()
            && let Some(difference) = difference(&piece.session, selection, &result.session, &all)
        {
            bail!(
                "nothing was written: {name} would read something else than the source says ({difference}); \
                 this is a fault of Ibid, please report it with the two versions of the agents"
            );
        }
        self.losses.merge(all);
        self.notes.extend(saving.notes.iter().cloned());
        self.roots.extend(
            saving.roots.iter().filter(|root| !self.roots.contains(root)).cloned().collect::<Vec<_>>(),
        );
        let says = essence(result.session.view(&Selection::default()).messages);
        let made = Made { id: saving.id.clone(), reference: saving.reference.clone(), says };
        Ok((saving, made))
    }

    fn remember(
        &self,
        piece: &Piece,
        savings: &[(Saving, Made)],
        known: &mut HashMap<SessionId, (SessionId, Reference)>,
    ) {
        if let Some((saving, _)) = savings.last() {
            known.insert(piece.session.id.clone(), (saving.id.clone(), saving.reference.clone()));
        }
    }
}

/// The same selection, from which another id is derived: a range that ends beyond every session
/// picks the same messages and is another range.
fn varied(selection: &Selection, variant: Option<u32>) -> Selection {
    let Some(variant) = variant else { return selection.clone() };
    let start = selection.span.map_or(0, |span| span.start);
    let end = usize::MAX - variant as usize;
    Selection { span: Some(Span { start, end }), ..selection.clone() }
}

/// The ids of the calls in a selection.
fn calls(session: &Session, selection: &Selection) -> HashSet<String> {
    let view = session.view(selection);
    let blocks = view.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.id.to_string()),
            _ => None,
        })
        .collect()
}
