//! Readable implementations that follow their standards, and the exam that every device sits.
