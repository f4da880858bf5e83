//! Bytes as text.

use std::fmt::Write as _;

/// Two digits a byte, 32 bytes a line.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        for byte in line {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}

/// The bytes of a text; white space is passed over.
///
/// # Errors
/// What is wrong with it.
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digit =
        |letter: char| letter.to_digit(16).ok_or_else(|| format!("{letter:?} is no hexadecimal digit"));
    let digits: Vec<u32> =
        text.chars().filter(|letter| !letter.is_whitespace()).map(digit).collect::<Result<_, _>>()?;
    if !digits.len().is_multiple_of(2) {
        return Err("half a byte at its end".to_owned());
    }
    Ok(digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Ok(bytes));
        assert_eq!(decode(""), Ok(vec![]));
        assert!(decode("0").is_err() && decode("0x").is_err());
    }
}
