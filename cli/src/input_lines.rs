//! Lines from outside, read with every doubt.

use std::io::{BufRead, Read};

/// Longer lines are refused, in bytes. The longest that makes sense, a position with all the actions of a
/// long game, takes some ten thousand.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A line of a person or a program, or why it cannot be read as a command.
pub(crate) type InputLine = std::io::Result<Result<String, String>>;

/// Reads one line without its end; `None` when there are no more. What is left of a line that is too long is
/// passed over.
pub(crate) fn read_line(input: &mut impl BufRead) -> Option<InputLine> {
    read(input).transpose()
}

fn read(input: &mut impl BufRead) -> std::io::Result<Option<Result<String, String>>> {
    let fault = |what: &str| Ok(Some(Err(format!("the line {what}; nothing was done"))));
    let mut bytes = Vec::new();
    let read = input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > LINE_BYTES_MAX {
        skip_line(input)?;
        return fault(&format!("has more than {LINE_BYTES_MAX} bytes"));
    }
    let Ok(text) = String::from_utf8(bytes) else { return fault("is not UTF-8") };
    if text.trim_end().contains(|c: char| c.is_control() && c != '\t') {
        return fault("holds a control character");
    }
    Ok(Some(Ok(text)))
}

/// Passes over everything up to the end of the line, in pieces.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8]) -> Vec<Result<String, String>> {
        std::iter::from_fn(|| read_line(&mut bytes).transpose().unwrap()).collect()
    }

    #[test]
    fn lines_that_are_no_commands_are_named_and_passed_over() {
        let mut bytes = b"legal\r\n\xff\xfe\na\0b\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', LINE_BYTES_MAX + 1));
        bytes.extend(b"yz\nshow");
        let text = |text: &str| Ok(text.to_owned());
        assert_eq!(read_all(&bytes)[0], text("legal\r"));
        for (line, part) in read_all(&bytes)[1..4].iter().zip(["UTF-8", "control character", "more than"]) {
            assert!(line.as_ref().is_err_and(|fault| fault.contains(part)), "{line:?}");
        }
        assert_eq!(read_all(&bytes)[4], text("show"));
        // A line of just the greatest length is one.
        let longest = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(read_all(&longest).len(), 1);
        assert!(read_all(&longest)[0].is_ok());
    }
}
