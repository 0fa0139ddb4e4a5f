//! Walks over a row for numbers that are none. JSON has no word for them: they would be written as `null`, and a line with a
//! `null` in place of a number makes its whole file unreadable.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// Whether all numbers of `row` are finite.
///
/// # Errors
/// The fields that lead to the first that is not.
pub(super) fn check(row: &impl Serialize) -> Result<(), Error> {
    row.serialize(Finite)
}

/// A serializer that writes nothing.
#[derive(Clone, Copy)]
struct Finite;

type Checked = Result<(), Error>;

impl Finite {
    fn number(number: f64) -> Checked {
        if number.is_finite() { Ok(()) } else { Err(Error::custom(format!("{number} is no number"))) }
    }

    /// Checks the `value` of a field.
    fn field(name: impl Display, value: &(impl Serialize + ?Sized)) -> Checked {
        value.serialize(Self).map_err(|error| Error::custom(format!("{name}: {error}")))
    }
}

/// What is no number with a point in it.
macro_rules! pass {
    ($($method:ident($($argument:ty),*);)*) => {
        $(fn $method(self, $(_: $argument),*) -> Checked {
            Ok(())
        })*
    };
}

/// What has parts begins with this serializer itself.
macro_rules! begin {
    ($($method:ident($($argument:ty),*) -> $parts:ident;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self::$parts, Error> {
            Ok(self)
        })*
    };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn serialize_f32(self, number: f32) -> Checked {
        Self::number(f64::from(number))
    }

    fn serialize_f64(self, number: f64) -> Checked {
        Self::number(number)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    pass! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    begin! {
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}

/// Parts that come one after the other.
macro_rules! in_turn {
    ($($parts:ident::$method:ident;)*) => {
        $(impl $parts for Finite {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
                value.serialize(*self)
            }

            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

/// Parts that have names.
macro_rules! by_name {
    ($($parts:ident;)*) => {
        $(impl $parts for Finite {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Checked {
                Self::field(name, value)
            }

            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

in_turn! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

by_name! {
    SerializeStruct;
    SerializeStructVariant;
}

impl SerializeMap for Finite {
    type Ok = ();
    type Error = Error;

    /// A key is a name.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Checked {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
        value.serialize(*self)
    }

    fn end(self) -> Checked {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Channel, Interval, Timeline};

    #[test]
    fn the_first_number_that_is_none_is_named() {
        let good = Interval { low: 0.0, high: 1.0 };
        assert!(check(&good).is_ok());
        let error = check(&Interval { high: f64::INFINITY, ..good }).unwrap_err().to_string();
        assert_eq!(error, "high: inf is no number");
    }

    #[test]
    fn lists_options_and_names_are_looked_through() {
        let channel = |values| Timeline {
            channels: vec![Channel { name: "cpu.power".to_owned(), unit: "W".to_owned(), values }],
            ..Timeline::default()
        };
        assert!(check(&channel(vec![Some(1.0), None])).is_ok());
        let error = check(&channel(vec![None, Some(f64::NAN)])).unwrap_err().to_string();
        assert_eq!(error, "channels: values: NaN is no number");
        assert!(check(&Axis::Number(f64::NAN)).is_err() && check(&Axis::from("all")).is_ok());
    }
}
