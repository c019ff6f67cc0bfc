//! GELU, which `candle` computes with a call of the C library per number. That takes as long as a third of all products.

use candle_core::{CpuStorage, InplaceOp1, Layout, Tensor};

/// Coefficients of a rational approximation of the error function, odd powers over even ones. The error is below 1e-6.
const ODD: [f32; 7] =
    [-2.726_142_4e-10, 2.770_681_5e-8, -2.101_024e-6, -5.692_506_2e-5, -7.349_906_4e-4, -2.954_6e-3, -1.609_603_3e-2];
const EVEN: [f32; 5] = [-1.456_607_15e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329_3e-3, -1.426_473_9e-2];
/// Numbers beyond it have an error function of 1.
const BOUND: f32 = 4.0;

/// Applies GELU to each number of a tensor, in place.
pub fn apply(tensor: &Tensor) -> candle_core::Result<()> {
    tensor.inplace_op1(&Gelu)
}

struct Gelu;

impl InplaceOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> candle_core::Result<()> {
        match (storage, layout.contiguous_offsets()) {
            (CpuStorage::F32(numbers), Some((start, end))) => {
                numbers.get_mut(start..end).unwrap_or_default().iter_mut().for_each(|number| *number = gelu(*number));
                Ok(())
            }
            _ => Err(candle_core::Error::Msg("not a contiguous tensor of 32-bit numbers".to_owned())),
        }
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

fn erf(x: f32) -> f32 {
    let x = x.clamp(-BOUND, BOUND);
    let square = x * x;
    let polynomial =
        |coefficients: &[f32]| coefficients.iter().fold(0.0, |sum, coefficient| sum * square + coefficient);
    x * polynomial(&ODD) / polynomial(&EVEN)
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn error_function_is_approximated() {
        // By integration over small steps.
        let (mut area, width) = (0.0_f64, 1e-4);
        for step in 0..50_000 {
            let middle = (f64::from(step) + 0.5) * width;
            area += (-middle * middle).exp() * width;
            let expected = area * std::f64::consts::FRAC_2_SQRT_PI;
            let x = (middle + 0.5 * width) as f32;
            assert!((f64::from(erf(x)) - expected).abs() < 1e-6, "{x}");
            assert!((erf(-x) + erf(x)).abs() < 1e-9, "{x}");
        }
        assert!(erf(f32::NAN).is_nan());
    }
}
