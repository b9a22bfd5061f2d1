//! Work on one platform that may take too long, or go wrong altogether, without harm to others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most threads of one platform. Reading sessions is bound by memory soon.
const THREADS: usize = 4;

/// The threads that read for one platform. They are its own, so that one that hangs in a read
/// harms no other platform; it is left behind, and until it comes back nothing new is begun.
#[derive(Default)]
pub(crate) struct Crew {
    pool: OnceLock<Option<ThreadPool>>,
    busy: Arc<AtomicUsize>,
}

/// What became of one piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<R> {
    /// It was done.
    Done(R),
    /// It panicked.
    Panicked,
    /// It was not done in time.
    Late,
}

/// Counts one thread as busy for as long as it lives.
struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn new(count: &Arc<AtomicUsize>) -> Busy {
        count.fetch_add(1, Ordering::SeqCst);
        Busy(Arc::clone(count))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Crew {
    /// Whether a thread that was left behind is still at work.
    pub(crate) fn is_stuck(&self) -> bool {
        self.busy.load(Ordering::SeqCst) > 0
    }

    /// Does `work` on every item, on several threads, until the deadline. The outcomes stand in
    /// the order of the items. After the deadline nothing new is begun, and what is under way is
    /// not waited for; it sees the flag that it is given.
    pub(crate) fn each<T, R, F>(&self, items: Vec<T>, deadline: Instant, work: F) -> Vec<Outcome<R>>
    where
        T: Send + Sync + 'static,
        R: Send + 'static,
        F: Fn(&T, &AtomicBool) -> R + Send + Sync + 'static,
    {
        let mut outcomes: Vec<Outcome<R>> = items.iter().map(|_| Outcome::Late).collect();
        let pool = self.pool.get_or_init(|| {
            let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, THREADS);
            let name = |number| format!("evidence-{number}");
            ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().ok()
        });
        let (Some(pool), false) = (pool, items.is_empty()) else { return outcomes };
        let runners = pool.current_num_threads().min(items.len());
        let shared = Arc::new((items, AtomicUsize::new(0), AtomicBool::new(false), work));
        let (sender, receiver) = channel();
        for _ in 0..runners {
            let (shared, sender, busy) = (Arc::clone(&shared), sender.clone(), Busy::new(&self.busy));
            pool.spawn(move || {
                let _busy = busy;
                let (items, next, cancelled, work) = &*shared;
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    if cancelled.load(Ordering::Relaxed) {
                        break;
                    }
                    let outcome = match catch_unwind(AssertUnwindSafe(|| work(item, cancelled))) {
                        Ok(done) => Outcome::Done(done),
                        Err(_) => Outcome::Panicked,
                    };
                    if sender.send((at, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left) {
                Ok((at, outcome)) => {
                    if let Some(slot) = outcomes.get_mut(at) {
                        *slot = outcome;
                    }
                }
                // Every runner came to its end.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    shared.2.store(true, Ordering::Relaxed);
                    break;
                }
            }
        }
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(200)
    }

    #[test]
    fn outcomes_stand_in_the_order_of_the_items_and_a_panic_is_one_of_them() {
        let crew = Crew::default();
        let later = Instant::now() + Duration::from_secs(60);
        let outcomes = crew.each((0..100).collect(), later, |item, _| {
            assert!(*item != 7, "the eighth goes wrong");
            *item * 2
        });
        for (at, outcome) in outcomes.iter().enumerate() {
            match at {
                7 => assert_eq!(*outcome, Outcome::Panicked),
                _ => assert_eq!(*outcome, Outcome::Done(at * 2)),
            }
        }
    }

    #[test]
    fn what_hangs_is_left_behind_and_known_to_be_at_work() {
        let crew = Crew::default();
        let (release, held) = channel::<()>();
        let held = std::sync::Mutex::new(held);
        let begin = Instant::now();
        let outcomes = crew.each(vec![0, 1], soon(), move |item, _| {
            if *item == 0 {
                let _ = held.lock().unwrap().recv();
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert_eq!(outcomes[0], Outcome::Late);
        assert!(crew.is_stuck());
        drop(release);
        while crew.is_stuck() {
            std::thread::yield_now();
        }
    }
}
