//! How our rows stand beside the best rivals, those included of which nobody can tell.

use cipherlane_record::Verdict;

use crate::level::TOO_FEW;
use crate::row::Row;
use crate::units;

/// How often ours is faster than the best rival of its rounds, and how often it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Against {
    /// Rows beside which a rival ran.
    pub(crate) met: usize,
    faster: usize,
    slower: usize,
    /// Rows of which nobody can tell for want of rounds.
    short: usize,
}

impl Against {
    /// Of some rows, whoever stands beside them.
    pub(crate) fn of(rows: &[Row<'_>]) -> Self {
        let mut all = Self::default();
        for row in rows {
            let Some(verdict) = row.verdict() else { continue };
            all.met += 1;
            match verdict {
                Verdict::Faster => all.faster += 1,
                Verdict::Slower => all.slower += 1,
                Verdict::Ambiguous => all.short += usize::from(row.is_short()),
            }
        }
        all
    }

    /// `faster than the best rival in 14 of 18 rows, undecided in 3 (2 of them for fewer than six rounds), slower in 1`.
    pub(crate) fn text(&self) -> String {
        let slower = if self.slower > 0 { self.slower.to_string() } else { "none".to_owned() };
        format!(
            "faster than the best rival in {} of {}{}, slower in {slower}",
            self.faster,
            units::count(self.met, "row"),
            self.undecided()
        )
    }

    fn undecided(&self) -> String {
        let short =
            if self.short > 0 { format!(" ({} of them for {TOO_FEW})", self.short) } else { String::new() };
        match self.met - self.faster - self.slower {
            0 => String::new(),
            undecided => format!(", undecided in {undecided}{short}"),
        }
    }
}
