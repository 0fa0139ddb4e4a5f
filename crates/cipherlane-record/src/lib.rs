//! Measurements as records: one JSON object a line, with a published schema.
