//! Text that is kept only as far as an answer shows it.

use ibid_redact::Redactor;

/// The most characters of a text that are shown.
const SHOWN: usize = 8_000;

/// The most bytes that are kept of a text before it is known how much of it is shown.
const KEPT: usize = 4 * SHOWN;

/// How many bytes of a text are looked at for secrets beyond what is shown of it. A secret that
/// begins in what is shown is told by less.
const MARGIN: usize = 512;

/// All texts of one session together, in bytes.
const SESSION: usize = 64 << 10;

/// What stands at the end of a text that was cut.
const CUT: &str = "… [truncated]";

/// The beginning of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clip {
    text: String,
    /// Whether the text was longer.
    longer: bool,
}

impl Clip {
    /// The beginning of `text`.
    pub(crate) fn of(text: &str) -> Clip {
        let mut clip = Clip::default();
        clip.push(text);
        clip
    }

    /// A text that is as short as it should be already.
    pub(crate) fn whole(text: String) -> Clip {
        Clip { text, longer: false }
    }

    /// Adds text, on a line of its own.
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() || self.longer {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let free = KEPT.saturating_sub(self.text.len());
        let end = text.floor_char_boundary(free);
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.longer = end < text.len();
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Lets go of what no answer shows.
    pub(crate) fn shorten(&mut self, cap: usize) {
        let end = self.text.floor_char_boundary(cap.saturating_add(MARGIN));
        if end < self.text.len() {
            self.text.truncate(end);
            self.text.shrink_to_fit();
            self.longer = true;
        }
    }

    /// Replaces secrets.
    fn redact(&mut self, redactor: &Redactor) {
        let json = !self.longer && self.text.starts_with(['{', '[']);
        let redacted = if json { redactor.redact_json(&self.text) } else { redactor.redact(&self.text) };
        if let std::borrow::Cow::Owned(text) = redacted.text {
            self.text = text;
        }
    }

    /// Cuts the text to `cap` bytes and to what is shown of any text, and says so.
    fn cut(&mut self, cap: usize) {
        let shown = self.text.char_indices().nth(SHOWN).map_or(self.text.len(), |(end, _)| end);
        if shown == self.text.len() && shown <= cap && !self.longer {
            return;
        }
        match cap.min(shown + CUT.len()).checked_sub(CUT.len()) {
            Some(room) => {
                self.text.truncate(self.text.floor_char_boundary(room));
                self.text.push_str(CUT);
            }
            None => {
                self.text.clear();
                self.text.extend(std::iter::repeat_n('.', cap.min(3)));
            }
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// The largest length to which every text can be cut so that all of them fit in what a session
/// may have.
pub(crate) fn cap(lengths: impl Iterator<Item = usize> + Clone) -> usize {
    let fits = |cap: usize| {
        lengths
            .clone()
            .map(|length| length.min(cap))
            .try_fold(0_usize, |sum, length| sum.checked_add(length).filter(|sum| *sum <= SESSION))
    };
    let (mut low, mut high) = (0, SESSION);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match fits(middle) {
            Some(_) => low = middle,
            None => high = middle - 1,
        }
    }
    low
}

/// Replaces the secrets of all texts of a session, and cuts the texts to what it may have.
pub(crate) fn settle(clips: &mut [&mut Clip], redactor: &Redactor) {
    let raw = cap(clips.iter().map(|clip| clip.len()));
    for clip in clips.iter_mut() {
        clip.shorten(raw);
        clip.redact(redactor);
    }
    let settled = cap(clips.iter().map(|clip| clip.len()));
    for clip in clips.iter_mut() {
        clip.cut(settled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(texts: &[String]) -> Vec<String> {
        let mut clips: Vec<Clip> = texts.iter().map(|text| Clip::of(text)).collect();
        settle(&mut clips.iter_mut().collect::<Vec<_>>(), &Redactor::new());
        clips.into_iter().map(Clip::into_text).collect()
    }

    #[test]
    fn short_texts_stay_as_they_are() {
        let texts = ["and/or".to_owned(), "日本".to_owned()];
        assert_eq!(settled(&texts), texts);
    }

    #[test]
    fn long_texts_give_way_to_short_ones() {
        let texts = ["é".repeat(60_000), "short".to_owned(), "y".repeat(60_000), "é".repeat(60_000)];
        let settled = settled(&texts);
        assert_eq!(settled[1], "short");
        assert!(settled.iter().map(String::len).sum::<usize>() <= SESSION);
        for long in [&settled[0], &settled[2], &settled[3]] {
            assert!(long.ends_with(CUT) && long.chars().count() <= SHOWN + CUT.chars().count());
        }
    }

    #[test]
    fn very_many_texts_keep_their_number() {
        let texts = vec!["text".to_owned(); 100_000];
        let settled = settled(&texts);
        assert_eq!(settled.len(), texts.len());
        assert!(settled.iter().map(String::len).sum::<usize>() <= SESSION);
    }

    // evidence defect 12
    #[test]
    fn a_secret_at_the_cut_is_not_shown_in_part() {
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        for before in (SESSION - 80)..SESSION {
            let long = format!("{} {secret} tail{}", "x ".repeat(before / 2), "z".repeat(90_000));
            let all = settled(&[long, "y".to_owned()]);
            assert!(!all[0].contains("ghp_a1"), "{before}");
        }
    }
}
