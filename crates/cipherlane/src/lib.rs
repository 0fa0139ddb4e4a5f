//! Bulk cryptography on every lane of a machine.
