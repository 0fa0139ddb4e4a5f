//! Where the texts of a run lie: in the memory of the host, or of a GPU.

use std::ptr;

use cipherlane_lent::{Buffer, Bytes};
use pyo3::exceptions::PyAttributeError;
use pyo3::types::{PyAnyMethods, PyDict, PyDictMethods};
use pyo3::{Bound, PyAny, PyResult, intern};

use crate::buffers::{Lent, refused};

/// The texts that are read and those that are written, if there are.
pub(crate) struct Texts {
    source: Option<Text>,
    text: Option<Text>,
    pub(crate) on_gpu: bool,
}

/// One object's texts.
enum Text {
    Host(Lent),
    Gpu(Tensor),
}

impl Texts {
    /// Those of two objects that show buffers, or both the memory of a GPU; `text` has to be writable if it `is_written`.
    pub(crate) fn of(
        source: Option<&Bound<'_, PyAny>>,
        text: Option<&Bound<'_, PyAny>>,
        is_written: bool,
    ) -> PyResult<Self> {
        let source = source.map(|source| Text::of(source, "source", false)).transpose()?;
        let text = text.map(|text| Text::of(text, "text", is_written)).transpose()?;
        let places: Vec<bool> = [&source, &text].into_iter().flatten().map(Text::is_on_gpu).collect();
        if let [true, false] | [false, true] = places[..] {
            let why = "one of `source` and `text` lies on a GPU and the other does not; move one of them";
            return Err(refused("text", why));
        }
        Ok(Self { source, text, on_gpu: places.contains(&true) })
    }

    pub(crate) fn source(&self) -> Bytes {
        self.source.as_ref().map_or(Bytes { data: ptr::null(), length: 0 }, |source| {
            let Buffer { data, length } = source.buffer();
            Bytes { data, length }
        })
    }

    pub(crate) fn text(&self) -> Buffer {
        self.text.as_ref().map_or(Buffer { data: ptr::null_mut(), length: 0 }, Text::buffer)
    }
}

impl Text {
    fn of(object: &Bound<'_, PyAny>, what: &str, is_written: bool) -> PyResult<Self> {
        if let Some(tensor) = Tensor::of(object, what, is_written)? {
            return Ok(Self::Gpu(tensor));
        }
        let lend = if is_written { Lent::write } else { Lent::read };
        lend(object, what).map(Self::Host)
    }

    const fn is_on_gpu(&self) -> bool {
        matches!(self, Self::Gpu(_))
    }

    fn buffer(&self) -> Buffer {
        match self {
            Self::Host(lent) => lent.buffer(),
            Self::Gpu(Tensor { address, bytes }) => {
                Buffer { data: ptr::without_provenance_mut(*address), length: *bytes }
            }
        }
    }
}

/// Memory of a GPU, as an object with `__cuda_array_interface__` shows it (PyTorch, CuPy, JAX, Numba), to be kept by the caller.
struct Tensor {
    address: usize,
    bytes: usize,
}

impl Tensor {
    /// `None` of an object that shows none. <https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html>
    fn of(object: &Bound<'_, PyAny>, what: &str, is_written: bool) -> PyResult<Option<Self>> {
        let shown = match object.getattr(intern!(object.py(), "__cuda_array_interface__")) {
            Ok(shown) => shown,
            Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => return Ok(None),
            Err(error) => return Err(refused(what, &error.value(object.py()).to_string())),
        };
        let shown = shown.cast_into::<PyDict>()?;
        let part = |name| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(PyDictMethods::get_item(&shown, name)?.filter(|part| !part.is_none()))
        };
        let needed = |name| {
            let missing = || refused(what, &format!("its __cuda_array_interface__ has no `{name}`"));
            part(name)?.ok_or_else(missing)
        };
        let (address, is_read_only): (usize, bool) = needed("data")?.extract()?;
        if is_written && is_read_only {
            return Err(refused(what, "it is read-only; give a tensor of your own"));
        }
        if part("mask")?.is_some() {
            return Err(refused(what, "it has a mask; give a tensor without"));
        }
        let item = item_bytes(&needed("typestr")?.extract::<String>()?, what)?;
        let shape: Vec<usize> = needed("shape")?.extract()?;
        let strides = part("strides")?.map(|strides| strides.extract::<Vec<isize>>()).transpose()?;
        if strides.is_some_and(|strides| !is_contiguous(&shape, &strides, item)) {
            return Err(refused(what, "it is not contiguous; copy it (tensor.contiguous())"));
        }
        let items = shape.iter().try_fold(item, |bytes, &length| bytes.checked_mul(length));
        let bytes = items.ok_or_else(|| refused(what, "its shape has more bytes than any memory"))?;
        if bytes == 0 {
            // It lies nowhere, so that nothing would tell it from a text that is not given.
            return Err(refused(what, "it has no bytes; run empty messages from a buffer of the host"));
        }
        Ok(Some(Self { address, bytes }))
    }
}

/// Bytes of an item of type `code`: `<f4`, `|u1`, `<V2`.
fn item_bytes(code: &str, what: &str) -> PyResult<usize> {
    let digits = code.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    digits.parse().map_err(|_| refused(what, &format!("{code:?} is no type of items; view it as bytes")))
}

/// Whether items of `item` bytes lie one after the other, the last dimension first.
fn is_contiguous(shape: &[usize], strides: &[isize], item: usize) -> bool {
    let mut next = item;
    shape.contains(&0)
        || shape.iter().zip(strides).rev().all(|(&length, &stride)| {
            let fits = length == 1 || usize::try_from(stride) == Ok(next);
            next = next.saturating_mul(length);
            fits
        })
}
