//! The live branch: which message goes on from which.

/// The positions of messages, each with its neighbours on the live branch.
#[derive(Debug, Default)]
pub(super) struct Chain {
    links: Vec<Link>,
    /// The last message.
    pub(super) tail: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    before: Option<usize>,
    behind: Option<usize>,
}

impl Chain {
    /// Adds the next message at the end; returns the one before it.
    pub(super) fn append(&mut self) -> Option<usize> {
        let at = self.links.len();
        let before = self.tail.replace(at);
        self.links.push(Link { before, behind: None });
        self.set_behind(before, Some(at));
        before
    }

    /// Whether messages follow each other.
    pub(super) fn is_one_stretch(&self, messages: &[usize]) -> bool {
        messages.windows(2).all(|pair| match pair {
            [a, b] => self.links.get(*a).is_some_and(|link| link.behind == Some(*b)),
            _ => true,
        })
    }

    /// Puts the next message in the place of a stretch; returns its neighbours.
    pub(super) fn replace(&mut self, first: usize, last: usize) -> (Option<usize>, Option<usize>) {
        let at = self.links.len();
        let before = self.links.get(first).and_then(|link| link.before);
        let behind = self.links.get(last).and_then(|link| link.behind);
        self.links.push(Link { before, behind });
        self.set_behind(before, Some(at));
        match behind.and_then(|behind| self.links.get_mut(behind)) {
            Some(link) => link.before = Some(at),
            None => self.tail = Some(at),
        }
        (before, behind)
    }

    fn set_behind(&mut self, of: Option<usize>, behind: Option<usize>) {
        if let Some(link) = of.and_then(|of| self.links.get_mut(of)) {
            link.behind = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_the_place_of_a_stretch_has_its_neighbours() {
        let mut chain = Chain::default();
        (0..5).for_each(|_| {
            chain.append();
        });
        assert!(chain.is_one_stretch(&[1, 2, 3]) && !chain.is_one_stretch(&[1, 3]));
        assert_eq!(chain.replace(1, 2), (Some(0), Some(3)));
        assert!(chain.is_one_stretch(&[0, 5, 3, 4]));
        assert_eq!(chain.replace(3, 4), (Some(5), None));
        assert_eq!(chain.append(), Some(6));
    }
}
