//! What the numbers of every report mean, in the words of docs/MEASURING.md.

/// For whoever has the report and nothing else.
pub(crate) const READING: &str = "A rate is the median over one pass and counts bytes of message text, without AAD and \
    tags; 1 GB is 1e9 bytes. Behind it stands its 95 % interval, which fewer than six rounds do not have. Every timed \
    output was compared with the expected one; a row with a wrong output has no rate. Ratios are medians over interleaved \
    rounds: above 1 cipherlane is faster. FASTER (▲) and SLOWER (▼) say that the whole interval of a ratio lies more than \
    1 % on one side of 1, over six rounds or more; AMBIGUOUS (≈) is everything else. A ceiling is what the slowest of the \
    machine's resources allows the kernel at most; where a row has none, it is what the experiment mix foretold for the \
    same kernel of the same build. More than 100 % of it says that this bound is too low. Two numbers belong in one column \
    only if their scopes agree.";
