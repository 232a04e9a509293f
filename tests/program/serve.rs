//! `serve` as a user starts and ends it; tests/serve asks the server itself.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{assert_refused, program};

#[test]
fn the_address_is_printed_and_ctrl_c_ends_the_server() {
    let mut child = program(&["serve", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().trim().trim_end_matches('/').to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Latrunculi</title>"), "{page}");

    let port = address.rsplit(':').next().unwrap();
    assert_refused(&["serve", "--port", port], 1, &[port, "in use", "--port"]);

    let begun = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_address_that_stands_for_all_is_explained() {
    let mut child = program(&["serve", "--port", "0", "--bind", "0.0.0.0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(3);
    let said = lines.collect::<Result<Vec<_>, _>>().unwrap().join("\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains("http://0.0.0.0:") && said.contains("?token="), "{said}");
    assert!(said.contains("this machine's name or address in place of 0.0.0.0"), "{said}");
    assert!(said.lines().skip(1).all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn a_model_that_is_none_is_refused_before_anything_is_served() {
    assert_refused(&["serve", "--port", "0", "--model", "Cargo.toml"], 1, &["Cargo.toml"]);
}
