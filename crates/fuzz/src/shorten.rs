//! Shorter inputs that fail as well.

/// Tries at most.
const TRIES_MAX: u32 = 2000;

/// Leaves parts out as long as what is left still `fails`.
pub fn shorten(input: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut input = input.to_vec();
    let mut part = input.len() / 2;
    let mut tries = 0;
    while part > 0 && tries < TRIES_MAX {
        let mut at = 0;
        while at < input.len() && tries < TRIES_MAX {
            let end = (at + part).min(input.len());
            let shorter = [&input[..at], &input[end..]].concat();
            tries += 1;
            if fails(&shorter) {
                input = shorter;
            } else {
                at = end;
            }
        }
        part /= 2;
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays() {
        let input: Vec<u8> = (0..200).collect();
        let short = shorten(&input, |input| input.contains(&7) && input.contains(&150));
        assert_eq!(short, [7, 150]);
        assert_eq!(shorten(&input, |input| input == (0..200).collect::<Vec<u8>>()), input);
    }
}
