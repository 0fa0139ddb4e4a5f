//! Objects with Python's buffer protocol, as `cipherlane_lent` takes them.

#![allow(unsafe_code)] // buffers are pointers

use std::ops::Range;
use std::ptr;

use cipherlane_lent::{Buffer, Bytes, Column};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::types::{PyAnyMethods, PyMemoryView, PyTuple, PyTupleMethods};
use pyo3::{Bound, PyAny, PyErr, PyResult, intern};
use zeroize::Zeroizing;

/// One object's memory, which Python keeps where it is while this is there.
pub(crate) struct Lent(PyUntypedBuffer);

impl Lent {
    /// What `object` shows: any items, one after the other.
    pub(crate) fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        // By way of a view: ctypes' arrays have no strides of their own, which PyO3 asks for.
        let view = PyMemoryView::from(object).map_err(|error| shows_nothing(what, object, &error))?;
        // Nor has a single number a shape, which it asks for as well.
        if view.getattr(intern!(object.py(), "ndim"))?.extract::<usize>()? == 0 {
            return Err(refused(what, "it has no dimensions; reshape it to one (numpy: array.reshape(1))"));
        }
        let buffer =
            PyUntypedBuffer::get(view.as_any()).map_err(|error| refused(what, &error.to_string()))?;
        if !buffer.is_c_contiguous() {
            return Err(refused(what, "it is not contiguous; copy it (numpy.ascontiguousarray)"));
        }
        if has_addresses(buffer.format().to_bytes()) {
            return Err(refused(
                what,
                "it has Python's objects or pointers in it; give the bytes that are meant, one after the other",
            ));
        }
        Ok(Self(buffer))
    }

    /// The same, to be written.
    pub(crate) fn write(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let lent = Self::read(object, what)?;
        if lent.0.readonly() {
            return Err(refused(what, "it is read-only; give a bytearray or an array of your own"));
        }
        Ok(lent)
    }

    /// Copies offsets, unsigned numbers of 64 bits, to `copy`: what is looked at once must not be another number when memory is
    /// read by it, whatever Python's threads write meanwhile.
    pub(crate) fn copy_offsets(object: &Bound<'_, PyAny>, what: &str, copy: &mut Vec<u64>) -> PyResult<()> {
        let lent = Self::read(object, what)?;
        // Of this machine's order of bytes, as `struct` spells it.
        let native: &[&[u8]] = if cfg!(target_endian = "little") {
            &[b"Q", b"L", b"@Q", b"@L", b"=Q", b"<Q"]
        } else {
            &[b"Q", b"L", b"@Q", b"@L", b"=Q", b">Q", b"!Q"]
        };
        if lent.0.item_size() != size_of::<u64>() || !native.contains(&lent.0.format().to_bytes()) {
            return Err(refused(
                what,
                "offsets are numbers of 64 bits without a sign (numpy.uint64, array('Q'))",
            ));
        }
        let first = lent.first().cast::<u64>().cast_const();
        // SAFETY: Python lends so many items, which may lie anywhere, and its lock is held.
        let number = |index| unsafe { first.add(index).read_unaligned() };
        copy.clear();
        copy.extend((0..lent.0.item_count()).map(number));
        Ok(())
    }

    /// Room for verdicts.
    pub(crate) fn verdicts(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let lent = Self::write(object, what)?;
        match lent.0.item_size() {
            1 => Ok(lent),
            _ => Err(refused(what, "a verdict is a byte; give bytes (numpy.uint8, numpy.bool_)")),
        }
    }

    /// Takes back verdicts of before, which a call that was refused would leave; not where they may share memory with one of
    /// `others`, of which nobody has said that it may be written.
    pub(crate) fn clear_apart_from(&self, others: &[&Bound<'_, PyAny>]) {
        let own = extent(&self.0);
        let is_apart = |other: &Range<usize>| other.end <= own.start || own.end <= other.start;
        if others.iter().all(|&object| extents(object).is_some_and(|others| others.iter().all(is_apart))) {
            // SAFETY: Python lends so many bytes to be written, and its lock is held.
            unsafe { ptr::write_bytes(self.first(), 0, self.0.len_bytes()) };
        }
    }

    /// Fails where there is not a byte for each message.
    pub(crate) fn check_is_for(&self, messages: usize, what: &str) -> PyResult<()> {
        match self.0.len_bytes() {
            found if found == messages => Ok(()),
            found => Err(refused(
                what,
                &format!("{messages} messages need {messages} bytes, and there are {found}"),
            )),
        }
    }

    /// A copy that is wiped when it is dropped.
    pub(crate) fn wiped_copy(&self) -> Zeroizing<Vec<u8>> {
        let mut copy = Zeroizing::new(vec![0; self.0.len_bytes()]);
        // SAFETY: Python lends so many bytes, and its lock is held; the copy has as many.
        unsafe { ptr::copy_nonoverlapping(self.first(), copy.as_mut_ptr(), copy.len()) };
        copy
    }

    pub(crate) fn bytes(&self) -> Bytes {
        Bytes { data: self.first(), length: self.0.len_bytes() }
    }

    pub(crate) fn buffer(&self) -> Buffer {
        Buffer { data: self.first(), length: self.0.len_bytes() }
    }

    /// Bytes of a row where there is one for each message, in a second dimension; `None` where there is one dimension.
    pub(crate) fn width(&self, messages: usize, what: &str) -> PyResult<Option<usize>> {
        match *self.0.shape() {
            [_] => Ok(None),
            [rows, columns] if rows == messages => Ok(Some(columns * self.0.item_size())),
            [rows, _] => {
                Err(refused(what, &format!("{messages} messages need {messages} rows, and there are {rows}")))
            }
            _ => Err(refused(what, "it has neither one dimension nor two; reshape it")),
        }
    }

    /// Whoever gives a number for each message means a row of each, and not that all numbers are one row for all.
    fn check_is_a_row(&self, what: &str) -> PyResult<()> {
        match self.0.item_size() {
            0 | 1 => Ok(()),
            bytes => Err(refused(
                what,
                &format!(
                    "one dimension of items of {bytes} bytes; give bytes, which are one row for all messages, or a row \
                     for each in two dimensions (numpy: array.reshape(-1, 1))"
                ),
            )),
        }
    }

    /// Whether there is one dimension, which does not tell how long a row of it is meant to be.
    pub(crate) fn is_flat(&self) -> bool {
        self.0.dimensions() == 1
    }

    /// Bytes of each tag, with or without a second dimension.
    pub(crate) fn tag_width(&self, messages: usize, what: &str) -> PyResult<usize> {
        if let Some(width) = self.width(messages, what)? {
            return Ok(width);
        }
        let length = self.0.len_bytes();
        match length.checked_rem(messages) {
            Some(0) => Ok(length / messages),
            _ => Err(refused(what, &format!("{length} bytes are no {messages} tags of one length"))),
        }
    }

    fn first(&self) -> *mut u8 {
        self.0.buf_ptr().cast()
    }
}

/// Where the buffers lie that `object` shows, or the objects of a tuple: contiguous or not, which are refused later. `None`
/// where one does not tell where it ends.
fn extents(object: &Bound<'_, PyAny>) -> Option<Vec<Range<usize>>> {
    if let Ok(pair) = object.cast::<PyTuple>() {
        let parts: Option<Vec<_>> = pair.iter().map(|part| extents(&part)).collect();
        return parts.map(|parts| parts.concat());
    }
    let Ok(view) = PyMemoryView::from(object) else { return Some(Vec::new()) };
    let buffer = PyUntypedBuffer::get(view.as_any()).ok()?;
    Some(vec![extent(&buffer)])
}

/// The addresses from the first byte of a buffer to behind its last one. Strides may lead either way.
fn extent(buffer: &PyUntypedBuffer) -> Range<usize> {
    let first = buffer.buf_ptr() as usize;
    if buffer.len_bytes() == 0 {
        return first..first;
    }
    let (mut start, mut end) = (first, first + buffer.item_size());
    for (&length, &stride) in buffer.shape().iter().zip(buffer.strides()) {
        let step = (length - 1) * stride.unsigned_abs();
        if stride < 0 { start -= step } else { end += step }
    }
    start..end
}

/// Whether items of `format`, as `struct` and ctypes spell it, are addresses. Names of fields, each of which stands between two
/// colons, tell nothing.
fn has_addresses(format: &[u8]) -> bool {
    format
        .split(|&byte| byte == b':')
        .step_by(2)
        .any(|codes| (0..codes.len()).any(|at| is_address(&codes[at..])))
}

/// Whether the first of `codes` is one.
fn is_address(codes: &[u8]) -> bool {
    // A `Z` is one of a wide string, unless a complex number of two such follows.
    let is_complex = matches!(codes, [b'Z', b'f' | b'd' | b'g', ..]);
    // Of objects, of anything, of strings, of items of a type, of functions.
    !is_complex && matches!(codes, [b'O' | b'P' | b'z' | b'Z' | b'&' | b'X', ..])
}

/// Keys, nonces or additional data.
#[derive(Default)]
pub(crate) struct LentColumn {
    rows: Option<Lent>,
    width: Option<usize>,
    offsets: Option<Vec<u64>>,
}

impl LentColumn {
    /// `None` has no bytes for any message; one dimension of bytes is one row for all, two are a row each; (rows, offsets) are
    /// rows of several lengths.
    pub(crate) fn of(object: Option<&Bound<'_, PyAny>>, messages: usize, what: &str) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::default()) };
        let Ok(pair) = object.cast::<PyTuple>() else {
            let rows = Lent::read(object, what)?;
            let width = rows.width(messages, what)?;
            if width.is_none() {
                rows.check_is_a_row(what)?;
            }
            return Ok(Self { rows: Some(rows), width, offsets: None });
        };
        let (rows, shown): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let mut offsets = Vec::new();
        Lent::copy_offsets(&shown, what, &mut offsets)?;
        if offsets.len() != messages + 1 {
            return Err(refused(what, &format!("{messages} messages need {} offsets", messages + 1)));
        }
        Ok(Self { rows: Some(Lent::read(&rows, what)?), width: None, offsets: Some(offsets) })
    }

    pub(crate) fn column(&self) -> Column {
        let nothing = Bytes { data: ptr::null(), length: 0 };
        Column {
            bytes: self.rows.as_ref().map_or(nothing, Lent::bytes),
            width: self.width.unwrap_or(0),
            offsets: self.offsets.as_ref().map_or(ptr::null(), Vec::as_ptr),
        }
    }
}

/// Of an object without the buffer protocol (a str, a list, a tensor), or whose items no buffer may have.
fn shows_nothing(what: &str, object: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let why = error.value(object.py());
    PyTypeError::new_err(format!("{what}: {why}; give bytes, an array, or tensor.numpy() for a CPU tensor"))
}

pub(crate) fn refused(what: &str, why: &str) -> PyErr {
    PyValueError::new_err(format!("{what}: {why}"))
}
