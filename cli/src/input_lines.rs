//! Lines from outside, read with every doubt.

use std::io::{BufRead, Read};

/// Longer lines are refused, in bytes. The longest that makes sense, a position with all the actions of a
/// long game, takes some ten thousand.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Why a line cannot be read as a command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    /// Too long.
    #[error("the line has more than {LINE_BYTES_MAX} bytes; nothing was done")]
    TooLong,
    /// Not text.
    #[error("the line is not UTF-8; nothing was done")]
    NotText,
    /// Holds what is no part of any command.
    #[error("the line holds a control character; nothing was done")]
    Control,
}

/// Reads one line without its end; `None` when there are no more. What is left of a line that is too long is
/// passed over.
pub(crate) fn read_line(input: &mut impl BufRead) -> std::io::Result<Option<Result<String, LineFault>>> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > LINE_BYTES_MAX {
        skip_line(input)?;
        return Ok(Some(Err(LineFault::TooLong)));
    }
    let Ok(text) = String::from_utf8(bytes) else { return Ok(Some(Err(LineFault::NotText))) };
    if text.trim_end().contains(|c: char| c.is_control() && c != '\t') {
        return Ok(Some(Err(LineFault::Control)));
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

    fn read_all(mut bytes: &[u8]) -> Vec<Result<String, LineFault>> {
        std::iter::from_fn(|| read_line(&mut bytes).unwrap()).collect()
    }

    #[test]
    fn lines_that_are_no_commands_are_named_and_passed_over() {
        let mut bytes = b"legal\r\n\xff\xfe\na\0b\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', LINE_BYTES_MAX + 1));
        bytes.extend(b"yz\nshow");
        let text = |text: &str| Ok(text.to_owned());
        let faults = [Err(LineFault::NotText), Err(LineFault::Control), Err(LineFault::TooLong)];
        assert_eq!(read_all(&bytes)[0], text("legal\r"));
        assert_eq!(read_all(&bytes)[1..4], faults);
        assert_eq!(read_all(&bytes)[4], text("show"));
        // A line of just the greatest length is one.
        let longest = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(read_all(&longest).len(), 1);
        assert!(read_all(&longest)[0].is_ok());
    }
}
