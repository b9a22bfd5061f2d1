//! Runs cells, several at a time, and prints each when it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::cells::Cell;
use crate::lab::Lab;
use crate::manifest::{Entry, Outcome};

/// Runs them all and returns their entries, in the order of the cells.
pub fn run(lab: &Lab, cells: &[Cell], jobs: usize) -> Vec<Entry> {
    let next = AtomicUsize::new(0);
    let entries: Mutex<Vec<(usize, Entry)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((number, cell)) = take(&next, cells) {
                    let began = Instant::now();
                    let folder = lab.folder(number);
                    let result = cell.prove(lab, &folder);
                    let entry = Entry::of(lab, cell, result, began.elapsed().as_secs_f64());
                    print(number, &entry);
                    lab.tidy(&folder);
                    if let Ok(mut entries) = entries.lock() {
                        entries.push((number, entry));
                    }
                }
            });
        }
    });
    let mut entries = entries.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    entries.sort_by_key(|(number, _)| *number);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn take<'c>(next: &AtomicUsize, cells: &'c [Cell]) -> Option<(usize, &'c Cell)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, cells.get(number)?))
}

fn print(number: usize, entry: &Entry) {
    let outcome = match entry.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "FAILED",
        Outcome::Forbidden => "forbidden",
        Outcome::CannotRun => "cannot run",
    };
    let reason = entry.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    eprintln!("{number:>3}  {outcome:<10} {:>6.1} s  {}{reason}", entry.seconds, entry.name());
    for note in &entry.notes {
        eprintln!("                           {note}");
    }
}
