//! Amounts of money.

/// Formats an amount without a currency, which the service does not name.
pub fn money(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let cents = cents.unsigned_abs();
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_have_two_digits() {
        assert_eq!((money(-7).as_str(), money(4205).as_str()), ("-0.07", "42.05"));
    }
}
