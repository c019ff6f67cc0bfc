//! Tensors of a safetensors file.

use std::path::Path;

use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::folder::{Content, LoadError};

/// Tensors of a file. Their places and sizes are within the file.
pub struct Weights<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub fn parse(content: &'a Content) -> Result<Self, LoadError> {
        let tensors = SafeTensors::deserialize(&content.bytes)
            .map_err(|error| LoadError::new(&content.path, format!("is no safetensors file: {error:?}")))?;
        Ok(Self { path: &content.path, tensors })
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// Returns the rows and columns of a table.
    pub fn table_shape(&self, name: &str) -> Result<(usize, usize), LoadError> {
        match *self.tensor(name)?.shape() {
            [rows, columns] if rows > 0 && columns > 0 => Ok((rows, columns)),
            ref shape => Err(self.fault(format!("tensor `{name}` has the shape {shape:?}, and a table is expected"))),
        }
    }

    /// Returns the numbers of a tensor of this shape, row by row.
    ///
    /// # Errors
    /// The tensor is missing, has another shape or type, or contains numbers that are not finite.
    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let tensor = self.tensor_of(name, shape)?;
        let data = tensor.data();
        let numbers: Vec<f32> = match tensor.dtype() {
            Dtype::F32 => elements(data).map(f32::from_le_bytes).collect(),
            Dtype::F16 => elements(data).map(|bytes| f16::from_le_bytes(bytes).to_f32()).collect(),
            Dtype::BF16 => elements(data).map(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect(),
            Dtype::F64 => elements(data).map(|bytes| f64::from_le_bytes(bytes) as f32).collect(),
            Dtype::I8 => elements(data).map(|bytes| f32::from(i8::from_le_bytes(bytes))).collect(),
            other => return Err(self.fault(format!("tensor `{name}` has the unsupported type {other:?}"))),
        };
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(self.fault(format!("tensor `{name}` contains a number that is not finite")));
        }
        Ok(numbers)
    }

    /// Returns the whole numbers of a list of this length, each below `bound`.
    pub fn indexes(&self, name: &str, length: usize, bound: usize) -> Result<Vec<usize>, LoadError> {
        let tensor = self.tensor_of(name, &[length])?;
        let data = tensor.data();
        let numbers: Vec<Option<usize>> = match tensor.dtype() {
            Dtype::I64 => elements(data).map(|bytes| i64::from_le_bytes(bytes).try_into().ok()).collect(),
            Dtype::U64 => elements(data).map(|bytes| u64::from_le_bytes(bytes).try_into().ok()).collect(),
            Dtype::I32 => elements(data).map(|bytes| i32::from_le_bytes(bytes).try_into().ok()).collect(),
            Dtype::U32 => elements(data).map(|bytes| u32::from_le_bytes(bytes).try_into().ok()).collect(),
            other => return Err(self.fault(format!("tensor `{name}` has the unsupported type {other:?}"))),
        };
        let below = |number: Option<usize>| number.filter(|number| *number < bound);
        let numbers: Option<Vec<usize>> = numbers.into_iter().map(below).collect();
        numbers.ok_or_else(|| self.fault(format!("tensor `{name}` has an index that is not below {bound}")))
    }

    /// Returns the length of a list.
    pub fn list_length(&self, name: &str) -> Result<usize, LoadError> {
        match *self.tensor(name)?.shape() {
            [length] => Ok(length),
            ref shape => Err(self.fault(format!("tensor `{name}` has the shape {shape:?}, and a list is expected"))),
        }
    }

    pub fn fault(&self, reason: String) -> LoadError {
        LoadError::new(self.path, reason)
    }

    fn tensor(&self, name: &str) -> Result<TensorView<'a>, LoadError> {
        self.tensors.tensor(name).map_err(|_| self.fault(format!("has no tensor `{name}`")))
    }

    fn tensor_of(&self, name: &str, shape: &[usize]) -> Result<TensorView<'a>, LoadError> {
        let tensor = self.tensor(name)?;
        if tensor.shape() == shape {
            return Ok(tensor);
        }
        let found = tensor.shape();
        Err(self.fault(format!("tensor `{name}` has the shape {found:?}, and {shape:?} is expected")))
    }
}

/// Divides bytes into numbers of a fixed size.
fn elements<const SIZE: usize>(data: &[u8]) -> impl Iterator<Item = [u8; SIZE]> {
    data.as_chunks::<SIZE>().0.iter().copied()
}
